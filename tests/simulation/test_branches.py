"""Branches have the same future, whoever ends first, and leave nothing behind."""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import random
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming
from processes import children

from simplugin.core.errors import (
    ActorError,
    CrashError,
    DeploymentError,
    SimpluginError,
    SimulationError,
    WallClockLimitError,
)
from simplugin.simulation import Result, Simulation, simulate, simulation
from simplugin.simulation.process import server_client

pytestmark = pytest.mark.usefixtures("nothing_left")


async def worker(me: Any, rounds: int) -> float:
    for number in range(rounds):
        await me.execute(1e9 * (0.5 + random.random()) + 1e8 * me.random.random())
        await me.mailbox("box").put(number, 1e6)
    return float(me.now)


async def collector(me: Any, rounds: int) -> list[Any]:
    return [await me.mailbox("box").get() for _ in range(rounds)]


ACTORS = [("ada", worker, 9), ("bob", collector, 9)]


@pytest.fixture
def expected(two_hosts: Path) -> Result:
    return simulate(two_hosts, ACTORS)


def processes() -> list[int]:
    return [each for server in server_client.server_processes() for each in children(server)]


def test_branches_of_branches_have_the_same_future(two_hosts: Path, expected: Result) -> None:
    with contextlib.ExitStack() as stack:
        latest = stack.enter_context(simulation(two_hosts, ACTORS))
        for _ in range(12):
            latest = stack.enter_context(latest.branch())
            latest.step()
        assert len(processes()) == 13
        assert latest.run() == expected
    assert processes() == []


def test_either_may_be_killed(two_hosts: Path, expected: Result) -> None:
    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(4.0)
        (whole,) = processes()
        with sim.branch() as other:
            (fork,) = set(processes()) - {whole}
            os.kill(fork, signal.SIGKILL)
            with raises_naming(CrashError, "SIGKILL"):
                other.run()
        with sim.branch() as other:
            os.kill(whole, signal.SIGKILL)
            with raises_naming(CrashError, "SIGKILL"):
                sim.run()
            assert other.run() == expected
        with raises_naming(SimpluginError, "ended"), sim.branch():
            pass


def test_a_branch_outlives_the_run_of_its_parent(two_hosts: Path, expected: Result) -> None:
    with simulation(two_hosts, ACTORS) as sim, sim.branch() as other:
        assert sim.run() == expected
        assert other.run() == expected


def test_from_several_threads(two_hosts: Path, expected: Result) -> None:
    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(4.0)
        results: list[Result] = []

        def run() -> None:
            with sim.branch() as other:
                results.append(other.run())

        threads = [threading.Thread(target=run) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert results == [expected] * 6

        def until(other: Simulation, date: float) -> float:
            other.run_until(date)
            return other.clock

        assert sim.map(until, [5.0, 6.5, 4.5]) == [5.0, 6.5, 4.5]


async def speaker(me: Any) -> None:
    await me.sleep_for(2)
    print("speaks")
    me.log("logs")


def test_what_a_branch_prints(two_hosts: Path, capfd: Any) -> None:
    with simulation(two_hosts, [("ada", speaker)]) as sim:
        sim.run_until(1.0)
        for quiet in (True, False):
            with sim.branch(quiet=quiet) as other:
                other.run()
            shown = capfd.readouterr()
            assert ("speaks" in shown.out, "logs" in shown.err) == (not quiet, not quiet)


async def opener(me: Any, file: str) -> None:
    with open(file, "w"):
        await me.sleep_for(2)
    await me.sleep_for(2)


async def threaded(me: Any) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    await me.sleep_for(2)
    stop.set()
    thread.join()
    await me.sleep_for(2)


async def shares(me: Any) -> None:
    with mmap.mmap(-1, 4096) as memory:
        memory[0] = 1
        await me.sleep_for(2)
    await me.sleep_for(2)


async def parent(me: Any) -> None:
    pid = os.fork()
    if pid == 0:
        signal.pause()
    await me.sleep_for(2)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    await me.sleep_for(2)


def test_what_cannot_be_copied(two_hosts: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "opened")
    refused = {opener: ([file], file), threaded: ([], "threads"), parent: ([], "processes")}
    if "RssShmem" in Path("/proc/self/status").read_text():
        refused[shares] = [], "memory"
    for function, (given, name) in refused.items():
        with simulation(two_hosts, [("ada", function, *given)]) as sim:
            sim.run_until(1.0)
            with raises_naming(SimulationError, name), sim.branch():
                pass
            sim.run_until(3.0)
            with sim.branch() as other:
                assert other.run() == sim.run()


def test_interventions(two_hosts: Path, expected: Result) -> None:
    async def hurry(me: Any, factor: float) -> None:
        me.host_by_name("ada").available_speed = factor
        await me.mailbox("unused").put_async("message", 10)

    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(4.0)
        with sim.branch() as other:
            with pytest.raises(ActorError) as failed:
                other.turn_off("wire")
            assert failed.value.clock is not None
            assert failed.value.clock >= 4.0
        with sim.branch() as other:
            other.intervene(hurry, 0.25, host="bob", name="slower")
            assert (other.clock, other.hosts[0].speed) == (4.0, 0.25e9)
            with other.branch() as third, pytest.raises(SimulationError):
                third.run()  # nobody receives the message
        assert sim.run() == expected


def test_a_host_off_and_on(two_hosts: Path) -> None:
    with simulation(two_hosts, [("ada", speaker), ("bob", speaker)]) as sim:
        sim.run_until(1.0)
        sim.turn_off("ada")
        assert [each.is_on for each in sim.hosts] == [False, True]
        assert [each.host for each in sim.actors] == ["bob"]
        sim.run_until(1.5)
        sim.turn_on("ada")
        assert all(each.is_on for each in sim.hosts)
        assert sim.run().off_times == {"ada": ((1.0, 1.5),)}


def test_an_intervention_is_an_actor_that_comes_first(two_hosts: Path) -> None:
    async def halve(me: Any, date: float = 0.0) -> None:
        await me.sleep_until(date)
        me.host_by_name("ada").available_speed = 0.5

    whole = simulate(two_hosts, [*ACTORS, ("bob", halve, 4.0)])
    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(4.0)
        sim.intervene(halve, host="bob")
        result = sim.run()
    assert (result.clock, result.values("worker")) == (whole.clock, whole.values("worker"))
    assert [each.name for each in result.returned] == ["worker", "collector", "halve"]
    assert result.provenance["interventions"] == [[4.0, "halve", "bob"]]


def test_refusals(two_hosts: Path) -> None:
    with simulation(two_hosts, ACTORS) as sim:
        with raises_naming(SimpluginError, "adda", "ada"):
            sim.turn_off("adda")
        with raises_naming(DeploymentError, "eve"):
            sim.intervene(speaker, host="eve")
        for wrong in (5, None):
            with raises_naming(SimpluginError, repr(wrong)):
                sim.turn_off(wrong)  # type: ignore[arg-type]
        with raises_naming(DeploymentError, "name", "5"):
            sim.intervene(speaker, name=5)  # type: ignore[arg-type]
        with raises_naming(DeploymentError, "worker", "rounds"):
            sim.intervene(worker)
        assert not sim.at_end
        sim.turn_off("bob")
        with raises_naming(DeploymentError, "bob", "off"):
            sim.intervene(speaker, host="bob")
        with raises_naming(SimpluginError, "workers"):
            sim.map(print, [1], workers=-1)


def test_a_recipe_leads_to_the_same_pause(two_hosts: Path) -> None:
    with simulation(two_hosts, ACTORS) as sim:
        sim.step()
        sim.run_until(4.0)
        sim.intervene(speaker, host="bob")
        sim.run_until(5.0)
        recipe = pickle.loads(pickle.dumps(sim.recipe()))
        whole = sim.run()
    with recipe.replayed() as again:
        assert again.clock == 5.0
        with again.branches(2) as others:
            assert [each.run() for each in others] == [whole] * 2
    wrong = replace(recipe, digest="")
    with raises_naming(SimulationError, "5 s"), wrong.replayed():
        pass


def test_the_end(two_hosts: Path) -> None:
    with simulation(two_hosts, [("ada", speaker)]) as sim:
        sim.run_until(100.0)
        assert sim.at_end
        with sim.branch() as other:
            assert other.run().clock == 2.0
        with raises_naming(SimulationError, "end"):
            sim.turn_off("bob")


def test_what_is_left_of_the_wall_limit(two_hosts: Path) -> None:
    async def spin(me: Any) -> None:
        await me.sleep_for(1)
        while True:
            pass

    with simulation(two_hosts, [("ada", spin)], wall_limit=1.0) as sim:
        sim.run_until(0.5)
        with sim.branch() as other, pytest.raises(WallClockLimitError) as slow:
            other.run()
        assert slow.value.clock in (0.5, 1.0)
        assert sim.clock == 0.5
