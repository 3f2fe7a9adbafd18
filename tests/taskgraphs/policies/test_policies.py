"""The shipped policies and their shares; plans pass the checks, harm is told; contention."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming
from small_graphs import graph_of, site_of, star

from simplugin.core.errors import PlatformError, WorkloadError
from simplugin.platforms.sites import LILLE, NANCY, RENNES
from simplugin.taskgraphs.policies.shares import (
    checked_shares,
    contribution,
    proportional,
    weighted,
)
from simplugin.taskgraphs.policies.shipped import POLICIES
from simplugin.taskgraphs.schedule import Schedule, violations
from simplugin.workloads.task_graphs import GraphSet

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
    mixed, equal, purely = (POLICIES[f"wps_{kind}"](GRAPHS, SITE, mu=mu) for mu in (0.3, 1.0, 0.0))
    assert equal.tolist() == pytest.approx(EXPECTED["es"])
    assert purely.tolist() == pytest.approx(EXPECTED[f"ps_{kind}"])
    assert mixed == pytest.approx(0.3 * equal + 0.7 * purely)


def test_graphs_without_work_cannot_share_by_it():
    idle = [graph_of(name, [0.0]) for name in "ab"]
    with raises_naming(WorkloadError, "[0.0, 0.0]"):
        POLICIES["ps_work"](idle, SITE)
    assert POLICIES["ps_width"](idle, SITE).tolist() == [0.5, 0.5]


@pytest.fixture
def schedule():
    """Return two tasks of 4 and 2 s, 6 bytes from one to the other, on two hosts of one cluster."""
    site = site_of([2, 1], [1.0, 1.0])
    graphs = GraphSet((graph_of("g", [8.0, 4.0], [(0, 1)], 6.0),), np.array([1.0]))
    dates = np.array([1.0, 8.0]), np.array([5.0, 10.0])
    return Schedule.of(site, graphs, [[0, 1], [0, 1]], *dates, [0, 1])


def changed(schedule, **fields):
    return replace(schedule, **{name: np.array(value) for name, value in fields.items()})


def test_a_right_schedule_violates_nothing(schedule):
    assert violations(schedule, transfers=True) == []


HARM = [
    ({"order": [0, 0]}, "order of the schedule is [0, 0]; give each task once"),
    ({"cluster": [0, 2]}, "'g:t1' on processors [0, 1], which are not of its cluster 2"),
    ({"processor": [0, 0, 0, 1]}, "'g:t0' on processors [0, 0] of 'c0'; give different numbers"),
    ({"processor": [0, 1, 0, 2]}, "'g:t1' on processors [0, 2] of 'c0' of 'c1'; give"),
    ({"start": [1.0, np.nan]}, "start of the schedule is [1.0, nan], nan at 1; give finite dates"),
    ({"finish": [5.0, 9.5]}, "'g:t1' takes 1.5 s instead of 2.0 s"),
    ({"start": [0.5, 8.0], "finish": [4.5, 10.0]}, "'g:t0' starts at 0.5 s, before its graph"),
    (
        {"start": [1.0, 7.5], "finish": [5.0, 9.5]},
        "'g:t1' starts at 7.5 s, before the data of 'g:t0' are there at 8.0 s",
    ),
    ({"order": [1, 0]}, "tasks 'g:t1' and 'g:t0' overlap on host 'c0-0', or are in the wrong"),
]


@pytest.mark.parametrize(("harm", "told"), HARM)
def test_harm_is_told(schedule, harm, told):
    assert told in violations(changed(schedule, **harm), transfers=True)[0]


def test_what_came_about_may_take_longer(schedule):
    late = changed(schedule, finish=[5.0, 10.5])
    assert violations(late, transfers=True, exact=False) == []
    early = changed(schedule, finish=[5.0, 9.5])
    assert len(violations(early, transfers=True, exact=False)) == 1


def test_without_transfers_data_are_there_at_once(schedule):
    soon = changed(schedule, start=[1.0, 5.0], finish=[5.0, 7.0])
    assert violations(soon, transfers=False) == []
    assert len(violations(soon, transfers=True)) == 1
    sooner = changed(schedule, start=[1.0, 4.5], finish=[5.0, 6.5])
    # It starts before the other one has finished: in precedence, and on either host.
    assert len(violations(sooner, transfers=False)) == 3


PLACE = LILLE.site()
GAMMAS = st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=12)


def diamond(flop):
    """Return a fork and a join, with data that must not count."""
    return graph_of("diamond", flop, [(0, 1), (0, 2), (1, 3), (2, 3)], 1e9, 0.2)


def test_contributions_by_hand():
    graphs = [diamond((1e9, 2e9, 5e9, 1e9)), diamond((4e9, 4e9, 0.0, 0.0))]
    # Lille's slowest processors have 3.647 GFlop/s; the path is a, c, d, and a, b, d.
    paths = contribution(graphs, PLACE, "cp")
    assert paths.tolist() == pytest.approx([7e9 / 3.647e9, 8e9 / 3.647e9])
    assert contribution(graphs, PLACE, "width").tolist() == [2.0, 2.0]
    assert contribution(graphs, PLACE, "work").tolist() == [9e9, 8e9]
    # Shares do not depend on the site.
    other = proportional(contribution(graphs, NANCY.site(), "cp"))
    assert proportional(paths).tolist() == pytest.approx(other.tolist())
    with raises_naming(WorkloadError, "'height'", "'cp'", "'width'"):
        contribution(graphs, PLACE, "height")


@given(GAMMAS, st.floats(0, 1), st.floats(1e-6, 1e6))
def test_equations(gamma, mu, unit):
    shares = weighted(gamma, mu)
    assert float(np.sum(shares)) == pytest.approx(1)
    assert np.all((shares > 0) & (shares <= 1 + 1e-12))
    assert weighted(gamma, 0.0).tolist() == proportional(gamma).tolist()
    assert weighted(gamma, 1.0).tolist() == [1 / len(gamma)] * len(gamma)
    assert weighted([each * unit for each in gamma], mu) == pytest.approx(shares)


@pytest.mark.parametrize("gamma", [[0.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf], []])
def test_refused_contributions(gamma):
    with raises_naming(WorkloadError, gamma):
        proportional(gamma)


@pytest.mark.parametrize("mu", [-0.1, 1.1, np.nan])
def test_refused_mu(mu):
    with raises_naming(WorkloadError, "mu", mu):
        weighted([1.0, 2.0], mu)


class TestCheckedShares:
    def test_given_back(self):
        shares = checked_shares([0.25, 1.0], 2)
        assert shares.dtype == np.float64
        assert shares.tolist() == [0.25, 1.0]

    @pytest.mark.parametrize("wrong", [0.0, 1.01, np.nan])
    def test_out_of_range(self, wrong):
        with raises_naming(WorkloadError, "'mine'", wrong):
            checked_shares([0.5, wrong], 2, "policy 'mine'")

    def test_no_share_at_all(self):
        # In proportion to nothing.
        with raises_naming(WorkloadError, "'ps_work'"):
            checked_shares(proportional([1.0, 0.0]), 2, "policy 'ps_work'")

    @pytest.mark.parametrize("shares", [[0.5], [[0.5, 0.5]]])
    def test_wrong_shape(self, shares):
        with raises_naming(WorkloadError, shares, "2"):
            checked_shares(shares, 2)


def test_clusters_know_their_switch():
    for one_switch, switches in ((True, [0, 0]), (False, [0, 1])):
        assert star(1, 2, one_switch=one_switch).site().switch.tolist() == switches
    # Each has one unless told otherwise.
    assert site_of([1, 1, 1], [1.0, 1.0, 1.0]).switch.tolist() == [0, 1, 2]


@pytest.mark.parametrize("switch", [[0], [0, 2], [-1, 0]])
def test_switches_out_of_range_are_refused(switch):
    with raises_naming(PlatformError, "switch"):
        replace(star(1, 1).site(), switch=np.array(switch))
