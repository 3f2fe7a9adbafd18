"""Fair sharing against closed forms, published values and its conditions of optimality."""

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, UncertifiedError, WorkloadError
from simplugin.optimum.entropic import entropic
from simplugin.optimum.fair_sharing import FairShare, fair_sharing, weighted_max_min
from simplugin.optimum.flows import Flows
from simplugin.optimum.interior import correction
from simplugin.optimum.paths import Paths
from simplugin.papers.bertin.seeded_instances import instances
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.workloads import Application, SharedDeployment
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS

ALPHAS = (0.1, 0.5, 1.0, 2.0, 8.0)


def hosts(*speeds: float) -> Graph:
    """Return hosts in a row, joined by links that never matter."""
    names = [f"h{i}" for i in range(len(speeds))]
    return Graph.duplex(names, speeds, [[i, i + 1] for i in range(len(speeds) - 1)], 1e30)


def line(bandwidth: tuple[float, float]) -> SharedDeployment:
    """Return the classical line: one application over two links, one more over each."""
    graph = Graph.duplex("abc", [1e3] * 3, [[0, 1], [1, 2]], bandwidth)
    rows = (("long", "a", "c"), ("first", "a", "b"), ("second", "b", "c"))
    return deploy(graph, [Application(name, m, 1.0, 1.0, hosts=(end,)) for name, m, end in rows])


def random_sharing(seed: int, *, cycles: bool = True) -> SharedDeployment:
    """Return a small instance over several orders of magnitude."""
    rng = np.random.default_rng(seed)
    n, n_applications = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    ends = [(int(rng.integers(i)), i) for i in range(1, n)]
    if cycles and n > 3 and (0, n - 1) not in ends:
        ends.append((0, n - 1))
    graph = Graph.duplex(
        [f"h{i}" for i in range(n)],
        10 ** rng.uniform(8, 10, n) * (rng.random(n) > 0.2),
        np.array(ends),
        10 ** rng.uniform(6, 9, (len(ends), 2)),
    )
    # The first host computes, so that every application reaches one.
    speed = np.where(np.arange(n) == 0, 1e9, graph.speed)
    flop = 10 ** rng.uniform(4, 10, n_applications)
    byte = flop * 10 ** rng.uniform(-3, 0, n_applications) * (rng.random(n_applications) > 0.1)
    return deploy(
        replace(graph, speed=speed),
        [
            Application(f"a{k}", f"h{rng.integers(n)}", flop[k], byte[k], 10 ** rng.uniform(-1, 1))
            for k in range(n_applications)
        ],
    )


def with_slow_link(sharing: SharedDeployment, seed: int, factor: float) -> SharedDeployment:
    """Return the problem with the bandwidth of one of its links times a factor."""
    used = np.unique(sharing.link[sharing.link >= 0])
    bandwidth = sharing.bandwidth.copy()
    bandwidth[np.random.default_rng(seed).choice(used)] *= factor
    return replace(sharing, bandwidth=bandwidth)


def ways(sharing: SharedDeployment, share: FairShare) -> np.ndarray:
    """Return the price of a task at each agent, walked from agent to master."""
    price = np.zeros(sharing.n_agents)
    for agent in range(sharing.n_agents):
        number = sharing.application[agent]
        price[agent] = sharing.flop[number] * share.host_price[sharing.host[agent]]
        above = agent
        while sharing.parent[above] >= 0:
            price[agent] += sharing.byte[number] * share.link_price[sharing.link[above]]
            above = int(sharing.parent[above])
    return price


def test_a_line_under_max_min_fairness_fills_its_second_link():
    # Bertsekas and Gallager, Data Networks, section 6.5.2: bottlenecks one after the other.
    share = fair_sharing(line((1.0, 2.0)), math.inf)
    assert share.throughput == pytest.approx([0.5, 0.5, 1.5], rel=1e-12)
    assert share.objective == pytest.approx(0.5, rel=1e-12)
    # The smallest grows by half of what the first link does.
    assert sorted(share.link_price)[-2:] == pytest.approx([0.0, 0.5], abs=1e-12)
    assert share.gap < 1e-12


def test_max_min_goes_on_where_a_dual_of_the_first_stage_may_be_zero():
    # All four levels differ, and each application meets its own bottleneck.
    tied = [Application(f"a{k}", f"h{k}", 1.0, 1.0, hosts=(f"h{k}",)) for k in range(4)]
    free = Application("any", "h0", 1.0, 1.0)
    share = fair_sharing(deploy(hosts(1.0, 2.0, 4.0, 8.0), [*tied, free]), math.inf)
    # "any" fills hosts 3 and 2 as long as that takes nothing from a lower level.
    assert share.throughput == pytest.approx([1.0, 2.0, 4.0, 4.0, 4.0], rel=1e-12)


def test_a_sweep_of_alpha_does_not_jump_at_max_min_fairness():
    x, y = Application("x", "h0", 1.0, 0.0, weight=4.0), Application("y", "h0", 1.0, 0.0)
    sharing = deploy(hosts(2.0), [x, y])
    for alpha in (50.0, 200.0, 1000.0):
        ratio = 4.0 ** (1 / alpha)
        expected = np.array([2 * ratio, 2.0]) / (1 + ratio)
        assert fair_sharing(sharing, alpha).throughput == pytest.approx(expected, rel=1e-9)
    assert fair_sharing(sharing, math.inf).throughput == pytest.approx([1.0, 1.0], rel=1e-12)
    assert weighted_max_min(sharing).throughput == pytest.approx([1.6, 0.4], rel=1e-12)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0, 12), st.floats(-1, 1)), min_size=2, max_size=10),
    st.sampled_from([0.1, 0.3, 1.0, 2.0, 10.0]),
)
def test_the_gap_bounds_each_throughput_on_one_link(applications, alpha):
    graph = Graph.duplex("ab", [0.0, 1e30], [[0, 1]], 1e6)
    size, weight = 10 ** np.array(applications).T
    users = [Application(f"x{k}", "a", 1.0, size[k], weight[k]) for k in range(len(size))]
    share = fair_sharing(deploy(graph, users), alpha)
    # Each spends what makes a byte worth the same; sums of logarithms, as sizes are far apart.
    spent = np.log(size) * (1 - 1 / alpha) + np.log(weight) / alpha
    part = np.exp(spent - np.logaddexp.reduce(spent))
    error = np.abs(share.throughput * size / (1e6 * part) - 1).max()
    assert error <= share.gap + 1e-13 * max(1.0, 1 / alpha)
    assert share.gap < 1e-9


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(ALPHAS), st.floats(-9, -5))
@example(72, 5.0, -8.0)
def test_the_error_of_throughputs_is_found(seed, alpha, exponent):
    sharing = random_sharing(seed)
    ways, best = Paths(Flows(sharing)), fair_sharing(sharing, alpha)
    capacity = np.concatenate([sharing.speed, sharing.bandwidth])
    paid = (capacity * np.append(best.host_price, best.link_price))[ways.resource]
    draws = np.random.default_rng(seed)
    price = np.log(np.maximum(paid, paid.max() * 1e-250))
    rate = best.rate * np.exp(10**exponent * draws.standard_normal(sharing.n_agents))
    off = np.abs(sharing.throughput(rate) / best.throughput - 1)
    error, _, _ = correction(ways, sharing.weight, alpha, rate, price)
    assert error.max() >= 0.5 * off.max() - 1e-10


def test_the_largest_throughput_is_shared_evenly_where_it_does_not_matter():
    # Every sharing of the host is as good; the limit gives each the same, whatever its weight.
    applications = [Application(f"a{k}", "h0", w, 1.0, w) for k, w in enumerate((1.0, 2.0, 5.0))]
    share = fair_sharing(deploy(hosts(16.0), applications), 0.0)
    assert share.throughput == pytest.approx([2.0, 2.0, 2.0], rel=1e-10)
    # ... but only as far as their own bounds let them.
    applications[0] = Application("a0", "h0", 1.0, 1.0, 1.0, hosts=("h1",))
    share = fair_sharing(deploy(hosts(14.0, 1.0), applications), 0.0)
    assert share.throughput == pytest.approx([1.0, 2.0, 2.0], rel=1e-10)


def test_a_link_that_just_suffices_has_no_price():
    # Strict complementarity fails: the link is full, but nobody would pay for more of it.
    graph = Graph.duplex("ab", [1.0, 1.0], [[0, 1]], 0.5)
    users = [Application("x", "a", 1.0, 1.0, 3.0), Application("y", "b", 1.0, 1.0, 1.0)]
    share = fair_sharing(deploy(graph, users))
    assert share.throughput == pytest.approx([1.5, 0.5], rel=1e-10)
    assert np.all(share.link_price < 1e-9)


def test_links_between_the_same_hosts_are_shared_by_agents_of_one_application():
    # Two hosts behind one backbone, whose relays stand on the hosts: 0 -> (b) 1 -> 2, (b) 3 -> 4.
    sharing = SharedDeployment(
        ("a",),
        ("m", "x", "y"),
        ("backbone", "to x", "to y"),
        flop=np.array([2.0]),
        byte=np.array([1.0]),
        weight=np.array([1.0]),
        speed=np.array([0.0, 10.0, 10.0]),
        bandwidth=np.array([4.0, 3.0, 3.0]),
        application=np.zeros(5, int),
        host=np.array([0, 1, 2, 1, 2]),
        parent=np.array([-1, 0, 0, 1, 2]),
        link=np.array([-1, 0, 0, 1, 2]),
        computes=np.array([False, False, False, True, True]),
    )
    share = fair_sharing(sharing)
    assert share.throughput == pytest.approx([4.0], rel=1e-12)
    assert share.link_price == pytest.approx([0.25, 0.0, 0.0], abs=1e-12)
    assert sharing.overload(share.rate) < 1e-12


def test_the_papers_instance_is_bound_by_its_hosts():
    # Report, section 5.1, on a star around A: a third of all computation each.
    graph = Graph.duplex("ABCDE", [5e8] * 5, [[0, 1], [0, 2], [0, 3], [0, 4]], 5e8)
    sharing = deploy(graph, FIVE_HOSTS_APPLICATIONS)
    share = fair_sharing(sharing)
    assert share.objective == pytest.approx(39.1078, abs=5e-5)
    assert share.throughput == pytest.approx(2.5e9 / 3 / sharing.flop, rel=1e-9)
    assert np.round(share.throughput).tolist() == [166667, 1041667, 555556]


@pytest.mark.parametrize("alpha", [*ALPHAS, 0.0, math.inf])
def test_throughputs_may_span_nine_orders_of_magnitude(alpha):
    # Each application alone on a host of 1e9 flop/s, and all on one more that is far slower.
    flop = np.array([1e3, 1e6, 1e9, 1e12])
    own = tuple(f"h{k}" for k in range(4))
    sharing = deploy(
        hosts(1e9, 1e9, 1e9, 1e9),
        [Application(f"a{k}", own[k], flop[k], 1.0, hosts=(own[k],)) for k in range(4)],
    )
    share = fair_sharing(sharing, alpha)
    assert share.throughput == pytest.approx([1e6, 1e3, 1.0, 1e-3], rel=1e-9)
    if 0 < alpha < math.inf:
        assert share.host_price == pytest.approx(share.throughput**-alpha / flop, rel=1e-8)


@settings(max_examples=80)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, *ALPHAS, math.inf]),
    st.sampled_from([1.0, 1.0, 1e-9, 1e-11, 1e-12]),
)
@example(1250, 0.1, 1.0)
@example(615, 0.1, 1.0)
@example(18096, 0.0, 1.0)
@example(19601, 8.0, 1.0)
@example(4, 1.0, 1e-12)
@example(33, 0.0, 1e-11)
def test_prices_and_rates_fulfil_the_conditions_of_optimality(seed, alpha, slow):
    sharing = random_sharing(seed)
    tolerance = 1e-8
    if slow < 1:
        sharing, tolerance = with_slow_link(sharing, seed, slow), 1e-6
    try:
        share = fair_sharing(sharing, alpha)
    except UncertifiedError:
        assert slow < 1
        assume(False)
    assert np.all(share.rate >= 0)
    assert np.all(share.rate[~sharing.computes] == 0)
    assert sharing.overload(share.rate) < 1e-9
    assert share.throughput == pytest.approx(sharing.throughput(share.rate), rel=1e-12)
    assert share.gap < tolerance
    prices = np.concatenate([share.host_price, share.link_price])
    assert np.all(prices >= 0)
    if math.isinf(alpha):
        return
    worth = sharing.weight * share.throughput**-alpha if alpha else sharing.weight
    price = ways(sharing, share)[sharing.computes] / worth[sharing.application[sharing.computes]]
    # No way is cheaper than a task is worth, and none is used that is more expensive.
    assert price.min() > 1 - tolerance
    part = share.rate / np.where(share.throughput > 0, share.throughput, 1.0)[sharing.application]
    used = part[sharing.computes]
    assert np.sum(used * np.where(used > 0, price - 1, 0.0)) < tolerance
    # A resource with a price is used up.
    load = np.concatenate([sharing.host_load(share.rate), sharing.link_load(share.rate)])
    capacity = np.concatenate([sharing.speed, sharing.bandwidth])
    assert np.sum(prices * (capacity - load)) < tolerance * (prices @ capacity)


@pytest.mark.parametrize(
    ("alpha", "decades"), [*product([0.1, 1.0, 5.0, math.inf], [3, 9, 12]), (0.0, 9)]
)
def test_alone_an_application_gets_all_that_its_tree_can_do(alpha, decades):
    for seed in range(40):
        sharing = random_sharing(seed)
        if sharing.n_applications > 1:
            continue
        sharing = with_slow_link(sharing, seed, 10.0**-decades)
        # From the leaves up: what a link lets pass of what is computed below it.
        flow = np.zeros(sharing.n_agents)
        for agent in range(sharing.n_agents - 1, -1, -1):
            flow[agent] += (
                sharing.computes[agent] * sharing.speed[sharing.host[agent]] / (sharing.flop[0])
            )
            if agent and sharing.byte[0]:
                limit = sharing.bandwidth[sharing.link[agent]] / sharing.byte[0]
                flow[agent] = min(flow[agent], limit)
            if agent:
                flow[sharing.parent[agent]] += flow[agent]
        assert fair_sharing(sharing, alpha).throughput == pytest.approx([flow[0]], rel=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("decades", [3, 6, 9])
def test_a_slow_link_is_shared_as_a_closed_form_says(alpha, decades):
    # "tied" may use the slow host only, "free" both: it fills what is left at its own price.
    slow = 10.0**-decades
    level = 0.3 * slow
    free = Application("free", "m", 1.0, 1.0)
    tied = Application("tied", "m", 1.0, 1.0, level**alpha, hosts=("y",))
    graph = Graph.duplex("mxy", [0.0, 1.0, 1.0], [[0, 1], [0, 2]], [1, slow])
    share = fair_sharing(deploy(graph, [free, tied]), alpha)
    both = (1 + slow) / (1 + level)
    assert share.throughput == pytest.approx([both, level * both], rel=1e-6)


def test_what_is_not_certified_is_refused_with_a_remedy(monkeypatch):
    def poor(ways: Paths, *_: object) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield np.ones(ways.sharing.n_agents), np.zeros(len(ways.resource))

    # The package has a function of the same name.
    module = import_module("simplugin.optimum.fair_sharing")
    monkeypatch.setattr(module, "_candidates", poor)
    with pytest.raises(UncertifiedError):
        fair_sharing(line((1.0, 1.0)))


def test_what_has_no_capacity_is_not_used_and_too_dear():
    graph = Graph.duplex("abc", [0.0, 2.0, 5.0], [[0, 1], [1, 2]], [[3.0, 3.0], [0.0, 0.0]])
    # The tree is given, as none would be laid over a link without bandwidth.
    trees = {"x": {"b": "a", "c": "b"}}
    sharing = deploy(graph, [Application("x", "a", 1.0, 1.0)], trees)
    sharing = replace(sharing, computes=np.array([True, True, True]))
    share = fair_sharing(sharing)
    assert share.throughput == pytest.approx([2.0])
    assert share.rate == pytest.approx([0.0, 2.0, 0.0])
    assert ways(sharing, share).min() >= 0.5 * (1 - 1e-12)
    assert np.isfinite(share.host_price).all()


# Speeds of two hosts without a bandwidth between them, the application, its tree, the culprit.
ALONE = Application("x", "h0", 1.0, 1.0)
UNREACHED = [
    ((0.0, 1.0), replace(ALONE, hosts=("h0",)), None, "'x'"),
    ((0.0, 0.0), ALONE, None, "'x'"),
    ((0.0, 1.0), ALONE, None, "'h1'"),
    ((0.0, 1.0), ALONE, {"x": {"h1": "h0"}}, "'h0->h1'"),
]


def cut_off(speed: tuple[float, float], *applications: Application, trees=None):
    """Return two hosts joined by links without bandwidth, and what is deployed on them."""
    return deploy(Graph.duplex(["h0", "h1"], speed, [[0, 1]], 0.0), applications, trees)


@pytest.mark.parametrize(("speed", "application", "trees", "culprit"), UNREACHED)
def test_an_application_that_reaches_no_host_is_named(speed, application, trees, culprit):
    with raises_naming(InfeasibleError, culprit):
        fair_sharing(cut_off(speed, application, trees=trees))


def test_tasks_without_data_need_no_bandwidth():
    share = fair_sharing(cut_off((0.0, 1.0), replace(ALONE, byte=0.0), trees=UNREACHED[-1][2]))
    assert share.throughput == pytest.approx([1.0])


@pytest.mark.parametrize("alpha", [-1.0, math.nan])
def test_an_alpha_below_0_is_refused(alpha):
    with raises_naming(WorkloadError, "alpha", alpha):
        fair_sharing(line((1.0, 1.0)), alpha)


def test_minimum_cuts_prove_what_each_application_reaches_alone():
    for each in instances(6):
        flows = Flows(each.sharing)
        capacity = np.concatenate([each.sharing.speed, each.sharing.bandwidth])
        for price, application in zip(flows.cuts(), each.applications, strict=True):
            alone = fair_sharing(deploy(each.graph, [application])).throughput
            assert np.sum(price * capacity) == pytest.approx(alone[0], rel=1e-9)
            cheapest = flows.cheapest(price)[each.applications.index(application)]
            assert cheapest == pytest.approx(1.0)


# Two equations and the bounds of a drawn platform: the fifth bound nearly follows from the others.
BOUND = np.array(
    [
        [1.607199164931365e-08, 1.1499913735763915e-06, 6.849456287857964e-10, 1.30785508298e-05],
        [1.5064466356025398e-05, 0.0, 0.0, 0.0],
        [0.0, 3.3002100171935180e-05, 1.9656359841395287e-08, 0.0],
        [5.1497067858321188e-06, 2.2396873151728993e-05, 1.3339787337741883e-08, 0.0],
        [2.5316657406292918e-11, 1.1010606780099797e-10, 4.2185982370705219e-08, 0.0],
    ]
)
EQUAL = np.array(
    [
        [8.384862880402372e-08, 4.192431440201186e-08, 4.192431440201186e-08, 0.0],
        [0.0, 0.0, 0.0, 4.028145062823968e-02],
    ]
)
WEIGHT = np.array([2.0, 1.0, 1.0, 0.10651608528489095])


def test_bounds_that_follow_from_others_are_no_failure():
    throughput = entropic(BOUND, EQUAL, WEIGHT)
    assert EQUAL @ throughput == pytest.approx([1.0, 1.0], rel=1e-10)
    assert (BOUND @ throughput).max() <= 1 + 1e-9
    # Three tight rows tell the first three; they are those of alpha 0.1 as well.
    tight = np.vstack([EQUAL[0, :3], BOUND[1, :3], BOUND[4, :3]])
    assert throughput[:3] == pytest.approx(np.linalg.solve(tight, np.ones(3)), rel=1e-7)
    assert throughput[3] == pytest.approx(1 / EQUAL[1, 3])
