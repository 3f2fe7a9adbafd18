"""Baselines reach the optimum from where markets start."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simplugin.errors import SimpluginError, WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.pricing import AutomaticGradient, Market, PrimalDual, deploy, iterate, negotiate
from simplugin.pricing.iteration import throughput_error
from simplugin.workloads import AlphaFair, Application


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
        with pytest.raises(SimpluginError, match="no agents for"):
            negotiate(platform, sharing, method, 1, AlphaFair(1.0))
        with pytest.raises(WorkloadError, match="finite alpha"):
            method.start(sharing, AlphaFair(math.inf))
