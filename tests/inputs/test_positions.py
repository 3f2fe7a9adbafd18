"""Lines of keys, items and elements in TOML, JSON and XML documents."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.core.errors import PlatformError
from simplugin.inputs import xml_tree
from simplugin.inputs.positions import json_line, json_starts, toml_line, toml_syntax_error

TEXT = '''# a comment
title = "x"

[platform]

# where
file = """
two = "quoted" lines
[platform.no]"""
parameters = { a = 1, b = { c = 2 } }

[simulation.options]
list = [
  1,  # one, two
  { x = "]", y = [
    3 ] },
]
after = 1.5
[[runs]]
seed = 1
[[runs]]
seed = 2
"a.b".'c"d' = ''
[runs.inner]
'''


LINES_OF_TOML = [
    (("platform", "file"), 7),
    (("platform", "parameters", "b", "c"), 10),
    (("simulation", "options", "list", 0), 14),
    (("simulation", "options", "list", 1, "y", 0), 16),
    (("simulation", "options", "after"), 18),
    (("runs", 1, "seed"), 22),
    (("runs", 1, "a.b", 'c"d'), 23),
    (("runs", 1, "inner"), 24),
    # What is missing has the line of the table around it.
    (("simulation", "options", "gone"), 12),
    (("nowhere", "x"), None),
    ((), None),
]


@pytest.mark.parametrize(("path", "line"), LINES_OF_TOML)
def test_lines_of_toml(path, line):
    assert toml_line(TEXT, path) == line


STATEMENTS = st.sampled_from(
    [
        "# [x]\n",
        "\n",
        "k{n} = 1979-05-27 07:32:00\n",
        'k{n} = "# \\" [x]"\n',
        "k{n} = '''\n[x] \"\"\" = 1\n'''\n",
        'k{n} = """\\"""\n""""\n',
        "k{n}.a.'b.c' = [[1, 2], [\n'#', {{ d = [] }}]]\n",
        "[t{n}]\n",
        "[t.u{n}.v]\n",
        "[[many]]\n",
        "[[many.inner{n}]]\n",
        "[many.'q#{n}']\n",
    ]
)


@given(st.lists(STATEMENTS, max_size=12))
def test_each_key_is_where_the_file_first_has_it(statements):
    text = ""
    for number, statement in enumerate(statements):
        longer = text + statement.format(n=number)
        try:
            document = tomllib.loads(longer)
        except tomllib.TOMLDecodeError:  # a table in an array that is not there yet
            continue
        before = set(keys(tomllib.loads(text)))
        line = text.count("\n") + 1
        for path in keys(document):
            if path not in before:
                assert toml_line(longer, path) == line
        text = longer


def keys(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all tables and keys, and of tables in arrays."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys(inner, (*path, key))
    elif (isinstance(value, list) and path[-1] == "many") or str(path[-1:]).startswith("('inner"):
        for position, inner in enumerate(value):
            yield from keys(inner, (*path, position))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from([None, 1]))
@settings(max_examples=40)
def test_each_value_of_json_has_its_path(value, indent):
    text = json.dumps(value, indent=indent)
    for path, start in json_starts(text):
        found = value
        for step in path:
            found = found[step]
        assert json.JSONDecoder().raw_decode(text, start)[0] == found
        assert json_line(text, path) == text.count("\n", 0, start) + 1


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \nc = 2\n", 2), ("a = [1,\n2\n", 2), ('a = "\n', 1), ("a = 1\na = 2", 2)],
)
def test_syntax_errors_have_a_line(text, line):
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    message, found = toml_syntax_error(caught.value, text)
    assert found == line
    assert "line" not in message


LINES = 2000


def test_text_is_kept_in_pieces_and_not_where_it_only_indents():
    # Appending each piece to those before would copy some LINES ** 2.
    for tag, kept in (("trace", LINES), ("zone", 0)):
        data = f"<{tag}>{'<b/> ' * LINES}</{tag}>".encode()
        root = xml_tree.parse(data, "file", PlatformError, tag, simgrid=True)
        assert len(root.children) == LINES
        assert list(root.pieces) == [" "] * kept


def test_pieces_of_text_belong_to_their_element():
    content = "a<b>c&amp;<d/>e</b>f<!-- g -->h<b/>\n"
    root = xml_tree.parse(f"<a>{content}</a>".encode(), "f", PlatformError, "a", simgrid=True)
    first, second = root.children
    assert (root.text, first.text, second.text) == ("afh", "c&e", "")
    assert [child.text for child in first.children] == [""]


def test_a_value_may_be_as_long_as_is_said():
    longest = "x" * xml_tree.LONGEST_VALUE
    for value in (longest, ""):
        root = xml_tree.parse(f'<a b="{value}"/>'.encode(), "file", PlatformError, "a")
        assert root.attributes == {"b": value}
    with pytest.raises(PlatformError):
        xml_tree.parse(f'<a b="{longest}x"/>'.encode(), "file", PlatformError, "a")
