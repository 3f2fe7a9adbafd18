import tomllib

import pytest

from simplugin.formats.toml_lines import line_of, place_of

TEXT = '''# a comment
title = "x"

[platform]

# where
file = """
two
lines"""
parameters = { a = 1, b = { c = 2 } }

[simulation.options]
list = [
  1,
  2,
]
after = 3
[[runs]]
seed = 1
[[runs]]
seed = 2
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("platform",), 4),
        (("platform", "file"), 7),
        (("platform", "parameters"), 10),
        (("platform", "parameters", "b", "c"), 10),
        (("simulation",), 12),
        (("simulation", "options", "list"), 13),
        (("simulation", "options", "list", 1), 13),
        (("simulation", "options", "after"), 17),
        (("runs", 0, "seed"), 19),
        (("runs", 1, "seed"), 21),
        # What is missing has the line of the table around it.
        (("platform", "seed"), 4),
        (("simulation", "options", "gone"), 12),
        (("nowhere", "x"), None),
        ((), None),
    ],
)
def test_line_of(path, line):
    assert line_of(TEXT, path) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \nc = 2\n", 2), ("a = [1,\n2\n", 2), ('a = "\n', 1), ("a = 1\na = 2", 2)],
)
def test_place_of_syntax_errors(text, line):
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    message, found = place_of(caught.value, text)
    assert found == line
    assert "line" not in message
