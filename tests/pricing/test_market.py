from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.policies.market import (
    Market,
    MarketState,
    best_throughput,
    clear,
    first_metric,
    slots,
    with_metric,
)
from simplugin.pricing.seeded_instances import instance
from simplugin.workloads import AlphaFair, Application, Sharing

LOG = AlphaFair(1.0)


def star(speed: list[float], bandwidth: float, *applications: Application) -> Sharing:
    """Return applications on a centre ``h0`` with leaves."""
    ends = np.array([[0, leaf] for leaf in range(1, len(speed))]).reshape(-1, 2)
    names = [f"h{host}" for host in range(len(speed))]
    return deploy(
        Graph.duplex(names, np.array(speed), ends, np.full(len(ends), bandwidth)), applications
    )


def end(sharing: Sharing, alpha: float = 1.0, rounds: int = 300) -> MarketState:
    """Return the state after many rounds."""
    method, utility = Market(), AlphaFair(alpha)
    state = method.start(sharing, utility)
    for _ in range(rounds):
        state = method.round(sharing, utility, state)
    return state


# Two agents of one application, and one of another, behind one backbone: a dumbbell whose links
# 0 (backbone), 1 and 2 lead to hosts 1 and 2.
BACKBONE = Sharing(
    applications=("a", "b"),
    hosts=("m", "p", "q"),
    links=("backbone", "to p", "to q"),
    flop=np.array([1.0, 2.0]),
    byte=np.array([3.0, 1.0]),
    weight=np.array([1.0, 2.0]),
    speed=np.array([1.0, 10.0, 6.0]),
    bandwidth=np.array([12.0, 20.0, 30.0]),
    application=np.array([0, 1, 0, 0, 1, 0, 0, 1]),
    host=np.array([0, 0, 1, 2, 1, 1, 2, 1]),
    father=np.array([-1, -1, 0, 0, 1, 2, 3, 4]),
    link=np.array([-1, -1, 0, 0, 0, 1, 2, 1]),
    computes=np.array([True, True, False, False, False, True, True, True]),
)


@given(
    st.lists(
        st.tuples(st.floats(-5, 20), st.floats(0.1, 10), st.floats(0.05, 20)),
        min_size=1,
        max_size=8,
    ),
    st.floats(0.1, 30),
)
@settings(max_examples=200)
def test_a_market_projects_wishes_onto_what_fits(
    bids: list[tuple[float, float, float]], capacity: float
) -> None:
    # All on one host, so that all bids meet in one market.
    sharing = star(
        [capacity], 1.0, *(Application(f"a{i}", "h0", a, 0.0) for i, (_, a, _) in enumerate(bids))
    )
    wish, demand, metric = np.array(bids).T
    state = Market().start(sharing, LOG)
    none = np.zeros(len(bids))
    state = replace(state, wish=np.stack([wish, none]), metric=np.stack([metric, none]))
    offer, price = clear(state)
    z, lam = offer[0], price[0]
    # The conditions that tell the nearest point, in the metric, of {z >= 0, demand z <= capacity}.
    assert lam >= 0
    assert np.all(z >= 0)
    assert demand @ z <= capacity * (1 + 1e-12)
    assert lam * (capacity - demand @ z) == pytest.approx(0, abs=1e-9)
    gradient = metric * (z - wish) + lam * demand
    scale = 1e-10 * (metric * np.abs(wish) + lam * demand + 1)
    assert np.all(gradient >= -scale)
    assert np.all(np.abs(gradient * (z > 0)) <= scale)


@given(
    st.floats(-1e3, 1e3),
    st.floats(1e-6, 1e6),
    st.floats(0.1, 10),
    st.sampled_from([0.2, 0.5, 1.0, 2.0, 4.0]),
)
@settings(max_examples=300)
def test_a_master_finds_its_best_throughput(
    middle: float, slack: float, weight: float, alpha: float
) -> None:
    one = np.array([weight])
    reached, value = best_throughput(np.array([middle]), np.array([slack]), one, AlphaFair(alpha))
    # Stationarity of w U(rho) - (rho - m)^2 / 2u.
    rho = float(reached[0])
    assert rho > 0
    assert value[0] == pytest.approx(weight * rho**-alpha, rel=1e-12)
    assert rho - middle == pytest.approx(slack * value[0], rel=1e-9, abs=1e-12 * abs(middle))


def test_a_plan_is_the_best_answer_along_the_tree() -> None:
    # The sweeps against cvxpy: utilities and the pull to the answers, flows kept.
    import cvxpy as cp

    from simplugin.pricing.policies.market import plan_applications

    generator = np.random.default_rng(5)
    sharing = BACKBONE
    state = Market().start(sharing, LOG)
    has = state.slots.bound > 0
    metric = np.where(has, generator.uniform(0.5, 2.0, has.shape), 0.0)
    answer = np.where(has, generator.uniform(-1.0, 3.0, has.shape), 0.0)
    state = with_metric(sharing, state, metric)
    plan, worth, reached = plan_applications(sharing, LOG, state, answer)
    x, f = cp.Variable(sharing.n_agents), cp.Variable(sharing.n_agents)
    rho = cp.Variable(2)
    sons = [np.flatnonzero(sharing.father == n) for n in range(sharing.n_agents)]
    flows = [
        (f[n] if sharing.father[n] >= 0 else rho[sharing.application[n]])
        == x[n] + sum(f[c] for c in sons[n])
        for n in range(sharing.n_agents)
    ]
    pull = cp.sum(cp.multiply(metric[0] / 2, (x - answer[0]) ** 2))
    pull += cp.sum(cp.multiply(metric[1] / 2, (f - answer[1]) ** 2))
    none = [x[n] == 0 for n in np.flatnonzero(~has[0])]
    problem = cp.Problem(cp.Maximize(sharing.weight @ cp.log(rho) - pull), [*flows, *none])
    tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    problem.solve(solver=cp.CLARABEL, **tight)
    assert reached == pytest.approx(rho.value, rel=1e-6)
    assert plan[0] == pytest.approx(np.where(has[0], x.value, 0), abs=1e-6)
    assert plan[1] == pytest.approx(np.where(has[1], f.value, 0), abs=1e-6)
    assert worth == pytest.approx(metric * (plan - answer), abs=1e-12)


def test_one_host_is_shared_by_weight() -> None:
    # Proportional fairness in one bottleneck: computation in proportion to weights.
    sharing = star(
        [6e9], 1.0, Application("a", "h0", 1e3, 0.0), Application("b", "h0", 2e6, 0.0, weight=2)
    )
    state = end(sharing)
    assert state.rate == pytest.approx([2e9 / 1e3, 4e9 / 2e6], rel=1e-12)
    assert state.host_price == pytest.approx([3 / 6e9], rel=1e-12)


def test_a_link_costs_what_it_holds_back() -> None:
    # A master that computes nothing, a link of 10 tasks/s to a host of 100.
    sharing = star([0.0, 200.0], 50.0, Application("a", "h0", 2.0, 5.0))
    state = end(sharing)
    assert sharing.throughput(state.rate) == pytest.approx([10], rel=1e-12)
    assert state.link_price == pytest.approx([1 / 50, 0], abs=1e-12)
    assert state.host_price == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("number", [4, 11, 15])
def test_the_fixed_point_is_the_optimum(number: int, alpha: float) -> None:
    problem = instance(number).sharing
    weight = np.linspace(0.5, 2, problem.n_applications)
    sharing = replace(problem, weight=weight)
    state = end(sharing, alpha, 900)
    best = fair_sharing(sharing, alpha)
    assert sharing.throughput(state.rate) == pytest.approx(best.throughput, rel=1e-8)
    assert sharing.overload(state.rate) < 1e-8
    # Strong duality: prices that are worth what tasks are worth prove the optimum.
    marginal = weight * AlphaFair(alpha).marginal(best.throughput)
    worth = sharing.speed @ state.host_price + sharing.bandwidth @ state.link_price
    assert worth == pytest.approx(float(marginal @ best.throughput), rel=1e-6)


def test_shadow_prices_are_the_optimum_s() -> None:
    # Random capacities in general position: prices are unique, and cvxpy finds the same.
    problem = instance(8).sharing
    state = end(problem, rounds=1500)
    best = fair_sharing(problem)
    largest = best.host_price.max()
    assert state.host_price == pytest.approx(best.host_price, abs=1e-6 * largest)


def test_agents_of_one_application_share_a_backbone() -> None:
    state = end(BACKBONE)
    best = fair_sharing(BACKBONE)
    assert BACKBONE.throughput(state.rate) == pytest.approx(best.throughput, rel=1e-10)
    assert state.link_price[0] > 0
    load = BACKBONE.link_load(state.rate)
    assert load[0] == pytest.approx(BACKBONE.bandwidth[0], rel=1e-10)


def test_offers_never_exceed_what_a_resource_has() -> None:
    # Also long before throughputs are right.
    sharing = instance(8).sharing
    method = Market()
    state = method.start(sharing, LOG)
    for _ in range(25):
        state = method.round(sharing, LOG, state)
        used = state.slots.used
        taken = (state.slots.demand * state.offer).ravel()[used]
        load = np.bincount(state.slots.resource, taken, len(state.slots.capacity))
        assert np.all(load <= state.slots.capacity * (1 + 1e-12))
        assert state.offer.min() >= 0
        assert state.price.min() >= 0


def test_what_has_no_capacity_gets_nothing() -> None:
    graph = Graph.duplex(
        "abcd",
        np.array([4.0, 8.0, 0.0, 2.0]),
        np.array([[0, 1], [0, 2], [2, 3]]),
        np.array([5.0, 0.0, 9.0]),
    )
    tree = {"b": "a", "c": "a", "d": "c"}
    sharing = deploy(graph, [Application("k", "a", 1.0, 1.0)], {"k": tree})
    state = end(sharing)
    hosts = [sharing.hosts[host] for host in sharing.host]
    # Host a computes 4, host b what the link lets through, and nothing gets past a link without
    # bandwidth.
    assert dict(zip(hosts, state.rate.tolist(), strict=True)) == pytest.approx(
        {"a": 4, "b": 5, "c": 0, "d": 0}, abs=1e-9
    )
    assert np.all(np.isfinite(state.price))


def test_tasks_without_data_cross_links_for_nothing() -> None:
    sharing = star([1.0, 7.0], 1e-6, Application("a", "h0", 1.0, 0.0))
    state = end(sharing)
    assert sharing.throughput(state.rate) == pytest.approx([8], rel=1e-12)
    assert state.link_price.max() == 0


def test_an_application_that_reaches_no_host_is_named() -> None:
    sharing = star([0.0, 4.0], 0.0, Application("stuck", "h0", 1.0, 1.0))
    with pytest.raises(InfeasibleError, match="'stuck' reaches no host"):
        slots(sharing)


def test_bounds_are_what_an_agent_could_get_alone() -> None:
    # Master 3 tasks/s; behind links of 4 tasks/s, leaves of 10 and 2.
    sharing = star([6.0, 20.0, 4.0], 12.0, Application("a", "h0", 2.0, 3.0))
    asked = slots(sharing)
    assert asked.bound.tolist() == [[3, 10, 2], [0, 4, 2]]
    assert asked.alone.tolist() == [9]


def test_the_first_metric_needs_bounds_alone() -> None:
    sharing = star([6.0, 20.0, 4.0], 12.0, Application("a", "h0", 2.0, 3.0))
    state = Market().start(sharing, LOG)
    # U' = 1/9 over the least of bound and throughput, halved.
    expected = [[0.5 / 27, 0.5 / 81, 0.5 / 18], [0, 0.5 / 36, 0.5 / 18]]
    assert first_metric(sharing, LOG, state).tolist() == [pytest.approx(row) for row in expected]
    assert state.wish.tolist() == np.zeros((2, 3)).tolist()


def test_units_change_nothing() -> None:
    # Rounds in tasks and in dozens of tasks, flop and Tflop, are the same rounds.
    problem = instance(8).sharing
    other = replace(
        problem, flop=problem.flop * 12e-12, byte=problem.byte * 12, speed=problem.speed * 1e-12
    )
    here = iterate(Market(), problem, LOG, 40).throughput
    there = iterate(Market(), other, LOG, 40).throughput
    assert there[1:] * 12 == pytest.approx(here[1:], rel=1e-9)


def test_relaxation_changes_the_way_not_the_end() -> None:
    sharing = instance(11).sharing
    best = fair_sharing(sharing).throughput
    for relaxation in (0.25, 1.0, 1.9):
        found = iterate(Market(relaxation), sharing, LOG, 900)
        assert found.throughput[-1] == pytest.approx(best, rel=1e-6)


def test_every_throughput_is_soon_within_one_percent() -> None:
    # Local knowledge only; a sample of the campaign's instances.
    rounds = []
    for number in range(0, 48, 4):
        sharing = instance(number).sharing
        best = fair_sharing(sharing).throughput
        error = throughput_error(iterate(Market(), sharing, LOG, 400), best)
        rounds.append(settled(error, 0.01) or math.inf)
    assert np.median(rounds) <= 40
    assert max(rounds) < math.inf


@pytest.mark.parametrize("number", [0, 1, 2])
def test_alpha_0_leads_to_the_largest_total_throughput(number: int) -> None:
    problem = instance(number).sharing
    best = fair_sharing(problem, 0.0).throughput.sum()
    reached = iterate(Market(), problem, AlphaFair(0.0), 300, prices=False)
    assert reached.throughput[-1].sum() == pytest.approx(best, rel=1e-9)
    assert reached.overload[-1] < 1e-9


@pytest.mark.parametrize("relaxation", [0, 2.0, -1, float("nan"), "1", True])
def test_a_relaxation_out_of_range_is_refused(relaxation: object) -> None:
    with pytest.raises(WorkloadError, match=r"relaxation is .*; give a number between 0 and 2"):
        Market(relaxation=relaxation)  # type: ignore[arg-type]


def test_max_min_fairness_is_refused() -> None:
    with pytest.raises(WorkloadError, match="give a finite alpha"):
        Market().start(instance(0).sharing, AlphaFair(float("inf")))
