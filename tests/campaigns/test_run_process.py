"""Run processes: whatever a run does, its end is told, and the next run goes on."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from simplugin.campaigns.jobs import Job
from simplugin.campaigns.running import child, run_process
from simplugin.campaigns.running.run_process import RunProcess, StoppedError
from simplugin.errors import SetupError

HERE = str(Path(__file__).parent)
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(HERE)
    import run_targets
    from run_targets import PLATFORM, measured

MB = 1_000_000


def job(name, arguments=None, *, module="run_targets", **limits):
    return Job("0" * 64, 0, f"{module}:{name}", arguments or {}, **limits)


@pytest.fixture(scope="module")
def process():
    """Return a run process that all tests of this file use: none may spoil it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        with RunProcess() as process:
            yield process


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    file = tmp_path_factory.mktemp("platform") / "platform.xml"
    file.write_text(PLATFORM)
    return str(file)


@pytest.fixture
def attempt(process):
    """Return a function that has a job done, and sees to it that the next one succeeds."""

    def attempt(*words, **more):
        record = process.run(job(*words, **more))
        after = process.run(job("square", {"n": 7}, wall_limit=60))
        assert after.failure is None
        assert after.measured == measured(49)
        return record

    return attempt


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_until(condition, what):
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline, f"not within 600 s: {what}"
        time.sleep(0.01)


def below(pid):
    """Return the processes below one, as ps tells them."""
    table = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    found = [pid]
    for each in found:
        found += [child for child, parent in parents if parent == each]
    return set(found) - {pid}


def test_what_comes_out_and_what_a_record_says(process, platform):
    record = process.run(job("square", {"n": 12}, wall_limit=60.0, memory_limit=1000 * MB))
    assert record.failure is None
    assert record.measured == run_targets.square({"n": 12})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", record.started)
    assert 0 <= record.duration < 60
    assert record.versions["numpy"] == np.__version__
    assert record.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "simgrid" not in record.versions

    about = process.run(job("about_itself"))
    row = about.measured.row
    assert about.place == record.place == f"{os.uname().nodename}:{row['value']}"
    assert row.provenance["session"] != os.getsid(0)
    assert [row.provenance[name] for name in list(row.provenance)[:3]] == ["1", "1", "0"]

    simulated = process.run(job("simulation", {"platform": platform, "actor": "sleeping_actor"}))
    assert simulated.measured.row["value"] == 5.0
    assert simulated.versions["simgrid"] == simulated.measured.row.provenance["simgrid"] == "4.1.0"
    # One after the other in the same process, and the simulation server with it.
    assert simulated.place == about.place


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("refuse", "error", r"alpha is -1; give 0 or more"),
        ("fail", "error", r"KeyError: 'colour'\n  File .*targets.py\", line \d+, in fail\n(.|\n)*"),
        ("interrupt", "error", r"KeyboardInterrupt\n(.|\n)*in interrupt(.|\n)*"),
        ("return_a_row", "error", r"run_targets:return_a_row returned a \S*\.Row, not a Measured"),
        ("return_a_lock", "error", r"what came out of \S* cannot be sent: .*lock.*plain data"),
        ("return_a_riddle", "error", r"what came out cannot be read here: .*'no number'"),
        ("nothing", "error", r"module 'run_targets' has no 'nothing'"),
        ("ask_for_a_petabyte", "memory_limit", r"it got no more memory: Unable to allocate.*"),
        ("abort", "crash", r".*signal 6 \(SIGABRT\); it wrote last:(.|\n)*in abort(.|\n)*"),
        # Silent: what the last one wrote is not its doing.
        ("leave", "crash", r"its process ended with exit status 3, without a result"),
        ("kill_itself", "crash", r".*signal 9 \(SIGKILL\), perhaps because .* out of memory"),
        ("kill_its_keeper", "crash", r".* killed, together with the one that watches over it"),
        ("close_every_descriptor", "crash", r".*"),
    ],
)
def test_runs_that_fail(attempt, name, kind, told):
    record = attempt(name)
    assert record.measured is None
    assert record.failure.kind == kind
    assert re.fullmatch(told, record.failure.text), record.failure.text
    assert re.fullmatch(rf"{os.uname().nodename}:\d+", record.place)


def test_arguments_and_modules_that_cannot_be_had(attempt):
    locked = attempt("square", {"n": threading.Lock()})
    assert "its arguments cannot be sent" in locked.failure.text
    missing = attempt("run", module="no_such_module_anywhere")
    assert missing.failure.kind == "error"
    assert "there is no module 'no_such_module_anywhere'" in missing.failure.text


def test_endless_runs_are_ended_at_the_wall_limit(attempt, platform, tmp_path, monkeypatch):
    record = attempt("spin", wall_limit=0.2)
    assert record.failure.kind == "wall_limit"
    assert record.failure.text.startswith("stopped after 0.2 s of real time; raise campaign.wall_l")
    assert record.duration >= 0.2

    # What it prints is dropped again and again.
    monkeypatch.setattr(run_process, "_MOST_OUTPUT", 100_000)
    assert attempt("print_without_end", wall_limit=0.3).failure.kind == "wall_limit"

    arguments = {"platform": platform, "actor": "spinning_actor", "file": str(tmp_path / "pid")}
    # On a busy machine the limit may come before the simulation has started.
    for limit in (3, 30, 300):
        inside = attempt("simulation", arguments, wall_limit=limit)
        assert inside.failure.kind == "wall_limit"
        if (tmp_path / "pid").exists():
            break
    assert not is_alive(int((tmp_path / "pid").read_text()))

    own = attempt("simulation", {**arguments, "wall_limit": 0.3}, wall_limit=60)
    assert own.failure.kind == "wall_limit"
    assert "the simulation took more than 0.3 s" in own.failure.text


def test_runs_that_take_too_much_memory_are_ended(attempt, platform, tmp_path):
    def seen(record):
        assert record.failure.kind == "memory_limit"
        found = re.fullmatch(
            r"stopped when it occupied (\d+) MB, of 200 MB; .*", record.failure.text
        )
        return int(found[1])

    assert 200 < seen(attempt("occupy", memory_limit=200 * MB, wall_limit=60)) < 700
    arguments = {"platform": platform, "actor": "occupying_actor", "file": str(tmp_path / "pid")}
    assert 200 < seen(attempt("simulation", arguments, memory_limit=200 * MB, wall_limit=60)) < 700
    assert not is_alive(int((tmp_path / "pid").read_text()))

    greedy = attempt("simulation", {"platform": platform, "actor": "greedy_actor"})
    assert greedy.failure.kind == "memory_limit"
    dying = attempt("simulation", {"platform": platform, "actor": "dying_actor"})
    assert dying.failure.kind == "crash"
    assert "the simulation's process was killed by signal 9 (SIGKILL)" in dying.failure.text


def test_what_runs_print_shows_only_in_messages(attempt, capfd):
    text = "".join(map(chr, range(256))) * 12_000
    assert attempt("echo", {"text": text}).measured == run_targets.echo({"text": text})
    record = attempt("print_much_and_abort")
    assert record.failure.kind == "crash"
    assert "these are the last words" in record.failure.text
    assert len(record.failure.text) < 5000
    assert capfd.readouterr() == ("", "")


def test_what_a_run_leaves_behind_ends_with_it(process, attempt, tmp_path):
    threaded = process.run(job("leave_a_thread"))
    assert threaded.failure is None
    assert not is_alive(threaded.measured.row["value"])

    processes = process.run(job("leave_processes")).measured.row
    assert not is_alive(processes["value"])
    assert not is_alive(processes.provenance["detached"])

    # Two processes come back from it, but one answer.
    assert process.run(job("fork_and_return")).measured == measured(0)
    attempt("leave_files", {"file": str(tmp_path / "name")})
    assert not Path((tmp_path / "name").read_text()).exists()


def test_process_that_was_killed_between_runs_is_replaced(process):
    for _ in range(3):
        worker = process.run(job("about_itself")).measured.row["value"]
        os.kill(worker, signal.SIGKILL)
        assert process.run(job("square", {"n": 7})).measured == measured(49)
    row = process.run(job("about_itself")).measured.row
    worker = row["value"]
    keeper = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not is_alive(worker), "the run process ends with its keeper")
    assert process.run(job("square", {"n": 8})).measured == measured(64)
    assert not Path(row.provenance["tmp"]).exists()


def test_kill_from_another_thread(process, tmp_path, platform):
    arguments = {"platform": platform, "actor": "stuck_actor", "file": str(tmp_path / "pid")}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(process.run, job("simulation", arguments))
        wait_until(lambda: running.done() or (tmp_path / "pid").exists(), "the simulation runs")
        assert not running.done(), running.result().failure
        process.kill()
        with pytest.raises(StoppedError):
            running.result(30)
    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert process.run(job("square", {"n": 7})).measured == measured(49)
    process.kill()
    with pytest.raises(StoppedError):
        process.run(job("square", {"n": 7}))
    assert process.run(job("square", {"n": 7})).measured == measured(49)


def test_closed_process_and_one_that_cannot_load(tmp_path, monkeypatch):
    (tmp_path / "pydantic.py").write_text("raise RuntimeError('a broken installation')\n")
    monkeypatch.syspath_prepend(tmp_path)
    descriptors = len(os.listdir("/proc/self/fd"))
    with RunProcess() as broken, pytest.raises(SetupError, match="a broken installation"):
        broken.run(job("square", {"n": 7}))
    with pytest.raises(StoppedError):
        broken.run(job("square", {"n": 7}))
    assert len(os.listdir("/proc/self/fd")) == descriptors

    monkeypatch.setattr(sys, "executable", "/bin/false")
    with RunProcess() as broken, pytest.raises(SetupError, match="keeper is gone"):
        broken.run(job("square", {"n": 7}))
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
        assert set(child.descendants(own)) >= set(copies)
        everybody = [own, *copies]
        assert child.occupied(everybody, 10**12) > 4 * 80 * MB
        alone = child.occupied([own], 0)
        # The block counts once: what the copies add is less than another one.
        assert child.occupied(everybody, 0) < child.occupied([own], 10**12) + 80 * MB
        assert alone < child.occupied([own], 10**12) - 50 * MB
    finally:
        for descriptor in (*ready, *done):
            os.close(descriptor)
        for pid in copies:
            os.waitpid(pid, 0)
    assert child.occupied(copies, 10**12) == 0
    assert child.descendants(copies[0]) == []


COORDINATOR = """
import os, signal, sys
from simplugin.campaigns.jobs import Job
from simplugin.campaigns.running.local import LocalRunners

runners = LocalRunners(2)
for name, arguments in eval(sys.argv[1]):
    runners.submit(Job("0" * 64, 0, f"run_targets:{name}", arguments))
sys.stdin.readline()
copy = os.fork()
if copy == 0:
    # It has what its parent had, and does not keep it alive.
    signal.pause()
print(copy, flush=True)
print(runners.finished(600))
"""


def test_coordinator_that_is_killed_leaves_no_process(tmp_path, platform):
    told = [tmp_path / "simulation", tmp_path / "run"]
    jobs = [
        ("simulation", {"platform": platform, "actor": "stuck_actor", "file": str(told[0])}),
        ("stuck", {"file": str(told[1])}),
    ]
    path = os.pathsep.join([HERE, *sys.path])
    coordinator = subprocess.Popen(
        [sys.executable, "-c", COORDINATOR, repr(jobs)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    with coordinator:
        wait_until(lambda: all(file.exists() for file in told), "both jobs run")
        copy = _line(coordinator)
        everybody = below(coordinator.pid) - {copy}
        # Two keepers, two run processes, a simulation server, a simulation.
        assert {int(file.read_text()) for file in told} < everybody
        assert len(everybody) == 6
        coordinator.kill()
        try:
            wait_until(lambda: not any(map(is_alive, everybody)), "all end")
            assert is_alive(copy)
        finally:
            os.kill(copy, signal.SIGKILL)


def test_coordinator_that_is_killed_early_leaves_no_keeper(tmp_path):
    """The keeper loads what runs need, and does not listen meanwhile."""
    told = tmp_path / "keeper"
    slow = f"import os, pathlib, time\npathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
    (tmp_path / "pydantic.py").write_text(f"{slow}time.sleep(600)\n")
    program = "from simplugin.campaigns.running.run_process import KeptProcess as K; K()._heard()"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}
    ) as coordinator:
        wait_until(lambda: told.exists() and told.read_text(), "the keeper loads")
        coordinator.kill()
    keeper = int(told.read_text())
    try:
        wait_until(lambda: not is_alive(keeper), "the keeper ends")
    finally:
        if is_alive(keeper):
            os.kill(keeper, signal.SIGKILL)


def _line(coordinator):
    """Let the coordinator go on, and read what it says."""
    coordinator.stdin.write(b"\n")
    coordinator.stdin.flush()
    return int(coordinator.stdout.readline())
