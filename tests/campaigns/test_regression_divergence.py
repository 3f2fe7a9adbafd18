"""Where two runs begin to differ, against hand-made changes whose answer is known."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin import Host, Link, Placement, Platform, Route, SimGridOptions, Zone, simulate
from simplugin.campaigns.regression.activities import Activities, Activity, activities_of
from simplugin.campaigns.regression.comparison import compare
from simplugin.campaigns.regression.divergence import diverge
from simplugin.campaigns.regression.explanation import explain
from simplugin.campaigns.regression.snapshots import snapshot_of_result
from simplugin.campaigns.regression.tolerances import Tolerance

ROUNDS = 4


def recorded(rows, total=None, **namesakes):
    ordered = sorted(rows, key=lambda row: row.end)
    return Activities(tuple(ordered), len(ordered) if total is None else total, namesakes)


def work(actor, start, end, label="", host="h", kind="exec", amount=None):
    return Activity(
        actor, host, kind, label, start, end, end - start if amount is None else amount, "done"
    )


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


def run(platform=None, flops=None, options=None, names=NAMES, actor="worker"):
    amounts = {name: [5e8] * ROUNDS for name in names} | (flops or {})
    placements = [Placement("server", serve, args=(names, 0, 1e7), name="server")]
    placements += [Placement(name, compute, args=(amounts[name],), name=actor) for name in names]
    result = simulate(platform or star(), placements, options=options)
    return snapshot_of_result("star", result)


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
    assert (found.actor, found.host) == ("server", "")
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
    assert (found.actor, found.host, found.position) == ("worker", "c", 3)
    assert found.recorded.amount == 5e8
    assert found.now.amount == 9e8
    assert found.date == found.recorded.start == found.now.start
    assert set(found.fields) == {"end", "amount"}
    assert found.after_different == found.after == 1
    assert "  the actors changed: their functions, arguments or hosts" in explain(comparison)
    metrics = {change.name for change in comparison.moved}
    assert {"makespan", "computed"} <= metrics
    assert "transferred" not in metrics


def test_an_actor_more_is_told():
    async def nap(me):
        await me.sleep_for(0.25)

    placements = [Placement("a", nap, name="sleeper")]
    alone = snapshot_of_result("x", simulate(star(), placements))
    both = snapshot_of_result(
        "x", simulate(star(), [*placements, Placement("b", nap, name="other")])
    )
    found, comparison = first(alone, both)
    assert (found.actor, found.recorded, found.now.kind) == ("other", None, "sleep")
    assert comparison.divergence.added == ("other",)
    assert "new: other" in explain(comparison)
    _, comparison = first(both, alone)
    assert "no longer there: other" in explain(comparison)


def test_other_options_are_named(usual):
    _, comparison = first(usual, run(options=SimGridOptions(network_model="CM02")))
    text = "\n".join(explain(comparison))
    assert "option network/model: LV08 -> CM02" in text
    assert "the platform changed" not in text


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


def test_what_follows_a_cut_is_not_compared():
    rows = [work("a", n, n + 1) for n in range(10)]
    cut = Activities(tuple(rows[:6]), 10, {})
    longer = [*rows[:8], work("a", 8, 9.5)]
    assert diverge(cut, recorded(longer)) is None
    changed = [*rows[:3], work("a", 3, 4.5), *rows[5:]]
    divergence = diverge(cut, recorded(changed))
    assert divergence.first[0].position == 4
    assert divergence.until == 6


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


@settings(max_examples=80, deadline=None)
@given(networks())
def test_of_one_longer_activity_and_all_that_wait_for_it_the_one_is_named(network):
    needs, actors, lengths, at, more = network
    longer = [*lengths[:at], lengths[at] + more, *lengths[at + 1 :]]
    before, after = dated(needs, actors, lengths), dated(needs, actors, longer)
    divergence = diverge(recorded(before), recorded(after))
    found = divergence.first[0]
    assert found.recorded == before[at]
    assert found.now == after[at]
    assert found.fields == ("end",)
    changed = [one != other for one, other in zip(before, after, strict=True)]
    assert divergence.agreeing == changed.count(False)
    assert divergence.total == len(before)
    assert {each.actor for each in divergence.first} == {
        row.actor for row, differs in zip(before, changed, strict=True) if differs
    }
    dates = [each.date for each in divergence.first]
    assert dates == sorted(dates)


@settings(max_examples=40, deadline=None)
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


def test_a_long_trace_is_recorded_up_to_its_limit():
    result = simulate(star(), [Placement("a", nap_often, name="a")])
    found = activities_of(result, 3)
    assert len(found.rows) == 3
    assert found.total == 5
    assert found.cut
    assert activities_of(result, 0) is None


async def nap_often(me):
    for _ in range(5):
        await me.sleep_for(1)


def test_replaced_snapshots_without_activities_say_so(usual):
    now = replace(run(flops={"a": [9e8] * ROUNDS}), activities=None)
    text = "\n".join(explain(compare(usual, now)))
    assert "where it began is not known" in text
