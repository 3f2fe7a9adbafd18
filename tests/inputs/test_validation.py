"""Tables and parameters into objects: each problem has the path of the culprit, and a remedy."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simplugin.core.errors import (
    DeploymentError,
    FileError,
    PlatformError,
    UnitError,
    WorkloadFileError,
    minus_remedy,
)
from simplugin.core.units import parse_size
from simplugin.inputs.documents import Document, path_text, read_json, read_toml
from simplugin.inputs.files import read_text, write
from simplugin.inputs.locations import LineLocation, quantity
from simplugin.inputs.parameters import Signature
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
ROW = row(Leaf, name=str, time=Time)
KEYS = st.sampled_from(["leaves", "name", "time", "speeds", "bandwidth", "law", "low", "value"])
TREE = table(Tree, leaves=tuple_of(LEAF), speeds=dict[str, Speed], bandwidth=Bandwidth)


def read(content: Any, kind: Any = TREE) -> Any:
    return validated(kind, Document(content, PlatformError))


def test_objects_are_made_with_defaults_and_units():
    content = {"leaves": [{"name": "a", "time": "2ms"}, {"name": "b"}], "speeds": {"x": "1Gf"}}
    assert read(content) == Tree((Leaf("a", 0.002), Leaf("b")), {"x": 1e9})


def test_rows_are_lists():
    assert read([["a", 3]], tuple_of(ROW)) == (Leaf("a", 3.0),)


LAW = "law is 'log'; give one of 'constant', 'uniform'"
PROBLEMS = [
    (TREE, 3, "the document is 3; give a table"),
    (TREE, {}, "key 'leaves' is missing; add it"),
    (TREE, {"leaves": [], "leafs": 1}, "unknown key 'leafs'; did you mean 'leaves'?"),
    (TREE, {"leaves": [], "colour": 1}, "unknown key 'colour'; the keys here are bandwidth,"),
    (TREE, {"leaves": [{"name": 3}]}, "leaves.0.name is 3; give a text"),
    (TREE, {"leaves": [{"name": "a", "time": "3s"}, 4]}, "leaves.1 is 4; give a table"),
    (TREE, {"leaves": [{"name": "a", "time": "3 h"}]}, "leaves.0.time: time '3 h' has"),
    (TREE, {"leaves": [{"name": "a", "time": "3"}]}, "leaves.0.time is '3', which has no unit"),
    (TREE, {"leaves": [{"name": "bad"}]}, "leaf 'bad' is bad; rename it"),
    (ROW, ["a"], "the document is ['a']; give a list of name, time"),
    # A member of a union is told from the others.
    (EITHER, {"law": "log"}, LAW),
    (EITHER, {"law": "uniform", "low": 1}, "key 'high' is missing; add it"),
    (EITHER, {"law": "uniform", "low": 1, "high": "2"}, "high is '2', which has no unit"),
    (EITHER, "2", "the document is '2', which has no unit"),
]


@pytest.mark.parametrize(("kind", "content", "message"), PROBLEMS)
def test_problems(kind, content, message):
    with pytest.raises(PlatformError) as caught:
        read(content, kind)
    assert str(caught.value).startswith(message)
    assert caught.value.remedy


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=2), inner),
    max_leaves=8,
)


@example({}, {"\n": None})
@given(st.dictionaries(KEYS, PLAIN), PLAIN)
def test_whatever_a_document_says_is_read_or_has_a_place_and_a_remedy(tables, other):
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


Read = Callable[[Path, type[FileError]], Any]


@pytest.mark.parametrize("read", [read_text, read_toml, read_json])
def test_files_that_cannot_be_read(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"#\n# \xe9")
    (tmp_path / "zero").write_bytes(b"#\n\0")
    for name, line in (("", None), ("none", None), ("pipe", None), ("latin", 2), ("zero", 2)):
        with pytest.raises(DeploymentError) as caught:
            read(tmp_path / name, DeploymentError)
        assert (caught.value.file, caught.value.line) == (tmp_path / name, line)
        assert caught.value.remedy


WRONG_FILES = [
    (read_json, "{", 1),
    (read_json, '{\n"a": 1,\n"a": 2}', 3),
    (read_json, '{\n"a": [1, NaN]}', 2),
    (read_json, "[\n" + "9" * 5000 + "]", 2),
    (read_json, "[" * 100_000, None),
    (read_json, '{\n"a": 1}\n{}', 3),
    (read_toml, "a = 1\r\nb : 1\r\n", 2),
]


@pytest.mark.parametrize(("read", "text", "line"), WRONG_FILES)
def test_what_is_no_json_or_toml(tmp_path, read, text, line):
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    with pytest.raises(PlatformError) as caught:
        read(path, PlatformError)
    assert (caught.value.file, caught.value.line) == (path, line)
    assert caught.value.remedy


@pytest.mark.parametrize("minus", "\u2212\u2013\u2010\uff0d")
def test_a_minus_that_no_parser_takes_is_named(tmp_path, minus):
    """In files, in numbers in quotes, and in quantities; but not in names and words."""
    remedy = f"; write an ASCII minus, '-', for {minus!r} (U+{ord(minus):04X})"
    for read, text in ((read_toml, f"a = 1\nb = {minus}1\n"), (read_json, f"[1,\n{minus}.5]")):
        path = tmp_path / "file"
        path.write_text(text)
        with pytest.raises(PlatformError) as caught:
            read(path, PlatformError)
        assert caught.value.line == 2
        assert str(caught.value).endswith(remedy)
    for text in (f"{minus}5", f"1e{minus}5", f"{minus}.5GB"):
        for kind, read_text_as in (
            (UnitError, parse_size),
            (WorkloadFileError, lambda text: quantity(text, "size", LineLocation("file", 1))),
        ):
            with pytest.raises(kind) as refused:
                read_text_as(text)
            assert remedy in str(refused.value)
    assert minus_remedy(f"task 'a{minus}5' and 'b {minus} c' wait for 'x{minus}y'") is None


def test_places_of_values(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('{"a": [\n1,\n{"b": 2}]}')
    document = read_json(path, PlatformError)
    error = document.at("a", 1, "b").error("this is wrong", "change it")
    assert str(error) == f"{path}:3: a[1].b: this is wrong; change it"


def test_long_and_unprintable_paths_are_quoted():
    assert path_text(("a", 0, "b")) == "a[0].b"
    assert path_text(("\n",)) == r"'\n'"
    assert len(path_text(("a" * 1000,))) < 100


def test_what_cannot_be_written(tmp_path):
    for text, path in (("text", tmp_path / "none" / "file"), ("\ud800", tmp_path / "file")):
        with pytest.raises(PlatformError) as caught:
            write(text, path, PlatformError)
        assert caught.value.file == path
    assert not list(tmp_path.iterdir())


def test_a_function_without_signature_takes_anything():
    assert Signature.of(dict).takes_any


# Those that floats have, too.
WHOLE = st.integers(-(2**53), 2**53)


@given(st.dictionaries(st.sampled_from("abc"), st.floats(allow_nan=False) | WHOLE))
@settings(max_examples=30)
def test_numbers_keep_their_bits(values):
    def numbers(**kinds: float): ...

    def named(a: float = 0, b: int | float = 0, c=0): ...

    for function in (numbers, named):
        read_values, problems = Signature.of(function).read(values)
        assert not problems
        assert read_values == values
    assert all(type(read_values[key]) is type(values[key]) for key in values if key != "a")
    assert json.loads(json.dumps(values)) == values
