"""Outcomes of simulations: results and errors, on both back ends."""

from __future__ import annotations

import ctypes
import functools
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from naming import raises_naming
from processes import children
from xml_zones import zone_xml

from simplugin import Host, Platform, Zone
from simplugin.core.errors import (
    ActorError,
    CrashError,
    DeploymentError,
    PlatformError,
    SetupError,
    SimpluginError,
    SimulationError,
    WallClockLimitError,
)
from simplugin.simulation import Placement, simulate
from simplugin.simulation.placement import NotAsyncError
from simplugin.simulation.process import server_client
from simplugin.simulation.process.serialization import OriginalError
from simplugin.simulation.protocol import BACK_ENDS

pytestmark = pytest.mark.usefixtures("nothing_left")


async def sleeper(me: Any, duration: float) -> float:
    await me.sleep_for(duration)
    return float(me.now)


class Unpicklable(Exception):
    def __init__(self, first: int, _second: int) -> None:
        super().__init__(first)
        self.lock = threading.Lock()


class TwoArguments(Exception):
    def __init__(self, first: int, second: str) -> None:
        super().__init__(f"{first} and {second}")
        self.second = second


class OneArgument(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(f"no {name}")


async def raising(me: Any, make: Callable[[], Exception]) -> None:
    await me.sleep_for(2)
    sys.stderr.write("last words\n")
    raise make()


async def for_ever(me: Any) -> None:
    while True:
        await me.sleep_for(1)


async def busy(me: Any) -> None:
    await me.sleep_for(3)
    time.sleep(60)


def crash_segv() -> None:
    ctypes.string_at(0)


def crash_abort() -> None:
    sys.stderr.write("what I was about to do\n")
    os.abort()


async def crashing(me: Any, crash: Callable[[], None]) -> None:
    await me.sleep_for(1)
    crash()


def test_actor_error_is_chained_and_names_actor_and_place(two_hosts: Path, back_end: Any) -> None:
    actor = Placement("bob", raising, (lambda: KeyError("missing"),), name="worker")
    with raises_naming(ActorError, "missing") as caught:
        simulate(two_hosts, [actor], back_end=back_end)
    error = caught.value
    assert (error.actor, error.host, error.clock) == ("worker", "bob", 2.0)
    assert repr(error.__cause__) == "KeyError('missing')"
    assert "in raising" in error.actor_traceback
    assert error.stderr == "last words"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: TwoArguments(1, "two"), "1 and two"),
        (lambda: OneArgument("bread"), "no bread"),
        (lambda: Unpicklable(1, 2), "Unpicklable(1)"),
    ],
)
def test_exceptions_keep_type_and_text_or_have_a_stand_in(
    two_hosts: Path, make: Callable[[], Exception], text: str
) -> None:
    with pytest.raises(ActorError) as caught:
        simulate(two_hosts, [("ada", raising, make)])
    cause = caught.value.__cause__
    if isinstance(make(), Unpicklable):
        assert isinstance(cause, OriginalError)
        assert (cause.type_name.endswith("Unpicklable"), cause.text) == (True, text)
    else:
        assert (type(cause), str(cause), vars(cause)) == (type(make()), text, vars(make()))


def test_function_that_returns_an_operation(two_hosts: Path, back_end: Any) -> None:
    actors = [
        ("ada", lambda me: me.execute(3e9)),
        Placement("bob", lambda me: me.sleep_for(2), start_time=5),
        ("bob", lambda me, flops: me.execute(flops), 2e9),
    ]
    result = simulate(two_hosts, actors, back_end=back_end)
    assert result.clock == pytest.approx(7.0)
    assert [actor.state for actor in result.returned] == ["ended"] * 3
    assert result.provenance["back_end"] == back_end
    assert sorted(result.trace.end) == pytest.approx([1.0, 3.0, 7.0])


@pytest.mark.parametrize(
    ("crash", "number", "code", "told"),
    [
        (crash_segv, signal.SIGSEGV, None, "in crash_segv"),
        (crash_abort, signal.SIGABRT, None, "what I was about to do"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), signal.SIGKILL, None, "SIGKILL"),
        (lambda: os._exit(3), None, 3, "3"),
    ],
)
def test_crash_is_an_error_and_the_next_simulation_works(
    two_hosts: Path, crash: Any, number: int | None, code: int | None, told: str, back_end: Any
) -> None:
    with raises_naming(CrashError, told) as caught:
        simulate(two_hosts, [("ada", crashing, crash)], back_end=back_end)
    assert (caught.value.signal, caught.value.exit_code) == (number, code)
    assert simulate(two_hosts, [("ada", sleeper, 1.0)], back_end=back_end).clock == 1.0


def test_wall_clock_limit_kills_and_says_how_far_it_got(two_hosts: Path, back_end: Any) -> None:
    # On a busy machine the limit may come before the actor has started.
    for limit in (0.4, 4, 40):
        with raises_naming(WallClockLimitError, limit) as caught:
            simulate(two_hosts, [("ada", busy)], wall_limit=limit, back_end=back_end)
        assert caught.value.limit == limit
        # The signal that asks for the place reaches another thread than the actor's.
        named = re.search(rf"{Path(__file__).name}:\d+ in busy", str(caught.value))
        if named or back_end == "threads":
            return
    pytest.fail("the error does not name the actor")


def test_memory_limit(two_hosts: Path) -> None:
    async def hungry(me: Any) -> int:
        await me.sleep_for(1)
        eaten = []
        while len(eaten) < 1000:
            eaten.append(bytes(1 << 20))
        return len(eaten)

    with pytest.raises(ActorError) as caught:
        simulate(two_hosts, [("ada", hungry)], memory_limit=200 << 20)
    assert isinstance(caught.value.__cause__, MemoryError)


def test_trace_limit(two_hosts: Path, back_end: Any) -> None:
    async def work(me: Any, texts: bool) -> None:
        for number in range(50):
            await me.execute(1e9, label=f"{number:10}" if texts else None)

    def simulated(texts: bool, **limits: Any) -> float:
        result = simulate(two_hosts, [("ada", work, texts)], back_end=back_end, **limits)
        assert len(result.trace) == (50 if limits.get("trace", True) else 0)
        return result.clock

    # A row has 38 byte, a text 100 and its characters.
    for texts, row in ((False, 38), (True, 38 + 100 + 10)):
        assert simulated(texts, trace_limit=100 + len("ada") + 50 * row) == 50
        assert simulated(texts, trace_limit=1, trace=False) == 50
        for count in (2, 25, 50):
            with raises_naming(SimulationError, "trace") as caught:
                simulated(texts, trace_limit=100 + len("ada") + count * row - 1)
            assert caught.value.clock == count


@pytest.mark.parametrize("limit", [None, 1 << 40])
def test_trace_that_outgrows_the_memory_limit(two_hosts: Path, limit: int | None) -> None:
    """Of its own accord, or because there is no more."""

    async def work(me: Any) -> None:
        while True:
            await me.execute(1.0)

    with raises_naming(SimulationError, "trace"):
        simulate(two_hosts, [("ada", work)], memory_limit=60 << 20, trace_limit=limit)


def test_what_does_not_pickle_names_the_actor(two_hosts: Path) -> None:
    async def lock(me: Any) -> Any:
        await me.sleep_for(1)
        return threading.Lock()

    for actor, name in ((("bob", lock), "lock"), (("bob", sleeper, threading.Lock()), "sleeper")):
        with raises_naming(SimulationError, name, "bob", "of type lock"):
            simulate(two_hosts, [("ada", sleeper, 1.0), actor])


def test_unknown_host_names_actor_and_close_match(two_hosts: Path, back_end: Any) -> None:
    with raises_naming(DeploymentError, "'sleeper'", "'adda'", "'ada'"):
        simulate(two_hosts, [("adda", sleeper, 1.0)], back_end=back_end)


def test_function_that_is_not_async(two_hosts: Path) -> None:
    def plain(_me: Any) -> int:
        return 1

    for function in (plain, print, functools.partial(dict)):
        with pytest.raises(NotAsyncError):
            simulate(two_hosts, [("ada", function)])


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        ('<host id="eve" speed="1Gblub"/>', 6, "Gblub"),
        ('<hoost id="eve"/>', 6, ""),
        ('<host id="ada" speed="1f"/><host id="ada" speed="1f"/>', None, "'ada'"),
        ('<host id="ada" speed="1f" speed_file="nope.trace"/>', None, "nope.trace"),
    ],
)
def test_platform_that_simgrid_refuses(
    tmp_path: Path, text: str, line: int | None, named: str, back_end: Any
) -> None:
    file = tmp_path / "bad.xml"
    file.write_text(zone_xml(text))
    with raises_naming(PlatformError, named) as caught:
        simulate(file, [("ada", sleeper, 1.0)], back_end=back_end)
    assert (str(caught.value.file), caught.value.line) == (str(file), line)


def test_platform_that_is_not_there() -> None:
    with raises_naming(PlatformError, "nowhere.xml"):
        simulate("nowhere.xml", [("ada", sleeper, 1.0)])


@pytest.mark.usefixtures("no_servers")
def test_child_killed_from_outside(two_hosts: Path) -> None:
    def kill_soon(_clock: float, _active: int) -> None:
        # Called from within the conversation, so the process is alive.
        (server,) = server_client.server_processes()
        (child,) = children(server)
        os.kill(child, signal.SIGKILL)

    with raises_naming(CrashError, "SIGKILL"):
        simulate(two_hosts, [("ada", for_ever)], progress=kill_soon)


def test_progress(two_hosts: Path, tmp_path: Path, back_end: Any) -> None:
    seen: list[tuple[float, int]] = []
    enough = tmp_path / "enough"

    async def patient(me: Any) -> float:
        while not enough.exists():
            await me.sleep_for(1)
        return float(me.now)

    def note(clock: float, active: int) -> None:
        seen.append((clock, active))
        if len(seen) == 2:
            enough.touch()

    result = simulate(two_hosts, [("ada", patient)], progress=note, back_end=back_end)
    clocks = [0.0, *(clock for clock, _ in seen), result.clock]
    assert len(seen) >= 2
    assert clocks == sorted(clocks)
    assert {active for _, active in seen} == {1}


def test_exception_of_progress_ends_the_simulation(two_hosts: Path) -> None:
    class Enough(Exception):
        pass

    def stop(_clock: float, _active: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        simulate(two_hosts, [("ada", for_ever)], progress=stop)


def test_printing_without_end_is_limited_too(
    two_hosts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def chatter(me: Any) -> None:
        while True:
            print("and another thing")
            await me.sleep_for(1)

    # On a busy machine the limit may come before the first report of progress.
    for limit in (0.5, 5, 50):
        with pytest.raises(WallClockLimitError) as caught:
            simulate(two_hosts, [("ada", chatter)], wall_limit=limit)
        if caught.value.clock is not None:
            break
    assert caught.value.clock is not None
    assert capsys.readouterr().out.startswith("and another thing\nand another thing\n")


def test_large_arguments_and_values(two_hosts: Path) -> None:
    async def echo(me: Any, data: bytes) -> bytes:
        await me.sleep_for(1)
        return data[::-1]

    data = bytes(range(256)) * (1 << 14)
    assert simulate(two_hosts, [("ada", echo, data)]).value_of("echo") == data[::-1]


def test_back_end_that_cannot_be_loaded(two_hosts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACK_ENDS, "threads", "simplugin.simulation.not_built:BackEnd")
    with raises_naming(SetupError, "not_built"):
        simulate(two_hosts, [("ada", sleeper, 1.0)], back_end="threads")


def test_energy_needs_the_wattages_of_all_hosts(two_hosts: Path, back_end: Any) -> None:
    with raises_naming(PlatformError, two_hosts.name, "'ada'", "'bob'"):
        simulate(two_hosts, [], energy=True, back_end=back_end)


async def renders(me: Any, notes: str) -> None:
    try:
        while True:
            await me.execute(1e9)
    except Exception as error:
        me.log(f"{notes}: {error!r}")


async def ends_both(me: Any) -> list[bool]:
    children = [me.spawn(renders, "seen", host="b") for _ in range(2)]
    await me.sleep_until(2.0)
    children[0].kill()
    await me.sleep_until(4.0)
    me.host_by_name("b").turn_off()
    await me.sleep_for(1.0)
    return [child.is_alive for child in children]


def test_a_kill_at_the_end_of_an_execution_is_a_kill(back_end: Any, capfd: Any) -> None:
    platform = Platform(Zone("z", "Full", [Host("a", 1e9), Host("b", 1e9)]))
    result = simulate(platform, [("a", ends_both)], back_end=back_end, wall_limit=60.0)
    assert result.value_of("ends_both") == [False, False]
    assert [actor.state for actor in result.returned] == ["ended", "killed", "killed"]
    assert "seen" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(("wrong", "meant"), [("sleep", "sleep_for"), ("excute", "execute")])
def test_attributes_that_may_be_meant(wrong, meant, back_end):
    async def work(me):
        await getattr(me, wrong)(1)

    platform = Platform(Zone("z", "Full", [Host("alice", 1e9)]))
    with raises_naming(ActorError, wrong, meant) as caught:
        simulate(platform, [("alice", work)], back_end=back_end)
    assert isinstance(caught.value.__cause__, AttributeError)


async def forks(me: Any) -> str:
    child = os.fork()
    await me.sleep_for(1)
    return "child" if child == 0 else "parent"


def test_an_actor_that_forks_has_one_result(two_hosts: Path, back_end: Any) -> None:
    for _ in range(5):
        result = simulate(two_hosts, [("ada", forks)], back_end=back_end, wall_limit=60)
        assert result.value_of("forks") == "parent"


def test_null_characters_are_part_of_a_name(two_hosts: Path, back_end: Any) -> None:
    async def look(me: Any) -> list[str]:
        seen = []
        for find in (me.host_by_name, me.link_by_name, lambda name: me.exec_async(1, host=name)):
            try:
                find("a\0b")
            except SimpluginError as error:
                seen.append(str(error))
        return seen

    found = simulate(two_hosts, [("ada", look)], back_end=back_end).value_of("look")
    unknown = [f"the platform has no {what} 'a\\x00b'" for what in ("host", "link", "host")]
    assert found == unknown
