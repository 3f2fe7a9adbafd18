"""Rates become tasks: measured throughputs against the rates, the platform and closed forms."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin import Host, Link, Platform, Route, Zone
from simplugin.core.errors import WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.papers.bertin.seeded_instances import instance
from simplugin.platforms.graphs import Graph
from simplugin.platforms.topologies.shapes import five_hosts
from simplugin.pricing.deployment import deploy, sharing_of
from simplugin.pricing.policies.task_queues import (
    Proportions,
    ReleaseAllowance,
    next_queue,
    to_request,
)
from simplugin.pricing.task_dispatch import Dispatch, DispatchSettings, dispatch
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS, Application
from simplugin.workloads.shared_deployment import SharedDeployment

Report = tuple[SharedDeployment, np.ndarray, Dispatch]
# The report's platform, on the tree A-B, A-C, C-D, D-E.
FIVE = five_hosts(("AB", "AC", "CD", "DE"))


def line(speed: tuple[float, float], bandwidth: float) -> Graph:
    """Return two hosts and the links between them."""
    return Graph.duplex("ab", np.array(speed), np.array([[0, 1]]), np.array([bandwidth]))


def ended(done: Dispatch, sharing: SharedDeployment, first: float, last: float) -> np.ndarray:
    """Return the tasks of each application that ended between two dates."""
    inside = (done.date > first) & (done.date <= last)
    applications = sharing.application[done.agent[inside]]
    return np.bincount(applications, minlength=sharing.n_applications) * done.grain


# ---- decisions ----


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any), st.integers(1, 100))
@settings(max_examples=50)
def test_shares_are_kept_at_any_time(weight, tasks):
    deficit = [0.0] * len(weight)
    count = [0] * len(weight)
    for done in range(1, tasks + 1):
        queue, deficit = next_queue(deficit, weight)
        count[queue] += 1
        for n, part in enumerate(weight):
            share = Fraction(part, sum(weight)) * done
            assert abs(share - count[n]) < len(weight)
            assert deficit[n] == pytest.approx(float(share - count[n]), abs=1e-9)
    assert all(got == 0 for got, part in zip(count, weight, strict=True) if part == 0)


def test_requests_fill_the_queues_in_use():
    assert to_request(0, 0, 4, (1.0, 0.0, 2.0)) == 8
    assert to_request(3, 4, 4, (1.0, 0.0, 2.0)) == 1
    assert to_request(9, 0, 4, (1.0, 0.0, 2.0)) == 0
    assert to_request(0, 0, 4, (0.0, 0.0, 0.0)) == 0


def test_proportions_hold_from_their_dates_on():
    proportions = Proportions((1.0, 2.0, 3.0), ((1.0, 0.0), (0.0, 0.0), (0.0, 5.0)))
    silent = (0.0, 0.0)
    found = [proportions.at(date) for date in (0.5, 1.0, 1.5, 2.0, 7.0)]
    assert found == [silent, (1.0, 0.0), (1.0, 0.0), silent, (0.0, 5.0)]
    changes = [proportions.next_change(date) for date in (0.0, 1.0, 2.5, 3.0)]
    assert changes == [1.0, 2.0, 3.0, math.inf]
    assert proportions.for_dispatch(2.5) == (1.0, 0.0)
    assert proportions.for_dispatch(3.5) == (0.0, 5.0)


def test_a_master_gains_tasks_as_its_throughput_says():
    proportions = Proportions((0.0, 2.0, 3.0), ((1.0, 1.0), (0.0, 0.0), (4.0, 0.0)))
    pace = ReleaseAllowance(0.0, 0.0)
    assert pace.until(0.25, proportions, 9.0) == ReleaseAllowance(0.5, 0.25)
    assert pace.until(3.5, proportions, 9.0) == ReleaseAllowance(2 * 2.0 + 4 * 0.5, 3.5)
    assert pace.until(3.5, proportions, 2.0) == ReleaseAllowance(2.0, 3.5)
    assert pace.look_again(proportions) == 0.5
    assert not pace.may_release()
    assert ReleaseAllowance(0.0, 2.0).look_again(proportions) == 3.0
    assert ReleaseAllowance(0.0, 3.0).look_again(proportions) == 3.25
    assert ReleaseAllowance(1.0, 0.5).may_release()
    assert ReleaseAllowance(1.0, 0.5).after_release() == ReleaseAllowance(0.0, 0.5)


# ---- closed forms ----


def test_one_host_computes_at_its_speed():
    alone = Graph(("a",), np.array([1e6]), *[np.zeros(0)] * 4)
    sharing = deploy(alone, [Application("k", "a", flop=1e3, byte=7.0)])
    done = dispatch(alone, sharing, np.array([1000.0]), DispatchSettings(duration=10.0, grain=10.0))
    # Ten tasks take 0.01 s, from 0 on.
    np.testing.assert_allclose(done.date, 0.01 * np.arange(1, len(done.date) + 1), rtol=1e-6)
    assert len(done.date) in (999, 1000)
    assert done.throughput[0] == pytest.approx(1000.0, rel=2e-3)
    assert done.deviation[0] == pytest.approx(0.0, abs=2e-3)
    # What was asked beyond the speed is missing: 1 - 1000 / 1600.
    faster = dispatch(
        alone, sharing, np.array([1600.0]), DispatchSettings(duration=10.0, grain=10.0)
    )
    assert faster.throughput[0] == pytest.approx(1000.0, rel=2e-3)
    assert faster.deviation[0] == pytest.approx(0.375, rel=1e-2)


def test_all_cores_of_a_host_compute():
    hosts = (Host("a", 1e6), Host("b", 1e6, cores=4))
    route = Route("a", "b", ["wire"])
    platform = Platform((Zone("flat", "Full", (*hosts, Link("wire", 1e9, 1e-4)), (route,)),))
    sharing = sharing_of(platform, [Application("k", "a", flop=1e3, byte=1.0)])
    done = dispatch(
        platform, sharing, sharing.speed[sharing.host] / 1e3, DispatchSettings(duration=4.0)
    )
    # One core and four, each 1000 tasks/s.
    assert done.throughput[0] == pytest.approx(5000.0, rel=1e-2)
    assert np.mean(done.agent[done.date > 1.0] == 1) == pytest.approx(0.8, abs=1e-2)


def test_a_link_beyond_its_bandwidth_slows_the_whole_application():
    graph = line((1e6, 1e6), 2.5e5)
    sharing = deploy(graph, [Application("k", "a", flop=1e3, byte=1e3)])
    # Half of the tasks are for b, whose link carries 250 a second: the proportion stays.
    done = dispatch(
        graph, sharing, np.array([1000.0, 1000.0]), DispatchSettings(duration=20.0, grain=1.0)
    )
    assert done.throughput[0] == pytest.approx(500.0, rel=1e-2)
    assert done.deviation[0] == pytest.approx(0.75, abs=5e-3)


def test_unequal_rates_on_a_shared_star_are_kept():
    # The master's host only forwards; each of three hosts computes 9 : 1 for two applications.
    graph = Graph.duplex(
        "mabc", np.array([0.0, 1e6, 1e6, 1e6]), np.array([[0, 1], [0, 2], [0, 3]]), np.full(3, 1e9)
    )
    both = [Application("x", "m", 1e3, 1e2), Application("y", "m", 2e3, 1e2)]
    sharing = deploy(graph, both)
    rates = np.where(sharing.application == 0, 900.0, 50.0) * sharing.computes
    done = dispatch(graph, sharing, rates, DispatchSettings(duration=20.0))
    np.testing.assert_allclose(done.theoretical, [2700.0, 150.0])
    np.testing.assert_allclose(done.deviation, 0.0, atol=5e-3)
    # Equal parts, which is what the host would give without a pace, are 500 and 250.
    free = dispatch(graph, sharing, rates, DispatchSettings(duration=20.0, paced=False))
    np.testing.assert_allclose(free.throughput, [1500.0, 750.0], rtol=1e-2)


def test_a_route_of_two_links_is_crossed_once():
    up, down = Link("up", 5e5, 1e-3), Link("down", 2e5, 1e-3)
    hosts = [Host("a", 1e6), Host("b", 1e6)]
    platform = Platform(Zone("z", "Full", [*hosts, up, down], [Route("a", "b", ["up", "down"])]))
    relayed = sharing_of(platform, [Application("k", "a", flop=1e3, byte=1e3)])
    assert relayed.host.tolist() == [0, 1, 1]
    done = dispatch(
        platform, relayed, np.array([1000.0, 0.0, 200.0]), DispatchSettings(duration=20.0)
    )
    assert abs(done.deviation[0]) < 5e-3
    carried = done.result.links.row("down")["bytes"]
    assert carried == done.result.links.row("up")["bytes"]
    data = 1e3 * done.grain[0] * done.arrived[1]
    # Requests come on top, and the tasks that the end cut off.
    assert data <= carried <= data + 16 * 1e3 * done.grain[0] + 48 * (done.arrived[1] + 16)


# ---- every task, once ----


@pytest.fixture(scope="module")
def report() -> Report:
    """Return the report's applications, optimal rates for them, and what became of these."""
    sharing = deploy(FIVE, FIVE_HOSTS_APPLICATIONS)
    rates = fair_sharing(sharing).rate
    return sharing, rates, dispatch(FIVE, sharing, rates, DispatchSettings(duration=10.0))


def test_the_report_s_platform_keeps_the_optimal_rates(report):
    sharing, rates, done = report
    # All are bound by computation: a third of it for each.
    np.testing.assert_allclose(
        done.theoretical, 5 * 5e8 / 3 / np.array([5000.0, 800.0, 1500.0]), rtol=1e-4
    )
    assert np.all(np.abs(done.deviation) < 0.01)
    per_agent = np.bincount(done.agent[done.date > 2.5], minlength=sharing.n_agents)
    measured = per_agent * done.grain[sharing.application] / 7.5
    # Up to a task at each end of the window.
    np.testing.assert_allclose(
        measured, rates, rtol=0.01, atol=2 * done.grain[sharing.application].max() / 7.5
    )


def test_every_task_is_computed_once_at_most(report):
    sharing, _, done = report
    for number in range(sharing.n_applications):
        mine = np.sort(done.task[sharing.application[done.agent] == number])
        released = done.arrived[sharing.masters[number]]
        assert len(np.unique(mine)) == len(mine)
        assert mine[0] == 0
        assert mine[-1] < released
        # What is released and not computed is in queues, at most a full stock an agent.
        agents = np.sum(sharing.application == number)
        assert released - 17 * 5 * agents <= len(mine) <= released
    below = np.bincount(
        sharing.parent[sharing.parent >= 0], done.arrived[sharing.parent >= 0], sharing.n_agents
    )
    computed = np.bincount(done.agent, minlength=sharing.n_agents)
    assert np.all(computed + below <= done.arrived)


def test_no_host_and_no_link_does_more_than_it_can(report):
    sharing, _, done = report
    result = done.result
    assert result.clock == pytest.approx(10.0, abs=1e-9)
    for name, speed in zip(sharing.hosts, sharing.speed, strict=True):
        assert result.hosts.row(name)["flops"] <= speed * 10.0 * (1 + 1e-9)
    for name, bandwidth in zip(sharing.links, sharing.bandwidth, strict=True):
        assert result.links.row(name)["bytes"] <= bandwidth * 10.0 * (1 + 1e-9)
    # Hosts computed what the tasks amount to, and up to one more for each agent.
    flop = sharing.flop * done.grain
    work = np.bincount(
        sharing.host[done.agent], flop[sharing.application[done.agent]], sharing.n_hosts
    )
    flops = np.array([result.hosts.row(name)["flops"] for name in sharing.hosts])
    assert np.all(work <= flops * (1 + 1e-9))
    assert np.all(flops <= work + flop.sum())


def test_agents_without_a_rate_get_nothing():
    sharing = deploy(FIVE, FIVE_HOSTS_APPLICATIONS)
    rates = fair_sharing(sharing).rate.copy()
    leaves = np.setdiff1d(np.arange(sharing.n_agents), sharing.parent)
    rates[leaves] = 0.0
    done = dispatch(FIVE, sharing, rates, DispatchSettings(duration=2.0))
    assert not np.isin(leaves, done.agent).any()
    assert np.all(done.arrived[leaves] == 0)
    nothing = dispatch(FIVE, sharing, np.zeros(sharing.n_agents), DispatchSettings(duration=1.0))
    assert len(nothing.date) == 0
    assert np.all(np.isnan(nothing.deviation))


@pytest.mark.parametrize("number", [4, 81])
def test_optimal_rates_of_other_platforms_are_kept(number):
    problem = instance(number)
    rates = fair_sharing(problem.sharing).rate
    done = dispatch(problem.graph, problem.sharing, rates, DispatchSettings(duration=10.0))
    np.testing.assert_allclose(done.theoretical, problem.sharing.throughput(rates))
    assert np.all(np.abs(done.deviation) < 0.02)


# ---- rates that change ----


def test_changed_rates_are_followed():
    graph = line((1e6, 1e6), 1e9)
    sharing = deploy(graph, [Application("k", "a", 1e3, 1e2), Application("l", "b", 1e3, 1e2)])
    # Agents: k's master, l's master, k's on b, l's on a.
    first = np.array([800.0, 800.0, 0.0, 0.0])
    second = np.array([0.0, 200.0, 100.0, 900.0])
    silent = np.zeros(4)
    changes = [(0.1, first), (5.0, second), (10.0, silent), (15.0, first)]
    done = dispatch(
        graph, sharing, changes, DispatchSettings(duration=20.0, warm_up=0.0, grain=2.0)
    )
    np.testing.assert_allclose(done.theoretical, [(4.9 + 5) * 40 + 25, (4.9 + 5) * 40 + 275])
    np.testing.assert_allclose(ended(done, sharing, 1.0, 5.0) / 4.0, [800.0, 800.0], rtol=1e-2)
    np.testing.assert_allclose(ended(done, sharing, 5.5, 10.0) / 4.5, [100.0, 1100.0], rtol=2e-2)
    assert not np.any(ended(done, sharing, 10.5, 15.0))
    np.testing.assert_allclose(ended(done, sharing, 15.5, 20.0) / 4.5, [800.0, 800.0], rtol=1e-2)
    assert done.date[0] > 0.1


def test_rates_that_ask_too_much_leave_no_debt():
    graph = line((1e6, 1e6), 1e9)
    sharing = deploy(graph, [Application("k", "a", 1e3, 1e2), Application("l", "b", 1e3, 1e2)])
    fair = np.full(4, 500.0)
    done = dispatch(
        graph, sharing, [(0.0, 4 * fair), (5.0, fair)], DispatchSettings(duration=15.0, grain=2.0)
    )
    # Twice the speed of both hosts in equal parts, whatever was asked, then what is asked.
    np.testing.assert_allclose(ended(done, sharing, 1.0, 5.0) / 4.0, 1000.0, rtol=1e-2)
    np.testing.assert_allclose(ended(done, sharing, 6.0, 15.0) / 9.0, 1000.0, rtol=1e-2)


# ---- interfaces ----


def test_both_back_ends_agree():
    graph = line((1e6, 1e6), 5e5)
    both = [Application("k", "a", 1e3, 1e3), Application("l", "b", 3e3, 3e2)]
    sharing = deploy(graph, both)
    rates = np.array([400.0, 100.0, 377.0, 61.0])
    given = graph, sharing, rates, DispatchSettings(duration=3.0, grain=10.0)
    runs = [dispatch(*given, back_end=back_end) for back_end in ("coroutines", "threads")]
    assert len(runs[0].date) > 200
    np.testing.assert_array_equal(runs[0].agent, runs[1].agent)
    np.testing.assert_array_equal(runs[0].task, runs[1].task)
    np.testing.assert_allclose(runs[0].date, runs[1].date, rtol=1e-9)


def test_what_makes_no_sense_is_refused():
    graph = line((1e6, 0.0), 1e6)
    sharing = deploy(graph, [Application("k", "a", 1e3, 1e3)])
    fine = np.array([1.0, 0.0])
    refused: list[Any] = [
        (-fine, "rate"),
        (np.array([math.inf, 0.0]), "rate"),
        (np.array([1.0, 1.0]), "agent 1"),
        (np.ones(3), "(3,)"),
        ([(1.0, fine), (1.0, fine)], "dates"),
    ]
    for rates, named in refused:
        with raises_naming(WorkloadError, named):
            dispatch(graph, sharing, rates, DispatchSettings(duration=1.0))
    with raises_naming(WorkloadError, "warm_up 1.0"):
        dispatch(graph, sharing, fine, DispatchSettings(duration=1.0, warm_up=1.0))
    for threshold in (0, 10**9, math.inf, math.nan):
        with raises_naming(WorkloadError, f"threshold {threshold}"):
            dispatch(graph, sharing, fine, DispatchSettings(duration=1.0, threshold=threshold))  # type: ignore[arg-type]
    with raises_naming(WorkloadError, "grain", 0.0):
        dispatch(graph, sharing, fine, DispatchSettings(duration=1.0, grain=0.0))
