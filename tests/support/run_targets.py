"""Targets of the tests' jobs: `module:function` that take arguments and return a RunResult."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from simplugin.core.errors import SimpluginError
from simplugin.platforms import Host, Platform, Zone
from simplugin.results.row import Metric, Row, RunResult
from simplugin.simulation import simulate


def measured(value, provenance=None, contents=None):
    """Return a row with one number."""
    return RunResult(Row((Metric("value", value),), provenance or {}), contents=contents)


def evaluate(arguments):
    """Return the value of an expression; before, write down which process this is, if asked."""
    if "file" in arguments:
        draft = Path(f"{arguments['file']}.new")
        draft.write_text(str(os.getpid()))
        draft.rename(arguments["file"])
    return eval(arguments["code"], globals(), dict(arguments))


def simulation(arguments):
    """Simulate one actor that evaluates the expression after five seconds."""
    platform = Platform((Zone("world", "Full", (Host("ada", 1e9),)),))
    result = simulate(platform, [("ada", _actor, arguments)], wall_limit=arguments.get("limit"))
    return measured(result.clock, dict(result.provenance))


async def _actor(me, arguments):
    await me.sleep_for(5)
    evaluate(arguments)


def about_itself():
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED")
    about = {name: os.environ.get(name) for name in names}
    return measured(os.getpid(), {**about, "session": os.getsid(0), "tmp": os.environ["TMPDIR"]})


def spin():
    while True:
        pass


def print_without_end():
    while True:
        print("x" * 10_000)


def hold_the_interpreter():
    """Be inside a C function that lets no other thread of Python's run."""
    ctypes.PyDLL(None).sleep(600)


def occupy():
    block = np.ones(62_500_000)
    while block[0]:
        time.sleep(0.01)


def kill_its_server():
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


def close_every_descriptor():
    os.closerange(3, 1000)
    signal.pause()


def interrupt():
    raise KeyboardInterrupt


def refuse():
    raise SimpluginError("alpha is -1; give 0 or more")


class Riddle:
    """Pickles, but nobody can unpickle it."""

    def __reduce__(self):
        return int, ("no number",)


LOCKED = measured(1, contents={"lock": threading.Lock()})
UNREADABLE = measured(1, contents={"riddle": Riddle()})


def print_much_and_abort():
    for number in range(30_000):
        print("line", number, "of very many, with some é and \udcff that are not ASCII")
    os.write(1, b"to the descriptor\n" * 100_000)
    print("these are the last words", file=sys.stderr)
    os.abort()


def leave_a_thread():
    threading.Thread(target=spin).start()
    return measured(os.getpid())


def leave_processes():
    child = subprocess.Popen(["sleep", "600"])
    shell = ["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"]
    detached = subprocess.run(shell, capture_output=True, check=True).stdout
    child.returncode = 0  # no warning about it
    return measured(child.pid, {"detached": int(detached)})


def leave_files(name):
    Path(name).write_text(tempfile.mkdtemp())
    os._exit(3)


def meet(mine, other):
    """Wait until the other one is there too."""
    Path(mine).touch()
    while not Path(other).exists():
        time.sleep(0.005)
    return measured(os.getpid())
