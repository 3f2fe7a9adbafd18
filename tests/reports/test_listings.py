"""Listings and claims in the terminal: room for numbers and names, host names' common endings."""

import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming
from rich.console import Console

from simplugin.core.errors import SimpluginError
from simplugin.reports.tables import (
    claims_summary,
    claims_table,
    common_ending,
    print_listings,
    without_common_ending,
    written_interval,
)
from simplugin.results.claims import Claim
from simplugin.results.row import Best, Metric, Row
from simplugin.results.tables import ResultTable

EMPTY = Row(())


def written(listing: ResultTable, width: int, row: Row = EMPTY, **options: Any) -> list[str]:
    """Return the lines of a listing below a row."""
    out = io.StringIO()
    print_listings(row, [listing], console=Console(file=out, width=width), **options)
    return [line for line in out.getvalue().splitlines() if line.strip()]


def words(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


NAMES = ("gros-1.nancy.grid5000.fr", "chuc-2.lille.grid5000.fr")
COLUMNS = (("host", ""), ("parent", ""), ("law", ""), ("tasks", ""))
LINES = ((NAMES[0], "", "exp. 2", 3), (NAMES[1], NAMES[0], "exp", 4))


def test_the_domain_is_left_out_where_all_of_a_column_have_it():
    shown, ending = without_common_ending(ResultTable("hosts", COLUMNS, LINES))
    first, second = ("gros-1.nancy", "", "exp. 2", 3), ("chuc-2.lille", "gros-1.nancy", "exp", 4)
    assert (shown.lines, ending) == ((first, second), ".grid5000.fr")
    plain = ResultTable("hosts", (("host", ""),), (("a.b",), ("c",)))
    assert without_common_ending(plain) == (plain, "")


label = st.text("abc", min_size=1, max_size=2)
name = st.lists(label, min_size=1, max_size=4).map(".".join)


@given(st.lists(name, min_size=1, max_size=5))
def test_something_is_left_of_every_name(names):
    ending = common_ending(names)
    assert all(each.endswith(ending) and each != ending for each in names)
    longer = {each.removesuffix(ending).rpartition(".")[1:] for each in names}
    assert len(longer) > 1 or ("", next(iter(longer))[1]) in longer


def test_only_where_there_is_too_little_room():
    for width, told in ((200, False), (40, True)):
        text = "\n".join(written(ResultTable("hosts", COLUMNS, LINES), width))
        assert ("names are shown without '.grid5000.fr'" in text) is told
        assert (NAMES[0] in text) is not told


def test_listings_have_units_and_come_below_the_row():
    columns = (("name", ""), ("speed", "flop/s"), ("price [1/Gflop]", ""), ("load", "%"))
    listing = ResultTable(
        "Hosts", columns, [("a", 2e9, 0.5, 0.25), ("b", None, 3, None)], "and 2 more"
    )
    row = Row((Metric("objective", 3.0),), best=Best("objective", 4.0, "optimum", "max"))
    lines = words(written(listing, 110, row, title="One"))
    assert lines[:4] == ["One", "objective 3", "optimum of objective 4", "gap 25.0 %"]
    assert lines[4:6] == ["Hosts", "name speed price [1/Gflop] load"]
    assert lines[7:] == ["a 2 Gflop/s 0.5 25.0 %", "b - 3 -", "and 2 more"]
    assert listing.column("load") == (0.25, None)
    assert listing.document()["columns"][1] == {"name": "speed", "unit": "flop/s"}
    with raises_naming(SimpluginError, "'Hosts'", "'size'"):
        listing.column("size")
    with raises_naming(SimpluginError, "'Hosts'", 4, 1):
        ResultTable("Hosts", columns, [("a",)])


def test_numbers_of_a_narrow_table_are_whole_and_names_say_all():
    units = (*["", "", "s", "", "s", "s", "%", "s", ""],)
    columns = tuple((f"column {at}", unit) for at, unit in enumerate(units))
    names = [f"montage-chameleon-2mass-01d-001-{number}" for number in (1, 2)]
    numbers = (1000, 12345.6, 0.12345, 12345.678, 123456.7, 1.234, 234567.8, 0.12345)
    lines = written(ResultTable("Graphs", columns, [(name, *numbers) for name in names]), 80)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    # Narrow spaces, as all spaces, separate words.
    shown = "1 000 12 346 s 0.1235 12 346 s 123 457 s 123.4 % 234 568 s 0.1235"
    [first, second] = [at for at, line in enumerate(lines) if "123.4 %" in line]
    for start, stop, name in zip((first, second), (second, None), names, strict=True):
        assert lines[start].split(" ", 1)[1].split() == shown.split()
        assert "".join(line.split()[0] for line in lines[start:stop]) == name


def test_columns_move_together_before_names_are_broken():
    columns = (("processors a task", ""), ("node", ""), ("CPU", "%"))
    listing = ResultTable("Nodes", columns, [(1234, "a-long-name", 0.5)])
    # 17, 11 and 6 wide with three and two blanks, then 10, 11 and 6.
    for width in (40, 38):
        [head] = [line for line in written(listing, width) if "CPU" in line]
        assert head.startswith("processors a task")
        assert len(head.rstrip()) == width
    assert {"processors", "a task node CPU"} <= set(words(written(listing, 36)))
    # Numbers are complete even if the table is too narrow for them.
    narrow = written(listing, 8)
    assert any("1\u202f234" in line and "50.0 %" in line for line in narrow)
    assert not any("…" in line for line in narrow)


CLAIMS = [
    Claim("A|B shares", 1.0, 1.25, False, "the *tie* rule\ndiffers", "Fig. 2", 1.5, {"seed": 7}),
    Claim("rounds", "few", 3, True, "under 10", "sec. 1", None, {"seeds": [1, 2], "m": {"a": 0.5}}),
]


@pytest.fixture
def shown(printed):
    """A function from a table to its lines."""
    return lambda table: printed(lambda console: console.print(table), width=200)


def test_claims_stand_beside_their_measurements(shown):
    lines = shown(claims_table(CLAIMS, "pricing"))
    assert (lines[0], lines[-1]) == ("pricing", "1 of 2 paper statements agree")
    assert {"A|B shares 1 1.25 no", "rounds few 3 yes", "sec. 1: under 10"} <= {*lines}


INTERVALS = [
    ((1.0, 1.25), "1 to 1.25"),
    ((1.0, "inf"), "1 or more"),
    (("-inf", 1.5), "1.5 or less"),
    (("-inf", "inf"), ""),
    ((2.0, 2.0), ""),
]


@pytest.mark.parametrize(("ends", "words"), INTERVALS)
def test_an_interval_stands_below_its_value(ends, words, shown):
    claim = replace(CLAIMS[0], quantity={"interval": ends})
    assert written_interval(claim) == words
    assert words in " ".join(shown(claims_table([claim])))


def test_many_claims_are_counted_by_capability(shown):
    lines = shown(claims_summary({"one": CLAIMS, "two": CLAIMS[:1]}))
    assert {"one the paper 2 1 1 0", "two the paper 1 0 1 0"} <= {*lines}
