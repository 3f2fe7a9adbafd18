"""Workloads of Batsim: names of all versions, what they mean, and mistakes at their lines."""

import json

import pytest
from marked import assert_refused

from simplugin.formats.batsim import read_batsim
from simplugin.workloads.batch_jobs import Delay, DiskTransfer, Job, ParallelWork, Phases

PTASK = {"cpu": [1, 2], "com": [0, 3, 4, 0]}
ALIKE = {"cpu": 6, "com": 4}
MEANT = [
    (["delay", "DelayProfile"], {"delay": 2.5}, Delay(2.5)),
    (
        ["msg_par", "parallel", "ptask", "ParallelTaskProfile"],
        PTASK,
        ParallelWork((1, 2), (0, 3, 4, 0)),
    ),
    (
        ["msg_par_hg", "parallel_homogeneous", "ptask_homogeneous"],
        ALIKE,
        ParallelWork(6, 4),
    ),
    (
        ["ParallelTaskHomogeneousProfile"],
        ALIKE | {"generation_strategy": "defined_amount_spread_uniformly"},
        ParallelWork(3, 2),
    ),
    (["msg_par_hg_tot", "parallel_homogeneous_total"], ALIKE, ParallelWork(3, 2)),
    (
        ["msg_par_hg_pfs", "parallel_homogeneous_pfs", "ptask_on_storage_homogeneous"],
        {"bytes_to_read": 5, "bytes_to_write": 7, "storage": "nfs"},
        Phases((DiskTransfer(10), DiskTransfer(14, writes=True))),
    ),
    (
        ["msg_par_hg_pfs0"],
        {"size": 5, "direction": "to_storage"},
        DiskTransfer(10, writes=True),
    ),
    (
        ["ParallelTaskOnStorageHomogeneousProfile"],
        {"bytes_to_read": 5, "generation_strategy": "defined_amount_spread_uniformly"},
        DiskTransfer(5),
    ),
    (
        ["data_staging", "ParallelTaskDataStagingBetweenStoragesProfile"],
        {"nb_bytes": 9, "from": "pfs", "to": "nfs"},
        DiskTransfer(9, nodes="root"),
    ),
    (
        ["composed", "sequential_composition", "SequentialCompositionProfile"],
        {"seq": ["d", "d"], "repeat": 3},
        Phases((Delay(1), Delay(1)), 3),
    ),
]


@pytest.mark.parametrize(("names", "members", "work"), MEANT, ids=lambda each: str(each)[:20])
def test_profiles_of_all_versions(names, members, work, tmp_path):
    path = tmp_path / "workload.json"
    for name in names:
        profiles = {"p": {"type": name, **members}, "d": {"type": "delay", "delay": 1}}
        job = {"id": 7, "subtime": 3, "res": 2, "profile": "p"}
        path.write_text(json.dumps({"jobs": [job], "profiles": profiles}))
        assert read_batsim(path).jobs == (Job(id="7", submit=3, size=2, work=work),)


def test_jobs_and_what_is_left_open(tmp_path):
    path = tmp_path / "workload.json"
    first = {"id": "a!1", "subtime": 0.5, "res": 1, "walltime": -1, "profile": 1, "cores": 2}
    extra = json.dumps({"desired_allocation": "0 2-3"})
    wants = {"id": 2, "subtime": 0, "res": 3, "walltime": 9, "profile": "1", "extra_data": extra}
    profiles = {name: {"type": "delay", "delay": 1, "np": 4} for name in "12"}
    path.write_text(json.dumps({"nb_res": 4, "jobs": [first, wants], "profiles": profiles}))
    log = read_batsim(path)
    assert log.n_nodes == 4
    assert log.jobs == (
        Job(id="a!1", submit=0.5, size=1, work=Delay(1)),
        Job(id="2", submit=0, size=3, work=Delay(1), walltime=9, nodes=(0, 2, 3)),
    )
    assert {point.what: point.number for point in log.left_open} == {
        "'cores' of jobs": 1,
        "profiles that no job has": 1,
    }


def duration(work) -> float:
    if isinstance(work, Delay):
        return work.time
    return work.times * sum(map(duration, work.parts))


def test_published_workloads(shared_data):
    jobs = shared_data / "jobs"
    path = jobs / "batsim_tests" / "test_compo_sequence_delay.json"
    content = json.loads(path.read_text())
    stated = [
        content["profiles"][job["profile"]]["expected_execution_time"] for job in content["jobs"]
    ]
    assert [duration(job.work) for job in read_batsim(path).jobs] == stated
    published = [*jobs.glob("batsim_tests/*.json"), *jobs.glob("oar_graphene/workloads/*")]
    sizes = {path.name: len(read_batsim(path).jobs) for path in published}
    assert sizes["test_walltime.json"] == 44
    assert sizes["msg_seed6.json.gz"] == 800
    assert len(sizes) == 16


RIGHT = """{
"nb_res": 4,
"jobs": [
{"id": 1, "subtime": 0, "res": 2, "walltime": 5, "profile": "p"},
{"id": 2, "subtime": 0, "res": 2, "profile": "s"}
],
"profiles": {
"p": {"type": "delay", "delay": 1},
"m": {"type": "parallel",
  "cpu": [1, 2], "com": [1, 2, 3, 4]},
"s": {"type": "composed",
  "seq": ["p", "m"]}
}}"""


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ('"id": 2', '¶"id": 1'),
        ('"id": 2', '¶"id": 2.5'),
        ('"res": 2, "walltime"', '¶"res": 2.5, "walltime"'),
        ('"walltime": 5', '¶"walltime": -3'),
        ('"walltime": 5', '¶"walltime": 0'),
        ('"subtime": 0, "res": 2, "wall', '¶"subtime": -1, "res": 2, "wall'),
        ('"subtime": 0, "res": 2, "wall', '¶"subtime": "x", "res": 2, "wall'),
        ('"res": 2, "wall', '¶"wall'),
        ('"res": 2, "profile": "s"', '"res": 3, "profile": "s"'),
        ('"profile": "p"', '¶"profile": "q"'),
        ('"profile": "p"', '"profile": "p", ¶"extra_data": {"desired_allocation": "x"}'),
        ('"profile": "p"', '"profile": "p", ¶"extra_data": {"desired_allocation": "1"}'),
        ('"type": "delay"', '¶"type": "smpi"'),
        ('"type": "delay"', '¶"type": "ReplaySmpiProfile"'),
        ('"type": "delay"', '¶"type": "trace_replay"'),
        ('"delay": 1', '¶"delay": -1'),
        ('"seq": ["p", "m"]', '¶"seq": ["p", "s"]'),
        ('"seq": ["p", "m"]', '¶"seq": []'),
        ('"seq": ["p", "m"]', '¶"seq": ["p", "nil"]'),
        ('"seq": ["p", "m"]', '"seq": ["p"], ¶"repeat": 0'),
        ('"nb_res": 4', '¶"nb_res": 0'),
        ('"com": [1, 2, 3, 4]', '¶"com": 4'),
    ],
)
def test_mistakes_are_located(part, wrong, tmp_path):
    assert RIGHT.count(part) == 1
    text = RIGHT.replace(part, wrong)
    if "¶" not in text:  # of a profile that does not fit a job
        text = text.replace('"m": {', '¶"m": {')
    assert_refused(read_batsim, tmp_path / "workload.json", text)


def test_amounts_out_of_range(tmp_path):
    text = RIGHT.replace("¶", "").replace(
        '{"type": "delay", "delay": 1}', '{"type": "msg_par_hg_pfs", "bytes_to_read": 1.7e308}'
    )
    assert_refused(read_batsim, tmp_path / "workload.json", text.replace('"p": {', '¶"p": {'))
