from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin.churn import begun_from, carried_over
from simplugin.papers.bertin.delays import DelayedMarket
from simplugin.platforms.graphs import Graph
from simplugin.pricing.deployment import deploy
from simplugin.pricing.instances import SPREADS, Instance, instance, random_applications
from simplugin.pricing.iteration import iterate, settled, throughput_error
from simplugin.pricing.policies.acceleration import AcceleratedMarket, accelerated
from simplugin.pricing.policies.market import Market, MarketState
from simplugin.workloads import AlphaFair, Sharing

LOG = AlphaFair(1.0)
NUMBERS = (1, 4, 8, 11, 15, 29)


def converged(sharing: Sharing) -> MarketState:
    """Return the state after many rounds."""
    method = AcceleratedMarket()
    state = method.start(sharing, LOG)
    for _ in range(250):
        state = method.round(sharing, LOG, state)
    return state.market


def back(sharing: Sharing, state: MarketState) -> float:
    """Return the rounds until every throughput is within 1 % again."""
    found = iterate(AcceleratedMarket(), sharing, LOG, 300, start=accelerated(state), prices=False)
    rounds = settled(throughput_error(found, fair_sharing(sharing).throughput), 0.01)
    return np.inf if rounds is None else rounds


def without_host(problem: Instance, state: MarketState) -> Sharing:
    """Return the problem without the busiest host at the edge that is no master."""
    sharing, graph = problem.sharing, problem.graph
    forwards = set(sharing.host[sharing.father[sharing.father >= 0]].tolist())
    masters = {application.master for application in problem.applications}
    load = sharing.host_load(state.rate)
    edge = [
        host
        for host in range(graph.n_hosts)
        if host not in forwards and graph.hosts[host] not in masters
    ]
    gone = max(edge, key=lambda host: float(load[host]))
    kept = (graph.source != gone) & (graph.destination != gone)
    place = np.cumsum(np.arange(graph.n_hosts) != gone) - 1
    smaller = Graph(
        tuple(name for host, name in enumerate(graph.hosts) if host != gone),
        np.delete(graph.speed, gone),
        place[graph.source[kept]],
        place[graph.destination[kept]],
        graph.bandwidth[kept],
        graph.latency[kept],
    )
    return deploy(smaller, problem.applications)


def test_nothing_is_lost_when_nothing_changes() -> None:
    sharing = instance(4).sharing
    state = converged(sharing)
    resumed = carried_over(sharing, state, sharing, LOG)
    for name in ("wish", "metric", "offer", "plan", "paid", "price", "reached", "slack", "share"):
        assert getattr(resumed, name) == pytest.approx(getattr(state, name), rel=1e-12, abs=1e-300)
    assert back(sharing, resumed) <= 1


def test_a_host_leaves() -> None:
    found = []
    for number in NUMBERS:
        problem = instance(number)
        state = converged(problem.sharing)
        after = without_host(problem, state)
        found.append(back(after, carried_over(problem.sharing, state, after, LOG)))
    assert np.median(found) <= 15
    assert max(found) < np.inf


def test_an_application_arrives() -> None:
    found = []
    for number in NUMBERS:
        problem = instance(number)
        before = problem.sharing
        state = converged(before)
        new = random_applications(
            problem.graph,
            1,
            SPREADS[problem.spread],
            np.random.default_rng(number),
            first=before.n_applications,
        )
        after = deploy(problem.graph, (*problem.applications, *new))
        resumed = carried_over(before, state, after, LOG)
        # Who was there keeps its wishes, who is new has none.
        old = np.isin(after.application, np.arange(before.n_applications))
        assert np.all(resumed.wish[:, ~old] == 0)
        assert np.sort(resumed.wish[:, old], axis=1) == pytest.approx(np.sort(state.wish, axis=1))
        found.append(back(after, resumed))
    assert np.median(found) <= 20
    assert max(found) < np.inf


def test_a_link_changes() -> None:
    sharing = instance(8).sharing
    state = converged(sharing)
    busiest = int(np.argmax(state.link_price * sharing.bandwidth))
    bandwidth = sharing.bandwidth.copy()
    bandwidth[busiest] /= 2
    after = replace(sharing, bandwidth=bandwidth)
    assert 0 < back(after, carried_over(sharing, state, after, LOG)) < 100


def test_the_report_s_start_does_no_lasting_harm() -> None:
    # Table 1: 6e5 tasks/s at every agent, and all prices 0.02.
    for number in (0, 4, 8, 11):
        sharing = instance(number).sharing
        state = begun_from(
            sharing,
            LOG,
            np.full(sharing.n_agents, 6e5),
            np.full(sharing.n_hosts, 0.02),
            np.full(sharing.n_links, 0.02),
        )
        # Within reason: see the bounds in the docstring.
        alone = state.slots.alone
        assert np.all(
            sharing.throughput(state.rate) <= alone / sharing.n_applications * (1 + 1e-12)
        )
        assert np.all(state.paid <= (sharing.n_applications / alone)[sharing.application] * 1.0001)
        assert back(sharing, state) < np.inf


def test_a_good_start_is_kept() -> None:
    # Rates and prices at the optimum of applications that each have a host of their own.
    graph = Graph.duplex("ab", np.array([3.0, 5.0]), np.array([[0, 1]]), np.array([1.0]))
    sharing = deploy(
        graph, random_applications(graph, 1, SPREADS["mild"], np.random.default_rng(0))
    )
    alone = float(begun_from(sharing, LOG, np.zeros(2), np.zeros(2), np.zeros(2)).slots.alone[0])
    best = fair_sharing(sharing)
    state = begun_from(sharing, LOG, best.rate, best.host_price, best.link_price)
    assert sharing.throughput(state.rate) == pytest.approx([alone], rel=1e-9)
    assert state.host_price == pytest.approx(best.host_price, rel=1e-9)


@pytest.mark.parametrize("relaxation", [0.2, 0.3])
def test_late_plans_slow_down_but_do_not_diverge(relaxation: float) -> None:
    for number in (4, 8, 11):
        sharing = instance(number).sharing
        best = fair_sharing(sharing).throughput
        found = iterate(DelayedMarket(5, relaxation), sharing, LOG, 700, prices=False)
        error = throughput_error(found, best)
        assert settled(error, 0.01) is not None
        assert error[-1] < 1e-3


def test_no_delay_is_the_market() -> None:
    sharing = instance(8).sharing
    late = iterate(DelayedMarket(0, 1.0), sharing, LOG, 30).throughput
    assert late == pytest.approx(iterate(Market(1.0), sharing, LOG, 30).throughput, rel=1e-6)
