"""Agents without rounds, through changes."""

from dataclasses import fields, replace
from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms.topologies.shapes import five_hosts
from simplugin.pricing.actors.delivery import News
from simplugin.pricing.changes import CapacityChange, intervals
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import PeriodicSettings, simulate_periodic
from simplugin.pricing.methods import Gradient, Market
from simplugin.workloads import AlphaFair, Application
from simplugin.workloads.applications import FIVE_HOSTS_APPLICATIONS

PERIOD = 0.02
LOG = AlphaFair(1.0)


TREE = "AB", "AC", "CD", "DE"
FIRST, SECOND, THIRD = ALWAYS = FIVE_HOSTS_APPLICATIONS
# One leaves, and one arrives.
PASSING = [replace(FIRST, end=36.0), SECOND, replace(THIRD, start=6.0)]


def followed(applications, method, until, *, changes=(), latency=1e-3, period=PERIOD, **further):
    """Return what agents made of changes, the deployment, and the intervals between changes."""
    graph = five_hosts(TREE, latency)
    sharing = deploy(graph, applications)
    names = {field.name for field in fields(PeriodicSettings)} & further.keys()
    settings = PeriodicSettings(until, period, **{name: further.pop(name) for name in names})
    kept = simulate_periodic(
        graph, applications, sharing, method, LOG, settings, changes=changes, **further
    )
    return kept, sharing, intervals(sharing, applications, changes, until)


CHANGES = (
    CapacityChange(12.0, "E", 0.0),
    CapacityChange(18.0, "E", 5e8),
    CapacityChange(24.0, "A->C", 1e8),
    CapacityChange(30.0, "B", 2e8),
)


@pytest.fixture(scope="module")
def market():
    """Five hosts through failures, changes, an arrival and a departure."""
    return followed(PASSING, Market(relaxation=0.4), 42.0, changes=CHANGES)


def test_every_throughput_comes_back_to_each_new_optimum(market):
    kept, _, parts = market
    assert [part.start for part in parts] == [0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 36.0]
    for part in parts:
        best = fair_sharing(part.sharing).throughput
        back = kept.return_time(part, best)
        assert back is not None
        # Not there at once, unless the optimum is the same.
        first = kept.errors(part, best)[0]
        assert back > 0 or first <= 0.01
        assert back <= 5.0


def test_who_is_off_or_gone_computes_nothing(market):
    kept, sharing, _ = market
    off = (kept.date > 12.0) & (kept.date < 18.0)
    assert np.all(kept.rates[off][:, sharing.host == 4] == 0.0)
    back = (kept.date > 22.0) & (kept.date < 24.0)
    assert np.all(kept.rates[back][:, sharing.host == 4].sum(axis=1) > 0)
    assert np.all(kept.throughput[kept.date < 6.0, 2] == 0.0)
    # Word of the end travels one hop a period.
    assert np.all(kept.throughput[kept.date > 36.0 + 6 * PERIOD, 0] == 0.0)


def test_messages_have_been_sent(market):
    kept, _, _ = market
    # Up and down each of four links for three applications, of at most 64 + 40 bytes each period.
    most = 42.0 / PERIOD * 12 * 2 * 104
    assert 0.5 * most < kept.bytes_sent <= most


def test_a_failed_link_cuts_off_what_is_behind_it():
    applications = [Application("1", "A", 5000, 1000), Application("2", "D", 800, 2000)]
    changes = [CapacityChange(4.0, "A->C", 0.0), CapacityChange(8.0, "A->C", 5e8)]
    kept, sharing, parts = followed(applications, Market(relaxation=0.4), 14.0, changes=changes)
    behind = (sharing.application == 0) & np.isin(sharing.host, [2, 3, 4])
    assert [len(part.agents) for part in parts] == [10, 7, 10]
    cut = (kept.date > 4.5) & (kept.date < 8.0)
    assert np.all(kept.rates[cut][:, behind] == 0.0)
    for part in parts:
        assert kept.return_time(part, fair_sharing(part.sharing).throughput) is not None


def test_it_does_not_diverge_where_messages_take_four_periods():
    kept, sharing, [part] = followed(
        ALWAYS, Market(relaxation=0.25), 30.0, latency=0.08, patience=30
    )
    errors = kept.errors(part, fair_sharing(sharing).throughput)
    assert np.all(errors[-200:] <= 0.05)


def test_the_scaled_rule_follows_slowly_and_does_not_diverge():
    changes = [CapacityChange(6.0, "E", 0.0)]
    kept, sharing, parts = followed(ALWAYS, Gradient(), 12.0, changes=changes, period=0.01)
    for part in parts:
        optimum = fair_sharing(part.sharing)
        last = np.flatnonzero(kept.date < part.end)[-1]
        value = LOG.objective(kept.throughput[last], sharing.weight)
        assert value == pytest.approx(optimum.objective, rel=0.05)
        assert part.sharing.overload(kept.rates[last][part.agents]) <= 0.05


def test_phases_depend_on_the_seed():
    one, again, other = (
        followed(PASSING[:1], Market(0.3), 0.4, seed=seed)[0].rates for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_the_optimum_of_an_interval_has_what_is_left():
    graph, applications = five_hosts(TREE), PASSING
    sharing = deploy(graph, applications)
    changes = [CapacityChange(20.0, "C", 0.0), CapacityChange(25.0, "C", 1e8)]
    parts = intervals(sharing, applications, changes, 40.0)
    dates = [0.0, 6.0, 20.0, 25.0, 36.0, 40.0]
    assert [(part.start, part.end) for part in parts] == list(pairwise(dates))
    there = ["".join(part.sharing.applications) for part in parts]
    assert there == ["12", "123", "12", "123", "23"]
    # Without C, application 1 has D and E, application 2 has A and B.
    hosts = [sharing.hosts[host] for host in parts[2].sharing.host]
    assert sorted(hosts) == ["A", "B", "D", "E"]
    assert parts[3].sharing.speed[2] == 1e8
    np.testing.assert_array_equal(sharing.host[parts[2].agents], parts[2].sharing.host)


def test_changes_of_what_is_not_there_are_refused():
    graph, applications = five_hosts(TREE), PASSING
    sharing = deploy(graph, applications)
    arguments = graph, applications, sharing, Market(), LOG, PeriodicSettings(1.0, 0.1)
    with raises_naming(WorkloadError, "'F'"):
        simulate_periodic(*arguments, changes=[CapacityChange(0.5, "F", 1.0)])
    changes = [CapacityChange(0.5, host, 0.0) for host in "ABCDE"]
    with pytest.raises(WorkloadError):
        simulate_periodic(*arguments, changes=changes)


def test_news_are_forgotten_after_silence_or_farewell():
    news = News(patience=2)
    assert set(news.take([(1, 0, 5.0), (2, 0, 6.0)])) == {1, 2}
    assert news.take([(1, 1, 7.0), (2, 1)]) == {1: (1, 1, 7.0)}
    assert set(news.take([])) == {1}
    assert set(news.take([])) == {1}
    assert news.take([]) == {}


ENDLESS = [
    *({"until": inf}, {"until": 0.0}, {"until": 1e12}, {"patience": 0}),
    *({name: time} for name in ("period", "sample") for time in (0.0, -1.0, nan, 1e-300, 2.0)),
]


@pytest.mark.parametrize("wrong", ENDLESS)
def test_times_that_never_end_are_refused(wrong):
    with raises_naming(WorkloadError, *wrong, *wrong.values()):
        PeriodicSettings(**({"until": 1.0, "period": PERIOD} | wrong))


def test_tasks_and_messages_share_the_network_while_rates_follow_a_change():
    changes = [CapacityChange(3.0, "A->C", 1e8)]
    further = {"changes": changes, "trace": True}
    alone, _, _ = followed(ALWAYS, Market(0.5), 6.0, **further)
    grain = np.array([100.0, 600.0, 300.0])
    kept, sharing, parts = followed(ALWAYS, Market(0.5), 6.0, grain=grain, **further)
    # Every task that was computed crossed links and hosts of the same run.
    tasks = kept.tasks
    assert tasks is not None
    assert kept.bytes_sent > 100 * alone.bytes_sent
    for part in parts:
        best = fair_sharing(part.sharing).throughput
        assert kept.errors(part, best)[-1] < 1e-3
        counted = (tasks.date > part.end - 1.5) & (tasks.date <= part.end)
        ended = np.bincount(sharing.application[tasks.agent[counted]], minlength=3)
        assert ended * grain / 1.5 == pytest.approx(best, rel=0.02)
    assert np.abs(tasks.deviation).max() < 0.03
    # Beyond the latency of 1 ms, messages share the bandwidth with tasks.
    assert message_time(kept) - 1e-3 > 2 * (message_time(alone) - 1e-3)


def message_time(kept):
    """Return the mean time that a message takes [s]."""
    trace = kept.result.trace
    # Requests for tasks have 48 bytes.
    small = (np.array(trace.kind) == "comm") & (trace.amount > 64) & (trace.amount < 1000)
    return (trace.end - trace.start)[small].mean()


def test_tasks_are_not_dispatched_where_something_fails():
    with raises_naming(WorkloadError, "'E'", "grain"):
        followed(ALWAYS, Market(0.5), 6.0, changes=[CapacityChange(3.0, "E", 0.0)], grain=100.0)
