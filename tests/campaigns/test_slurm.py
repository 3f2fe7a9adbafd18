"""Processes that do jobs, several at a time: of this host, and of Slurm."""

import os
import shutil
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from naming import raises_naming

from simplugin.campaigns.campaign import load_campaign
from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.running.campaign_runs import LocalRunners, chosen_runners, cores
from simplugin.campaigns.running.coordinator import run_jobs
from simplugin.campaigns.running.slurm import SlurmSection
from simplugin.campaigns.store import StoreReader
from simplugin.core.errors import ScenarioError, SetupError, SimpluginError
from simplugin.simulation.process.operating_system import descendants
from simplugin.simulation.process.server_client import server_processes

SCENARIO = """
[platform]
generator = "random_tree"
parameters = { n_hosts = 5, max_degree = 3 }
[workload]
kind = "bags"
applications = [{ name = "render", master = "n0", flop = "6Gf", byte = "2MB", count = 4 }]
[scheduler]
name = "bags.fcfs"
[sweep]
platform.seed = { from = 1, to = 6 }
"""
SLURM = """
[slurm]
jobs = 3
cores = 2
memory = "3GB"
walltime = "01:30:00"
queue = "short"
account = "grid"
job_extra_directives = ["--exclusive"]
job_script_prologue = ["module load gcc"]
worker_extra_args = ["--lifetime", "80m"]
python = "/opt/simplugin/bin/python"
log_directory = "logs"
"""


# 3 GB are 2.79 GiB, rounded up.
SCRIPT = """\
#SBATCH -J simplugin
#SBATCH -e {logs}/simplugin-%J.err
#SBATCH -o {logs}/simplugin-%J.out
#SBATCH -p short
#SBATCH -A grid
#SBATCH --cpus-per-task=2
#SBATCH --mem=3G
#SBATCH -t 01:30:00
#SBATCH --exclusive
module load gcc
"""
# As that of a Slurm without a partition `short`.
SBATCH = """#!/bin/sh
echo "$@" > {0}/words; cat > {0}/script
echo 'allocation failure: Invalid partition name specified' >&2; exit 1
"""


def loaded(directory, slurm):
    file = directory / "campaign.toml"
    file.write_text(SCENARIO + slurm)
    return load_campaign(file)


def test_slurm_is_asked_for_the_jobs_of_the_campaign_file(tmp_path, monkeypatch):
    program = tmp_path / "sbatch"
    program.write_text(SBATCH.format(tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(SetupError):
        chosen_runners(slurm=loaded(tmp_path, SLURM).slurm).__enter__()
    assert (tmp_path / "words").read_text().split() == ["--test-only"]
    lines = (tmp_path / "script").read_text().split("\n")
    assert set(SCRIPT.format(logs=tmp_path / "logs").splitlines()) <= set(lines)
    # One worker a job, with a thread for each core.
    (command,) = (line for line in lines if line.startswith("/opt/simplugin/bin/python -P -m "))
    assert "distributed.cli.dask_worker tcp://" in command
    assert "--nthreads 2 " in command
    assert "--nworkers" not in command
    assert command.endswith("--lifetime 80m")


@pytest.mark.parametrize(
    "wrong", ["core = 2", 'memory = "much"', "walltime = 02:00:00", "jobs = 0"]
)
def test_error_of_the_slurm_section_has_its_line(tmp_path, wrong):
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, f"[slurm]\n{wrong}")
    assert caught.value.line == len(SCENARIO.splitlines()) + 2


def test_without_slurm_other_ways_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises_naming(SetupError, "sbatch", "--scheduler"):
        chosen_runners(slurm=SlurmSection()).__enter__()


def test_a_campaign_on_slurm_has_the_results_of_this_host(tmp_path):
    if shutil.which("sinfo") is None:
        pytest.skip("no Slurm here; one_host_slurm.sh beside this file starts one")
    answer = subprocess.run(["sinfo", "--noheader"], capture_output=True, text=True, check=False)
    if answer.returncode or not answer.stdout.strip():
        pytest.skip(f"no Slurm answers here: {answer.stderr.strip() or 'it has no partition'}")

    def ours():
        words = ["squeue", "--noheader", "--me", "--name=simplugin", "--states=PD,R"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    slurm = '[slurm]\njobs = 2\nmemory = "500MB"\nwalltime = "00:10:00"\nlog_directory = "logs"\n'
    campaign = loaded(tmp_path, slurm)
    with chosen_runners(slurm=campaign.slurm) as runners:
        assert run_jobs(campaign, tmp_path / "slurm.sqlite", runners).done == 6
        assert len(ours().splitlines()) == 2
    assert ours() == ""
    with chosen_runners(jobs=1) as runners:
        assert run_jobs(campaign, tmp_path / "local.sqlite", runners).done == 6
    outcomes = []
    for name in ("slurm.sqlite", "local.sqlite"):
        with StoreReader(tmp_path / name) as reader:
            outcomes.append({run.record.job.key: run.record.measured for run in reader.runs()})
    assert len(outcomes[0]) == 6
    assert outcomes[0] == outcomes[1]


@pytest.fixture
def runners():
    with closing(LocalRunners(2)) as runners:
        yield runners


def job(position, code, **arguments):
    arguments["code"] = code
    return RunJob(f"{position:064x}", position, "run_targets:evaluate", arguments)


def test_jobs_are_done_at_the_same_time_and_each_once(runners, tmp_path):
    assert (runners.wanted, runners.running) == (4, 0)
    assert runners.finished(600) == []
    # Each ends when the other one runs too; two more wait meanwhile.
    for position in range(2):
        places = {"mine": str(tmp_path / f"{position}"), "other": str(tmp_path / f"{1 - position}")}
        runners.submit(job(position, "meet(mine, other)", **places))
    assert (runners.wanted, runners.running) == (2, 2)
    records = []
    submitted = 2
    while len(records) < 200:
        while runners.wanted and submitted < 200:
            code = "{}['colour']" if submitted % 7 == 0 else f"measured({submitted} ** 2)"
            runners.submit(job(submitted, code))
            submitted += 1
        records += runners.finished(60)
        assert runners.running == submitted - len(records) <= 4
    assert (runners.wanted, runners.running) == (4, 0)
    assert sorted(record.job.position for record in records) == list(range(200))
    assert len({record.place for record in records}) == 2
    for record in records:
        position = record.job.position
        if position < 2:
            assert record.place.endswith(f":{record.measured.row['value']}")
        elif position % 7 == 0:
            assert record.failure.kind == "error"
        else:
            assert record.measured.row["value"] == position**2


def test_closed_in_the_middle(tmp_path):
    others = set(descendants(os.getpid()))
    with closing(LocalRunners(2)) as runners:
        files = [tmp_path / str(position) for position in range(4)]
        for position, file in enumerate(files):
            runners.submit(job(position, "hold_the_interpreter()", file=str(file)))
        assert (runners.wanted, runners.running) == (0, 4)
        # Two run, two wait.
        while not all(file.exists() for file in files[:2]):
            assert runners.finished(0.01) == []
        below = set(descendants(os.getpid())) - set(server_processes()) - others
        assert {int(file.read_text()) for file in files[:2]} < below
        runners.close()
        assert set(descendants(os.getpid())).isdisjoint(below)
        assert not [each for each in threading.enumerate() if each.name.startswith("runner-")]
        assert not files[2].exists()
        assert (runners.wanted, runners.running, runners.finished(600)) == (0, 0, [])
    with pytest.raises(SimpluginError):
        runners.submit(job(4, "measured(16)"))


def test_runners_that_cannot_be_started_say_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with closing(LocalRunners(1)) as runners:
        runners.submit(job(0, "measured(0)"))
        for _ in range(2):
            with pytest.raises(SetupError):
                runners.finished(60)


def test_how_many(monkeypatch):
    # A process may have fewer cores than there are.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1, 4, 7})
    assert cores() == 3
    with closing(LocalRunners()) as runners:
        assert (runners.count, runners.wanted) == (3, 6)
        assert runners.describe() == "3 processes of this host"
    with raises_naming(SimpluginError, "count", "0"):
        LocalRunners(0)
