"""Simulations in the caller's own process: debuggers, tracebacks, and that there is one only."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.simulation import simulate

SCRIPT = """
import random, signal, sys, pdb
from simplugin import simulate

async def worker(me, number):
    secret = 40 + number
    await me.sleep_for(1)
    {statement}
    await me.execute(1e9)
    me.log(f"has {{secret}}")
    return secret, random.random(), me.random.random()

def run(**more):
    actors = [("ada", worker, 0), ("bob", worker, 2)]
    return simulate(sys.argv[1], actors, back_end=sys.argv[2], seed=3, **more)
"""


def script(directory: Path, statement: str, end: str) -> Path:
    """Write a program that defines actors and does something with them."""
    file = directory / "script.py"
    file.write_text(SCRIPT.format(statement=statement) + end)
    return file


def output(file: Path, *arguments: object, typed: str = "") -> str:
    """Return what a program writes to a terminal on which lines are typed."""
    mine, its = pty.openpty()
    command = ["timeout", "--foreground", "60", sys.executable, str(file), *map(str, arguments)]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its):
        os.close(its)
        os.write(mine, typed.encode())
        found = b""
        while True:
            try:
                found += os.read(mine, 4096)
            except OSError:  # the other side is closed
                break
        os.close(mine)
    return found.decode().replace("\r\n", "\n")


def test_breakpoint(back_end: str, tmp_path: Path, two_hosts: Path) -> None:
    end = "print('result', run(debug=True).clock)"
    file = script(tmp_path, "number == 2 or breakpoint()", end)
    typed = "p secret + 1\nn\np me.now\nsecret = 7\nc\n"
    told = output(file, two_hosts, back_end, typed=typed)
    assert "(Pdb) p secret + 1\n41\n" in told
    # The line after the await, while the other actor has gone on.
    assert re.search(
        r"\(Pdb\) n\n\[bob:worker:\(2\) 1.500000\] INFO: has 42\n> .*\n-> me.log", told
    )
    assert "(Pdb) p me.now\n2.0\n" in told
    assert told.endswith("[ada:worker:(1) 2.000000] INFO: has 7\nresult 2.0\n")


def test_same_result_and_once_in_a_process(back_end: str, tmp_path: Path, two_hosts: Path) -> None:
    end = """
random.seed(5)
first, ctrl_c = random.getstate(), signal.getsignal(signal.SIGINT)
here = run(debug=True)
assert random.getstate() == first
assert here == run() and here.value_of is not None
try:
    run(debug=True)
except Exception as error:
    print("refused", type(error).__name__, error)
assert here == run()
signal.raise_signal(signal.SIGINT)
"""
    told = output(script(tmp_path, "pass", end), two_hosts, back_end)
    assert "refused SimulationError debug=True simulates in this process" in told
    assert "restart the kernel" in told
    assert told.endswith("KeyboardInterrupt\n")  # as in any program of Python's


def test_post_mortem_is_at_the_actor(back_end: str, tmp_path: Path, two_hosts: Path) -> None:
    end = """
try:
    run(debug=True)
except Exception as error:
    print(type(error).__name__, repr(error.__cause__))
    pdb.post_mortem(error.__traceback__)
"""
    told = output(
        script(tmp_path, "assert number, secret", end), two_hosts, back_end, typed="p secret\nq\n"
    )
    assert "ActorError AssertionError(40)\n" in told
    assert "(Pdb) p secret\n40\n" in told


def test_what_is_never_awaited_has_its_line(tmp_path: Path, two_hosts: Path) -> None:
    file = script(tmp_path, "kept = me.sleep_for(1)", "run(debug=True)")
    told = output(file, two_hosts, "coroutines")
    assert "script.py:8: sleep was never awaited" in told


def test_refusals(two_hosts: Path) -> None:
    for name in ("wall_limit", "memory_limit"):
        with raises_naming(SimpluginError, "debug", name):
            simulate(two_hosts, [], debug=True, **{name: 10**9})  # type: ignore[arg-type]

    async def nested(_: Any) -> str:
        with raises_naming(SimpluginError, "debug"):
            simulate(two_hosts, [], debug=True)
        return "refused"

    assert simulate(two_hosts, [("ada", nested)]).value_of("nested") == "refused"
