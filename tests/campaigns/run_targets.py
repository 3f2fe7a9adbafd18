"""What jobs of the tests do: `module:function` that take arguments and return a Measured."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from simplugin.campaigns.jobs import Measured
from simplugin.errors import SimpluginError
from simplugin.rows import Metric, Row
from simplugin.simulation import simulate

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full"><host id="ada" speed="1Gf"/></zone>
</platform>
"""


def measured(value, provenance=None, contents=None):
    """Return a row with one number."""
    return Measured(Row((Metric("value", value),), provenance or {}), contents=contents)


def square(arguments):
    return measured(arguments["n"] ** 2)


def echo(arguments):
    return measured(len(arguments["text"]), contents={"text": arguments["text"] * 2})


def about_itself(_arguments):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED")
    about = {name: os.environ.get(name) for name in names}
    return measured(os.getpid(), {**about, "session": os.getsid(0), "tmp": os.environ["TMPDIR"]})


def spin(_arguments):
    while True:
        pass


def print_without_end(_arguments):
    while True:
        print("x" * 10_000)


def occupy(_arguments):
    block = np.ones(62_500_000)
    while block[0]:
        time.sleep(0.01)


def ask_for_a_petabyte(_arguments):
    return measured(float(np.ones(10**14)[0]))


def abort(_arguments):
    os.abort()


def leave(_arguments):
    os._exit(3)


def kill_itself(_arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def kill_its_keeper(_arguments):
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


def close_every_descriptor(_arguments):
    os.closerange(3, 1000)
    signal.pause()


def interrupt(_arguments):
    raise KeyboardInterrupt


def refuse(_arguments):
    raise SimpluginError("alpha is -1; give 0 or more")


def fail(_arguments):
    return {}["colour"]


def return_a_row(_arguments):
    return Row((Metric("value", 1),))


def return_a_lock(_arguments):
    return measured(1, contents={"lock": threading.Lock()})


class Riddle:
    """Pickles, but nobody can unpickle it."""

    def __reduce__(self):
        return int, ("no number",)


def return_a_riddle(_arguments):
    return measured(1, contents={"riddle": Riddle()})


def print_much_and_abort(_arguments):
    for number in range(30_000):
        print("line", number, "of very many, with some é and \udcff that are not ASCII")
    os.write(1, b"to the descriptor\n" * 100_000)
    print("these are the last words", file=sys.stderr)
    os.abort()


def fork_and_return(_arguments):
    return measured(int(os.fork() == 0))


def leave_a_thread(_arguments):
    threading.Thread(target=spin, args=({},)).start()
    return measured(os.getpid())


def leave_processes(_arguments):
    child = subprocess.Popen(["sleep", "600"])
    shell = ["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"]
    detached = subprocess.run(shell, capture_output=True, check=True).stdout
    child.returncode = 0  # no warning about it
    return measured(child.pid, {"detached": int(detached)})


def leave_files(arguments):
    import tempfile

    directory = tempfile.mkdtemp()
    Path(arguments["file"]).write_text(directory)
    os._exit(3)


def simulation(arguments):
    """Simulate one actor: a function of this module."""
    file = Path(arguments["platform"])
    actor = globals()[arguments["actor"]]
    limits = {key: arguments[key] for key in ("wall_limit", "memory_limit") if key in arguments}
    result = simulate(file, [("ada", actor, arguments.get("file"))], **limits)
    return measured(result.clock, dict(result.provenance))


def _tell(file):
    """Write down which process this is, at once or not at all."""
    if file is not None:
        new = Path(f"{file}.new")
        new.write_text(str(os.getpid()))
        new.rename(file)


async def sleeping_actor(me, _file):
    await me.sleep_for(5)


async def spinning_actor(_me, file):
    _tell(file)
    while True:
        pass


async def occupying_actor(_me, file):
    _tell(file)
    occupy({})


async def greedy_actor(_me, _file):
    ask_for_a_petabyte({})


async def dying_actor(_me, _file):
    os.kill(os.getpid(), signal.SIGKILL)


async def stuck_actor(_me, file):
    _tell(file)
    _hold_the_interpreter()


def stuck(arguments):
    _tell(arguments["file"])
    _hold_the_interpreter()


def _hold_the_interpreter():
    """Be inside a C function that lets no other thread of Python's run."""
    ctypes.PyDLL(None).sleep(600)


def meet(arguments):
    """Wait until the other one is there too."""
    Path(arguments["mine"]).touch()
    while not Path(arguments["other"]).exists():
        time.sleep(0.005)
    return measured(os.getpid())
