"""Simulated schedules beside real runs, on the public logs where they are."""

import json

import pytest

from simplugin.core.errors import WorkloadFileError
from simplugin.jobs.validation import SOURCES, nominal_log, validate

WORKLOAD = {
    "nb_res": 2,
    "jobs": [{"id": n, "subtime": 5 * n, "res": 1, "walltime": 90, "profile": "p"} for n in (0, 1)],
    "profiles": {"p": {"type": "msg_par", "cpu": [1e9], "com": [0.0], "np": 1, "runtime": 10}},
}
# The second job was submitted 5 s later, and each starts after 2 s.
RUN = "batsim_id,submit,start,stop,walltime,nodes\n0,0,2,13,90,1\n1,5,7,18,90,2\n"


@pytest.fixture(scope="module")
def validation(shared_data):
    return validate(shared_data / "jobs")


def test_all_bars_are_met_on_the_public_logs(validation):
    assert not validation.missing
    verdicts = {claim.id: claim.agrees for claim in validation.claims}
    assert [name for name, verdict in verdicts.items() if verdict is None] == ["cirrus-easy"]
    assert set(verdicts.values()) == {True, None}
    by_id = {claim.id: claim.measured for claim in validation.claims}
    assert (by_id["batsim-easy"], by_id["cirrus-fcfs"]) == (801, 5800)
    # As it was measured, and as others give it: between EASY with perfect estimates and FCFS.
    [cirrus] = [table for table in validation.tables if table.title.startswith("Cirrus")]
    measured, easy, fcfs = cirrus.column("mean wait [100 s]")
    assert measured == pytest.approx(139.0, abs=0.05)
    assert measured < easy < fcfs


def test_parts_without_files_are_left_out(tmp_path, simplugin):
    runs, workloads = tmp_path / "oar_graphene/runs", tmp_path / "oar_graphene/workloads"
    runs.mkdir(parents=True)
    workloads.mkdir()
    (runs / "mine__seed1.csv").write_text(RUN)
    (workloads / "w_seed1.json").write_text(json.dumps(WORKLOAD))
    (runs / "mine__seed9.csv").write_text(RUN)
    found = validate(tmp_path)
    makespan, wait = found.claims
    # 1.5 s, then 10.6 s, from 5 s on; real: 18 s.
    assert makespan.measured == pytest.approx(17.1)
    assert (makespan.paper, makespan.agrees) == (18.0, False)
    assert (wait.paper, wait.measured, wait.agrees) == (2.0, 1.5, True)
    assert "oar_graphene/workloads/*seed9.json" in found.missing
    assert len(found.missing) >= 5
    done = simplugin("reproduce", "jobs", "--data", str(tmp_path), "--json", "-o", str(tmp_path))
    assert [claim["agrees"] for claim in json.loads(done.stdout)["claims"]] == [False, True]
    page = (tmp_path / "jobs.md").read_text()
    assert all(name in page for name in SOURCES.column("repository"))
    assert (tmp_path / "jobs-schedule.png").exists()


def test_nominal_run_times_take_the_place_of_messages(tmp_path):
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    assert [job.work.time for job in nominal_log(tmp_path / "w.json").jobs] == [10.0, 10.0]


def test_a_directory_without_logs_is_refused(tmp_path):
    with pytest.raises(WorkloadFileError, match="oar_graphene"):
        validate(tmp_path)


def test_without_logs_generated_ones_are_shown(simplugin):
    done = simplugin("reproduce", "jobs")
    assert done.returncode == 0
    assert "No logs were given" in done.stdout
    assert simplugin("reproduce", "pricing", "--data", ".").returncode == 2
