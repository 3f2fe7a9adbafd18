"""Tables into objects: each problem has the path of the culprit, and a remedy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.inputs.documents import Document
from simplugin.inputs.quantities import Bandwidth, Speed, Time
from simplugin.inputs.validation import row, table, tuple_of, validated
from simplugin.platforms.drawn_quantities import drawn


@dataclass(frozen=True)
class Leaf:
    """A value with a unit and a name."""

    name: str
    time: float = 1.0

    def __post_init__(self) -> None:
        if self.name == "bad":
            raise PlatformError("leaf 'bad' is bad", remedy="rename it")


@dataclass(frozen=True)
class Tree:
    """Leaves."""

    leaves: tuple[Leaf, ...]
    speeds: dict[str, float] = field(default_factory=dict)
    bandwidth: float = 8.0


LEAF = table(Leaf, name=str, time=Time)
EITHER = drawn(Speed)
KEYS = st.sampled_from(["leaves", "name", "time", "speeds", "bandwidth", "law", "low", "value"])
TREE = table(Tree, leaves=tuple_of(LEAF), speeds=dict[str, Speed], bandwidth=Bandwidth)


def read(content: Any, kind: Any = TREE) -> Any:
    return validated(kind, Document(content, PlatformError))


def test_objects_are_made_with_defaults_and_units() -> None:
    content = {"leaves": [{"name": "a", "time": "2ms"}, {"name": "b"}], "speeds": {"x": "1Gf"}}
    assert read(content) == Tree((Leaf("a", 0.002), Leaf("b")), {"x": 1e9})


def test_rows_are_lists() -> None:
    assert read([["a", 3]], tuple_of(row(Leaf, name=str, time=Time))) == (Leaf("a", 3.0),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (3, "the document is 3; give a table"),
        ({}, "key 'leaves' is missing; add it"),
        ({"leaves": [], "leafs": 1}, "unknown key 'leafs'; did you mean 'leaves'?"),
        ({"leaves": [], "colour": 1}, "unknown key 'colour'; the keys here are bandwidth,"),
        ({"leaves": [{"name": 3}]}, "leaves.0.name is 3; give a text"),
        ({"leaves": [{"name": "a", "time": "3s"}, 4]}, "leaves.1 is 4; give a table"),
        ({"leaves": [{"name": "a", "time": "3 h"}]}, "leaves.0.time: time '3 h' has"),
        ({"leaves": [{"name": "a", "time": "3"}]}, "leaves.0.time is '3', which has no unit"),
        ({"leaves": [{"name": "bad"}]}, "leaf 'bad' is bad; rename it"),
    ],
)
def test_problems(content: Any, message: str) -> None:
    with pytest.raises(PlatformError) as caught:
        read(content)
    assert str(caught.value).startswith(message)
    assert caught.value.remedy


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=2), inner),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, PLAIN), PLAIN)
def test_whatever_a_document_says_is_read_or_has_a_place_and_a_remedy(tables, other) -> None:
    for content in (tables, other):
        for kind in (TREE, EITHER):
            try:
                read(content, kind)
            except PlatformError as error:
                place, messages = content, str(error).split("\n")
                assert all("; " in line for line in messages)
                # The path leads somewhere, but for a key that is missing.
                for step in error.path[:-1]:
                    place = place[step]


def test_a_member_of_a_union_is_told_from_the_others() -> None:
    for content, message in (
        ({"law": "log"}, "law is 'log'; give one of 'constant', 'uniform'"),
        ({"law": "uniform", "low": 1}, "key 'high' is missing; add it"),
        ({"law": "uniform", "low": 1, "high": "2"}, "high is '2', which has no unit"),
        ("2", "the document is '2', which has no unit"),
    ):
        with pytest.raises(PlatformError) as caught:
            read(content, EITHER)
        assert str(caught.value).startswith(message)


def test_a_row_has_all_its_values() -> None:
    with pytest.raises(PlatformError, match=r"is \['a'\]; give a list of name, time"):
        read(["a"], row(Leaf, name=str, time=Time))
