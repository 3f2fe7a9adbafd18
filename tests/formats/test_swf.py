"""Job traces in the Standard Workload Format: what is read, given back, and refused where."""

import contextlib
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import WorkloadFileError
from simplugin.formats import swf
from simplugin.formats.swf import read_swf, write_swf
from simplugin.workloads.job_traces import FIELDS, FRACTIONAL, JobTrace

JOB = b"7 0 -1 83 1 -1 -1 -1 1200 -1 1 3 4 -1 -1 2 -1 -1"
TEXT = b"""\
; Version: 2.2
;Computer:Old
; Note: two lines
;       of one note
;
; Just words
; MaxJobs: 3

  1 0.25 -1 83 1 70.5 1.5e3 -1 1200 -1 1 3 4 -1 -1 2 -1 -1
\t2\t3  -1 3611 1 -1 -1 -1 116400 -1 0 2 2 -1 -1 2 -1 -1 \r
; Note: in the middle
   2 1 +5 .5 1. -1 -1 -1 116400 -1 0 2 2 -1 -1 2 -1 -1"""


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "trace.swf"
    path.write_bytes(data)
    return path


def test_a_trace_is_read(tmp_path):
    trace = read_swf(written(tmp_path, TEXT))
    words = (("", ""), ("", "Just words"), ("MaxJobs", "3"), ("Note", "in the middle"))
    labels = (("Version", "2.2"), ("Computer", "Old"), ("Note", "two lines\nof one note"))
    assert trace.header == labels + words
    # By the numbers that the format's description gives the fields, from 1.
    for number, name, values in (
        (1, "job", [1, 2, 2]),
        (2, "submit", [0.25, 3, 1]),
        (3, "wait", [-1, -1, 5]),
        (4, "run_time", [83, 3611, 0.5]),
        (6, "average_cpu", [70.5, -1, -1]),
        (7, "memory", [1500, -1, -1]),
        (11, "status", [1, 0, 0]),
        (12, "user", [3, 2, 2]),
        (16, "partition", [2, 2, 2]),
    ):
        assert FIELDS[number - 1] == name
        assert getattr(trace, name).tolist() == values
    assert not trace.is_sorted


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_ends_of_lines(end, tmp_path, monkeypatch):
    right = end.join([b"; Version: 2", JOB, b"", b";", JOB, b"8" + JOB[1:], b""])
    wrong = right + end.join([b"", b"x" + JOB[1:], JOB])
    for count in (1, 2, 7, 30):
        monkeypatch.setattr(swf, "_AT_ONCE", count)
        assert read_swf(written(tmp_path, right)).job.tolist() == [7, 7, 8]
        with pytest.raises(WorkloadFileError) as caught:
            read_swf(written(tmp_path, wrong))
        assert caught.value.line == 8


def test_labels_may_be_indented_but_continuations_are_none(tmp_path):
    header = b";      Version: 2\n;    http://one.example\n;\tNote: x: y\n;Other_2:\n"
    header += b";  Warning: no\n;    Warning: of it\n;   10:30 h\n;  on its own\n"
    assert read_swf(written(tmp_path, header + JOB)).header == (
        ("Version", "2\nhttp://one.example"),
        ("Note", "x: y"),
        ("Other_2", ""),
        ("Warning", "no\nWarning: of it\n10:30 h"),
        ("", "on its own"),
    )


def test_encodings_of_comments(tmp_path):
    for data in (b"\xef\xbb\xbf; Note: \xc3\xa9\n", b"; Note: \xe9\n"):
        trace = read_swf(written(tmp_path, data + JOB))
        assert trace.header == (("Note", "é"),)
        write_swf(trace, tmp_path / "again.swf")
        assert read_swf(tmp_path / "again.swf") == trace


def test_compressed_files_are_known_by_their_content(tmp_path):
    plain = read_swf(written(tmp_path, TEXT))
    members = gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])
    for data in (gzip.compress(TEXT), members):
        assert read_swf(written(tmp_path, data)) == plain


def fields(**values: str) -> str:
    """Return a job, some of its fields changed."""
    words = JOB.decode().split()
    for name, value in values.items():
        words[FIELDS.index(name)] = value
    return " ".join(words)


REFUSED = [
    ("", "there is no job; a job is a line of 18 numbers"),
    ("; Version: 2\n\n", "there is no job"),
    (f"{fields()}\n¶{fields()[:-2]}", "a job has 17 fields, not 18; give one job a line"),
    ("\n\n¶12\n", "a job has 1 field, not 18"),
    (f"¶{fields()} {fields()}", "a job has 36 fields"),
    (f"¶{fields().replace(' ', ',')}", "field 1, job, is '7,0,"),
    (f"¶{fields(run_time='long')}", "field 4, run_time, is 'long', which is no number; give a"),
    (f"¶{fields(processors='0x10')}", "field 5, processors, is '0x10'"),
    (f"¶{fields(processors='1_0')}", "field 5, processors, is '1_0'"),
    (f"¶{fields(run_time='nan')}", "field 4, run_time, is 'nan'"),
    (f"¶{fields(run_time='٣')}", "field 4, run_time, is '٣'"),
    (f"¶{fields(run_time='1e999')}", "field 4, run_time, is '1e999'; give a number from 0"),
    (f"¶{fields(job='9007199254740993')}", "field 1, job, is '9007199254740993'"),
    (f"; a\n\n¶{fields(submit='-3')}", "field 2, submit, is '-3'; give a number"),
    (f"¶{fields(submit='-1.5')}", "field 2, submit, is '-1.5'"),
    (f"¶{fields(user='1.5')}", "field 12, user, is '1.5'; give a whole number from 0"),
    (f"¶{fields(status='-2')}\n{fields(job='-2')}", "field 11, status"),
    (f"¶{fields(status='-2', job='-7')}", "field 1, job, is '-7'"),
    (f"¶{fields(status='6')}", "field 11, status, is '6'; give a whole number from 0 to 5"),
    (f"; a\n{fields()}\n¶x\0", "this is no text"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused(text, message, tmp_path):
    assert_refused(read_swf, tmp_path / "trace.swf", text, message)


def test_what_makes_no_bundle_is_left_out(tmp_path):
    """Fields after the 18th, and odd values of fields that are not used."""
    odd = [
        fields(wait="-3"),
        fields(requested_memory="9223372036854779904", memory="nan"),
        fields(think_time="x") + " 2 3600 all:2x8",
        fields(),
    ]
    trace = read_swf(written(tmp_path, "\n".join(odd).encode()))
    unknown = fields(wait="-1"), fields(requested_memory="-1", memory="-1"), fields(think_time="-1")
    assert trace == read_swf(written(tmp_path, "\n".join([*unknown, fields()]).encode()))
    assert {each.what: each.number for each in trace.left_open} == {
        "odd values of memory": 1,
        "odd values of think_time": 1,
        "jobs with further fields": 1,
        "odd values of wait": 1,
        "odd values of requested_memory": 1,
    }
    assert trace.select([0]).left_open == trace.left_open


def test_wrong_jobs_are_left_out_if_asked(tmp_path):
    wrong = [text.replace("¶", "") for text, message in REFUSED if "field" in message]
    text = "\n".join([*wrong, fields(job="77")]).encode()
    trace = read_swf(written(tmp_path, text), lenient=True)
    assert trace.job.tolist()[-1] == 77
    assert set(trace.job.tolist()[:-1]) <= {7}
    lines = [line for line in text.decode().split("\n") if line and line[0] != ";"]
    assert sum(each.number for each in trace.left_open) + len(trace) == len(lines)
    with pytest.raises(WorkloadFileError):
        read_swf(written(tmp_path, fields(job="-7").encode()), lenient=True)


def test_other_encodings(tmp_path):
    wide = TEXT.decode().encode("utf-16-le")
    latin = fields(run_time="?").encode().replace(b"?", b"\xff")
    for data in (wide, latin):
        for content in (data, gzip.compress(data)):
            with pytest.raises(WorkloadFileError) as caught:
                read_swf(written(tmp_path, content))
            assert caught.value.line == 1


def test_damaged_compressed_files(tmp_path):
    data = gzip.compress(TEXT * 50)
    damaged = [data[: len(data) // 2], data[:5], data[:-6], data[:40] + b"\xff" * 9 + data[49:]]
    damaged.append(data[:-8] + b"\0" * 8)
    for content in damaged:
        with pytest.raises(WorkloadFileError):
            read_swf(written(tmp_path, content))


def test_what_cannot_be_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent", Path("/dev/zero")):
        with pytest.raises(WorkloadFileError) as caught:
            read_swf(path)
        assert str(path) in str(caught.value)


def test_endless_files(tmp_path, monkeypatch):
    bomb = gzip.compress(JOB + b"\n;" + b" " * (9 << 20))
    with pytest.raises(WorkloadFileError) as caught:
        read_swf(written(tmp_path, bomb))
    assert caught.value.line == 2
    monkeypatch.setattr(swf, "LARGEST_FILE", 1 << 16)
    with pytest.raises(WorkloadFileError):
        read_swf(written(tmp_path, gzip.compress(b"\n" * (1 << 17))))


NAMES = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,8}\Z")
WORDS = st.lists(st.from_regex(r"\A[a-zé0-9.@:]{1,6}\Z"), max_size=4).map(" ".join)
LATER = st.lists(WORDS.filter(bool), max_size=2)
LINES = st.builds(lambda first, later: "\n".join([first, *later]), WORDS, LATER)
HEADERS = st.lists(st.tuples(NAMES, LINES), max_size=5)
FLOATS = st.just(-1.0) | st.floats(0, 2**53, exclude_max=True)
INTEGERS = st.just(-1) | st.integers(0, 2**53 - 1)


@st.composite
def traces(draw: st.DrawFn) -> JobTrace:
    """Draw a trace that comments can say."""
    count = draw(st.integers(1, 3))
    columns = {}
    for name in FIELDS:
        numbers = FLOATS if name in FRACTIONAL else INTEGERS
        numbers = st.integers(-1, 5) if name == "status" else numbers
        columns[name] = draw(st.lists(numbers, min_size=count, max_size=count))
    return JobTrace(columns, draw(HEADERS))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trace=traces(), name=st.sampled_from(["trace.swf", "trace.swf.gz"]))
def test_what_is_written_is_read_back(name, tmp_path, trace):
    path = tmp_path / name
    write_swf(trace, path)
    assert read_swf(path) == trace


def test_bytes_are_reproducible_and_settle(tmp_path):
    trace = read_swf(written(tmp_path, TEXT))
    once, twice, packed, again = (tmp_path / name for name in ("a", "b", "a.gz", "b.gz"))
    for path in (once, packed, again):
        write_swf(trace, path)
    write_swf(read_swf(once), twice)
    assert once.read_bytes() == twice.read_bytes()
    assert packed.read_bytes() == again.read_bytes()
    # No date in the header of gzip.
    assert packed.read_bytes()[4:8] == b"\0\0\0\0"
    assert gzip.decompress(packed.read_bytes()) == once.read_bytes()
    assert once.read_bytes().endswith(b"\n2 1 5 0.5 1 -1 -1 -1 116400 -1 0 2 2 -1 -1 2 -1 -1\n")


LONG = "a" * swf.LONGEST_LINE
VALUES = (" x", "a\rb", "a\n\nb", "a\nVersion: 3", "a\0", "\ud800", LONG)
WRONG = [("two words", "x"), ("1st", "x"), ("", "Note: x"), *(("Note", value) for value in VALUES)]


@pytest.mark.parametrize(("label", "value"), WRONG, ids=range(10))
def test_what_cannot_be_written(label, value, tmp_path):
    path = tmp_path / "trace.swf"
    with raises_naming(WorkloadFileError, path, f"cannot say {label!r}"):
        write_swf(JobTrace({"job": [1]}, [("Version", "2"), (label, value)]), path)
    assert not path.exists()
    with raises_naming(WorkloadFileError, tmp_path):
        write_swf(JobTrace({"job": [1]}), tmp_path)


def outcome(path: Path) -> JobTrace | None:
    """Return what is read, None if it is refused; any other error passes."""
    try:
        return read_swf(path)
    except WorkloadFileError:
        return None


SPLINTERS = st.sampled_from([*"-.e+ ;\n\r\t\0019x"]).map(str.encode) | st.binary(max_size=3)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=damaged(TEXT, SPLINTERS) | damaged(gzip.compress(TEXT, mtime=0), SPLINTERS))
def test_damaged_files_are_refused_or_read_and_written(data, tmp_path):
    trace = outcome(written(tmp_path, data))
    again = tmp_path / "again.swf"
    if trace is not None:
        with contextlib.suppress(WorkloadFileError):
            write_swf(trace, again)
            assert read_swf(again) == trace


NUMBERS = st.from_regex(r"\A[-+]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][-+]?[0-9]{1,3})?\Z")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=NUMBERS)
def test_numbers_are_what_python_reads(value, tmp_path):
    number = float(value)
    trace = outcome(written(tmp_path, fields(run_time=value).encode()))
    assert (trace is not None) == (0 <= number < 2**53 or number == -1)
    assert trace is None or trace.run_time.tolist() == [number]


def test_the_lcg_trace(shared_data, tmp_path):
    path = shared_data / "workloads/LCG-2005.swf.gz"
    trace = read_swf(path)
    assert len(trace) == 188_041 == int(trace.label("MaxJobs") or 0)
    assert trace.label("UnixStartTime") == "1132444805"
    assert trace.label("TimeZoneString") == "Europe/London"
    assert trace.labels("Information")[0].count("http://") == 2
    names = trace.names("Partition")
    assert (len(names), names[1], names[170]) == (170, "grid.ici.ro", "lcg-lrz-ce.lrz-muenchen.de")
    assert set(trace.partition.tolist()) == set(names)
    assert trace.is_sorted
    # Independently, by NumPy.
    table = np.loadtxt(path, comments=";", unpack=True)
    for name, column in zip(FIELDS, table, strict=True):
        np.testing.assert_array_equal(trace.columns[name], column, name)
    some = trace.select(np.arange(0, len(trace), 40))
    write_swf(some, tmp_path / "lcg.swf.gz")
    assert read_swf(tmp_path / "lcg.swf.gz") == some
