"""Names that may be meant where a name is wrong."""

import pytest

from simplugin.core.name_suggestions import did_you_mean, near_names

HOSTS = ("gros", "gros-1.nancy.g5k", "gros-10.nancy.g5k", "paravance-1.rennes.g5k", "master")


NEAR_NAMES = [
    # Without the rest: that very one, not all that are spelt alike.
    ("gros-1", ("gros-1.nancy.g5k",)),
    ("gros-1.nancy", ("gros-1.nancy.g5k",)),
    # Spelt alike.
    ("mastre", ("master",)),
    ("gros-1.nanzy.g5k", ("gros-1.nancy.g5k", "gros-10.nancy.g5k")),
    # Both.
    ("paravanze-1", ("paravance-1.rennes.g5k",)),
    ("gros-11", ("gros-1.nancy.g5k", "gros-10.nancy.g5k", "gros")),
    ("xyz", ()),
    ("", ()),
]


@pytest.mark.parametrize(("name", "near"), NEAR_NAMES)
def test_near_names(name, near):
    assert near_names(name, HOSTS)[: len(near)] == near
    assert bool(near_names(name, HOSTS)) == bool(near)


def test_most():
    names = [f"a.{number}" for number in range(9)]
    assert near_names("a", names) == ("a.0", "a.1", "a.2")
    assert near_names("a", iter(names), 1) == ("a.0",)
    assert near_names("gros-1", HOSTS, 9) == ("gros-1.nancy.g5k",)


def test_clause():
    assert did_you_mean("a", ["a.b", "a.c"]) == "did you mean 'a.b' or 'a.c'?"
    assert did_you_mean("a", []) == ""
