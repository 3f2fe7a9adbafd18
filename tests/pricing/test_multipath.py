from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.pricing.policies.flow_control import (
    FlowState,
    Routes,
    augmented_round,
    cheapest_round,
    flow_control,
)
from simplugin.workloads import AlphaFair

LOG = AlphaFair(1.0)


def network(most: float = 5.0) -> Routes:
    """Return three sources: one over two routes, one that meets it, one behind a narrow link."""
    return Routes(
        source=[0, 0, 1, 2],
        route=[0, 1, 2, 3, 3],
        link=[0, 1, 1, 1, 2],
        bandwidth=[2.0, 3.0, 0.5],
        least=[1e-3] * 3,
        most=[most] * 3,
        weight=[1.0, 1.0, 2.0],
    )


def test_a_round_of_algorithms_1_and_2_by_hand() -> None:
    """One source, two routes, a link each."""
    routes = Routes([0, 0], [0, 1], [0, 1], [1.0, 4.0], [0.1], [100.0], [1.0])
    state = FlowState(np.array([2.0, 2.0]), np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    after = augmented_round(routes, LOG, state, 0.5)
    assert after.rate == pytest.approx([1 + 0.5 + 0.5 * (0.25 - 0.5), 1 + 1.5 + 0.5 * 0.25])
    assert after.memory == pytest.approx([1.5, 2.5])
    assert after.link_price == pytest.approx([0.5 + 0.5 * (2 - 1), 0.0])


def test_a_round_of_the_second_algorithm_by_hand() -> None:
    """Eq. (8) for the dear routes, Eq. (9) for the first of the cheapest."""
    routes = Routes([0, 0, 0], [0, 1, 2], [0, 1, 2], [1.0, 1.0, 1.0], [0.1], [100.0], [1.0])
    state = FlowState(np.array([2.0, 1.0, 3.0]), np.zeros(3), np.array([0.75, 0.25, 0.25]))
    after = cheapest_round(routes, LOG, state, 0.5)
    # rho = 1 / 0.25 = 4; route 0 loses 0.5 * 0.5, route 2 costs no more than the cheapest.
    assert after.rate == pytest.approx([1.75, max(4 - 1.75 - 3, 0), 3.0])
    assert after.link_price == pytest.approx([0.75 + 0.5, 0.25, 0.25 + 1.0])
    # With a price of 0 the bound is what keeps it finite.
    free = cheapest_round(routes, LOG, FlowState(state.rate, state.memory, np.zeros(3)), 0.5)
    assert free.rate == pytest.approx([100 - 4, 1, 3])


@pytest.mark.parametrize("round_of", [augmented_round, cheapest_round])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_converges_to_the_closed_form(round_of, alpha) -> None:
    """The narrow link leaves 4.5 to two equal sources, of which one has a route of its own."""
    throughput, state = flow_control(round_of, network(), AlphaFair(alpha), 20000, 0.01)
    assert throughput[-1] == pytest.approx([2.25, 2.25, 0.5], rel=1e-6)
    assert state.rate == pytest.approx([2.0, 0.25, 2.25, 0.5], rel=1e-5)
    # Their marginal utility is the price of both links that they fill; the third pays the rest.
    price = 2.25**-alpha
    assert state.link_price == pytest.approx([price, price, 2 * 0.5**-alpha - price], rel=1e-5)


@pytest.mark.parametrize("round_of", [augmented_round, cheapest_round])
def test_bounds_bind(round_of) -> None:
    """What a bounded source leaves goes to the one that shares its link."""
    routes = network()
    bounded = Routes(
        routes.source,
        routes.route,
        routes.link,
        routes.bandwidth,
        [1e-3, 2.75, 1e-3],
        [1.2, 4.0, 5.0],
        [1.0, 1.0, 0.5],
    )
    throughput, _ = flow_control(round_of, bounded, LOG, 10000, 0.01)
    # The first has a link of its own, and the second leaves 0.25 of link 1 to the third.
    assert throughput[-1] == pytest.approx([1.2, 2.75, 0.25], rel=1e-4)


def test_algorithm_1_finds_the_optimum_of_a_drawn_network() -> None:
    """Four sources with three routes each over six links, against cvxpy."""
    draw = np.random.default_rng(1)
    source = np.repeat(np.arange(4), 3)
    uses = np.array([(r, i) for r in range(12) for i in draw.choice(6, 2, replace=False)])
    routes = Routes(
        source,
        uses[:, 0],
        uses[:, 1],
        draw.uniform(1, 3, 6),
        np.full(4, 1e-3),
        np.full(4, 10.0),
        draw.uniform(1, 2, 4),
    )
    rate = cp.Variable(12, nonneg=True)
    sums = np.zeros((4, 12))
    sums[source, np.arange(12)] = 1
    loads = np.zeros((6, 12))
    loads[routes.link, routes.route] = 1
    best = cp.Problem(
        cp.Maximize(routes.weight @ cp.log(sums @ rate)), [loads @ rate <= routes.bandwidth]
    )
    best.solve()
    throughput, state = flow_control(augmented_round, routes, LOG, 20000, 0.02)
    assert throughput[-1] == pytest.approx(sums @ rate.value, rel=1e-4)
    assert np.all(routes.load(state.rate) <= routes.bandwidth * (1 + 1e-4))


def test_wrong_input_is_refused() -> None:
    """Bounds, pairs, sources and utilities that make no sense are named."""
    with pytest.raises(WorkloadError, match="bounds"):
        network(most=math.inf)
    with pytest.raises(WorkloadError, match=r"link of a pair is not in 0\.\.0"):
        Routes([0], [0], [1], [1.0], [0.1], [1.0], [1.0])
    for bandwidth, weight in ((-1.0, 1.0), (math.nan, 1.0), (1.0, 0.0)):
        with pytest.raises(WorkloadError, match="not positive and finite"):
            Routes([0], [0], [0], [bandwidth], [0.1], [1.0], [weight])
    with pytest.raises(WorkloadError, match="pairs"):
        Routes([0], [0], [0, 0], [1.0], [0.1], [1.0], [1.0])
    with pytest.raises(WorkloadError, match=r"sources of routes are not 0\.\.1"):
        Routes([0], [0], [0], [1.0], [0.1] * 2, [1.0] * 2, [1.0] * 2)
    with pytest.raises(WorkloadError, match="finite alpha"):
        flow_control(augmented_round, network(), AlphaFair(math.inf), 1, 0.1)
    with pytest.raises(WorkloadError, match="alpha"):
        flow_control(cheapest_round, network(), AlphaFair(0.0), 1, 0.1)
