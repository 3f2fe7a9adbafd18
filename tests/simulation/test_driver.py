"""Rare orders of events in the compiled driver, each with its closed form."""

from array import array

import numpy as np
import pytest

from simplugin.errors import CancelException, HostFailureException, TimeoutException
from simplugin.simulation import Placement, SimGridOptions, simulate

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="star" prefix="h" suffix="" radical="0-4" speed="1Gf" bw="125MBps" lat="0"/>
</platform>
"""
PTASKS = SimGridOptions(host_model="ptask_L07")


@pytest.fixture(scope="module")
def star(tmp_path_factory):
    path = tmp_path_factory.mktemp("driver") / "star.xml"
    path.write_text(PLATFORM)
    return path


def value(star, *actors, options=None):
    return simulate(star, actors, options=options, wall_limit=30).returned[0].value


@pytest.mark.parametrize("options", [None, PTASKS, SimGridOptions(cpu_optim="Full")])
def test_work_left_and_done_is_in_flop_under_any_model(star, options):
    async def half(me):
        work = me.exec_async(1e9)
        await me.sleep_for(0.5)
        left = work.remaining
        work.cancel()
        return left

    result = simulate(star, [("h0", half)], options=options)
    assert result.returned[0].value == pytest.approx(5e8)
    assert result.hosts.flops[0] == pytest.approx(5e8)


@pytest.mark.parametrize("options", [None, PTASKS])
def test_migration_keeps_the_work(star, options):
    async def mover(me):
        work = me.exec_async(1e9)
        await me.sleep_for(0.25)
        me.set_host("h1")
        await work
        return me.now

    result = simulate(star, [("h0", mover)], options=options)
    assert result.returned[0].value == pytest.approx(1.0)
    assert list(result.hosts.flops[:2]) == pytest.approx([2.5e8, 7.5e8])


def test_migrating_a_suspended_execution_leaves_it_suspended(star):
    async def mover(me):
        work = me.exec_async(1e9)
        await me.sleep_for(0.25)
        work.suspend()
        me.set_host("h1")
        await me.sleep_for(1)
        return work.remaining

    assert value(star, ("h0", mover)) == pytest.approx(7.5e8)


def test_migrating_when_an_execution_has_just_failed(star):
    async def mover(me):
        work = me.exec_async(1e9, host="h2")
        await me.sleep_for(0.1)
        me.host_by_name("h2").turn_off()
        me.set_host("h1")
        with pytest.raises(HostFailureException):
            await work
        return me.now

    assert value(star, ("h0", mover)) == pytest.approx(0.1)


@pytest.mark.parametrize(("optim", "date"), [("Lazy", 0.6), ("Full", 0.6), ("TI", 1.0)])
@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
def test_a_dead_host_fails_its_executions(star, optim, date, back_end):
    async def remote(me):
        with pytest.raises(HostFailureException):
            await me.execute(1e9, host="h2")
        return me.now

    async def killer(me):
        await me.sleep_for(0.6)
        me.host_by_name("h2").turn_off()

    options = SimGridOptions(cpu_optim=optim)
    result = simulate(star, [("h0", remote), ("h1", killer)], options=options, back_end=back_end)
    assert result.returned[0].value == pytest.approx(date)


def test_migrating_the_dead_spares_the_living(star):
    async def sleeper(me):
        await me.sleep_for(10)

    async def short(me):
        await me.yield_()

    async def main(me):
        first = me.spawn(short, host="h1")
        second = me.spawn(sleeper, host="h1")
        await me.sleep_for(1)
        first.set_host("h2")
        me.host_by_name("h1").turn_off()
        await second.join()
        return me.now

    assert value(star, ("h0", main)) == 1.0


@pytest.mark.parametrize("kind", ["mutex", "semaphore"])
def test_a_place_granted_to_the_dead_goes_to_the_next(star, kind):
    def place(me):
        return me.mutex("one") if kind == "mutex" else me.semaphore(1, "one")

    async def holder(me):
        async with place(me):
            await me.sleep_for(1)
        for other in me.actors:
            if other.name == "victim":
                other.kill()

    async def waiter(me):
        await me.sleep_for(0.1 if me.name == "victim" else 0.2)
        async with place(me):
            return me.now

    result = simulate(
        star,
        [
            ("h0", holder),
            Placement("h1", waiter, name="victim"),
            Placement("h2", waiter, name="heir"),
        ],
    )
    assert result.value_of("victim") is None
    assert result.value_of("heir") == 1.0


def test_a_wait_is_awaited_by_one(star):
    async def other(_me, waiting):
        await waiting

    async def maker(me):
        waiting = me.wait_any([me.exec_async(1e9)])
        me.spawn(other, waiting)
        await waiting

    with pytest.raises(Exception, match="awaited already"):
        simulate(star, [("h0", maker)], wall_limit=30)


def test_only_what_has_started_is_waited_for_with_others(star):
    async def confused(me):
        started_later = me.mailbox("box").put(None, 0)
        with pytest.raises(TypeError, match="_async"):
            me.wait_any([started_later])
        receiver = me.mailbox("box").get_async()
        await started_later
        await receiver
        return True

    assert value(star, ("h0", confused))


def test_an_operation_belongs_to_who_awaits_it(star):
    async def user(me, locking):
        await me.sleep_for(1)
        await locking
        me.mutex("one").unlock()
        return "unlocked"

    async def maker(me):
        me.spawn(user, me.mutex("one").lock(), name="user")

    result = simulate(star, [("h0", maker)], wall_limit=30)
    assert result.value_of("user") == "unlocked"


def test_polled_joins(star):
    async def target(me):
        await me.sleep_for(2.5)

    async def main(me):
        other = me.spawn(target, host="h1")
        for limits in range(10):
            try:
                await other.join(timeout=1)
            except TimeoutException:
                continue
            return limits, me.now
        return None

    assert value(star, ("h0", main)) == (2, 2.5)


def test_odd_names_are_refused_or_kept(star):
    async def main(me):
        with pytest.raises(TypeError, match="name must be a str"):
            me.spawn(main, name=5)
        with pytest.raises(TimeoutException):
            await me.mailbox("\ud800").get(timeout=1)
        with pytest.raises(TypeError):
            me.links[0].bandwidth = None
        with pytest.raises(TypeError, match="flops must be a number"):
            me.execute(None)
        return me.now

    assert value(star, ("h0", main)) == 1.0


def test_leaving_during_an_exit_callback(star):
    async def main(me):
        me.on_exit(lambda _failed: me.exit())
        return 1

    assert simulate(star, [("h0", main)], wall_limit=30).clock == 0.0


def test_cancel_reaches_every_waiter(star):
    async def waiter(me, work):
        with pytest.raises(CancelException):
            await work
        return me.now

    async def main(me):
        work = me.exec_async(1e9)
        others = [me.spawn(waiter, work) for _ in range(3)]
        await me.sleep_for(0.5)
        work.cancel()
        return [await other.join() for other in others]

    assert value(star, ("h0", main)) == [0.5, 0.5, 0.5]


async def all_to_next(me, flops, sizes):
    await me.parallel_execute(["h0", "h1", "h2"], flops, sizes)
    return me.now


# Each form of the same parallel task: h0 sends 250 MB to h1, which computes 1 Gflop.
FLOPS, SIZES = np.array([0.0, 1e9, 0.0]), np.zeros((3, 3))
SIZES[0, 1] = 250e6


@pytest.mark.parametrize(
    ("flops", "sizes"),
    [
        (FLOPS.tolist(), SIZES.tolist()),
        (FLOPS, SIZES),
        (array("d", FLOPS), list(SIZES)),
        (FLOPS.astype(int), SIZES.astype(int)),
        (FLOPS.astype(">f8"), SIZES.astype(">f8")),
        (np.repeat(FLOPS, 2)[::2], np.asfortranarray(SIZES)),
        (tuple(FLOPS), np.repeat(SIZES, 2, axis=1)[:, ::2]),
        (FLOPS.astype(np.float32), SIZES.astype(np.float32)),
    ],
    ids=["lists", "arrays", "mixed", "whole", "big-endian", "strided", "columns", "single"],
)
def test_parallel_tasks_take_any_array(star, flops, sizes):
    result = simulate(star, [("h4", all_to_next, flops, sizes)], options=PTASKS)
    assert result.returned[0].value == pytest.approx(2.0)
    assert result.hosts.flops[:3].tolist() == FLOPS.tolist()
    assert result.links.bytes.sum() == pytest.approx(2 * 250e6)


def test_parallel_tasks_without_work_or_without_messages(star):
    sending = simulate(star, [("h4", all_to_next, None, SIZES)], options=PTASKS)
    assert sending.clock == pytest.approx(2.0)
    assert sending.hosts.flops.sum() == 0.0
    computing = simulate(star, [("h4", all_to_next, FLOPS, None)], options=PTASKS)
    assert computing.clock == pytest.approx(1.0)
    assert computing.links.bytes.sum() == 0.0


@pytest.mark.parametrize(
    ("flops", "sizes", "message"),
    [
        (np.ones(2), SIZES, "flops must have one entry a host: 3, not 2"),
        (FLOPS, np.zeros((2, 3)), "sizes must have a row for each of the 3 hosts"),
        (FLOPS, np.zeros((3, 2)), "each row of sizes must have one entry a host: 3, not 2"),
        (FLOPS, -SIZES, r"each row of sizes must be a finite number >= 0, not -250000000.0"),
        (np.full(3, np.nan), SIZES, "flops must be a finite number >= 0, not nan"),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist], ids=["array", "list"])
def test_arrays_and_lists_are_refused_alike(star, form, flops, sizes, message):
    async def refused(me):
        with pytest.raises(ValueError, match=message):
            me.parallel_async(["h0", "h1", "h2"], form(flops), form(sizes))
        return me.now

    assert value(star, ("h0", refused), options=PTASKS) == 0.0
