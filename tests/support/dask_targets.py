"""Targets of jobs on Dask workers: `module:function`, as a job has it."""

import os
import signal
import time
from pathlib import Path

from simplugin.results.row import Metric, Row, RunResult
from simplugin.scenarios import scenario_runs


def simulate(arguments):
    """Run a scenario; but the first to run the one named `hold` never comes back."""
    with Path(arguments["executions"]).open("a", encoding="ascii") as executions:
        executions.write(f"{arguments['position']}\n")
    if arguments["position"] == arguments["hold"] and not Path(arguments["mark"]).exists():
        hold(arguments)
    return scenario_runs.run(arguments)


def hold(arguments):
    """Write down who runs it, and below which worker; then stay."""
    mark = Path(arguments["mark"])
    draft = mark.with_suffix(".draft")
    draft.write_text(f"{os.getpid()} {_worker()}", encoding="ascii")
    draft.rename(mark)
    while True:
        time.sleep(3600)


def square(arguments):
    return RunResult(Row((Metric("square", arguments["n"] ** 2),)))


def kill_worker(_arguments):
    os.kill(_worker(), signal.SIGKILL)
    time.sleep(3600)


def _worker():
    """Return the process of the worker, the parent of the server of run processes."""
    status = Path(f"/proc/{os.getppid()}/status").read_text(encoding="ascii")
    return int(status.partition("PPid:")[2].split()[0])
