"""Jobs files and application models of ElastiSim."""

import csv
import gzip
import json
import pickle
from pathlib import Path

import pytest
from marked import assert_refused, unmarked

from simplugin.core.errors import FileError
from simplugin.formats.elastisim import read_elastisim
from simplugin.workloads.batch_jobs import (
    Computation,
    Delay,
    DiskTransfer,
    Job,
    JobWork,
    Messages,
    ParallelWork,
    Phases,
)


def jobs_file(folder: Path, model: object, *jobs: dict[str, object]) -> Path:
    (folder / "model.json").write_text(json.dumps(model))
    known = {"type": "rigid", "submit_time": 0, "num_nodes": 4, "application_model": "x/model.json"}
    (folder / "jobs.json").write_text(json.dumps({"jobs": [known | job for job in jobs]}))
    return folder / "jobs.json"


def work_of(folder: Path, *tasks: dict[str, object], **job: object) -> JobWork:
    path = jobs_file(folder, {"phases": [{"tasks": tasks}]}, job)
    (found,) = read_elastisim(path).jobs
    return found.work


CPU = {"type": "cpu", "flops": 8, "bytes": 24}


@pytest.mark.parametrize(
    ("pattern", "pairs", "size"),
    [
        ("all_to_all", {(a, b) for a in range(4) for b in range(4) if a != b}, 2),
        ("gather", {(1, 0), (2, 0), (3, 0)}, 6),
        ("scatter", {(0, 1), (0, 2), (0, 3)}, 6),
        ("ring_clockwise", {(0, 1), (1, 2), (2, 3), (3, 0)}, 6),
        ("ring_counter_clockwise", {(1, 0), (2, 1), (3, 2), (0, 3)}, 6),
        ("ring", {(a, (a + step) % 4) for a in range(4) for step in (1, 3)}, 3),
        ("master_worker", {(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)}, 16),
    ],
)
def test_patterns_of_communication(pattern, pairs, size, tmp_path):
    task = {"type": "cpu", "bytes": 24, "communication_pattern": pattern}
    work = work_of(tmp_path, task)
    assert isinstance(work, Messages)
    assert {(a, b) for a, b, _ in work.messages} == pairs
    assert {byte for _, _, byte in work.messages} == {size}
    tied = work_of(tmp_path, task | {"coupled": True, "flops": 1, "computation_pattern": "total"})
    matrix = tuple(float(size) * ((a, b) in pairs) for a in range(4) for b in range(4))
    assert tied == ParallelWork(0.25, matrix)


@pytest.mark.parametrize(
    ("pattern", "flop"),
    [
        ("uniform", 8),
        ("total", 2),
        ("all_ranks", 2),
        ("root_only", (8, 0, 0, 0)),
        ("even_ranks", (4, 0, 4, 0)),
        ("odd_ranks", (0, 4, 0, 4)),
    ],
)
def test_patterns_of_amounts(pattern, flop, tmp_path):
    task = {"type": "cpu", "flops": 8, "computation_pattern": pattern}
    assert work_of(tmp_path, task) == Computation(flop)
    assert work_of(tmp_path, task | {"coupled": True}) == ParallelWork(flop)
    waited = max(flop) if isinstance(flop, tuple) else flop
    assert work_of(tmp_path, {"type": "idle", "delay": 8, "pattern": pattern}) == Delay(waited)


def test_transfers_sequences_and_formulas(tmp_path):
    read = {"type": "pfs_read", "bytes": "size * 2", "pattern": "uniform"}
    write = {"type": "pfs_write", "bytes": 5, "pattern": "root_only", "iterations": "num_nodes"}
    never = {"type": "idle", "delay": 1, "pattern": "uniform", "iterations": 0}
    vector = {"type": "busy_wait", "delay": [1, 2, 3, 9], "pattern": "vector"}
    group = {"type": "sequence", "iterations": 2, "tasks": [vector, write]}
    assert work_of(tmp_path, read, never, group, arguments={"half": 1.5, "size": "half * 2"}) == (
        Phases(
            (
                DiskTransfer(24),
                Phases(
                    (Delay(9), Phases((DiskTransfer(5, writes=True, nodes="root"),), 4)),
                    2,
                ),
            )
        )
    )


def test_jobs(tmp_path):
    model = {
        "on_init": {"tasks": [{"type": "idle", "delay": 1, "pattern": "uniform"}]},
        "on_expansion": {"tasks": []},
        "phases": [
            {"tasks": [{"type": "busy_wait", "delay": "t/num_nodes", "pattern": "uniform"}]}
        ],
    }
    wide = {"type": "malleable", "num_nodes_min": 2, "num_nodes_max": 8, "walltime": 50}
    wide |= {"arguments": {"t": 16}, "attributes": {"priority": 3, "color": "red"}}
    path = jobs_file(tmp_path, model, {"walltime": 0, "arguments": {"t": 16}}, wide)
    log = read_elastisim(path)
    rigid, malleable = log.jobs
    assert rigid == Job(id="0", submit=0, size=4, work=Phases((Delay(1), Delay(4))))
    assert (malleable.kind, malleable.least, malleable.most) == ("malleable", 2, 8)
    assert (malleable.walltime, malleable.priority) == (50, 3)
    again = pickle.loads(pickle.dumps(malleable))
    assert [again.work_on(nodes).parts[1].time for nodes in (1, 2, 8)] == [16, 8, 2]
    assert {point.what: point.number for point in log.left_open} == {
        "phases on_expansion": 1,
        "other attributes of jobs": 1,
    }


def test_published_files(shared_data):
    path = shared_data / "jobs" / "elastisim_example" / "jobs_first250.json.gz"
    with gzip.open(path, "rt") as file:
        given = json.load(file)["jobs"]
    with pytest.raises(FileError) as caught:
        read_elastisim(path)
    assert caught.value.line == 4
    jobs = read_elastisim(path, lenient=True).jobs
    assert [job.submit for job in jobs] == [job["submit_time"] for job in given]
    for job, source in zip(jobs, given, strict=True):
        arguments = source["arguments"]
        for nodes in {job.smallest, job.largest}:
            repeated = job.work_on(nodes).parts[2]
            computed, _ = repeated.parts
            assert repeated.times == arguments["iterations"]
            flop = arguments["flops"] / nodes ** arguments["alpha"]
            assert computed.flop == pytest.approx(flop, rel=1e-12)
            assert sum(computed.byte) == pytest.approx(arguments["communication_size"])


def test_cirrus(shared_data, tmp_path):
    """The models that were used for a machine's log give the run times of its table."""
    folder = shared_data / "jobs" / "cirrus"
    with gzip.open(folder / "moldable_first5800.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))[:100]
    jobs = [
        {
            "type": "moldable",
            "submit_time": int(row["submit"]),
            "num_nodes_min": int(row["cores_min"]),
            "num_nodes_max": int(row["cores_max"]),
            "application_model": "busywait_model_moldable.json",
            "arguments": {"nstep": int(row["runtime_at_base"]), "base_nodes": row["base_cores"]},
        }
        for row in rows
    ]
    (tmp_path / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    log = read_elastisim(tmp_path / "jobs.json", models=folder)
    for job, row in zip(log.jobs, rows, strict=True):
        assert job.work_on(int(row["base_cores"])) == Delay(float(row["runtime_at_base"]))


MODEL = """{"phases": [
{"iterations": "n", "tasks": [
{"type": "cpu", "flops": "f/num_nodes",
"computation_pattern": "uniform"},
{"type": "pfs_write", "bytes": 5,
"pattern": "total"}
]}]}"""
JOBS = """{"jobs": [
{"type": "moldable",
"submit_time": 0,
"num_nodes_min": 1, "num_nodes_max": 4,
"application_model": "model.json",
"arguments": {"n": 2, "f": 3}}
]}"""


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ('"moldable"', '¶"evolving"'),
        ('"moldable"', '¶"rigged"'),
        ('"submit_time": 0', '¶"submit_time": -1'),
        ('"num_nodes_max": 4', '¶"num_nodes_max": 0'),
        ('"num_nodes_min": 1', '¶"num_nodes_min": 5'),
        ('"num_nodes_max": 4', '¶"num_nodes_max": 4000000'),
        ('"submit_time": 0', '"submit_time": 0, ¶"num_gpus_per_node_max": 1'),
        ('"model.json"', '¶"other.json"'),
        ('"model.json"', '¶"a\\u0000b"'),
        ('"n": 2', '¶"n": "2+"'),
    ],
)
def test_mistakes_of_jobs_are_located(part, wrong, tmp_path):
    (tmp_path / "model.json").write_text(MODEL)
    assert_refused(read_elastisim, tmp_path / "jobs.json", JOBS.replace(part, wrong))


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ('"cpu"', '¶"gpu"'),
        ('"cpu"', '¶"bb_read"'),
        ('"f/num_nodes"', '¶"g/num_nodes"'),
        ('"f/num_nodes"', '¶"-f"'),
        ('"f/num_nodes"', '¶"f/(num_nodes - 1)"'),
        ('"f/num_nodes"', '¶"f/0"'),
        ('"n"', '¶"m"'),
        ('"uniform"', '¶"all_to_all"'),
        ('"uniform"', '¶"vector"'),
        ('"total"', '¶"even_ranks"'),
        ('"total"', '"total", ¶"async": true'),
        ('"bytes": 5', '¶"bytes": "x'),
        ('"bytes": 5', '¶"bytes": null'),
        ('"phases"', '¶"phase"'),
        (
            '"computation_pattern": "uniform"',
            '¶"computation_pattern": "total", "bytes": 1, "communication_pattern": "star"',
        ),
    ],
)
def test_mistakes_of_models_are_located(part, wrong, tmp_path):
    content, line = unmarked(MODEL.replace(part, wrong))
    (tmp_path / "model.json").write_text(content)
    (tmp_path / "jobs.json").write_text(JOBS)
    with pytest.raises(FileError) as caught:
        read_elastisim(tmp_path / "jobs.json")
    error = caught.value
    if wrong.startswith('¶"vector'):  # the amounts are wrong, not the pattern
        line = 3
    assert (Path(str(error.file)).name, error.line) == ("model.json", line), str(error)
    assert error.remedy
