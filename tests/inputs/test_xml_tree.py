"""Elements and the text in them."""

from __future__ import annotations

import pytest

from simplugin.errors import PlatformError
from simplugin.inputs import xml_tree

LINES = 2000


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the text of elements, each time it is set."""
    lengths: list[int] = []

    class Counted(xml_tree.Node):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "text":
                assert isinstance(value, str)
                lengths.append(len(value))
            object.__setattr__(self, name, value)

    monkeypatch.setattr(xml_tree, "Node", Counted)
    return lengths


def test_text_is_copied_once_however_many_pieces_it_has(kept: list[int]) -> None:
    lines = "<host/>\n\n" * LINES
    data = f"<zone>{lines}</zone>".encode()
    for simgrid in (False, True):
        root = xml_tree.parse(data, "file", PlatformError, "zone", simgrid=simgrid)
        assert len(root.children) == LINES
    # Appending each piece to those before would copy some LINES ** 2.
    assert 2 * LINES <= sum(kept) <= 2 * 2 * LINES


def test_pieces_of_text_belong_to_their_element() -> None:
    content = "a<b>c&amp;<d/>e</b>f<!-- g -->h<b/>\n"
    root = xml_tree.parse(f"<a>{content}</a>".encode(), "f", PlatformError, "a", simgrid=True)
    first, second = root.children
    assert (root.text, first.text, second.text) == ("afh\n", "c&e", "")
    assert [child.text for child in first.children] == [""]


def test_a_value_may_be_as_long_as_is_said() -> None:
    longest = "x" * xml_tree.LONGEST_VALUE
    for value in (longest, ""):
        root = xml_tree.parse(f'<a b="{value}"/>'.encode(), "file", PlatformError, "a")
        assert root.attributes == {"b": value}
    with pytest.raises(PlatformError, match="more than 1 MiB"):
        xml_tree.parse(f'<a b="{longest}x"/>'.encode(), "file", PlatformError, "a")
