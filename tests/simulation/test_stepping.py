"""Step by step: the state at pauses, errors where they are reached, and nothing left behind."""

from __future__ import annotations

import math
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming
from processes import children

from simplugin.core.errors import (
    CrashError,
    DeploymentError,
    NeverAwaitedError,
    SimpluginError,
    WallClockLimitError,
)
from simplugin.simulation import SimGridOptions, simulate, simulation
from simplugin.simulation.process import server_client

pytestmark = pytest.mark.usefixtures("nothing_left")
LINEAR = SimGridOptions.linear()


async def sender(me: Any) -> None:
    await me.execute(2e9, label="prepare")
    print("sends")
    await me.mailbox("box").put("data", 4e6)


async def receiver(me: Any) -> Any:
    return await me.mailbox("box").get()


ACTORS = [("ada", sender), ("bob", receiver)]


def test_state_at_pauses(two_hosts: Path, capfd: Any) -> None:
    # ada computes until 2 s, then 4 MB take 4 s.
    with simulation(two_hosts, ACTORS, options=LINEAR) as sim:
        assert (sim.clock, sim.at_end) == (0.0, False)
        assert [actor.waits_for for actor in sim.actors] == ["its start"] * 2
        sim.run_until(0.5)
        ada, bob = sim.hosts
        assert (ada.name, ada.is_on, ada.speed, ada.executions) == ("ada", True, 1e9, 1)
        assert (ada.load, ada.flops, bob.load, bob.flops) == (1e9, 0.5e9, 0.0, 0.0)
        (execution,) = sim.activities
        assert (execution.kind, execution.actor, execution.resource) == ("exec", "sender", "ada")
        assert (execution.label, execution.amount, execution.remaining) == ("prepare", 2e9, 1.5e9)
        waiting = sim.actors
        assert [each.waits_for for each in waiting] == ["execution on ada", "get 'box'"]
        line = sender.__code__.co_firstlineno + 1
        assert waiting[0].where == f"{__file__}:{line}"
        assert capfd.readouterr().out == ""
        assert sim.step()
        assert sim.clock == 2.0
        assert capfd.readouterr().out == "sends\n"
        sim.run_until(3.0)
        (transfer,) = sim.activities
        assert (transfer.kind, transfer.resource, transfer.start) == ("comm", "ada->bob", 2.0)
        assert (transfer.amount, transfer.remaining) == (4e6, pytest.approx(3e6, rel=1e-9))
        wire = next(link for link in sim.links if link.name == "wire")
        assert (wire.is_on, wire.bandwidth, wire.load) == (True, 1e6, pytest.approx(1e6))
        assert sim.hosts[0].flops == 2e9
        assert not sim.step()
        assert (sim.clock, sim.at_end, sim.actors) == (6.0, True, ())
        sim.run_until(7.0)
        assert sim.clock == 6.0
        result = sim.run()
        assert sim.run() is result
    assert result == simulate(two_hosts, ACTORS, options=LINEAR)


async def forgetful(me: Any) -> None:
    await me.sleep_for(2)
    kept = me.sleep_for(1)
    await me.execute(kept is None)


def test_errors_come_where_they_are_reached(two_hosts: Path) -> None:
    with pytest.raises(NeverAwaitedError) as alone:
        simulate(two_hosts, [("ada", forgetful)])
    with simulation(two_hosts, [("ada", forgetful)]) as sim:
        sim.run_until(1.9)
        with pytest.raises(NeverAwaitedError) as stepping:
            sim.run_until(3.0)
        assert str(stepping.value) == str(alone.value)
        assert stepping.value.place
        assert sim.clock == stepping.value.clock
        assert sim.at_end
        assert not sim.step()
        with pytest.raises(SimpluginError):
            sim.run()


def test_refusals(two_hosts: Path) -> None:
    refused: dict[str, Any] = {"back_end": "threads", "debug": True}
    for name, value in refused.items():
        choice: Any = {name: value}
        with raises_naming(SimpluginError, name), simulation(two_hosts, [], **choice):
            pass
    with pytest.raises(DeploymentError), simulation(two_hosts, [("eve", sender)]):
        pass
    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(1.0)
        with raises_naming(SimpluginError, "date", "0.5"):
            sim.run_until(0.5)


def test_the_end_of_time_and_after_it(two_hosts: Path) -> None:
    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(math.inf)
        assert sim.at_end
        ended = sim.run().clock
    with simulation(two_hosts, ACTORS) as sim:
        sim.run_until(ended / 2)
    with pytest.raises(SimpluginError):
        sim.run()
    for wrong in ("5", None, True, math.nan):
        with raises_naming(SimpluginError, "date"):
            sim.run_until(wrong)  # type: ignore[arg-type]


def test_two_at_a_time_and_leaving_early(two_hosts: Path) -> None:
    with simulation(two_hosts, ACTORS) as one, simulation(two_hosts, ACTORS) as other:
        one.run_until(1.0)
        other.run_until(0.25)
        assert (one.clock, other.clock) == (1.0, 0.25)
        (pid, _) = [
            each for server in server_client.server_processes() for each in children(server)
        ]
        with pytest.raises(KeyError), simulation(two_hosts, ACTORS):
            raise KeyError
        os.kill(pid, signal.SIGKILL)
        with raises_naming(CrashError, "SIGKILL"):
            one.run()
        assert other.run() == simulate(two_hosts, ACTORS)


def test_the_wall_limit_is_of_the_simulation_alone(two_hosts: Path) -> None:
    async def spin(me: Any) -> None:
        await me.sleep_for(1)
        while True:
            pass

    with simulation(two_hosts, [("ada", spin)], wall_limit=0.5) as sim:
        sim.run_until(0.5)
        sim._supervision._paused_since -= 10.0  # as if ten seconds had passed since
        sim.run_until(0.6)
        with pytest.raises(WallClockLimitError):
            sim.run()
