"""Callers of `simulate`: scripts, threads, forked processes, notebooks; and processes that die."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from processes import is_alive, wait_until

from simplugin.core.errors import CrashError, SimulationError
from simplugin.platforms import Host, Platform, Zone
from simplugin.simulation import simulate
from simplugin.simulation.process import server_client

PROJECT = Path(__file__).parents[2]


async def double(me: Any, number: int) -> int:
    await me.sleep_for(1)
    return 2 * number


@dataclass(frozen=True)
class Point:
    x: int

    async def move(self, me: Any, by: int) -> Point:
        await me.sleep_for(1)
        return Point(self.x + by)


def start_script(
    directory: Path, text: str, *arguments: str, **options: Any
) -> subprocess.Popen[str]:
    """Start a Python script that finds this project."""
    script = directory / "script.py"
    script.write_text(textwrap.dedent(text))
    return subprocess.Popen(
        [sys.executable, str(script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **{"env": {**os.environ, "PYTHONPATH": str(PROJECT)}, **options},
    )


def run_script(directory: Path, text: str, *arguments: str) -> str:
    """Run a Python script that finds this project, return what it printed."""
    process = start_script(directory, text, *arguments)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


@pytest.mark.usefixtures("nothing_left")
def test_lambda_closure_partial_and_method(two_hosts: Path) -> None:
    offset = 3

    async def add(me: Any, number: int) -> int:
        return offset + await double(me, number)

    actors = [
        ("ada", lambda me: double(me, 1)),
        ("ada", add, 2),
        ("bob", functools.partial(double, number=3)),
        ("bob", Point(1).move, 4),
    ]
    result = simulate(two_hosts, actors)
    assert [actor.value for actor in result.returned] == [2, 7, 6, Point(5)]


@pytest.mark.usefixtures("nothing_left")
def test_from_eight_threads_of_which_some_fail(two_hosts: Path) -> None:
    async def die(me: Any) -> None:
        await me.sleep_for(1)
        os.kill(os.getpid(), signal.SIGKILL)

    def one(number: int) -> Any:
        if number % 4:
            return simulate(two_hosts, [("ada", double, number)]).returned[0].value
        with pytest.raises(CrashError):
            simulate(two_hosts, [("ada", die)])
        return None

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(32)))
    assert found == [2 * number if number % 4 else None for number in range(32)]


@pytest.mark.usefixtures("no_servers")
@pytest.mark.parametrize("simulating", [False, True])
def test_server_that_was_killed_is_replaced(two_hosts: Path, simulating: bool) -> None:
    simulate(two_hosts, [("ada", double, 1)])
    (server,) = server_client.server_processes()

    async def for_ever(me: Any) -> None:
        while True:
            await me.sleep_for(1)

    def kill_server(*_: object) -> None:
        os.kill(server, signal.SIGKILL)

    if simulating:
        with pytest.raises(CrashError):
            simulate(two_hosts, [("ada", for_ever)], progress=kill_server)
    else:
        kill_server()
    wait_until(lambda: not is_alive(server), "the server ends")
    assert simulate(two_hosts, [("ada", double, 2)]).returned[0].value == 4
    assert server not in server_client.server_processes()


@pytest.mark.usefixtures("no_servers")
def test_after_a_fork_of_the_caller(two_hosts: Path) -> None:
    simulate(two_hosts, [("ada", double, 1)])
    mine = server_client.server_processes()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            value = simulate(two_hosts, [("ada", double, 21)]).returned[0].value
            status = 0 if value == 42 and server_client.server_processes() != mine else 2
            server_client.stop_servers()
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert simulate(two_hosts, [("ada", double, 2)]).returned[0].value == 4
    assert server_client.server_processes() == mine


SCRIPT = """
    import sys
    from dataclasses import dataclass
    from simplugin.simulation import simulate

    @dataclass
    class Answer:
        number: int

    async def actor(me, number):
        await me.sleep_for(2)
        return Answer(number), set("abcdef"), me.random.random()

    result = simulate(sys.argv[1], [("ada", actor, 5)])
    assert result.returned[0].value[0] == Answer(5)
    print("once", result.clock, result.digest())
"""


def test_script_without_main_guard_runs_once_with_the_same_digest(
    tmp_path: Path, two_hosts: Path
) -> None:
    first, second = (run_script(tmp_path, SCRIPT, str(two_hosts)).split() for _ in range(2))
    assert first[:2] == ["once", "2.0"]
    assert first == second


def test_module_that_simulates_when_imported_is_an_error(tmp_path: Path, two_hosts: Path) -> None:
    (tmp_path / "experiment.py").write_text(
        textwrap.dedent(f"""
        from simplugin.simulation import simulate
        async def actor(me):
            await me.sleep_for(1)
        print(simulate({str(two_hosts)!r}, [("ada", actor)]).clock)
        """)
    )
    process = start_script(tmp_path, "import experiment")
    _, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "__name__ == '__main__'" in err


def test_interactive_main(tmp_path: Path, two_hosts: Path) -> None:
    # What a notebook kernel does: cells executed one by one in __main__, without any file.
    out = run_script(
        tmp_path,
        f"""
        import code, sys
        console = code.InteractiveInterpreter(sys.modules["__main__"].__dict__)
        for cell in (
            "from simplugin.simulation import simulate",
            "async def actor(me):\\n    await me.sleep_for(1)\\n    return helper()",
            "def helper():\\n    return 'first'",
            "print(simulate({str(two_hosts)!r}, [('ada', actor)]).returned[0].value)",
            "def helper():\\n    return 'second'",
            "print(simulate({str(two_hosts)!r}, [('ada', actor)]).returned[0].value)",
        ):
            console.runsource(cell, symbol="exec")
        """,
    )
    assert out.split() == ["first", "second"]


# Its platform is written to a temporary directory.
CALLER = """
    import os, sys, time
    from simplugin import Host, Platform, Zone, simulate

    async def actor(me, waits):
        print(os.getpid(), os.getppid(), flush=True)
        await me.sleep_for(3)
        if waits:
            time.sleep(600)

    def run(waits):
        platform = Platform(Zone("world", "Full", [Host("ada", 1e9)]))
        return simulate(platform, [("ada", actor, waits)]).clock

    try:
        run(sys.argv[1:] == ["waits"])
    except KeyboardInterrupt:
        print("interrupted", run(False), flush=True)
        sys.stdin.read()
"""


def start_caller(directory: Path, *arguments: str, **options: Any) -> tuple[Any, int, int]:
    """Return a caller whose actor runs, and the numbers of its child and server."""
    caller = start_script(directory, CALLER, *arguments, **options)
    assert caller.stdout is not None
    child, server = (int(word) for word in caller.stdout.readline().split())
    return caller, child, server


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_caller_that_is_killed_leaves_no_process(tmp_path: Path, number: int) -> None:
    caller, child, server = start_caller(tmp_path, "waits")
    assert is_alive(child)
    assert is_alive(server)
    caller.send_signal(number)
    caller.communicate(timeout=600)
    wait_until(lambda: not is_alive(child) and not is_alive(server), "child and server end")


def test_temporary_directory_of_a_killed_caller_is_removed_by_the_next_call(tmp_path: Path) -> None:
    """That of a caller that lives is not."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(PROJECT)}
    callers = [start_caller(tmp_path, "waits", env=environment)[0] for _ in range(2)]
    for alive, caller in ((1, callers[0]), (0, callers[1])):
        caller.kill()
        caller.communicate(timeout=600)
        assert len(list(scratch.iterdir())) == alive + 1
        start_script(tmp_path, CALLER, env=environment).communicate(timeout=600)
        assert len(list(scratch.iterdir())) == alive


def test_ctrl_c_ends_the_child_and_the_caller_goes_on(tmp_path: Path) -> None:
    caller, child, server = start_caller(
        tmp_path,
        "waits",
        stdin=subprocess.PIPE,
        start_new_session=True,
        # What starts the tests in the background may have them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # As the terminal does it: to the whole foreground group.
    os.killpg(caller.pid, signal.SIGINT)
    caller.stdout.readline()  # of the second actor
    assert caller.stdout.readline().split() == ["interrupted", "3.0"]
    assert not is_alive(child)
    assert is_alive(server)
    caller.communicate(timeout=600)
    assert caller.returncode == 0
    wait_until(lambda: not is_alive(server), "the server ends")


def start_sleepers() -> list[int]:
    """Start processes in the group, in a session of their own, and without a living parent."""
    shell = ["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"]
    started = (
        subprocess.Popen(["sleep", "600"]),
        subprocess.Popen(["sh", "-c", "sleep 600 & wait"], start_new_session=True),
    )
    orphan = subprocess.run(shell, capture_output=True, check=True).stdout
    return [started[0].pid, started[1].pid, int(orphan)]


@pytest.mark.parametrize("end", ["0", "1 / 0", "os.abort()", "until abandoned"])
def test_what_an_actor_left_running_ends_with_it(tmp_path: Path, two_hosts: Path, end: str) -> None:
    sleepers = tmp_path / "sleepers"

    async def starter(me: Any) -> Any:
        sleepers.write_text(" ".join(map(str, start_sleepers())))
        while end == "until abandoned":
            await me.sleep_for(1)
        return eval(end, {"os": os})

    def abandon(_clock: float, _active: int) -> None:
        if end == "until abandoned" and sleepers.exists() and sleepers.read_text():
            raise SimulationError(end)

    async def bystander(me: Any) -> bool:
        own = start_sleepers()
        (tmp_path / "ready").touch()
        wait_until((tmp_path / "over").exists, "the other simulation ends")
        await me.sleep_for(1)
        return all(map(is_alive, own))

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(simulate, two_hosts, [("bob", bystander)])
        wait_until((tmp_path / "ready").exists, "the other simulation begins")
        with contextlib.suppress(SimulationError):
            simulate(two_hosts, [("ada", starter)], progress=abandon)
        # When the caller goes on they are gone already.
        started = [int(word) for word in sleepers.read_text().split()]
        assert not any(map(is_alive, started))
        (tmp_path / "over").touch()
        assert other.result().returned[0].value


def test_simulation_inside_an_actor(two_hosts: Path) -> None:
    async def planner(me: Any) -> Any:
        await me.sleep_for(1)
        return simulate(two_hosts, [("bob", double, 4)]).returned[0].value

    assert simulate(two_hosts, [("ada", planner)]).returned[0].value == 8


@pytest.mark.parametrize("number", [9, 11])
def test_a_server_that_is_killed_while_it_starts_is_a_crash(monkeypatch, number):
    server_client.stop_servers()
    monkeypatch.setattr(server_client, "_START", f"import os; os.kill(os.getpid(), {number})")
    with pytest.raises(CrashError) as caught:
        simulate(Platform(Zone("z", "Full", [Host("alice", 1e9)])), [])
    assert caught.value.signal == number
