"""Actors go through the same rounds as the pure iterations; metrics of a run through changes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import ActorError, SimpluginError, WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin.seeded_instances import instance
from simplugin.platforms.graphs import Graph
from simplugin.pricing.actors.delivery import Envelope
from simplugin.pricing.assessment import Recovery, Stretch, events_of
from simplugin.pricing.changes import CapacityChange, changing, intervals
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import PeriodicRun, negotiate
from simplugin.pricing.iteration import iterate
from simplugin.pricing.methods import AcceleratedMarket, Gradient, Market
from simplugin.pricing.neighbourhood import neighbourhoods
from simplugin.pricing.policies.gradient import GradientAssumptions, StepSizes
from simplugin.simulation import SimGridOptions
from simplugin.workloads import AlphaFair, Application

METHODS = {
    "unscaled": (Gradient(scaled=False), 1.0, 50),
    "scaled": (Gradient(), 2.0, 50),
    "late": (Gradient(reading=GradientAssumptions(late=True)), 1.0, 50),
    "fresh": (Gradient(reading=GradientAssumptions(late=True, fresh=True)), 1.0, 50),
    "seidel": (Gradient(reading=GradientAssumptions(seidel=True, late=True)), 1.0, 50),
    "plain": (Gradient(reading=GradientAssumptions(normalised=False, counted=False)), 0.5, 50),
    "market": (Market(relaxation=1.2), 2.0, 60),
    "accelerated": (AcceleratedMarket(), 0.5, 60),
}


def assert_same(sharing, seen, pure):
    scale = np.abs(pure.rates).max(axis=1, keepdims=True) + 1e-300
    assert np.max(np.abs(seen.rates - pure.rates) / scale) <= 1e-9
    np.testing.assert_allclose(seen.throughput, pure.throughput, rtol=1e-9, atol=1e-9)
    used = np.unique(sharing.host[sharing.computes])
    np.testing.assert_allclose(seen.host_price[:, used], pure.host_price[:, used], rtol=1e-9)
    used = np.unique(sharing.link[sharing.link >= 0])
    np.testing.assert_allclose(seen.link_price[:, used], pure.link_price[:, used], rtol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_rounds_are_those_of_the_pure_iteration(deployment, name):
    platform, _, sharing = deployment
    method, alpha, rounds = METHODS[name]
    utility = AlphaFair(alpha)
    pure = iterate(method, sharing, utility, rounds, rates=True)
    assert_same(sharing, negotiate(platform, sharing, method, rounds, utility).trajectory, pure)


def test_each_agent_and_manager_has_its_own_step_sizes(deployment):
    platform, _, sharing = deployment
    draws = np.random.default_rng(1)

    def drawn(least, count):
        return least * 10 ** draws.uniform(0, 1, count)

    of_each = {name: drawn(0.02, sharing.n_applications) for name in ("memory", "rate", "utility")}
    host, link = drawn(1e-3, sharing.n_hosts), drawn(1e-4, sharing.n_links)
    steps = StepSizes(**of_each, host=host, link=link, start_host_price=host, start_link_price=link)
    method = Gradient(steps=steps)
    around = neighbourhoods(sharing)
    roles = method.roles(AlphaFair(1.0), 20)
    for seat in around.agents:
        own = steps.of_agents(seat.application)
        assert roles.agent(seat).steps == own
        assert all(isinstance(each, float) for each in own)
    pure = iterate(method, sharing, AlphaFair(1.0), 20, rates=True)
    seen = negotiate(platform, sharing, method, 20, AlphaFair(1.0)).trajectory
    assert_same(sharing, seen, pure)
    with raises_naming(WorkloadError, "rate", 9, sharing.n_applications):
        negotiate("no.xml", sharing, Gradient(steps=StepSizes(rate=(0.1,) * 9)), 1, AlphaFair(1.0))


def test_rounds_are_the_same_on_the_reference_back_end(deployment):
    platform, _, sharing = deployment
    first, second = (
        negotiate(platform, sharing, Market(), 3, AlphaFair(1.0), back_end=back_end).trajectory
        for back_end in ("coroutines", "threads")
    )
    np.testing.assert_allclose(second.rates, first.rates, rtol=1e-9)
    np.testing.assert_allclose(second.date, first.date, rtol=1e-9)


def chain(latency=0.25, byte=1000.0):
    """Three hosts in a row, and one application from the first."""
    graph = Graph.duplex("abc", np.full(3, 1e9), [(0, 1), (1, 2)], 1e6, latency)
    applications = [Application("k", "a", 1000.0, byte)]
    return graph, deploy(graph, applications)


def test_a_round_lasts_as_long_as_its_messages_travel():
    graph, sharing = chain()
    envelope = Envelope(header=100.0, number=10.0)
    seen = negotiate(graph, sharing, Gradient(), 3, AlphaFair(1.0), envelope=envelope).trajectory
    # Up: a flow and, in round 1, a count. Down: a price and a throughput.
    up, first_up, down = 110e-6, 120e-6, 120e-6
    per_round = 4 * 0.25 + 2 * up + 2 * down
    expected = np.arange(4) * per_round + np.where(np.arange(4), 2 * (first_up - up), 0.0)
    np.testing.assert_allclose(seen.date, expected, rtol=1e-9)
    assert seen.bytes_sent == 2 * (120 + 110 + 110) + 2 * 3 * 120
    # A round ends when the last has gone down; leaves have sent up the next by then.
    ended = [0, *(2 * (120 + 110 * (n - 1)) + 2 * n * 120 for n in (1, 2, 3))]
    np.testing.assert_array_less(np.array(ended) - 1, seen.sent)
    assert seen.sent[-1] == seen.bytes_sent


def test_children_answer_at_the_same_time():
    graph = Graph.duplex(
        ["m", *"abcdefgh"], np.full(9, 1e9), [(0, i) for i in range(1, 9)], 1e9, 0.5
    )
    sharing = deploy(graph, [Application("k", "m", 1000.0, 1000.0)])
    seen = negotiate(graph, sharing, Gradient(), 1, AlphaFair(1.0)).trajectory
    assert seen.date[1] == pytest.approx(1.0, abs=1e-5)


def test_messages_compete_for_the_links_that_they_price():
    graph, sharing = chain(latency=0.0)
    alone = negotiate(graph, sharing, Gradient(), 1, AlphaFair(1.0)).trajectory
    both = deploy(graph, [Application(k, "a", 1000.0, 1000.0) for k in "kl"])
    shared = negotiate(graph, both, Gradient(), 1, AlphaFair(1.0)).trajectory
    assert shared.date[1] == pytest.approx(2 * alone.date[1], rel=1e-6)


def test_managers_read_the_platform_and_not_the_deployment():
    graph, sharing = chain()
    faster = replace(graph, speed=graph.speed * 3)
    pure = iterate(Market(), replace(sharing, speed=faster.speed), AlphaFair(1.0), 20)
    seen = negotiate(faster, sharing, Market(), 20, AlphaFair(1.0)).trajectory
    np.testing.assert_allclose(seen.throughput, pure.throughput, rtol=1e-12)


def test_dates_follow_the_network_model():
    graph, sharing = chain()
    options = SimGridOptions(network_model="LV08", crosstraffic=False)
    linear = negotiate(graph, sharing, Gradient(), 1, AlphaFair(1.0)).trajectory
    slow = negotiate(graph, sharing, Gradient(), 1, AlphaFair(1.0), options=options).trajectory
    assert slow.date[1] > 10 * linear.date[1]


def state_after(method, sharing, rounds):
    state = method.start(sharing, AlphaFair(1.0))
    for _ in range(rounds):
        state = method.round(sharing, AlphaFair(1.0), state)
    return state


def assert_goes_on(platform, sharing, method, state, rounds=15):
    utility = AlphaFair(1.0)
    pure = iterate(method, sharing, utility, rounds, start=state, rates=True)
    seen = negotiate(platform, sharing, method, rounds, utility, start=state).trajectory
    assert_same(sharing, seen, pure)


@pytest.mark.parametrize("name", ["scaled", "late", "seidel", "market", "accelerated"])
def test_actors_go_on_from_a_state_of_the_pure_iteration(deployment, name):
    platform, _, sharing = deployment
    method = METHODS[name][0]
    assert_goes_on(platform, sharing, method, state_after(method, sharing, 7))


def test_actors_go_on_between_mixed_rounds_and_after_one_that_is_undone():
    case = instance(36)
    method = AcceleratedMarket()
    states = [state_after(method, case.sharing, 0)]
    for _ in range(45):
        states.append(method.round(case.sharing, AlphaFair(1.0), states[-1]))
    mixed = [number for number, state in enumerate(states[:-1]) if state.plain is not None]
    stays = [n + 1 for n in mixed if states[n + 1].market.offer is states[n].market.offer]
    for number in (mixed[0], mixed[-1], stays[0] - 1, stays[0]):
        assert_goes_on(case.graph, case.sharing, method, states[number])


def test_a_state_of_another_method_or_deployment_is_refused():
    graph, sharing = chain()
    other = deploy(graph, [Application(k, "a", 1000.0, 1000.0) for k in "kl"])
    state = state_after(Market(), sharing, 1)
    with raises_naming(WorkloadError, "Gradient", "MarketState"):
        negotiate(graph, sharing, Gradient(), 1, AlphaFair(1.0), start=state)
    with raises_naming(WorkloadError, sharing.n_hosts, sharing.n_links):
        negotiate(graph, other, Market(), 1, AlphaFair(1.0), start=state)


def test_a_link_without_a_way_back_is_refused():
    graph = Graph(("a", "b"), np.ones(2), np.array([0]), np.array([1]), np.ones(1), np.zeros(1))
    sharing = deploy(graph, [Application("k", "a", 1.0, 1.0)])
    closed = Graph.duplex(["a", "b"], np.ones(2), np.array([(0, 1)]), np.array([(1.0, 0.0)]))
    for each in (graph, closed):
        with raises_naming(WorkloadError, "'b'", "'a'"):
            negotiate(each, sharing, Gradient(), 1, AlphaFair(1.0))


@pytest.mark.parametrize("accelerated", [False, True])
@pytest.mark.parametrize("number", [3, 27])
def test_feasible_markets_overload_nothing_in_any_round(number, accelerated):
    problem, method = instance(number), Market(feasible=True)
    chosen = AcceleratedMarket(method) if accelerated else method
    pure = iterate(chosen, problem.sharing, AlphaFair(1.0), 40, rates=True)
    assert iterate(Market(), problem.sharing, AlphaFair(1.0), 40).overload.max() > 0.1
    assert pure.overload.max() < 1e-12
    best = fair_sharing(problem.sharing).throughput
    end = iterate(chosen, problem.sharing, AlphaFair(1.0), 400).throughput[-1]
    assert end == pytest.approx(best, rel=1e-4)
    if number == 27:
        done = negotiate(problem.graph, problem.sharing, chosen, 40, AlphaFair(1.0)).trajectory
        assert done.rates == pytest.approx(pure.rates, rel=1e-12)


def test_what_has_no_agents_is_refused():
    graph, sharing = chain()
    with raises_naming(SimpluginError, "object", "Method"):
        negotiate(graph, sharing, object(), 1, AlphaFair(1.0))


def test_a_reading_that_needs_a_third_sweep_is_refused():
    graph, sharing = chain()
    method = Gradient(reading=GradientAssumptions(seidel=True, fresh=True))
    with raises_naming(SimpluginError, "seidel", "fresh"):
        negotiate(graph, sharing, method, 1, AlphaFair(1.0))


def test_masters_that_no_tree_joins_cannot_accelerate():
    graph, _ = chain()
    applications = [Application("k", "a", 1.0, 1.0), Application("l", "c", 1.0, 1.0)]
    sharing = deploy(graph, applications, {"k": {"b": "a"}, "l": {"b": "c"}})
    negotiate(graph, sharing, Market(), 1, AlphaFair(1.0))
    with pytest.raises(ActorError) as caught:
        negotiate(graph, sharing, AcceleratedMarket(), 1, AlphaFair(1.0))
    assert caught.value.host == "a"


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True, "3"])
def test_numbers_of_rounds_are_checked_before_anything_runs(uneven, rounds):
    with raises_naming(WorkloadError, "rounds", repr(rounds)):
        negotiate("none.xml", uneven, Market(), rounds, AlphaFair(1.0))
    if rounds != 0:
        with raises_naming(WorkloadError, "rounds", repr(rounds)):
            iterate(Market(), uneven, AlphaFair(1.0), rounds)


@pytest.mark.parametrize("name", ["market", "accelerated"])
def test_a_host_that_fails_is_dropped_and_rejoins(deployment, name):
    platform, applications, sharing = deployment
    method, utility = METHODS[name][0], AlphaFair(1.0)
    free = negotiate(platform, sharing, method, 60, utility).trajectory
    # The last host fails within a round, and is back while the others have still to do.
    host = sharing.hosts[int(sharing.host[np.flatnonzero(sharing.computes)[-1]])]
    fails = 0.3 * free.date[30] + 0.7 * free.date[31]
    comes_back = float(free.date[31]) + 50 * float(free.date[1])
    speed = float(sharing.speed[sharing.hosts.index(host)])
    changes = [CapacityChange(fails, host, 0.0), CapacityChange(comes_back, host, speed)]
    failing = changing(platform, changes, sharing)
    seen = negotiate(failing, sharing, method, 300, utility).trajectory
    assert np.all(np.diff(seen.date) >= 0)
    assert np.all(np.diff(seen.sent) >= 0)
    assert seen.sent[-1] == pytest.approx(seen.bytes_sent)
    parts = intervals(sharing, applications, changes, float(seen.date[-1]) + 1.0, failing)
    assert len(parts) == 3
    for part, level in zip(parts, (0.05, 0.05, 1e-3), strict=True):
        last = np.flatnonzero(seen.date < part.end)[-1]
        best = fair_sharing(part.sharing).throughput
        assert seen.throughput[last][part.applications] == pytest.approx(best, rel=level)
        rates = seen.rates[last]
        assert not rates[np.setdiff1d(np.arange(sharing.n_agents), part.agents)].any()
        assert sharing.overload(rates) < level
    # Until then it was the same negotiation.
    np.testing.assert_allclose(seen.throughput[:31], free.throughput[:31], rtol=1e-12)


def test_somebody_has_to_stay():
    graph, sharing = chain()
    changes = [CapacityChange(1.0, host, 0.0) for host in "abc"]
    with pytest.raises(WorkloadError):
        negotiate(changing(graph, changes, sharing), sharing, Market(), 3, AlphaFair(1.0))
    # The master's host is gone, and with it the only application.
    with pytest.raises(ActorError) as caught:
        negotiate(changing(graph, changes[:1], sharing), sharing, Market(), 9, AlphaFair(1.0))
    assert caught.value.host == "b"


# One host of 1000 flop/s; tasks of 1 flop; half the speed from 2.0 s, nearly none from 2.1 s on.
GRAPH = Graph.duplex("A", np.array([1e3]), np.zeros((0, 2)), np.zeros(0))
APPLICATIONS = [
    Application("x", "A", 1.0, 0.0, end=9.0),
    Application("late", "A", 1.0, 0.0, start=9.0),
]
CHANGES = [
    CapacityChange(2.0, "A", 500.0),
    CapacityChange(2.1, "A", 1e2),
    CapacityChange(4.0, "A", 0.0),
]
CHANGES += [CapacityChange(4.5, "A", 100.0)]
RATES = [900.0, 1020.0, 999.0, 1001.0, 105.5, 104.0, 103.0, 0.0, 100.0]
DATES = [0.1, 0.6, 1.1, 1.6, 2.2, 2.7, 3.2, 4.2, 4.7]


@pytest.fixture(scope="module")
def recovery():
    sharing = deploy(GRAPH, APPLICATIONS)
    rates = np.stack([RATES, np.zeros(len(RATES))], axis=1)
    prices = np.array([1e-2]), np.zeros(0)
    kept = PeriodicRun(np.array(DATES), rates, rates, *prices, 0.5, 100.0, None)
    parts = intervals(sharing, APPLICATIONS, CHANGES, 5.0)
    stretches = [Stretch(kept, part, fair_sharing(part.sharing)) for part in parts]
    events = events_of(sharing, APPLICATIONS, CHANGES)
    return Recovery(sharing, AlphaFair(1.0), kept, stretches, events)


def test_times_are_from_the_change_to_the_last_return(recovery):
    # From 2 s to 2.1 s nobody looked; from 4 s to 4.5 s there is nothing to share.
    found = recovery.listings()[0]
    assert found.column("from") == (0.0, 2.0, 2.1, 4.5)
    assert found.column("to 5 %") == pytest.approx((0.6, None, 0.6, 0.2))
    assert found.column("periods to 5 %") == (2, None, 2, 1)
    # Overloads count as errors do: 1.02 is 2 % too much.
    assert found.column("to 1 %") == pytest.approx((1.1, None, None, 0.2))
    assert found.column("worst error at end") == pytest.approx((0.001, None, 0.03, 0.0))
    assert found.column("overload at end") == pytest.approx((0.001, None, 0.03, 0.0))
    events = ("start", "A has 500 flop/s", "A has 100 flop/s", "A comes back")
    assert found.column("what changed") == events


def test_metrics_are_of_the_end(recovery):
    metrics = {metric.name: metric.value for metric in recovery.metrics()}
    assert metrics["objective"] == pytest.approx(math.log(100.0))
    assert recovery.best.value == pytest.approx(math.log(100.0), rel=1e-9)
    assert (metrics["intervals"], metrics["intervals_within_1_percent"]) == (4, 2)
    assert metrics["longest_return_to_1_percent"] is None
    hosts = recovery.listings()[2]
    assert hosts.lines == (("A", 100.0, pytest.approx(1.0), pytest.approx(1e7), hosts.lines[0][4]),)
    assert hosts.lines[0][4] == pytest.approx(1e7, rel=1e-6)


def test_curves_have_gaps_where_there_is_nothing_to_share(recovery):
    throughputs, errors = recovery.figures()
    _, ratio = throughputs.series["x"]
    expected = np.array([*RATES[:4], 1055.0, 1040.0, 1030.0, math.nan, 1000.0]) / 1e3
    np.testing.assert_allclose(ratio, expected, rtol=1e-9)
    assert np.all(np.isnan(throughputs.series["late"][1]))
    assert errors.series["error"][1][2] == pytest.approx(1e-3)


def test_events_in_words():
    graph = Graph.duplex("AB", [1e9, 2e6], [(0, 1)], [4e3])
    applications = [
        Application("x", "A", 1.0, 0.0),
        Application("y", "B", 1.0, 0.0, start=1.0, end=7.0),
    ]
    changes = [
        CapacityChange(3.0, "A->B", 2.5e3),
        CapacityChange(1.0, "A", 0.0),
        CapacityChange(7.0, "A", 1.5e9),
        CapacityChange(8.0, "A", 1.5e9),
    ]
    assert events_of(deploy(graph, applications), applications, changes) == {
        1.0: ["A fails", "y arrives"],
        3.0: ["A->B has 2.5 kB/s"],
        7.0: ["A comes back", "A has 1.5 Gflop/s", "y leaves"],
        8.0: [],
    }
