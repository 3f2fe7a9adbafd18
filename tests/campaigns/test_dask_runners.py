import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import dask_targets
import pytest
from distributed import Client
from distributed.comm.core import CommClosedError
from naming import raises_naming
from processes import children, is_alive, wait_until

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.running import dask_runners
from simplugin.campaigns.running.campaign_runs import LocalRunners, chosen_runners
from simplugin.campaigns.running.coordinator import RetryPolicy, run_jobs
from simplugin.campaigns.running.dask_runners import DaskRunners
from simplugin.campaigns.running.slurm import SlurmSection
from simplugin.campaigns.store import StoreReader
from simplugin.core.errors import SetupError
from simplugin.simulation.process.operating_system import descendants

RUNS = 16
# A tree, two policies, eight seeds of its generator: a few ms of simulation each.
RENDER = {"name": "render", "master": "n0", "flop": "6Gf", "byte": "2MB", "count": 4}
FILTER = {"name": "filter", "master": "n0", "flop": "1Gf", "byte": "12MB", "count": 4}
SCENARIO = {
    "platform": {"generator": "random_tree", "parameters": {"n_hosts": 8, "max_degree": 3}},
    "workload": {"kind": "bags", "applications": [RENDER, FILTER]},
}
SWEEP = {"scheduler.name": ["bags.prices", "bags.fcfs"], "platform.seed": range(1, 9)}


class Cluster:
    """A Dask scheduler and workers, each a process of its own on the loopback interface."""

    def __init__(self, directory):
        self.directory = directory
        self.workers = []
        file = directory / "scheduler.json"
        words = ["--port", "0", "--no-dashboard", "--dashboard-address", ":0"]
        self.scheduler = self._started("dask_scheduler", *words, "--scheduler-file", file)

        def address():
            assert self.scheduler.poll() is None, self.log
            with suppress(FileNotFoundError, json.JSONDecodeError):
                return json.loads(file.read_text(encoding="utf-8"))["address"]

        self.address = wait_until(address)

    def _started(self, program, *words):
        more = {"OMP_NUM_THREADS": "1", "DASK_TEMPORARY_DIRECTORY": str(self.directory)}
        with (self.directory / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", "--host", "127.0.0.1", *words],
                cwd=self.directory,
                env=os.environ | more | {"PYTHONPATH": str(Path(dask_targets.__file__).parent)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self):
        return (self.directory / "log").read_text(encoding="utf-8")

    def with_workers(self, count):
        """Start or end workers until there are so many; they need not have joined yet."""
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) > count:
            self.kill_worker(self.workers[-1].pid)
        while len(self.workers) < count:
            words = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
            self.workers.append(self._started("dask_worker", self.address, *words))
        return self

    def kill_worker(self, pid):
        """Kill one, and see that it was one."""
        (worker,) = (each for each in self.workers if each.pid == pid)
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def give_no_second_chances(self):
        """Let jobs fail whose worker was lost, which otherwise needs four of them."""

        def change(dask_scheduler):
            dask_scheduler.allowed_failures = 0

        with Client(self.address, set_as_default=False) as client:
            client.run_on_scheduler(change)

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with closing(Cluster(tmp_path_factory.mktemp("dask"))) as started:
        yield started


@pytest.fixture(scope="module")
def this_host():
    with closing(LocalRunners(1)) as runners:
        yield runners


class Held:
    """A campaign one run of which hangs when it is executed for the first time."""

    def __init__(self, directory, hold):
        self.campaign = Campaign.from_scenario(SCENARIO, SWEEP, directory=directory, keep=2)
        self.executions, self.mark = directory / "executions", directory / "mark"
        self.hold = hold

    def __getattr__(self, name):
        return getattr(self.campaign, name)

    def executed(self):
        return Counter(map(int, self.executions.read_text(encoding="ascii").split()))

    def jobs(self):
        more = {"executions": str(self.executions), "hold": self.hold, "mark": str(self.mark)}
        for job in self.campaign.jobs():
            arguments = {**job.arguments, **more, "position": job.position}
            yield replace(job, target="dask_targets:simulate", arguments=arguments)


def processes(mark):
    """Return the process of a run that hangs, and its worker's."""
    wait_until(mark.exists)
    return [int(word) for word in mark.read_text(encoding="ascii").split()]


def job(function, number=0, wall_limit=None, **arguments):
    target = f"dask_targets:{function}"
    return RunJob(f"{number:064x}", number, target, arguments, wall_limit=wall_limit)


def record_of(runners, *jobs):
    """Return the record of one job, once it has ended."""
    for each in jobs:
        runners.submit(each)
    records = []
    wait_until(lambda: records.extend(runners.finished(0.2)) or not runners.running)
    (record,) = records
    return record


def outcomes(store):
    """Return what was recorded, by key; nothing twice."""
    with StoreReader(store) as reader:
        records = [run.record for run in reader.runs()]
        kept = {record.job.key: contents for record, contents in reader.contents()}
    assert all(record.failure is None for record in records)
    found = {each.job.key: (each.job.position, each.measured, each.versions) for each in records}
    assert len(found) == len(records)
    return {key: (*outcome, kept.get(key)) for key, outcome in found.items()}


def test_killed_workers_cost_no_results(cluster, this_host, tmp_path):
    held = Held(tmp_path, hold=7)
    assert held.total == RUNS
    killed = []

    def kill(_progress):
        if not killed and held.mark.exists():
            killed.extend(processes(held.mark))
            cluster.kill_worker(killed[1])

    cluster.with_workers(2)
    with closing(DaskRunners(cluster.address)) as runners:
        wait_until(lambda: runners.describe().startswith("2 workers"))
        # Two runs at a time, and a few more that are on their way.
        assert 4 <= runners.wanted <= 16
        summary = run_jobs(held, tmp_path / "dask.sqlite", runners, report=kill)
        wait_until(lambda: runners.describe().startswith("1 worker "))
    assert killed, cluster.log
    assert (summary.done, summary.failed, summary.interrupted) == (RUNS, 0, False)
    # The lost run was done again, by the other worker; no process of the first attempt is left.
    assert held.executed()[held.hold] == 2
    assert set(held.executed()) == set(range(RUNS))
    wait_until(lambda: not is_alive(killed[0]))

    assert run_jobs(held.campaign, tmp_path / "local.sqlite", this_host).done == RUNS
    on_dask, on_host = outcomes(tmp_path / "dask.sqlite"), outcomes(tmp_path / "local.sqlite")
    assert len(on_dask) == RUNS
    assert on_dask == on_host
    # They are results, and not all the same.
    assert len({measured.digest for _, measured, *_ in on_host.values()}) == RUNS


def killed_servers(enough):
    """Kill up to six servers whose run process simulates, until `enough` is set."""
    seen, killed = set(descendants(os.getpid())), 0
    while killed < 6 and not enough.wait(0.001):
        for pid in set(descendants(os.getpid())) - seen:
            with suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes()
                is_server = b"simplugin.campaigns.running.worker_server" in words
                if is_server and any(map(children, children(pid))):
                    os.kill(pid, signal.SIGKILL)
                    seen.add(pid)
                    killed += 1


@pytest.mark.parametrize("where", ["this host", "a cluster"])
def test_runs_whose_server_is_killed_are_tried_again(cluster, tmp_path, where):
    campaign = Campaign.from_scenario(SCENARIO, SWEEP, directory=tmp_path)
    store, enough = tmp_path / "killed.sqlite", threading.Event()
    local = where == "this host"
    address = "" if local else cluster.with_workers(2).address
    with closing(LocalRunners(2) if local else DaskRunners(address)) as runners:
        killer = threading.Thread(target=killed_servers, args=(enough,))
        killer.start()
        try:
            summary = run_jobs(campaign, store, runners, terms=RetryPolicy(retries=50))
        finally:
            enough.set()
            killer.join()
    assert (summary.done, summary.failed) == (RUNS, 0)
    with StoreReader(store) as reader:
        attempts = reader.frame(every=True)
    failed = attempts[attempts["status"] == "failed"]
    assert set(failed["failure"]) <= {"crash"}
    assert all("killed" in text for text in failed["error"])


COORDINATOR = """
import sys
from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.running.dask_runners import DaskRunners
runners = DaskRunners(sys.argv[1])
runners.submit(RunJob("0", 0, "dask_targets:hold", {"mark": sys.argv[2]}))
runners.finished(60)
"""


def test_runs_end_with_their_limit_their_runners_and_their_coordinator(cluster, tmp_path):
    cluster.with_workers(1)
    marks = [tmp_path / name for name in ("limit", "closed", "killed")]
    with closing(DaskRunners(cluster.address)) as runners:
        # On a busy machine the limit may come before the run has started.
        for limit in (0.3, 3, 30, 300):
            record = record_of(runners, job("hold", mark=str(marks[0]), wall_limit=limit))
            assert record.failure.kind == "wall_limit"
            if marks[0].exists():
                break
        assert not is_alive(processes(marks[0])[0])
        # Files that only the coordinator's host has.
        absent = str(tmp_path / "absent")
        record = record_of(runners, job("square", n=1, directory=absent))
        assert record.failure.kind == "error"
        assert re.search(f"{absent}.*same paths", record.failure.text)
        # To the millisecond, as of all records.
        assert len(record.started) == len("2026-11-22T05:00:00.000+00:00")
        for number in range(len(cluster.workers)):
            runners.submit(job("hold", number, mark=str(marks[1])))
        process, _ = processes(marks[1])
    wait_until(lambda: not is_alive(process))

    words = [sys.executable, "-c", COORDINATOR, cluster.address, str(marks[2])]
    with subprocess.Popen(words) as coordinator:
        try:
            process, _ = processes(marks[2])
        finally:
            coordinator.kill()
    wait_until(lambda: not is_alive(process))


def test_lost_and_wrong_workers_are_told(cluster, monkeypatch):
    (worker,) = cluster.with_workers(1).workers
    cluster.give_no_second_chances()
    with closing(DaskRunners(cluster.address)) as runners:
        wait_until(lambda: runners.describe().startswith("1 worker "))
        record = record_of(runners, job("kill_worker"))
        assert record.failure.kind == "crash"
        assert "1 worker of the Dask cluster was lost while it had this run" in record.failure.text
        assert record.place == f"127.0.0.1:{worker.pid}"
        wait_until(lambda: runners.describe() == f"no workers at {cluster.address} yet")
        assert runners.wanted == 1
        # One that joins later is asked what it has before it does anything.
        monkeypatch.setitem(runners._expected, "numpy", "0.1")
        runners.submit(job("square", n=0))
        assert runners.wanted == 0
        assert runners.finished(0.0) == []
        cluster.with_workers(1)
        with raises_naming(SetupError, "tcp://127", "numpy", "0.1"):
            runners.finished(60)
    # So is one that is there already, before the first run.
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    with closing(DaskRunners(cluster.address)) as runners:
        runners.submit(job("square", n=0))
        with pytest.raises(SetupError, match=r"worker tcp://127.*instead of abacus"):
            runners.finished(60)


def test_lost_scheduler_is_told(this_host, tmp_path):
    held, store = Held(tmp_path, hold=3), tmp_path / "campaign.sqlite"

    with closing(Cluster(tmp_path).with_workers(1)) as cluster:

        def kill(_progress):
            if held.mark.exists():
                cluster.scheduler.kill()

        gone = pytest.raises(SetupError, match=f"{cluster.address} has gone.*same command")
        with closing(DaskRunners(cluster.address)) as runners, gone:
            run_jobs(held, store, runners, report=kill)
    wait_until(lambda: not is_alive(processes(held.mark)[0]))
    before, executed = outcomes(store), held.executed()
    assert 0 < len(before) < RUNS
    summary = run_jobs(held.campaign, store, this_host)
    assert (summary.before, summary.done) == (len(before), RUNS)
    after = outcomes(store)
    assert len(after) == RUNS
    assert after | before == after
    assert {executed[position] for position, *_ in before.values()} == {1}


def test_scheduler_that_goes_while_it_hands_over_an_answer_is_told(cluster, monkeypatch):
    cluster.with_workers(1)
    with closing(DaskRunners(cluster.address)) as runners:

        async def break_off(*_arguments, **_keywords):
            raise CommClosedError("Stream is closed")

        monkeypatch.setattr(runners._client, "_gather_remote", break_off)
        runners.submit(job("square", n=3))
        with pytest.raises(SetupError, match=f"{cluster.address} has gone.*same command"):
            runners.finished(60)


def test_what_cannot_be_used_is_told_with_a_remedy(monkeypatch):
    monkeypatch.setattr(dask_runners, "_CONNECT_LIMIT", 0.3)
    nobody = "tcp://127.0.0.1:1"
    with raises_naming(SetupError, repr(nobody)):
        chosen_runners(scheduler=nobody).__enter__()
    # Of a client that breaks off in its own start, Dask tells long afterwards.
    monkeypatch.setattr("distributed.Client", pytest.fail)
    for wrong in ("nowhere:what", "foo://x", "tcp://", "tcp://:1", "tcp://x:0"):
        with raises_naming(SetupError, repr(wrong)):
            DaskRunners(wrong)
    for others in ({"jobs": 2}, {"slurm": SlurmSection()}):
        with raises_naming(SetupError, "--scheduler"):
            chosen_runners(scheduler=nobody, **others).__enter__()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with raises_naming(SetupError, "simplugin[dask]"):
        DaskRunners(nobody)
