"""Where two runs begin to differ, against hand-made changes whose answer is known."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simplugin import Host, Link, Placement, Platform, Route, Zone, simulate
from simplugin.regression.activities import (
    Activities,
    TracedActivity,
    activities_of,
    is_complete,
)
from simplugin.regression.comparison import compare, explain
from simplugin.regression.divergence import diverge
from simplugin.regression.snapshots import snapshot_of
from simplugin.regression.tolerances import Tolerance

ROUNDS = 4


def recorded(rows, total=None, **namesakes):
    ordered = sorted(rows, key=lambda row: row.end)
    return Activities(tuple(ordered), len(ordered) if total is None else total, namesakes)


def work(actor, start, end, label="", host="h", amount=None):
    amount = end - start if amount is None else amount
    return TracedActivity(actor, host, "exec", label, start, end, amount, "done")


async def serve(me, names, flops, size):
    for number in range(ROUNDS):
        for name in names:
            await me.mailbox(name).put(number, size, label=f"job {number} of {name}")
    return flops


async def compute(me, flops):
    name = me.host.name
    for number in range(ROUNDS):
        await me.mailbox(name).get()
        await me.execute(flops[number], label=f"job {number}")


NAMES = ("a", "b", "c")


def star(**bandwidths):
    links = {name: Link(f"link-{name}", bandwidths.get(name, 100e6), 1e-3) for name in NAMES}
    hosts = [Host("server", 1e9), *(Host(name, 1e9) for name in NAMES)]
    routes = tuple(Route("server", name, (link.id,)) for name, link in links.items())
    return Platform(Zone("all", "Full", (*hosts, *links.values()), routes))


def run(platform=None, flops=None):
    amounts = {name: [5e8] * ROUNDS for name in NAMES} | (flops or {})
    placements = [Placement("server", serve, args=(NAMES, 0, 1e7), name="server")]
    placements += [Placement(name, compute, args=(amounts[name],), name="worker") for name in NAMES]
    return snapshot_of("star", simulate(platform or star(), placements))


@pytest.fixture(scope="module")
def usual():
    return run()


def first(usual, now):
    comparison = compare(usual, now)
    assert not comparison.agrees
    return comparison.divergence.first[0], comparison


def test_the_same_again_differs_in_nothing(usual):
    comparison = compare(usual, run())
    assert comparison.agrees
    assert comparison.divergence is None
    assert explain(comparison) == []


def test_a_slower_link_shows_at_the_first_transfer_over_it(usual):
    found, comparison = first(usual, run(star(b=50e6)))
    assert found.actor == "server"
    assert found.recorded.resource == found.now.resource == "server->b"
    assert found.recorded.label == found.now.label == "job 0 of b"
    assert found.fields == ("end",)
    # Before it only the transfer to a.
    assert (found.position, found.before) == (2, 1)
    assert found.date == pytest.approx(found.recorded.end)
    text = "\n".join(explain(comparison))
    assert "the platform changed" in text
    assert "server, its activity number 2 (the 1 before agree)" in text


def test_another_amount_shows_at_its_execution(usual):
    found, comparison = first(usual, run(flops={"c": [5e8, 5e8, 9e8, 5e8]}))
    # Three actors have the name: they are told apart by their hosts.
    assert (found.actor, found.position) == ("worker on c", 3)
    assert (found.recorded.amount, found.now.amount) == (5e8, 9e8)
    assert found.date == found.recorded.start == found.now.start
    assert set(found.fields) == {"end", "amount"}
    assert found.after_different == found.after == 1
    assert "  the actors changed: their functions, arguments or hosts" in explain(comparison)
    metrics = {change.name for change in comparison.moved}
    assert {"makespan", "computed"} <= metrics
    assert "transferred" not in metrics


async def nap(me, duration):
    await me.sleep_for(duration)


def test_an_actor_more_is_told():
    placements = [Placement("a", nap, args=(0.25,), name="sleeper")]
    more = [*placements, Placement("b", nap, args=(0.25,), name="other")]
    alone, both = (snapshot_of("x", simulate(star(), p)) for p in (placements, more))
    found, comparison = first(alone, both)
    assert (found.actor, found.recorded, found.now.kind) == ("other", None, "sleep")
    assert comparison.divergence.added == ("other",)
    assert "new: other" in explain(comparison)
    _, comparison = first(both, alone)
    assert "no longer there: other" in explain(comparison)


def test_actors_of_one_name_may_be_swapped():
    mine = [work("worker", 0, 1, host="a"), work("worker", 0, 1, host="b")]
    assert diverge(recorded(mine, worker=2), recorded(mine[::-1], worker=2)) is None
    # On one host nothing tells them apart, and what starts together has no order.
    both = [work("worker", 0, 1, "x"), work("worker", 0, 2, "y")]
    jitter = [work("worker", 1e-13, 2, "y", amount=2), work("worker", 2e-13, 1, "x", amount=1)]
    within = Tolerance(1e-9, 1e-12)
    assert diverge(recorded(both, worker=2), recorded(jitter, worker=2), within) is None


def test_one_left_out_and_one_in_between_are_told_as_such():
    rows = [work("a", n, n + 1, f"step {n}") for n in range(6)]
    late = [replace_dates(row, -1) for row in rows[3:]]
    [found] = diverge(recorded(rows), recorded([*rows[:2], *late])).first
    assert (found.recorded.label, found.now, found.position) == ("step 2", None, 3)
    [found] = diverge(recorded([*rows[:2], *late]), recorded(rows)).first
    assert (found.recorded, found.now.label) == (None, "step 2")


def replace_dates(row, by):
    return row._replace(start=row.start + by, end=row.end + by)


def test_what_starts_after_a_cut_is_not_compared():
    rows = [work("a", n, n + 1) for n in range(10)]
    cut = recorded(rows[:6], 10)
    longer = [*rows[:8], work("a", 8, 9.5), work("b", 6, 9)]
    assert diverge(cut, recorded(longer)) is None
    divergence = diverge(cut, recorded([*rows[:3], work("a", 3, 4.5), *rows[5:]]))
    assert (divergence.first[0].position, divergence.until) == (4, 5)


def test_the_activities_that_start_first_are_recorded_with_their_ends():
    placements = [Placement("a", nap_often, name="a"), Placement("b", nap, args=(7.5,))]
    result = simulate(star(), placements)
    now = activities_of(result, 3)
    assert [(row.start, row.end) for row in now.rows] == [(0, 1), (0, 7.5), (1, 2)]
    assert (now.total, now.until) == (6, 1)
    assert activities_of(result, 0) is None
    whole = activities_of(result, 6)
    assert (len(whole.rows), whole.until) == (6, math.inf)
    assert diverge(whole, now) is None
    pairs = [(whole, now), (None, now), (Activities(now.rows, 6), now), (None, None)]
    assert [is_complete(*pair) for pair in pairs] == [False, False, True, True]


def test_actors_of_one_name_on_one_host_are_compared_together():
    def crew(*counts):
        rounds = [n for n, count in enumerate(counts) for _ in range(count)]
        return [work("w", n, n + 1, f"round {n}") for n in rounds]

    # One does not come any more: that is seen when it does not start.
    before, now = recorded(crew(3, 3, 3), w=3), recorded(crew(2, 2, 2), w=2)
    for one, other, first in ((before, now, "recorded"), (now, before, "now")):
        found = diverge(one, other).first[0]
        assert (found.actor, found.date) == ("w on h", 0)
        assert getattr(found, first) == crew(1)[0]
        assert {found.recorded, found.now} == {None, crew(1)[0]}
    # One of them takes longer, and its next round starts later; the others' are as they were.
    rows = crew(3, 3)
    slower = [rows[0]._replace(end=1.25), *rows[1:5], replace_dates(rows[5], 0.25)]
    found = diverge(recorded(rows, w=3), recorded(slower, w=3)).first[0]
    assert (found.recorded, found.now, found.date) == (rows[0], slower[0], 1)
    assert found.fields == ("end",)


@st.composite
def networks(draw):
    """Activities of several actors, each of which starts when others have ended."""
    count = draw(st.integers(1, 25))
    needs = [draw(st.sets(st.integers(0, n - 1), max_size=3)) if n else set() for n in range(count)]
    actors = [draw(st.integers(0, 4)) for _ in range(count)]
    lengths = [draw(st.integers(1, 8)) / 4 for _ in range(count)]
    at = draw(st.integers(0, count - 1))
    return needs, actors, lengths, at, draw(st.integers(1, 12)) / 8


def dated(needs, actors, lengths):
    ends, rows, last = [], [], {}
    for number, (before, actor, length) in enumerate(zip(needs, actors, lengths, strict=True)):
        start = max([0.0, last.get(actor, 0.0), *(ends[each] for each in before)])
        ends.append(start + length)
        last[actor] = ends[-1]
        rows.append(work(f"actor {actor}", start, ends[-1], str(number), amount=1.0))
    return rows


@settings(max_examples=40)
@given(networks())
def test_of_one_longer_activity_and_all_that_wait_for_it_the_one_is_named(network):
    needs, actors, lengths, at, more = network
    longer = [*lengths[:at], lengths[at] + more, *lengths[at + 1 :]]
    before, after = dated(needs, actors, lengths), dated(needs, actors, longer)
    divergence = diverge(recorded(before), recorded(after))
    found = divergence.first[0]
    assert (found.recorded, found.now, found.fields) == (before[at], after[at], ("end",))
    changed = [one != other for one, other in zip(before, after, strict=True)]
    assert divergence.agreeing == changed.count(False)
    assert divergence.total == len(before)
    concerned = {row.actor for row, differs in zip(before, changed, strict=True) if differs}
    assert {each.actor for each in divergence.first} == concerned
    dates = [each.date for each in divergence.first]
    assert dates == sorted(dates)


def events(rows):
    """Starts and ends of activities, in the order in which one sees them."""
    starts = Counter((row.start, row[:4], row.amount) for row in rows)
    return starts + Counter((row.end, row[:4], row.amount, "end", row.start) for row in rows)


@settings(max_examples=40)
@given(networks(), st.integers(0, 5), st.booleans(), st.sampled_from(["", "drop", "add", "label"]))
def test_the_first_difference_is_none_that_is_not_there(network, kept, overlap, change):
    needs, actors, lengths, at, more = network
    # Actors that wait for each end of their own, or that start several at a time.
    who = list(range(len(actors))) if overlap else actors

    def rows_of(lengths):
        rows = zip(dated(needs, who, lengths), actors, strict=True)
        return [row._replace(actor=f"a {actor % 2}") for row, actor in rows]

    before, after = (
        rows_of(lengths),
        rows_of([*lengths[:at], lengths[at] + more, *lengths[at + 1 :]]),
    )
    if change:
        after = rows_of(lengths)
        one = after.pop(at)
        after += {"drop": [], "add": [one, one], "label": [one._replace(label="x")]}[change]
    assume(after)
    before, after = (tuple(sorted(each, key=lambda row: row.start)) for each in (before, after))
    count = max(1, len(before) - kept)
    seen, later = events(before), events(after)
    true = min(each[0] for each in (seen - later) + (later - seen))
    for namesakes in ({}, {"a 0": 2, "a 1": 2}):
        cut = Activities(before[:count], len(before), namesakes)
        assert diverge(cut, Activities(before, len(before), namesakes)) is None
        for known in (after, after[:count]):
            now = Activities(known, len(after), namesakes)
            divergence = diverge(cut, now)
            assert divergence is None or divergence.first[0].date >= true
            # What starts before the cut is known of both runs.
            if true < min(cut.until, now.until):
                assert divergence.first[0].date == true


@settings(max_examples=40)
@given(networks(), st.sampled_from(["kind", "label", "resource", "amount", "state"]))
def test_whatever_differs_is_named(network, field):
    needs, actors, lengths, at, more = network
    rows = dated(needs, actors, lengths)
    value = more + 1 if field == "amount" else "other"
    changed = [*rows[:at], rows[at]._replace(**{field: value}), *rows[at + 1 :]]
    [found] = diverge(recorded(rows), recorded(changed)).first
    assert found.recorded == rows[at]
    assert found.fields == (field,)
    # Less than the tolerance is nothing.
    near = [row._replace(end=row.end * (1 + 1e-12)) for row in rows]
    assert diverge(recorded(rows), recorded(near)) is None


async def nap_often(me):
    for _ in range(5):
        await me.sleep_for(1)


def test_replaced_snapshots_without_activities_say_so(usual):
    now = replace(run(flops={"a": [9e8] * ROUNDS}), activities=None)
    assert "where it began is not known" in "\n".join(explain(compare(usual, now)))
