"""Gradients and other baselines: rounds by hand, and the optimum that they reach."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming
from numpy_rounds import host_demand, link_demand
from pricing_baselines import AutomaticGradient, PrimalDual

from simplugin.core.errors import SimpluginError, WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.pricing import Market, negotiate
from simplugin.pricing.deployment import deploy
from simplugin.pricing.iteration import iterate, throughput_error
from simplugin.pricing.methods import Gradient
from simplugin.pricing.policies.gradient import (
    AgentSteps,
    GradientAssumptions,
    StepSizes,
    next_price,
    path_price,
)
from simplugin.workloads import AlphaFair, Application, SharedDeployment
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS

LOG = AlphaFair(1.0)
EASY = StepSizes(
    0.5, 0.25, 2.0, 0.1, 0.2, start_rate=4.0, start_host_price=0.5, start_link_price=1.0
)


def pair(bandwidth: float = 6.0, byte: float = 3.0) -> SharedDeployment:
    """Return one application at the first of two hosts, of 10 and 20 flop/s."""
    graph = Graph.duplex("ab", np.array([10.0, 20.0]), np.array([[0, 1]]), np.array([bandwidth]))
    return deploy(graph, [Application("k", "a", flop=2.0, byte=byte)])


def shared_link() -> SharedDeployment:
    """Return one application whose two routes of two links both start with link 0.

    Agent 1 only forwards, on the host of agent 2, as agents of routes of several links do; so
    does agent 3 of the other route.
    """
    return SharedDeployment(
        ("k",),
        ("m", "p", "q"),
        ("backbone", "to p", "to q"),
        flop=np.array([2.0]),
        byte=np.array([3.0]),
        weight=np.array([1.0]),
        speed=np.array([10.0, 10.0, 10.0]),
        bandwidth=np.array([5.0, 6.0, 7.0]),
        application=np.zeros(5, int),
        host=np.array([0, 1, 2, 1, 2]),
        parent=np.array([-1, 0, 0, 1, 2]),
        link=np.array([-1, 0, 0, 1, 2]),
        computes=np.array([True, False, False, True, True]),
    )


def test_a_round_by_hand():
    """Scaled, with two hosts and a link: the numbers are worked out on paper."""
    state = Gradient(steps=EASY).start(pair(), LOG)
    after = Gradient(steps=EASY).round(pair(), LOG, state)
    # rho_k = 8; p = 2 * 0.5 = 1 at a, 3 * 1 + 1 = 4 at b; 4 + 2 (1 - 8 p), both below 0.
    assert after.rate.tolist() == [0.0, 0.0]
    # Denominators 2^2 * 8 = 32 and 3^2 * 8 = 72; loads 8, 8 and 12.
    assert after.host_price == pytest.approx(
        [0.5 + 0.1 * (8 - 10) / 32, 0.5 + 0.1 * (8 - 20) / 32], rel=1e-15
    )
    assert after.link_price == pytest.approx([1 + 0.2 * (12 - 6) / 72, 0.0], rel=1e-15)
    again = Gradient(steps=EASY).round(pair(), LOG, after)
    # rho_k = 0 now: 0.75 * 0 + 0.25 * 4 + 2 * 1; nobody asks for anything.
    assert again.rate.tolist() == [3.0, 3.0]
    assert again.memory.tolist() == [2.0, 2.0]
    assert again.host_price.tolist() == [0.0, 0.0]
    assert again.link_price.tolist() == [0.0, 0.0]


def test_an_unscaled_round_by_hand():
    """Prices move by the overload itself, and stop at 0."""
    method = Gradient(scaled=False, steps=EASY)
    after = method.round(pair(), LOG, method.start(pair(), LOG))
    assert after.host_price == pytest.approx([0.5 + 0.1 * (8 - 10), 0.0], rel=1e-15)
    assert after.link_price == pytest.approx([1 + 0.2 * (12 - 6), 0.0], rel=1e-15)


def test_equation_12_by_hand():
    """Eq. (12) draws to the marginal utility less the price; at 0 throughput, to the least's."""
    method = Gradient(steps=replace(EASY, least=0.5), reading=GradientAssumptions(normalised=False))
    state = method.start(pair(), LOG)
    state = replace(state, rate=np.array([4.0, 12.0]))
    assert method.round(pair(), LOG, state).rate == pytest.approx(
        [4 + 2 * (1 / 16 - 1), 0.75 * 12 + 1 + 2 * (1 / 16 - 4)]
    )
    state = replace(state, rate=np.zeros(2))
    assert method.round(pair(), LOG, state).rate == pytest.approx([1 + 2 * (2 - 1), 0.0])


def test_readings_by_hand():
    """Late throughputs, fresh denominators and managers that see new rates, on one host."""
    sharing = deploy(
        Graph.duplex("a", np.array([10.0]), np.zeros((0, 2), int), np.zeros(0)),
        [Application("k", "a", flop=2.0, byte=0.0)],
    )
    steps = replace(EASY, start_host_price=0.25)
    state = Gradient(steps=steps).start(sharing, LOG)
    state = replace(state, rate=np.array([2.0]), received=np.array([8.0]))

    def after(**choices: bool) -> tuple[float, float]:
        found = Gradient(steps=steps, reading=GradientAssumptions(**choices)).round(
            sharing, LOG, state
        )
        assert found.received.tolist() == [2.0]
        return found.rate[0], found.host_price[0]

    # p = 0.5; drawn 0.75 * 2 + 0.25 * 4 = 2.5; new rate 2.5 + 2 (1 - rho_k / 2).
    assert after() == pytest.approx((2.5, 0.25 + 0.1 * (4 - 10) / 8))
    assert after(late=True) == pytest.approx((0.0, 0.25 + 0.1 * (4 - 10) / 32))
    assert after(late=True, fresh=True) == pytest.approx((0.0, 0.25 + 0.1 * (4 - 10) / 8))
    assert after(seidel=True) == pytest.approx((2.5, 0.25 + 0.1 * (5 - 10) / 8))
    assert after(seidel=True, fresh=True) == pytest.approx((2.5, 0.25 + 0.1 * (5 - 10) / 10))


def test_agents_of_one_application_share_a_link():
    """Prices add up along the chain; loads, routes and denominators add up on the link."""
    sharing = shared_link()
    assert path_price(sharing, np.array([1.0, 2.0, 4.0])).tolist() == [0, 1, 1, 3, 5]
    state = Gradient(steps=EASY).start(sharing, LOG)
    assert state.rate.tolist() == [4, 0, 0, 4, 4]
    assert state.count.tolist() == [3, 1, 1, 1, 1]
    assert host_demand(sharing, np.array([12.0])).tolist() == [48.0, 48.0, 48.0]
    assert link_demand(sharing, np.array([12.0]), state.count).tolist() == [216.0, 108.0, 108.0]
    after = Gradient(steps=EASY).round(sharing, LOG, state)
    assert after.link_price == pytest.approx(
        [1 + 0.2 * (24 - 5) / 216, 1 + 0.2 * (12 - 6) / 108, 1 + 0.2 * (12 - 7) / 108]
    )
    free = replace(state, host_price=np.zeros(3), link_price=np.zeros(3))
    # Agents that only forward keep a rate of 0.
    assert Gradient(steps=EASY).round(sharing, LOG, free).rate.tolist() == [6, 0, 0, 6, 6]


def test_the_count_of_routes_can_be_left_out():
    """A link above two hosts has twice the denominator with the count."""
    graph = Graph.duplex("abc", np.full(3, 10.0), np.array([[0, 1], [1, 2]]), np.full(2, 6.0))
    sharing = deploy(graph, [Application("k", "a", flop=2.0, byte=3.0)])
    for counted, routes in ((True, 2), (False, 1)):
        method = Gradient(steps=EASY, reading=GradientAssumptions(counted=counted))
        after = method.round(sharing, LOG, method.start(sharing, LOG))
        first = sharing.links.index("a->b")
        assert after.link_price[first] == pytest.approx(1 + 0.2 * (24 - 6) / (routes * 9 * 12))


@given(
    st.floats(0, 1e3),
    st.floats(0, 1e9),
    st.floats(0, 1e9),
    st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1e30]),
)
def test_prices_are_finite_or_above(price, load, capacity, demand):
    """No denominator gives a negative price or none at all; 0 gives 0."""
    found = float(next_price(price, load, capacity, demand, 0.5))
    assert found >= 0
    if demand == 0:
        assert found == 0
    elif demand == 1.0:
        assert found == max(price + 0.5 * (load - capacity), 0)


MODERATE = StepSizes(0.2, 0.2, 0.05, 1.0, 1.0, 0.5, 1.0, 1.0)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_two_applications_share_a_host(alpha):
    """With one host the throughputs go as (weight / flop) ** (1 / alpha)."""
    flop, weight = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    graph = Graph.duplex("a", np.array([2.0]), np.zeros((0, 2), int), np.zeros(0))
    both = [Application(str(k), "a", flop[k], byte=0.0, weight=weight[k]) for k in range(2)]
    sharing = deploy(graph, both)
    found = iterate(Gradient(steps=MODERATE), sharing, AlphaFair(alpha), 3000)
    parts = (weight / flop) ** (1 / alpha)
    best = parts * 2.0 / (flop @ parts)
    assert found.throughput[-1] == pytest.approx(best, rel=1e-6)
    assert found.host_price[-1] == pytest.approx(weight[0] * best[0] ** -alpha / flop[0], rel=1e-6)


@pytest.mark.parametrize("method", [Gradient(), Market()])
def test_max_min_fairness_is_refused(method):
    """It has no utility to follow the gradient of, or to trade."""
    with raises_naming(WorkloadError, "alpha"):
        method.start(pair(), AlphaFair(math.inf))


def test_step_sizes_by_application_are_those_of_its_agents_alone():
    """Two applications that share nothing go through the same rounds as each of them alone."""
    graph = Graph.duplex("ab", np.array([10.0, 20.0]), np.zeros((0, 2), int), np.zeros(0))
    applications = [Application(name, name, 2.0, 0.0) for name in "ab"]
    each = {name: (0.1 + 0.1 * k, 0.9 - 0.1 * k) for k, name in enumerate(AgentSteps._fields)}
    priced = {"host": (0.1, 0.2), "start_host_price": (0.5, 0.25)}
    for reading in (GradientAssumptions(), GradientAssumptions(normalised=False)):
        both = deploy(graph, applications)
        method = Gradient(steps=StepSizes(**each, **priced), reading=reading)
        found = iterate(method, both, LOG, 9).throughput
        for k in range(2):
            own = {name: values[k] for name, values in each.items()}
            alone = deploy(graph, [applications[k]])
            method = Gradient(steps=StepSizes(**own, **priced), reading=reading)
            single = iterate(method, alone, LOG, 9)
            assert found[:, k].tolist() == single.throughput[:, 0].tolist()


def test_step_sizes_by_application_reach_the_optimum_where_one_for_all_does_not():
    """On the report's five hosts, with throughputs 190 times apart."""
    graph = Graph.duplex("ABCDE", np.full(5, 5e8), [(0, 3), (0, 1), (1, 2), (2, 4)], 5e8)
    first, second, third = FIVE_HOSTS_APPLICATIONS
    large = replace(third, flop=100 * third.flop, byte=100 * third.byte)
    sharing = deploy(graph, [first, second, large])
    best = fair_sharing(sharing).throughput
    own = StepSizes(0.02, 0.02, tuple(0.02 * best), host=1e-5, link=1e-6)
    for steps, near in ((own, True), (replace(own, utility=0.02 * best.max()), False)):
        error = throughput_error(iterate(Gradient(steps=steps), sharing, LOG, 2500), best)
        assert (error[-1] < 1e-6) == near
        assert (error[-1] > 0.1) != near


WRONG_STEPS = [
    ({"utility": (1.0, 2.0)}, "utility 2 1"),
    ({"host": [0.1]}, "host 1 2"),
    ({"start_link_price": np.ones(3)}, "start_link_price 3 2"),
    ({"rate": (0.1, -1.0)}, "rate (0.1, -1.0)"),
]


@pytest.mark.parametrize(("steps", "named"), WRONG_STEPS)
def test_step_sizes_that_do_not_fit_are_refused(steps, named):
    with raises_naming(WorkloadError, *named.split()):
        Gradient(steps=StepSizes(**steps)).start(pair(), LOG)


@pytest.mark.parametrize(("product", "stable"), [(0.5, False), (0.03, False), (0.015, True)])
def test_steps_converge_below_the_pull_and_not_below_1(product, stable):
    """The report's condition of stability, a product below 1, does not suffice.

    Rates shifted between two hosts follow a linear map as long as prices are positive.
    """
    pull, utility = 0.02, 100.0
    shift = np.array([[1 - pull, pull, -1.0], [pull, 1 - pull, 0.0], [product, 0.0, 1.0]])
    assert (np.abs(np.linalg.eigvals(shift)).max() < 1) == stable
    graph = Graph.duplex("ab", np.array([1e6, 1e6]), np.array([[0, 1]]), np.array([1e12]))
    sharing = deploy(graph, [Application("k", "a", flop=1000.0, byte=0.0)])
    steps = StepSizes(pull, pull, utility, product / utility, 0.0, 1e3, 5e-7, 0.0)
    method = Gradient(steps=steps)
    state = method.start(sharing, LOG)
    # A thousandth of 1000 tasks/s is moved from one to the other.
    state = replace(state, rate=np.array([1001.0, 999.0]))
    found = iterate(method, sharing, LOG, 4000, start=state, rates=True).rates
    assert found is not None
    last = np.abs(found[-500:] / 1000 - 1).max()
    assert last < 1e-6 if stable else last > 0.01


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "method", [AutomaticGradient(), PrimalDual()], ids=lambda m: type(m).__name__
)
def test_throughputs_and_prices_are_optimal(deployment, method, alpha):
    _, _, sharing = deployment
    best = fair_sharing(sharing, alpha)
    found = iterate(method, sharing, AlphaFair(alpha), 4000)
    assert throughput_error(found, best.throughput)[-1] < 1e-2
    if isinstance(method, PrimalDual):
        assert throughput_error(found, best.throughput)[-1] < 1e-4
        worth = np.concatenate([sharing.speed, sharing.bandwidth])
        seen = np.concatenate([found.host_price[-1], found.link_price[-1]]) * worth
        expected = np.concatenate([best.host_price, best.link_price]) * worth
        assert seen.sum() == pytest.approx(expected.sum(), rel=1e-3)


def test_a_primal_dual_round_by_hand():
    """One host and one application, whose units cancel: F = 5, a = 2, c = 10."""
    graph = Graph.duplex("a", np.array([10.0]), np.zeros((0, 2), int), np.zeros(0))
    sharing = deploy(graph, [Application("k", "a", flop=2.0, byte=0.0)])
    method, log = PrimalDual(balance=1.0), AlphaFair(1.0)
    state = method.start(sharing, log)
    assert state.value == pytest.approx([1 / 5])
    # Column: 5 * 2 / 10 + 1 = 2, so tau = 25 / 2; row of the host 1, in units of 1 / 10 each.
    state = method.round(sharing, log, state)
    assert state.rate == pytest.approx([12.5 / 5])
    # Extrapolated to 5: the host is just full, and the throughput wants max log - (rho - 0)^2 / 50.
    assert state.host_price == pytest.approx([0.0])
    assert state.value == pytest.approx([1 / 5])


def test_they_start_from_nothing_as_markets_do_and_have_no_actors(deployment):
    platform, _, sharing = deployment
    for method in (AutomaticGradient(), PrimalDual()):
        for field in ("rate", "host_price", "link_price"):
            first = method.start(sharing, AlphaFair(1.0))
            market = Market().start(sharing, AlphaFair(1.0))
            assert np.array_equal(getattr(first, field), getattr(market, field))
        with raises_naming(SimpluginError, type(method).__name__):
            negotiate(platform, sharing, method, 1, AlphaFair(1.0))
        with raises_naming(WorkloadError, "alpha"):
            method.start(sharing, AlphaFair(math.inf))
