"""Rare orders of events in the compiled driver, each with its closed form."""

from array import array

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import ActorError, HostFailureException, TimeoutException
from simplugin.platforms import Cluster, Platform
from simplugin.simulation import SimGridOptions, simulate

STAR = Platform(Cluster("star", "0-4", 1e9, bandwidth=125e6, latency=0.0, prefix="h"))
DEFAULT = SimGridOptions()
PTASKS = SimGridOptions(host_model="ptask_L07")


def value(*actors, options=DEFAULT):
    return simulate(STAR, actors, options=options, wall_limit=30).returned[0].value


@pytest.mark.parametrize("options", [DEFAULT, PTASKS, SimGridOptions(cpu_optim="Full")])
def test_work_left_and_done_is_in_flop_under_any_model(options):
    async def half(me):
        work = me.exec_async(1e9)
        await me.sleep_for(0.5)
        left = work.remaining
        work.cancel()
        return left

    result = simulate(STAR, [("h0", half)], options=options)
    assert result.returned[0].value == pytest.approx(5e8)
    assert result.hosts.flops[0] == pytest.approx(5e8)


@pytest.mark.parametrize("options", [DEFAULT, PTASKS])
def test_migration_keeps_the_work(options):
    async def mover(me):
        work = me.exec_async(1e9)
        await me.sleep_for(0.25)
        me.set_host("h1")
        await work
        return me.now

    result = simulate(STAR, [("h0", mover)], options=options)
    assert result.returned[0].value == pytest.approx(1.0)
    assert list(result.hosts.flops[:2]) == pytest.approx([2.5e8, 7.5e8])


@pytest.mark.parametrize("optim", ["Lazy", "Full", "TI"])
def test_a_dead_host_fails_its_executions(optim, back_end):
    async def remote(me):
        with pytest.raises(HostFailureException):
            await me.execute(1e9, host="h2")
        return me.now

    async def killer(me):
        await me.sleep_for(0.6)
        me.host_by_name("h2").turn_off()

    options = SimGridOptions(cpu_optim=optim)
    result = simulate(STAR, [("h0", remote), ("h1", killer)], options=options, back_end=back_end)
    assert result.returned[0].value == pytest.approx(0.6)


def test_a_wait_is_awaited_by_one():
    async def other(_me, waiting):
        await waiting

    async def maker(me):
        waiting = me.wait_any([me.exec_async(1e9)])
        me.spawn(other, waiting)
        await waiting

    with pytest.raises(ActorError):
        simulate(STAR, [("h0", maker)], wall_limit=30)


def test_only_what_has_started_is_waited_for_with_others():
    async def confused(me):
        started_later = me.mailbox("box").put(None, 0)
        with raises_naming(TypeError, "_async"):
            me.wait_any([started_later])
        receiver = me.mailbox("box").get_async()
        await started_later
        await receiver
        return True

    assert value(("h0", confused))


def test_an_operation_belongs_to_who_awaits_it():
    async def user(me, locking):
        await me.sleep_for(1)
        await locking
        me.mutex("one").unlock()
        return "unlocked"

    async def maker(me):
        me.spawn(user, me.mutex("one").lock(), name="user")

    result = simulate(STAR, [("h0", maker)], wall_limit=30)
    assert result.value_of("user") == "unlocked"


def test_names_may_be_any_text():
    async def main(me):
        with pytest.raises(TimeoutException):
            await me.mailbox("\ud800").get(timeout=1)
        return me.now

    assert value(("h0", main)) == 1.0


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
def test_parallel_tasks_take_any_array(flops, sizes):
    result = simulate(STAR, [("h4", all_to_next, flops, sizes)], options=PTASKS)
    assert result.returned[0].value == pytest.approx(2.0)
    assert result.hosts.flops[:3].tolist() == FLOPS.tolist()
    assert result.links.bytes.sum() == pytest.approx(2 * 250e6)
