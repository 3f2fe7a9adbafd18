"""Both back ends end in the same ways."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from simplugin.errors import (
    ActorError,
    CrashError,
    DeadlockError,
    DeploymentError,
    PlatformError,
    SimulatedTimeLimitError,
    WallClockLimitError,
)
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.protocol import BACK_ENDS

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.parametrize("back_end", sorted(BACK_ENDS)),
]


async def send(me: Any) -> None:
    await me.mailbox("box").put({"some": "data"}, 2e6)


async def receive(me: Any) -> Any:
    data = await me.mailbox("box").get()
    return me.now, data


async def raising(me: Any) -> None:
    await me.sleep_for(2)
    raise KeyError("missing")


async def waiting(me: Any) -> None:
    await me.sleep_for(4)
    await me.mailbox("nobody writes").get()


async def for_ever(me: Any) -> None:
    while True:
        await me.sleep_for(1)


def test_result(two_hosts: Path, back_end: Any) -> None:
    def run() -> Any:
        return simulate(
            two_hosts,
            [("ada", send), ("bob", receive)],
            options=SimGridOptions.linear(),
            back_end=back_end,
        )

    result = run()
    assert result.value_of("receive") == (pytest.approx(2.0, rel=1e-9), {"some": "data"})
    assert result.links.row("wire")["bytes"] == pytest.approx(2e6, rel=1e-9)
    assert result.provenance["back_end"] == back_end
    assert result.provenance["simgrid"] == "4.1.0"
    assert result.provenance["options"]["network/model"] == "CM02"
    assert run() == result


def test_actor_error(two_hosts: Path, back_end: Any) -> None:
    with pytest.raises(ActorError, match="missing") as caught:
        simulate(two_hosts, [("ada", for_ever), ("bob", raising)], back_end=back_end)
    assert (caught.value.actor, caught.value.host, caught.value.clock) == ("raising", "bob", 2.0)
    assert isinstance(caught.value.__cause__, KeyError)


def test_deadlock(two_hosts: Path, back_end: Any) -> None:
    with pytest.raises(DeadlockError) as caught:
        simulate(two_hosts, [("ada", waiting)], back_end=back_end)
    (blocked,) = caught.value.blocked
    assert (blocked.name, blocked.host, blocked.since) == ("waiting", "ada", 4.0)
    assert "nobody writes" in blocked.waits_for


def test_crash(two_hosts: Path, back_end: Any) -> None:
    async def killed(me: Any) -> None:
        await me.sleep_for(1)
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(CrashError, match="SIGKILL"):
        simulate(two_hosts, [("ada", killed), ("bob", for_ever)], back_end=back_end)


def test_limits(two_hosts: Path, back_end: Any) -> None:
    async def busy(me: Any) -> None:
        await me.sleep_for(1)
        time.sleep(60)

    with pytest.raises(SimulatedTimeLimitError):
        simulate(two_hosts, [("ada", for_ever)], until=10, back_end=back_end)
    with pytest.raises(WallClockLimitError):
        simulate(two_hosts, [("ada", busy)], wall_limit=0.5, back_end=back_end)


def test_unknown_host(two_hosts: Path, back_end: Any) -> None:
    with pytest.raises(DeploymentError, match=r"'send' is placed on host 'adda'.*'ada'"):
        simulate(two_hosts, [("ada", receive), ("adda", send)], back_end=back_end)


def test_platform_that_simgrid_refuses(tmp_path: Path, back_end: Any) -> None:
    file = tmp_path / "bad.xml"
    file.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1"><zone id="w" routing="Full">\n'
        '<host id="ada" speed="1Gblub"/>\n</zone></platform>'
    )
    with pytest.raises(PlatformError, match=r"bad\.xml:4: unknown unit: Gblub"):
        simulate(file, [("ada", for_ever)], back_end=back_end)


def test_progress(two_hosts: Path, back_end: Any) -> None:
    seen: list[tuple[float, int]] = []

    async def long(me: Any) -> None:
        for _ in range(20_000):
            await me.sleep_for(1)

    simulate(
        two_hosts,
        [("ada", long)],
        progress=lambda *where: seen.append(where),
        back_end=back_end,
    )
    assert seen
    assert seen == sorted(seen)
    assert all(0 <= clock <= 20_000 and active == 1 for clock, active in seen)
