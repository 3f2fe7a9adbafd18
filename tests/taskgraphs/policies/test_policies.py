"""The shipped policies for task graphs: their shares by hand, and properties of all."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from small_graphs import graph_of

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import RENNES
from simplugin.taskgraphs.policies.shares import checked_shares
from simplugin.taskgraphs.policies.shipped import POLICIES, policy_called

SITE = RENNES.site()
# A chain of 6 Gflop, and a fork with three branches: path 4, width 3, work 12.
CHAIN = graph_of("chain", [2e9, 2e9, 2e9], [(0, 1), (1, 2)], alpha=0.1)
FORK = graph_of("fork", [1e9, 5e9, 3e9, 3e9], [(0, 1), (0, 2), (0, 3)], alpha=0.1)
GRAPHS = (CHAIN, FORK)
EXPECTED = {
    "s": [1.0, 1.0],
    "es": [1 / 2, 1 / 2],
    "ps_cp": [6 / 12, 6 / 12],
    "ps_width": [1 / 4, 3 / 4],
    "ps_work": [6 / 18, 12 / 18],
    "wps_cp": [1 / 2, 1 / 2],
    "wps_width": [0.5 / 2 + 0.5 / 4, 0.5 / 2 + 0.5 * 3 / 4],
    "wps_work": [0.7 / 2 + 0.3 / 3, 0.7 / 2 + 0.3 * 2 / 3],
}


@pytest.mark.parametrize("name", POLICIES)
class TestConformance:
    def test_shares_are_shares(self, name):
        for graphs in ([CHAIN], GRAPHS, [*GRAPHS, graph_of("third", [7e11])]):
            shares = checked_shares(POLICIES[name](graphs, SITE), len(graphs), name)
            assert name in ("s", "balanced") or float(np.sum(shares)) == pytest.approx(1)

    def test_alone_a_graph_has_all(self, name):
        assert POLICIES[name]([FORK], SITE).tolist() == [1.0]

    def test_order_does_not_matter(self, name):
        forth = POLICIES[name](GRAPHS, SITE).tolist()
        assert POLICIES[name](GRAPHS[::-1], SITE).tolist() == pytest.approx(forth[::-1])
        if name in EXPECTED:
            assert forth == pytest.approx(EXPECTED[name])

    def test_equal_graphs_have_equal_shares(self, name):
        # For widths equal shapes will do, as the paper says of Strassen's graphs.
        scale = 2.0 if "width" in name else 1.0
        flop = np.array([1e9, 3e9])
        alike = [graph_of(str(k), scale**k * flop, [(0, 1)], alpha=0.1) for k in range(3)]
        shares = POLICIES[name](alike, SITE).tolist()
        assert shares == pytest.approx([shares[0]] * 3)


@pytest.mark.parametrize("kind", ["cp", "width", "work"])
def test_mu(kind):
    mixed, equal, purely = (
        policy_called(f"wps_{kind}", mu=mu)(GRAPHS, SITE) for mu in (0.3, 1.0, 0.0)
    )
    assert equal.tolist() == pytest.approx(EXPECTED["es"])
    assert purely.tolist() == pytest.approx(EXPECTED[f"ps_{kind}"])
    assert mixed == pytest.approx(0.3 * equal + 0.7 * purely)


def test_ones_own(monkeypatch):
    def last(graphs, site, rest=0.1):
        assert site is SITE
        return [rest] * (len(graphs) - 1) + [1.0]

    module = ModuleType("own_sharing")
    vars(module).update(last=last)
    monkeypatch.setitem(sys.modules, "own_sharing", module)
    assert policy_called("own_sharing:last")(GRAPHS, SITE) == [0.1, 1.0]
    assert policy_called("own_sharing:last", rest=0.2)(GRAPHS, SITE) == [0.2, 1.0]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("fair", {}, r"no policy is called 'fair'; .*'wps_work'"),
        ("es", {"mu": 0.5}, r"'es' has no parameter 'mu'; it has none"),
        ("wps_cp", {"nu": 0.5}, r"'wps_cp' has no parameter 'nu'; it has 'mu'"),
    ],
)
def test_refused(name, parameters, message):
    with pytest.raises(WorkloadError, match=message):
        policy_called(name, **parameters)


def test_graphs_without_work_cannot_share_by_it():
    idle = [graph_of(name, [0.0]) for name in "ab"]
    with pytest.raises(WorkloadError, match=r"contributions \[0\.0, 0\.0\] cannot be shared"):
        POLICIES["ps_work"](idle, SITE)
    assert POLICIES["ps_width"](idle, SITE).tolist() == [0.5, 0.5]
