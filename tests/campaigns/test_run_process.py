"""A run may do what it likes: the process that asks for it is told, and the next run goes on."""

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from processes import is_alive, wait_until
from run_targets import measured
from simgrid_texts import SIMGRID_VERSION

from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.running import run_process
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.core.errors import SetupError
from simplugin.simulation.process.operating_system import descendants, resident_bytes

MB = 1_000_000
STUCK = "hold_the_interpreter()"


def job(code="", target="run_targets:evaluate", *, wall_limit=None, memory_limit=None, **arguments):
    arguments["code"] = code
    return RunJob("0" * 64, 0, target, arguments, wall_limit=wall_limit, memory_limit=memory_limit)


def simulation(code, **more):
    return job(code, "run_targets:simulation", **more)


SIMPLE = job("measured(49)", wall_limit=60)


@pytest.fixture(scope="module")
def process():
    """Return a run process that all tests of this file use: none may spoil it."""
    with closing(RunProcess()) as process:
        yield process


@pytest.fixture
def attempt(process):
    """Return a function that has a job done, and sees to it that the next one succeeds."""

    def attempt(job):
        record = process.run(job)
        after = process.run(SIMPLE)
        assert after.failure is None
        assert after.measured == measured(49)
        return record

    return attempt


def below(pid):
    """Return the processes below one, as ps tells them."""
    table = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    found = [pid]
    for each in found:
        found += [child for child, parent in parents if parent == each]
    return set(found) - {pid}


def test_what_comes_out_and_what_a_record_says(process):
    record = process.run(job("measured(12**2)", wall_limit=60.0, memory_limit=1000 * MB))
    assert record.failure is None
    assert record.measured == measured(144)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", record.started)
    assert 0 <= record.duration < 60
    assert record.versions["numpy"] == np.__version__
    assert record.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "simgrid" not in record.versions

    about = process.run(job("about_itself()"))
    row = about.measured.row
    assert about.place == record.place == f"{os.uname().nodename}:{row['value']}"
    assert row.provenance["session"] != os.getsid(0)
    assert [row.provenance[name] for name in list(row.provenance)[:3]] == ["1", "1", "0"]

    simulated = process.run(simulation("None"))
    assert simulated.measured.row["value"] == 5.0
    assert (
        simulated.versions["simgrid"]
        == simulated.measured.row.provenance["simgrid"]
        == SIMGRID_VERSION
    )
    # One after the other in the same process.
    assert simulated.place == about.place


FAILING = [
    ("refuse()", "error", "alpha is -1; give 0 or more"),
    ("{}['colour']", "error", r"KeyError: 'colour'\n  File .*targets.py\", line \d+, in ev.*"),
    ("interrupt()", "error", r"KeyboardInterrupt\n.*in interrupt.*"),
    (
        "Row(())",
        "error",
        r"run_targets:evaluate returned an object .*\.Row, not a RunResult",
    ),
    ("LOCKED", "error", r"the result of \S* cannot be sent: .*lock.*plain data"),
    ("UNREADABLE", "error", "its result cannot be read here: .*'no number'"),
    ("np.ones(10**14)", "memory_limit", "it got no more memory: Unable to allocate.*"),
    ("os.abort()", "crash", r".*signal 6 \(SIGABRT\); its last output was:.*in evaluate.*"),
    # Silent: what the last one wrote is not its doing.
    ("os._exit(3)", "crash", "its process ended with exit status 3 and without a result"),
    ("os.kill(os.getpid(), 9)", "crash", r".*signal 9 \(SIGKILL\), perhaps .* out of memory"),
    ("kill_its_server()", "crash", ".* killed, together with its server"),
    ("close_every_descriptor()", "crash", ".*"),
]


@pytest.mark.parametrize(("code", "kind", "told"), FAILING)
def test_runs_that_fail(attempt, code, kind, told):
    record = attempt(job(code))
    assert record.measured is None
    assert record.failure.kind == kind
    assert re.fullmatch(told, record.failure.text, re.DOTALL), record.failure.text
    assert re.fullmatch(rf"{os.uname().nodename}:\d+", record.place)


NOT_TO_BE_HAD = [
    (job(lock=threading.Lock()), "its arguments cannot be sent"),
    (job(target="no_such_module_anywhere:run"), "no module 'no_such_module_anywhere'"),
    (job(target="run_targets:nothing"), "module 'run_targets' has no 'nothing'"),
]


@pytest.mark.parametrize(("job", "told"), NOT_TO_BE_HAD)
def test_arguments_and_targets_that_cannot_be_had(attempt, job, told):
    failure = attempt(job).failure
    assert failure.kind == "error"
    assert told in failure.text


def test_endless_runs_are_ended_at_the_wall_limit(attempt, tmp_path, monkeypatch):
    record = attempt(job("spin()", wall_limit=0.2))
    assert record.failure.kind == "wall_limit"
    assert record.failure.text.startswith("stopped after 0.2 s of real time; raise campaign.wall_l")
    assert record.duration >= 0.2

    # What it prints is dropped again and again.
    monkeypatch.setattr(run_process, "_MAX_OUTPUT", 100_000)
    assert attempt(job("print_without_end()", wall_limit=0.3)).failure.kind == "wall_limit"

    file = tmp_path / "pid"
    # On a busy machine the limit may come before the simulation has started.
    for limit in (3, 30, 300):
        inside = attempt(simulation("spin()", file=str(file), wall_limit=limit))
        assert inside.failure.kind == "wall_limit"
        if file.exists():
            break
    assert not is_alive(int(file.read_text()))

    own = attempt(simulation("spin()", limit=0.3, wall_limit=60))
    assert own.failure.kind == "wall_limit"
    assert "the simulation took more than 0.3 s" in own.failure.text


def test_runs_that_take_too_much_memory_are_ended(attempt, tmp_path):
    limits = {"memory_limit": 200 * MB, "wall_limit": 60}
    file = tmp_path / "pid"
    for hoarder in (job("occupy()", **limits), simulation("occupy()", file=str(file), **limits)):
        failure = attempt(hoarder).failure
        assert failure.kind == "memory_limit"
        found = re.fullmatch(r"stopped when it occupied (\d+) MB, of 200 MB; .*", failure.text)
        assert 200 < int(found[1]) < 700
    assert not is_alive(int(file.read_text()))

    assert attempt(simulation("np.ones(10**14)")).failure.kind == "memory_limit"
    dying = attempt(simulation("os.kill(os.getpid(), 9)"))
    assert dying.failure.kind == "crash"
    assert "the simulation's process was killed by signal 9 (SIGKILL)" in dying.failure.text


def test_what_runs_print_shows_only_in_messages(attempt, capfd):
    text = "".join(map(chr, range(256))) * 12_000
    echo = attempt(job("measured(len(text), contents={'text': text * 2})", text=text))
    assert echo.measured == measured(len(text), contents={"text": text * 2})
    failure = attempt(job("print_much_and_abort()")).failure
    assert failure.kind == "crash"
    assert "these are the last words" in failure.text
    assert len(failure.text) < 5000
    assert capfd.readouterr() == ("", "")


def test_what_a_run_leaves_behind_ends_with_it(process, attempt, tmp_path):
    threaded = process.run(job("leave_a_thread()"))
    assert threaded.failure is None
    assert not is_alive(threaded.measured.row["value"])

    processes = process.run(job("leave_processes()")).measured.row
    assert not is_alive(processes["value"])
    assert not is_alive(processes.provenance["detached"])

    # Two processes come back from it, but one answer.
    assert process.run(job("measured(int(os.fork() == 0))")).measured == measured(0)
    attempt(job("leave_files(name)", name=str(tmp_path / "name")))
    assert not Path((tmp_path / "name").read_text()).exists()


def test_process_that_was_killed_between_runs_is_replaced(process):
    for _ in range(3):
        worker = process.run(job("about_itself()")).measured.row["value"]
        os.kill(worker, signal.SIGKILL)
        assert process.run(SIMPLE).measured == measured(49)
    row = process.run(job("about_itself()")).measured.row
    worker = row["value"]
    server = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: not is_alive(worker), "the run process ends with its server")
    assert process.run(SIMPLE).measured == measured(49)
    assert not Path(row.provenance["tmp"]).exists()


def test_run_that_is_not_wanted_any_more_is_stopped(process, tmp_path):
    file = tmp_path / "pid"
    with pytest.raises(StoppedError):
        process.run(simulation(STUCK, file=str(file)), lambda: not file.exists())
    assert not is_alive(int(file.read_text()))
    with closing(RunProcess()) as other, pytest.raises(StoppedError):
        other.run(SIMPLE, lambda: False)
    assert process.run(SIMPLE).measured == measured(49)


def test_process_that_cannot_load(tmp_path, monkeypatch):
    (tmp_path / "pydantic.py").write_text("raise RuntimeError('a broken installation')\n")
    monkeypatch.syspath_prepend(tmp_path)
    descriptors = len(os.listdir("/proc/self/fd"))
    with closing(RunProcess()) as broken, pytest.raises(SetupError) as caught:
        broken.run(SIMPLE)
    assert "a broken installation" in str(caught.value)
    assert len(os.listdir("/proc/self/fd")) == descriptors

    monkeypatch.setattr(sys, "executable", "/bin/false")
    with closing(RunProcess()) as broken, pytest.raises(SetupError):
        broken.run(SIMPLE)
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_memory_of_processes_that_share_pages():
    own = os.getpid()
    block = np.ones(10 * MB)
    ready, done = os.pipe(), os.pipe()
    copies = []
    for _ in range(3):
        if (pid := os.fork()) == 0:
            os.close(done[1])
            os.write(ready[1], b"x")
            os.read(done[0], 1)
            os._exit(int(block[0]))
        copies.append(pid)
    try:
        for _ in copies:
            os.read(ready[0], 1)
        assert set(descendants(own)) >= set(copies)
        everybody = [own, *copies]
        assert resident_bytes(everybody, 10**12) > 4 * 80 * MB
        alone = resident_bytes([own], 0)
        # The block counts once: what the copies add is less than another one.
        assert resident_bytes(everybody, 0) < resident_bytes([own], 10**12) + 80 * MB
        assert alone < resident_bytes([own], 10**12) - 50 * MB
    finally:
        for descriptor in (*ready, *done):
            os.close(descriptor)
        for pid in copies:
            os.waitpid(pid, 0)
    assert resident_bytes(copies, 10**12) == 0
    assert descendants(copies[0]) == []


COORDINATOR = """
import os, signal, sys
from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.running.campaign_runs import LocalRunners

runners = LocalRunners(2)
for name, file in zip(("simulation", "evaluate"), sys.argv[2:]):
    runners.submit(RunJob("0" * 64, 0, f"run_targets:{name}", {"code": sys.argv[1], "file": file}))
sys.stdin.readline()
copy = os.fork()
if copy == 0:
    # It has what its parent had, and does not keep it alive.
    signal.pause()
print(copy, flush=True)
print(runners.finished(600))
"""


def started(program, *words, path=sys.path):
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    )


def test_coordinator_that_is_killed_leaves_no_process(tmp_path):
    told = [tmp_path / "simulation", tmp_path / "run"]
    with started(COORDINATOR, STUCK, *map(str, told)) as coordinator:
        wait_until(lambda: all(file.exists() for file in told), "both jobs run")
        print(file=coordinator.stdin, flush=True)
        copy = int(coordinator.stdout.readline())
        everybody = below(coordinator.pid) - {copy}
        # Two servers, two run processes, a server of simulations, a simulation.
        assert {int(file.read_text()) for file in told} < everybody
        assert len(everybody) == 6
        coordinator.kill()
        try:
            wait_until(lambda: not any(map(is_alive, everybody)), "all end")
            assert is_alive(copy)
        finally:
            os.kill(copy, signal.SIGKILL)


def test_coordinator_that_is_killed_early_leaves_no_server(tmp_path):
    """The server loads what runs need, and does not poll its socket meanwhile."""
    told = tmp_path / "server"
    slow = f"import os, pathlib, time\npathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
    (tmp_path / "pydantic.py").write_text(f"{slow}time.sleep(600)\n")
    program = "from simplugin.campaigns.running.run_process import RunProcess as R; R().run(None)"
    with started(program, path=[str(tmp_path), *sys.path]) as coordinator:
        wait_until(lambda: told.exists() and told.read_text(), "the server loads")
        coordinator.kill()
    server = int(told.read_text())
    try:
        wait_until(lambda: not is_alive(server), "the server ends")
    finally:
        if is_alive(server):
            os.kill(server, signal.SIGKILL)
