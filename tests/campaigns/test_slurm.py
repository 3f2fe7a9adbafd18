import shutil
import subprocess
from contextlib import closing

import pytest

from simplugin.campaigns.campaign import load_campaign
from simplugin.campaigns.running.campaign_runs import chosen_runners
from simplugin.campaigns.running.course import run_jobs
from simplugin.campaigns.running.slurm import SlurmSection
from simplugin.campaigns.store import StoreReader
from simplugin.errors import ScenarioError, SetupError

SCENARIO = """
[platform]
generator = "random_tree"
parameters = { n_hosts = 5, max_degree = 3 }
seed = 1
[workload]
kind = "bags"
applications = [{ name = "render", master = "n0", flop = "6Gf", byte = "2MB", count = 4 }]
[scheduler]
name = "bags.fcfs"
[simulation.options]
network_model = "CM02"
crosstraffic = false
tcp_gamma = 0.0
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


@pytest.fixture(name="sbatch")
def _sbatch(tmp_path, monkeypatch):
    """An sbatch that refuses everything, as that of a Slurm without a partition `short`."""
    directory = tmp_path / "bin"
    directory.mkdir()
    program = directory / "sbatch"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" > {tmp_path}/words; cat > {tmp_path}/script\n'
        "echo 'allocation failure: Invalid partition name specified' >&2; exit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(directory), prepend=":")


def campaign_file(directory, slurm):
    file = directory / "campaign.toml"
    file.write_text(SCENARIO + slurm)
    return file


@pytest.mark.usefixtures("sbatch")
def test_slurm_is_asked_for_the_jobs_of_the_campaign_file(tmp_path):
    campaign = load_campaign(campaign_file(tmp_path, SLURM))
    with (
        pytest.raises(SetupError, match=r"(?s)Invalid partition name.*change \[slurm\].*#SBATCH"),
        chosen_runners(slurm=campaign.slurm),
    ):
        pass
    assert (tmp_path / "words").read_text().split() == ["--test-only"]
    script = (tmp_path / "script").read_text()
    lines = script.split("\n")
    logs = tmp_path / "logs"
    for line in (
        "#SBATCH -J simplugin",
        f"#SBATCH -e {logs}/simplugin-%J.err",
        f"#SBATCH -o {logs}/simplugin-%J.out",
        "#SBATCH -p short",
        "#SBATCH -A grid",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=3G",  # 2.79 GiB, rounded up
        "#SBATCH -t 01:30:00",
        "#SBATCH --exclusive",
        "module load gcc",
    ):
        assert line in lines
    # One worker a job, with a thread for each core.
    (command,) = (line for line in lines if line.startswith("/opt/simplugin/bin/python -m "))
    assert "distributed.cli.dask_worker tcp://" in command
    assert "--nthreads 2 " in command
    assert "--nworkers" not in command
    assert command.endswith("--lifetime 80m")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("[slurm]\ncore = 2", "unknown key 'slurm.core'.*did you mean 'cores'"),
        ('[slurm]\nmemory = "much"', "slurm.memory is 'much'"),
        ("[slurm]\nwalltime = 02:00:00", "slurm.walltime is"),
        ("[slurm]\njobs = 0", "slurm.jobs is 0"),
    ],
)
def test_what_slurm_cannot_be_asked_for_is_told_with_its_line(tmp_path, written, told):
    file = campaign_file(tmp_path, written)
    line = len(SCENARIO.splitlines()) + 2
    with pytest.raises(ScenarioError, match=f"(?s)campaign.toml:{line}: .*{told}"):
        load_campaign(file)


def test_without_slurm_other_ways_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(SetupError, match=r"no sbatch here.*--scheduler"),
        chosen_runners(slurm=SlurmSection()),
    ):
        pass


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
    campaign = load_campaign(campaign_file(tmp_path, slurm))
    with chosen_runners(slurm=campaign.slurm) as runners:
        assert run_jobs(campaign, tmp_path / "slurm.sqlite", runners).done == 6
        assert len(ours().splitlines()) == 2
    assert ours() == ""
    with chosen_runners(jobs=1) as runners:
        assert run_jobs(campaign, tmp_path / "local.sqlite", runners).done == 6
    outcomes = []
    for name in ("slurm.sqlite", "local.sqlite"):
        with closing(StoreReader(tmp_path / name)) as reader:
            found = [(run.record.job.key, run.record.measured) for run in reader.runs()]
        outcomes.append({key: (measured.digest, measured.row) for key, measured in found})
    assert len(outcomes[0]) == 6
    assert outcomes[0] == outcomes[1]
