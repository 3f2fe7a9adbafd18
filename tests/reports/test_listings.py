"""Host names with a common ending."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from simplugin.listings import Listing
from simplugin.reports.listings import common_ending, print_listings, without_common_ending
from simplugin.rows import Row

NAMES = ("gros-1.nancy.grid5000.fr", "chuc-2.lille.grid5000.fr")
COLUMNS = (("host", ""), ("parent", ""), ("law", ""), ("tasks", ""))
LINES = ((NAMES[0], "", "exp. 2", 3), (NAMES[1], NAMES[0], "exp", 4))


def test_the_domain_is_left_out_where_all_of_a_column_have_it() -> None:
    shown, ending = without_common_ending(Listing("hosts", COLUMNS, LINES))
    assert ending == ".grid5000.fr"
    assert shown.lines == (
        ("gros-1.nancy", "", "exp. 2", 3),
        ("chuc-2.lille", "gros-1.nancy", "exp", 4),
    )


def test_plain_names_stay() -> None:
    listing = Listing("hosts", (("host", ""),), (("a.b",), ("c",)))
    assert without_common_ending(listing) == (listing, "")


label = st.text("abc", min_size=1, max_size=2)
name = st.lists(label, min_size=1, max_size=4).map(".".join)


@given(st.lists(name, min_size=1, max_size=5))
def test_something_is_left_of_every_name(names: list[str]) -> None:
    ending = common_ending(names)
    assert all(each.endswith(ending) and each != ending for each in names)
    longer = {each.removesuffix(ending).rpartition(".")[1:] for each in names}
    assert len(longer) > 1 or ("", next(iter(longer))[1]) in longer


def test_only_where_there_is_too_little_room() -> None:
    listing = Listing("hosts", COLUMNS, LINES)
    for width, told in ((200, False), (40, True)):
        file = io.StringIO()
        print_listings(Row(()), [listing], console=Console(file=file, width=width))
        assert ("names are shown without '.grid5000.fr'" in file.getvalue()) is told
        assert (NAMES[0] in file.getvalue()) is not told
