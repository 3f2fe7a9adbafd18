"""Rollouts try options in copies of the simulation, and never end worse than their base."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import ChoiceError, SimpluginError
from simplugin.simulation import Choice, PausedState, Result, Rollout, simulate, simulation

pytestmark = pytest.mark.usefixtures("nothing_left")
HOSTS = ("ada", "bob")


async def serve(me: Any, tasks: list[float]) -> None:
    """Send each task to the host that is chosen when it is due."""
    for number, flops in enumerate(tasks):
        index = await me.choose(HOSTS, number, label="where")
        await me.mailbox(HOSTS[index]).put_async(flops, 1e4)
        await me.sleep_for(0.25)
    for host in HOSTS:
        await me.mailbox(host).put(None, 0)


async def work(me: Any) -> int:
    print("works")
    done = 0
    while (flops := await me.mailbox(me.host.name).get()) is not None:
        await me.execute(flops)
        done += 1
    return done


def actors(tasks: list[float]) -> list[tuple[Any, ...]]:
    return [("ada", serve, tasks), ("ada", work), ("bob", work)]


TASKS = [1e9, 3e9, 2e9, 2e9]


def alternates(choice: Choice) -> int:
    return int(choice.observation) % 2


def test_a_better_plan_is_found_and_followed(two_hosts: Path, capfd: Any) -> None:
    base = simulate(two_hosts, actors(TASKS))
    found = simulate(two_hosts, actors(TASKS), chooser=Rollout())
    # All on one host by default; 8 Gflop on two hosts of 1 Gflop/s at best.
    assert base.clock > 8
    assert 4 < found.clock < 4.6
    assert capfd.readouterr().out == "works\n" * 4
    alone = simulate(two_hosts, actors(TASKS), chooser=Rollout(workers=1))
    assert alone.choices == found.choices
    one = Rollout(most=1)
    assert simulate(two_hosts, actors(TASKS), chooser=one).choices == base.choices
    never = Rollout(candidates=lambda _: [])
    assert simulate(two_hosts, actors(TASKS), chooser=never).choices == base.choices


@settings(max_examples=15)
@given(
    tasks=st.lists(st.floats(1e7, 4e9), min_size=1, max_size=6),
    base=st.sampled_from([alternates, lambda _: 0, lambda choice: hash(choice.number) % 2]),
    workers=st.integers(1, 2),
)
def test_never_worse_than_its_base(
    tasks: list[float], base: Any, workers: int, two_hosts: Path
) -> None:
    alone = simulate(two_hosts, actors(tasks), chooser=base)
    chooser = Rollout(base, workers=workers)
    assert simulate(two_hosts, actors(tasks), chooser=chooser).clock <= alone.clock


def loads(state: PausedState) -> float:
    """Return the largest work that is left on a host [flop]."""
    left = dict.fromkeys(HOSTS, 0.0)
    for each in state.activities:
        if each.kind == "exec":
            left[each.resource] += each.remaining
    return max(left.values())


def test_a_horizon_and_an_estimate(two_hosts: Path) -> None:
    chooser = Rollout(horizon=0.2, estimate=loads)
    result = simulate(two_hosts, actors(TASKS), chooser=chooser)
    assert result.clock < simulate(two_hosts, actors(TASKS)).clock
    for wrong in ({"horizon": 1.0}, {"estimate": loads}):
        with raises_naming(SimpluginError, "horizon", "estimate"):
            Rollout(**wrong)  # type: ignore[arg-type]
    both = {"horizon": -1.0, "estimate": loads}
    for wrong in ({"workers": 0}, {"most": 1.5}, {"seconds": math.nan}, both):
        with raises_naming(SimpluginError, next(iter(wrong))):
            Rollout(**wrong)  # type: ignore[arg-type]


def fails(_: Result) -> float:
    raise LookupError("measure")


def test_what_cannot_be_tried(two_hosts: Path) -> None:
    for back_end, chooser, name in (
        ("threads", Rollout(), "threads"),
        ("coroutines", Rollout(metric=fails), "LookupError"),
        ("coroutines", Rollout(metric=lambda _: math.nan), "NaN"),
        ("coroutines", Rollout(candidates=lambda _: [7]), "7"),
    ):
        choices: Any = {"back_end": back_end, "chooser": chooser}
        with raises_naming(ChoiceError, name):
            simulate(two_hosts, actors(TASKS), **choices)


async def dies(me: Any) -> None:
    if await me.choose([0, 1, 2]) != 2:
        raise RuntimeError


def test_an_error_of_the_base_in_a_copy(two_hosts: Path) -> None:
    def base(choice: Choice) -> int:
        return 0 if choice.number == 0 else 9

    with raises_naming(ChoiceError, "base", "9"):
        simulate(two_hosts, actors(TASKS), chooser=Rollout(base))


def test_options_that_fail_are_not_taken(two_hosts: Path) -> None:
    result = simulate(two_hosts, [("ada", dies)], chooser=Rollout())
    assert [taken.index for taken in result.choices] == [2]


def test_no_time_is_left(two_hosts: Path) -> None:
    chooser = Rollout(alternates, seconds=1e-9)
    result = simulate(two_hosts, actors(TASKS), chooser=chooser)
    assert [taken.index for taken in result.choices] == [0, 1, 0, 1]


def test_step_by_step_and_in_branches(two_hosts: Path) -> None:
    whole = simulate(two_hosts, actors(TASKS), chooser=Rollout())
    with simulation(two_hosts, actors(TASKS), chooser=Rollout()) as sim:
        sim.run_until(0.3)
        with sim.branch(quiet=True) as other:
            assert other.run() == whole
        choice = sim.run_to_choice()
        assert choice is not None
        assert choice.number == 2
        sim.choose(0)
        assert sim.run().choices[2].index == 0


async def slow_down(me: Any) -> None:
    me.host_by_name("ada").available_speed = 0.1


def test_plans_before_an_intervention_are_forgotten(two_hosts: Path) -> None:
    with simulation(two_hosts, actors(TASKS), chooser=Rollout()) as sim:
        sim.run_until(0.1)
        sim.intervene(slow_down)
        found = sim.run()
    # The first decision is taken; the base would send all others to the slow host.
    assert [taken.index for taken in found.choices[1:]] == [1, 1, 1]
