"""Applications that make no sense."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.workloads import Application, Bags


def test_hosts_are_names_and_no_text() -> None:
    with pytest.raises(WorkloadError, match=r"hosts of application 'k' is 'h1'; give a tuple"):
        Application("k", "h0", 1.0, 1.0, hosts="h1")  # type: ignore[arg-type]
    assert Application("k", "h0", 1.0, 1.0, hosts=["h1"]).hosts == ("h1",)  # type: ignore[arg-type]


def test_scalars_stand_for_all_applications():
    bags = Bags(("a", "b"), 2.0, [4.0, 1.0], 1, 200)
    assert bags.flop.tolist() == [2.0, 2.0]
    assert bags.count.tolist() == [200, 200]
    assert bags.ratio.tolist() == [2.0, 0.5]
    assert bags.n_applications == 2


def test_of_applications():
    applications = [Application("a", "m", 1e9, 0.0), Application("b", "m", 2e9, 5.0, 3.0, count=7)]
    bags = Bags.of(applications, 50)
    assert bags.names == ("a", "b")
    assert bags.count.tolist() == [50, 7]
    assert bags.weight.tolist() == [1.0, 3.0]
    assert bags.byte.tolist() == [0.0, 5.0]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("flop", [1.0, 0.0], "flop of application 'b' is"),
        ("byte", [-1.0, 0.0], "byte of application 'a' is"),
        ("weight", [np.inf, 1.0], "weight of application 'a' is"),
        ("count", [3, 0], "count of application 'b' is"),
        ("count", [2.5, 1], "count of application 'a' is"),
    ],
)
def test_refused(field, value, message):
    fields = {"flop": 1.0, "byte": 1.0, "weight": 1.0, "count": 1} | {field: value}
    with pytest.raises(WorkloadError, match=message):
        Bags(("a", "b"), **fields)


def test_names():
    with pytest.raises(WorkloadError, match="two applications are called 'a'"):
        Bags(("a", "a"), 1.0, 1.0, 1.0, 1)
    with pytest.raises(WorkloadError, match="no application"):
        Bags((), 1.0, 1.0, 1.0, 1)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Application("b", "n", 1.0, 1.0), "'b' starts at 'n', but the first one at 'm'"),
        (Application("b", "m", 1.0, 1.0, start=1.0), "'b' restricts its dates"),
    ],
)
def test_applications_that_no_tree_can_have(other, message):
    with pytest.raises(WorkloadError, match=message) as raised:
        Bags.of([Application("a", "m", 1.0, 1.0), other], 5)
    assert raised.value.application == "b"


def test_hosts_that_may_compute():
    plain, some = Application("a", "m", 1.0, 1.0), Application("b", "m", 1.0, 1.0, hosts=("m", "n"))
    assert Bags.of([plain], 5).hosts is None
    bags = Bags.of([plain, some], 5)
    assert bags.hosts == (None, ("m", "n"))
    assert bags.allowed(["n", "o", "m"], np.ones(3)).tolist() == [
        [True, True],
        [True, False],
        [True, True],
    ]
    assert bags.may_compute("o") == [True, False]
    assert Bags(("a", "b"), 1, 1, 1, 1, {"b": ["m"]}).hosts == (None, ("m",))
    for hosts, message in (({"c": ["m"]}, "'c', which is no application"), ([["m"]], "each of 2")):
        with pytest.raises(WorkloadError, match=message):
            Bags(("a", "b"), 1, 1, 1, 1, hosts)
