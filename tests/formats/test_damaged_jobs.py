"""Files of jobs with mistakes: each is read, or refused with file, line and remedy."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simplugin.core.errors import FileError
from simplugin.formats.batsim import read_batsim
from simplugin.formats.elastisim import read_elastisim
from simplugin.formats.job_log_files import read_job_log
from simplugin.formats.job_schedules import read_job_schedule
from simplugin.formats.sacct import read_sacct, read_sacct_schedule

BATSIM = {
    "nb_res": 4,
    "jobs": [
        {"id": 1, "subtime": 0.5, "res": 2, "walltime": 5, "profile": "s"},
        {"id": "b", "subtime": 1, "res": 2, "profile": "h"},
        {
            "id": "c",
            "subtime": 2,
            "res": 2,
            "profile": "g",
            "extra_data": {"desired_allocation": "0 3"},
        },
    ],
    "profiles": {
        "d": {"type": "delay", "delay": 1},
        "m": {"type": "ptask", "cpu": [1, 2], "com": [0, 1, 2, 0]},
        "s": {"type": "composed", "seq": ["d", "m", "p"], "repeat": 2},
        "h": {"type": "parallel_homogeneous_total", "cpu": 1, "com": 2},
        "p": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 2},
        "g": {"type": "data_staging", "nb_bytes": 3, "from": "pfs", "to": "nfs"},
    },
}
MODEL = {
    "on_init": {"tasks": [{"type": "idle", "delay": [1, 2], "pattern": "vector"}]},
    "phases": [
        {
            "iterations": "n",
            "tasks": [
                {
                    "type": "cpu",
                    "flops": "f/num_nodes^0.5",
                    "computation_pattern": "even_ranks",
                    "bytes": 7,
                    "communication_pattern": "ring",
                    "coupled": True,
                },
                {"type": "pfs_write", "bytes": "f", "pattern": "total", "async": False},
                {
                    "type": "sequence",
                    "iterations": 2,
                    "tasks": [{"type": "busy_wait", "delay": 1, "pattern": "uniform"}],
                },
            ],
        }
    ],
}
RIGID = {
    "type": "rigid",
    "submit_time": 0,
    "num_nodes": 2,
    "application_model": "model.json",
    "walltime": 9,
    "arguments": {"n": 2, "f": "3 * n"},
    "attributes": {"priority": 1},
}
SACCT = b"""JobID|Submit|Start|End|Elapsed|Timelimit|NCPUS|NNodes|State|User
7|2024-03-01T00:00:00|2024-03-01T00:00:10|2024-03-01T01:00:10|01:00:00|1-02:03:04|64|2|COMPLETED|a
7.0|2024-03-01T00:00:00|2024-03-01T00:00:10|2024-03-01T01:00:10|01:00:00||64|2|COMPLETED|a
8_1|1709251220|1709251260|1709253060|30:00|UNLIMITED|32|1|TIMEOUT|b
"""
BATSIM_JOBS = b"""job_id,submission_time,requested_number_of_resources,requested_time,success,\
starting_time,finish_time,allocated_resources
1,0,2,10,1,0.5,9.5,0-1
"b,c",1,1,-1,0,2,3.5,3
"""
SWF = b"""; MaxProcs: 16
1 0 -1 83 4 -1 -1 4 1200 -1 1 3 4 -1 1 2 -1 -1
2 5 -1 83 -1 -1 -1 4 -1 -1 0 3 4 -1 1 2 1 30
"""
ODD = st.sampled_from(
    [None, True, -1, 0, 1.5, 2**60, 1e308, 10**400, "", "x", "1/0", "d", [], {}, [1], {"a": 1}]
)
SPLINTERS = st.sampled_from([*'-.e+ ;:,|/"\n\t\0[]{}x09']).map(str.encode) | st.binary(max_size=3)


def paths(content: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all values."""
    yield path
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from paths(value, (*path, key))


@st.composite
def spoiled(draw: st.DrawFn, content: Any) -> bytes:
    """Draw a document in which a value is odd or missing, or bytes are damaged."""
    text = json.dumps(content, indent=0)
    if draw(st.booleans()):
        return draw(damaged(text.encode(), SPLINTERS))
    *outer, last = draw(st.sampled_from(list(paths(json.loads(text)))[1:]))
    root = json.loads(text)
    around = root
    for step in outer:
        around = around[step]
    if draw(st.booleans()):
        around[last] = draw(ODD)
    else:
        del around[last]
    return json.dumps(root, indent=0).encode()


def assert_read_or_refused(read: Callable[[Path], object], path: Path) -> None:
    try:
        read(path)
        return
    except FileError as caught:
        error = caught
    place = Path(str(error.file))
    assert place.parent == path.parent, str(error)
    assert error.remedy, str(error)
    assert error.line is None or 1 <= error.line <= lines_of(place), str(error)
    assert len(str(error)) < 2000


def lines_of(path: Path) -> int:
    """Return the number of lines, with an empty last one."""
    data = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.count(b"\n") + 1


MANY = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@MANY
@given(spoiled(BATSIM))
def test_batsim(tmp_path, data):
    (tmp_path / "workload.json").write_bytes(data)
    assert_read_or_refused(read_batsim, tmp_path / "workload.json")


@MANY
@given(spoiled({"jobs": [RIGID]}), spoiled(MODEL), st.booleans(), st.booleans())
def test_elastisim(tmp_path, jobs, model, right_jobs, lenient):
    right = json.dumps({"jobs": [RIGID]}), json.dumps(MODEL)
    (tmp_path / "jobs.json").write_bytes(right[0].encode() if right_jobs else jobs)
    (tmp_path / "model.json").write_bytes(model if right_jobs else right[1].encode())
    assert_read_or_refused(
        lambda path: read_elastisim(path, lenient=lenient), tmp_path / "jobs.json"
    )


@MANY
@given(damaged(SACCT, SPLINTERS))
def test_sacct(tmp_path, data):
    (tmp_path / "sacct.txt").write_bytes(data)
    for read in (read_sacct, read_sacct_schedule):
        assert_read_or_refused(read, tmp_path / "sacct.txt")


@MANY
@given(damaged(BATSIM_JOBS, SPLINTERS))
def test_schedules(tmp_path, data):
    (tmp_path / "jobs.csv").write_bytes(data)
    assert_read_or_refused(read_job_schedule, tmp_path / "jobs.csv")


@MANY
@given(damaged(SWF, SPLINTERS), st.booleans())
def test_traces(tmp_path, data, lenient):
    (tmp_path / "log.swf").write_bytes(data)

    assert_read_or_refused(lambda path: read_job_log(path, lenient=lenient), tmp_path / "log.swf")


def test_formats_by_name(tmp_path):
    """The end of the name, and the content of JSON, say which format a file has."""
    files = {
        "log.swf": SWF,
        "batsim.json": json.dumps(BATSIM).encode(),
        "jobs.json": json.dumps({"jobs": [RIGID]}).encode(),
        "model.json": json.dumps(MODEL).encode(),
        "sacct.txt": SACCT,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(SWF))
    read = {name: read_job_log(tmp_path / name) for name in {*files, "log.swf.gz"} - {"model.json"}}
    assert {name: [job.id for job in log.jobs] for name, log in read.items()} == {
        "log.swf": ["1", "2"],
        "log.swf.gz": ["1", "2"],
        "batsim.json": ["1", "b", "c"],
        "jobs.json": ["0"],
        "sacct.txt": ["7", "8_1"],
    }
    assert [job.size for job in read_job_log(tmp_path / "sacct.txt", size="cores").jobs] == [64, 32]
    (tmp_path / "log.swf").write_bytes(SWF.replace(b" 83 ", b" -1 "))
    with pytest.raises(FileError) as caught:
        read_job_log(tmp_path / "log.swf")
    assert caught.value.file == tmp_path / "log.swf"
