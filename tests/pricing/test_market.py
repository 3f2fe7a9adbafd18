"""Markets of rates, and what accelerates them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin.seeded_instances import instance
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.methods import AcceleratedMarket, Market
from simplugin.pricing.policies.acceleration import MEMORY, SLACK, coefficients, mix, steady, total
from simplugin.pricing.policies.market import (
    MarketState,
    best_throughput,
    clear,
    first_metric,
    slots,
    with_metric,
)
from simplugin.workloads import AlphaFair, Application, SharedDeployment

LOG = AlphaFair(1.0)
FAST = AcceleratedMarket()


def star(speed: list[float], bandwidth: float, *applications: Application) -> SharedDeployment:
    """Return applications on a centre ``h0`` with leaves."""
    ends = np.array([[0, leaf] for leaf in range(1, len(speed))]).reshape(-1, 2)
    names = [f"h{host}" for host in range(len(speed))]
    return deploy(
        Graph.duplex(names, np.array(speed), ends, np.full(len(ends), bandwidth)), applications
    )


def end(sharing: SharedDeployment, alpha: float = 1.0, rounds: int = 300) -> MarketState:
    """Return the state after many rounds."""
    method, utility = Market(), AlphaFair(alpha)
    state = method.start(sharing, utility)
    for _ in range(rounds):
        state = method.round(sharing, utility, state)
    return state


BIDS = st.tuples(st.floats(-5, 20), st.floats(0.1, 10), st.floats(0.05, 20))


@given(st.lists(BIDS, min_size=1, max_size=8), st.floats(0.1, 30))
@settings(max_examples=100)
def test_a_market_projects_wishes_onto_what_fits(bids, capacity):
    # All on one host, so that all bids meet in one market.
    sharing = star(
        [capacity], 1.0, *(Application(f"a{i}", "h0", a, 0.0) for i, (_, a, _) in enumerate(bids))
    )
    request, demand, metric = np.array(bids).T
    state = Market().start(sharing, LOG)
    none = np.zeros(len(bids))
    state = replace(state, request=np.stack([request, none]))
    state = with_metric(sharing, state, np.stack([metric, none]))
    offer, price = clear(sharing, state)
    z, lam = offer[0], price[0]
    # The conditions that tell the nearest point, in the metric, of {z >= 0, demand z <= capacity}.
    assert lam >= 0
    assert np.all(z >= 0)
    assert demand @ z <= capacity * (1 + 1e-12)
    assert lam * (capacity - demand @ z) == pytest.approx(0, abs=1e-9)
    gradient = metric * (z - request) + lam * demand
    scale = 1e-10 * (metric * np.abs(request) + lam * demand + 1)
    assert np.all(gradient >= -scale)
    assert np.all(np.abs(gradient * (z > 0)) <= scale)


@given(
    st.floats(-1e3, 1e3),
    st.floats(1e-6, 1e6),
    st.floats(0.1, 10),
    st.sampled_from([0.2, 0.5, 1.0, 2.0, 4.0]),
)
@settings(max_examples=100)
def test_a_master_finds_its_best_throughput(middle, slack, weight, alpha):
    one = np.array([weight])
    reached, value = best_throughput(np.array([middle]), np.array([slack]), one, AlphaFair(alpha))
    # Stationarity of w U(rho) - (rho - m)^2 / 2u.
    rho = float(reached[0])
    assert rho > 0
    assert value[0] == pytest.approx(weight * rho**-alpha, rel=1e-12)
    assert rho - middle == pytest.approx(slack * value[0], rel=1e-9, abs=1e-12 * abs(middle))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize(("method", "number"), [(Market(), 4), (Market(), 15), (FAST, 11)])
def test_the_fixed_point_is_the_optimum(method, number, alpha):
    problem = instance(number).sharing
    weight = np.linspace(0.2, 5, problem.n_applications)
    sharing = replace(problem, weight=weight)
    found, best = iterate(method, sharing, AlphaFair(alpha), 900), fair_sharing(sharing, alpha)
    assert found.throughput[-1] == pytest.approx(best.throughput, rel=1e-8)
    assert found.overload[-1] < 1e-8
    # Strong duality: prices that are worth what tasks are worth prove the optimum.
    marginal = weight * AlphaFair(alpha).marginal(best.throughput)
    worth = sharing.speed @ found.host_price[-1] + sharing.bandwidth @ found.link_price[-1]
    assert worth == pytest.approx(float(marginal @ best.throughput), rel=1e-6)


@pytest.mark.parametrize("number", [0, 1])
def test_alpha_0_leads_to_the_largest_total_throughput(number):
    problem = instance(number).sharing
    best = fair_sharing(problem, 0.0).throughput.sum()
    reached = iterate(Market(), problem, AlphaFair(0.0), 300, prices=False)
    assert reached.throughput[-1].sum() == pytest.approx(best, rel=1e-9)
    assert reached.overload[-1] < 1e-9


# Medians and largest numbers of rounds to 1 %, and to 1e-6.
ROUNDS = [(Market(), (0.01, 40, 199)), (FAST, (0.01, 25, 150)), (FAST, (1e-6, 60, 299))]


@pytest.mark.parametrize(("method", "bound"), ROUNDS)
def test_every_throughput_is_right_in_few_rounds(method, bound):
    level, middle, most = bound
    rounds = []
    # Instances of all families and spreads.
    for number in (0, 2, 4, 8, 15, 16, 24, 29, 32):
        sharing = instance(number).sharing
        best = fair_sharing(sharing).throughput
        error = throughput_error(iterate(method, sharing, LOG, 300, prices=False), best)
        rounds.append(settled(error, level) or math.inf)
    assert np.median(rounds) <= middle
    assert max(rounds) <= most


def test_agents_of_one_application_share_links(deployment):
    _, _, sharing = deployment
    state, best = end(sharing, rounds=900), fair_sharing(sharing)
    assert sharing.throughput(state.rate) == pytest.approx(best.throughput, rel=1e-8)
    full = state.link_price * sharing.bandwidth > 1e-6
    assert sharing.link_load(state.rate)[full] == pytest.approx(sharing.bandwidth[full], rel=1e-8)


def test_offers_never_exceed_what_a_resource_has():
    # Also long before throughputs are right.
    sharing = instance(8).sharing
    method = Market()
    state = method.start(sharing, LOG)
    for _ in range(25):
        state = method.round(sharing, LOG, state)
        taken = (state.slots.demand * state.offer).ravel()
        # What is beyond the capacities is of agents without a slot.
        load = np.bincount(state.slots.resource, taken)[: len(state.slots.capacity)]
        assert np.all(load <= state.slots.capacity * (1 + 1e-12))
        assert state.offer.min() >= 0
        assert state.price.min() >= 0


def test_what_has_no_capacity_gets_nothing():
    ends, bandwidth = np.array([[0, 1], [0, 2], [2, 3]]), np.array([5.0, 0.0, 9.0])
    graph = Graph.duplex("abcd", np.array([4.0, 8.0, 0.0, 2.0]), ends, bandwidth)
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


def test_tasks_without_data_cross_links_for_nothing():
    sharing = star([1.0, 7.0], 1e-6, Application("a", "h0", 1.0, 0.0))
    state = end(sharing)
    assert sharing.throughput(state.rate) == pytest.approx([8], rel=1e-12)
    assert state.link_price.max() == 0


def test_an_application_that_reaches_no_host_is_named():
    sharing = star([0.0, 4.0], 0.0, Application("stuck", "h0", 1.0, 1.0))
    with raises_naming(InfeasibleError, "'stuck'"):
        slots(sharing)


def test_bounds_are_what_an_agent_could_get_alone():
    # Master 3 tasks/s; behind links of 4 tasks/s, leaves of 10 and 2.
    sharing = star([6.0, 20.0, 4.0], 12.0, Application("a", "h0", 2.0, 3.0))
    asked = slots(sharing)
    assert asked.bound.tolist() == [[3, 10, 2], [0, 4, 2]]
    assert asked.alone.tolist() == [9]


def test_the_first_metric_needs_bounds_alone():
    sharing = star([6.0, 20.0, 4.0], 12.0, Application("a", "h0", 2.0, 3.0))
    state = Market().start(sharing, LOG)
    # U' = 1/9 over the least of bound and throughput, halved.
    expected = [[0.5 / 27, 0.5 / 81, 0.5 / 18], [0, 0.5 / 36, 0.5 / 18]]
    assert first_metric(sharing, LOG, state).tolist() == [pytest.approx(row) for row in expected]
    assert state.request.tolist() == np.zeros((2, 3)).tolist()


def test_units_change_nothing():
    # Rounds in tasks and in dozens of tasks, flop and Tflop, are the same rounds.
    problem = instance(8).sharing
    other = replace(
        problem, flop=problem.flop * 12e-12, byte=problem.byte * 12, speed=problem.speed * 1e-12
    )
    here = iterate(Market(), problem, LOG, 40).throughput
    there = iterate(Market(), other, LOG, 40).throughput
    assert there[1:] * 12 == pytest.approx(here[1:], rel=1e-9)


@pytest.mark.parametrize("relaxation", [0, 2.0, float("nan"), "1"])
def test_a_relaxation_out_of_range_is_refused(relaxation):
    with raises_naming(WorkloadError, "relaxation", repr(relaxation)):
        Market(relaxation=relaxation)  # type: ignore[arg-type]


def test_residuals_never_grow_far():
    # What makes divergence impossible while the metric stays.
    sharing = instance(15).sharing
    method = AcceleratedMarket()
    state = method.start(sharing, LOG)
    mixed = undone = 0
    for _ in range(200):
        before, state = state, method.round(sharing, LOG, state)
        mixed += state.plain is not None
        undone += before.plain is not None and len(state.requests) == 1
        if len(before.requests) and len(state.requests) > len(before.requests):
            # Down to rounding.
            assert state.products[-1, -1] <= max(SLACK * before.least, 1e-26)
        assert len(state.requests) == len(state.residuals) == len(state.products)
        assert len(state.requests) <= MEMORY + 1
    assert mixed > 100
    assert undone > 0


def test_a_mix_that_proves_worse_is_undone():
    sharing = instance(8).sharing
    method = AcceleratedMarket()
    state = method.start(sharing, LOG)
    while state.plain is None or state.market.next_metric <= state.market.number + 3:
        state = method.round(sharing, LOG, state)
    spoilt = replace(state, market=replace(state.market, request=state.market.request * 3))
    after = method.round(sharing, LOG, spoilt)
    # The allocation stays, the requests are those of the plain step, and one round is remembered.
    assert np.array_equal(after.rate, state.rate)
    assert np.array_equal(after.market.request, state.plain)
    assert len(after.requests) == 1
    assert after.plain is None
    assert after.market.number == state.market.number + 1


def test_sums_along_the_trees_are_inner_products():
    sharing = instance(4).sharing
    generator = np.random.default_rng(0)
    metric = generator.uniform(0, 2, (2, sharing.n_agents))
    residuals = tuple(generator.normal(size=(2, sharing.n_agents)) for _ in range(3))
    expected = [(metric * residuals[-1] * other).sum() for other in residuals]
    assert total(sharing, metric, residuals[-1], residuals) == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, MEMORY + 1))
@settings(max_examples=50)
def test_coefficients_solve_the_least_squares(seed, count):
    residuals = np.random.default_rng(seed).normal(size=(count, 40))
    gamma = coefficients(residuals @ residuals.T)
    differences = np.diff(residuals, axis=0).T
    expected = np.linalg.lstsq(differences, residuals[-1], rcond=None)[0]
    assert gamma == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_a_linear_map_is_solved_in_as_many_rounds_as_it_has_dimensions():
    # Anderson's method is then GMRES [Walker, Ni 2011].
    matrix = np.diag([0.9, 0.5, -0.3])
    requests: tuple[np.ndarray, ...] = ()
    residuals: tuple[np.ndarray, ...] = ()
    point = np.array([1.0, 1.0, 1.0])
    for _ in range(4):
        requests, residuals = (*requests, point), (*residuals, matrix @ point - point)
        stacked = np.array(residuals)
        if len(requests) > 1:
            point = mix(requests, residuals, coefficients(stacked @ stacked.T))
        else:
            point = point + residuals[-1]
    # But for the ridge; plain rounds would have left 0.9^4 = 0.66.
    assert np.abs(point).max() < 5e-3


def test_a_residual_that_stays_is_a_drift():
    once = np.array([[1.0, 0.0], [1.0, 0.02]])
    assert steady(once @ once.T)
    turned = np.array([[1.0, 0.0], [1.0, 0.2]])
    assert not steady(turned @ turned.T)


def test_repeated_residuals_do_no_harm():
    same = np.ones((3, 5))
    assert coefficients(same @ same.T).tolist() == [0.0, 0.0]


def test_plain_rounds_are_the_market_s():
    # The first two rounds are not mixed.
    sharing = instance(4).sharing
    plain = iterate(Market(), sharing, LOG, 2).throughput
    assert np.array_equal(iterate(AcceleratedMarket(), sharing, LOG, 2).throughput, plain)
