"""Job traces in the Standard Workload Format: what is read, given back, and refused where."""

from __future__ import annotations

import gzip
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from simplugin.errors import WorkloadFileError
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


def assert_equal(one: JobTrace, other: JobTrace) -> None:
    assert one.header == other.header
    for name in FIELDS:
        np.testing.assert_array_equal(one.columns[name], other.columns[name], name)


def test_a_trace_is_read(tmp_path: Path) -> None:
    trace = read_swf(written(tmp_path, TEXT))
    assert trace.header == (
        ("Version", "2.2"),
        ("Computer", "Old"),
        ("Note", "two lines\nof one note"),
        ("", ""),
        ("", "Just words"),
        ("MaxJobs", "3"),
        ("Note", "in the middle"),
    )
    assert trace.job.tolist() == [1, 2, 2]
    assert trace.submit.tolist() == [0.25, 3, 1]
    assert trace.wait.tolist() == [-1, -1, 5]
    assert trace.run_time.tolist() == [83, 3611, 0.5]
    assert trace.average_cpu.tolist() == [70.5, -1, -1]
    assert trace.memory.tolist() == [1500, -1, -1]
    assert trace.status.tolist() == [1, 0, 0]
    assert trace.partition.tolist() == [2, 2, 2]
    assert not trace.is_sorted


def test_every_field_is_at_its_place(tmp_path: Path) -> None:
    # Field 11 is a status, none of which is above 5.
    trace = read_swf(written(tmp_path, b" ".join(b"%d" % (n % 10) for n in range(18))))
    assert [trace.columns[name].tolist() for name in FIELDS] == [[n % 10] for n in range(18)]
    # Field numbers of the format's description, counted from 1.
    for number, name in {2: "submit", 4: "run_time", 5: "processors", 11: "status"}.items():
        assert trace.columns[name][0] == (number - 1) % 10
    assert (trace.user[0], trace.executable[0], trace.partition[0]) == (1, 3, 5)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_ends_of_lines(end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = end.join([b"; Version: 2", JOB, b"", b";", JOB, b"8" + JOB[1:], b""])
    wrong = right + end.join([b"", JOB[:-1] + b"x", JOB])
    for block in (1, 2, 7, 30, 1 << 20):
        monkeypatch.setattr(swf, "_BLOCK", block)
        assert read_swf(written(tmp_path, right)).job.tolist() == [7, 7, 8]
        with pytest.raises(WorkloadFileError, match=r"swf:8: field 18, think_time, is '-x'"):
            read_swf(written(tmp_path, wrong))


def test_labels_may_be_indented_but_continuations_are_none(tmp_path: Path) -> None:
    header = (
        b";      Version: 2\n;    http://one.example\n;\tNote: x: y\n;Other_2:\n;  Warning: no\n"
    )
    header += b";    Warning: of it\n;   10:30 h\n;  on its own\n"
    assert read_swf(written(tmp_path, header + JOB)).header == (
        ("Version", "2\nhttp://one.example"),
        ("Note", "x: y"),
        ("Other_2", ""),
        ("Warning", "no\nWarning: of it\n10:30 h"),
        ("", "on its own"),
    )


def test_encodings_of_comments(tmp_path: Path) -> None:
    for data in (b"\xef\xbb\xbf; Note: \xc3\xa9\n", b"; Note: \xe9\n"):
        trace = read_swf(written(tmp_path, data + JOB))
        assert trace.header == (("Note", "é"),)
        write_swf(trace, tmp_path / "again.swf")
        assert_equal(read_swf(tmp_path / "again.swf"), trace)


def test_compressed_files_are_known_by_their_content(tmp_path: Path) -> None:
    plain = read_swf(written(tmp_path, TEXT))
    members = gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])
    for data in (gzip.compress(TEXT), members):
        assert_equal(read_swf(written(tmp_path, data)), plain)


def changed(column: int, value: bytes) -> bytes:
    fields = JOB.split()
    fields[column] = value
    return b" ".join(fields)


REFUSED = {
    "nothing": (b"", None, "there is no job; a job is a line of 18 numbers"),
    "no jobs": (b"; Version: 2\n\n", None, "there is no job"),
    "too few": (JOB + b"\n" + JOB[:-2], 2, "a job has 17 fields, not 18; give all fields on one"),
    "one": (b"\n\n12\n", 3, "a job has 1 field, not 18"),
    "too many": (JOB + b" 5", 1, "a job has 19 fields, not 18"),
    "comment": (JOB + b" ; late", 1, "a job has 20 fields"),
    "comma": (JOB.replace(b" ", b","), 1, "field 1, job, is '7,0,"),
    "a word": (changed(3, b"long"), 1, "field 4, run_time, is 'long', which is no number; give a"),
    "two numbers": (changed(3, b"1-2"), 1, "field 4, run_time, is '1-2'"),
    "two points": (changed(3, b"1.2.3"), 1, "field 4, run_time, is '1.2.3'"),
    "hexadecimal": (changed(4, b"0x10"), 1, "field 5, processors, is '0x10'"),
    "underscore": (changed(4, b"1_0"), 1, "field 5, processors, is '1_0'"),
    "no exponent": (changed(3, b"1e"), 1, "field 4, run_time, is '1e'"),
    "not a number": (changed(3, b"nan"), 1, "field 4, run_time, is 'nan'"),
    "infinite": (changed(3, b"inf"), 1, "field 4, run_time, is 'inf'"),
    "too large": (changed(3, b"1e999"), 1, "field 4, run_time, is '1e999'; give a number from 0"),
    "not exact": (changed(0, b"9007199254740993"), 1, "field 1, job, is '9007199254740993'"),
    "negative": (TEXT + b"\n" + changed(1, b"-3"), 13, "field 2, submit, is '-3'; give a number"),
    "nearly unknown": (changed(1, b"-1.5"), 1, "field 2, submit, is '-1.5'"),
    "fraction": (changed(11, b"1.5"), 1, "field 12, user, is '1.5'; give a whole number from 0"),
    "first of two": (changed(17, b"-2") + b"\n" + changed(0, b"-2"), 1, "field 18, think_time"),
    "leftmost": (changed(17, b"-2").replace(b"7", b"-7", 1), 1, "field 1, job, is '-7'"),
    "no status": (
        changed(10, b"9"),
        1,
        "field 11, status, is '9'; give a whole number from 0 to 5",
    ),
    "next to a status": (changed(10, b"6"), 1, "field 11, status, is '6'"),
    "other digits": (changed(3, "٣".encode()), 1, "field 4, run_time, is '٣'"),
    "not even text": (changed(3, b"\xff"), 1, "field 4, run_time, is '\ufffd'"),
    "zero bytes": (b"; a\n" + JOB + b"\nx\0", 3, "this is no text"),
    "wide": (TEXT.decode().encode("utf-16-le"), 1, "this is no text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    data, line, message = REFUSED[case]
    for content in (data, gzip.compress(data)):
        with pytest.raises(WorkloadFileError, match=re.escape(message)) as caught:
            read_swf(written(tmp_path, content))
        assert caught.value.line == line
        assert caught.value.remedy
        assert len(str(caught.value)) < 500


def test_damaged_compressed_files(tmp_path: Path) -> None:
    data = gzip.compress(TEXT * 50)
    damaged = [data[: len(data) // 2], data[:5], data[:-6], data[:40] + b"\xff" * 9 + data[49:]]
    damaged.append(data[:-8] + b"\0" * 8)
    for content in damaged:
        with pytest.raises(WorkloadFileError, match="compressed file is damaged"):
            read_swf(written(tmp_path, content))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent", Path("/dev/zero")):
        with pytest.raises(WorkloadFileError, match=re.escape(str(path))):
            read_swf(path)


def test_endless_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(JOB + b"\n;" + b" " * (40 << 20))
    with pytest.raises(WorkloadFileError, match=r"swf:2: a line is longer than the 1 MiB"):
        read_swf(written(tmp_path, bomb))
    monkeypatch.setattr(swf, "LARGEST_FILE", 1 << 20)
    monkeypatch.setattr(swf, "_BLOCK", 1 << 16)
    with pytest.raises(WorkloadFileError, match="GiB that are read"):
        read_swf(written(tmp_path, gzip.compress(b"\n" * (2 << 20))))


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
WORDS = st.lists(st.from_regex(r"[a-zé0-9.@:]{1,6}", fullmatch=True), max_size=4).map(" ".join)
LABELLED = st.tuples(
    NAMES, st.tuples(WORDS, st.lists(WORDS.filter(bool), max_size=2)).map(lambda t: [t[0], *t[1]])
)
HEADERS = st.lists(LABELLED, max_size=5)
FLOATS = st.just(-1.0) | st.floats(0, 2**53, exclude_max=True)
INTEGERS = st.just(-1) | st.integers(0, 2**53 - 1)
STATUS = st.integers(-1, 5)


@st.composite
def traces(draw: st.DrawFn) -> JobTrace:
    """Draw a trace that comments can say."""
    count = draw(st.integers(1, 4))
    columns = {
        name: draw(arrays.arrays(float, count, elements=FLOATS))
        if name in FRACTIONAL
        else draw(arrays.arrays(np.int64, count, elements=STATUS if name == "status" else INTEGERS))
        for name in FIELDS
    }
    return JobTrace(columns, [(label, "\n".join(lines)) for label, lines in draw(HEADERS)])


@pytest.mark.parametrize("name", ["trace.swf", "trace.swf.gz"])
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trace=traces())
def test_what_is_written_is_read_back(name: str, tmp_path: Path, trace: JobTrace) -> None:
    path = tmp_path / name
    write_swf(trace, path)
    assert_equal(read_swf(path), trace)


def test_bytes_are_reproducible_and_settle(tmp_path: Path) -> None:
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


UNSAYABLE = {
    "label": ("two words", "x"),
    "label at all": ("1st", "x"),
    "blanks": ("Note", " x"),
    "return": ("Note", "a\rb"),
    "blank line": ("Note", "a\n\nb"),
    "label in a value": ("Note", "a\nVersion: 3"),
    "label without one": ("", "Note: x"),
    "zero byte": ("Note", "a\0"),
    "half a character": ("Note", "\ud800"),
    "long": ("Note", "a" * swf.LONGEST_LINE),
}


@pytest.mark.parametrize("case", UNSAYABLE)
def test_headers_that_cannot_be_written(case: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.swf"
    with pytest.raises(WorkloadFileError, match="comments cannot say"):
        write_swf(JobTrace({"job": [1]}, [("Version", "2"), UNSAYABLE[case]]), path)
    assert not path.exists()


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(WorkloadFileError, match="may write"):
        write_swf(JobTrace({"job": [1]}), tmp_path)


def outcome(path: Path) -> JobTrace | None:
    """Return what is read, None if it is refused; any other error passes."""
    try:
        return read_swf(path)
    except WorkloadFileError:
        return None


def test_nothing_but_errors_of_its_own_escapes(tmp_path: Path) -> None:
    draws = random.Random(6)
    path = tmp_path / "trace.swf"
    read = 0
    for number in range(600):
        data = bytearray(gzip.compress(TEXT, mtime=0) if number % 3 == 0 else TEXT)
        for _ in range(draws.randint(1, 4)):
            at = draws.randrange(len(data))
            kind = draws.randrange(3)
            if kind == 0:
                data[at] = draws.choice(b"-.e+ ;\n\r\t\0\xff019x")
            elif kind == 1:
                del data[at : at + draws.randint(1, 20)]
            else:
                data[at:at] = data[at : at + draws.randint(1, 40)]
            if not data:
                data = bytearray(b"1")
        path.write_bytes(bytes(data))
        trace = outcome(path)
        if trace is None:
            continue
        read += 1
        again = tmp_path / "again.swf"
        try:
            write_swf(trace, again)
        except WorkloadFileError:
            continue
        assert_equal(read_swf(again), trace)
    assert 50 < read < 550


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=80) | st.text("0123456789 .-+e;\n\r", max_size=120).map(str.encode))
def test_any_bytes(data: bytes, tmp_path: Path) -> None:
    outcome(written(tmp_path, data))


NUMBERS = st.from_regex(
    r"[-+]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})([eE][-+]?[0-9]{1,3})?", fullmatch=True
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=NUMBERS)
def test_numbers_are_what_python_reads(value: str, tmp_path: Path) -> None:
    number = float(value)
    trace = outcome(written(tmp_path, changed(3, value.encode())))
    assert (trace is not None) == (0 <= number < 2**53 or number == -1)
    assert trace is None or trace.run_time.tolist() == [number]


def test_the_lcg_trace(shared_data: Path, tmp_path: Path) -> None:
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
    # Independently: the text, field by field.
    lines = gzip.decompress(path.read_bytes()).decode("ascii").splitlines()
    jobs = [line.split() for line in lines if not line.startswith(";")]
    for at, name in enumerate(FIELDS):
        assert trace.columns[name].tolist() == [float(job[at]) for job in jobs], name
    again = tmp_path / "lcg.swf.gz"
    write_swf(trace, again)
    assert_equal(read_swf(again), trace)


def test_the_nasa_excerpt(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "workloads/NASA-iPSC-1993-excerpt.swf"
    trace = read_swf(path)
    assert len(trace) == sum(not line.startswith(";") for line in path.read_text().splitlines())
    assert trace.job.tolist() == list(range(1, len(trace) + 1))
    assert (trace.run_time[0], trace.processors[0], trace.submit[1]) == (1451, 128, 1460)
    assert trace.labels("Note")[1] == "group 1 is normal users\ngroup 2 is system personnel"
    assert trace.names("Queue") == {0: "interactive", 1: "batch"}
    assert trace.is_sorted
    write_swf(trace, tmp_path / "nasa.swf")
    assert_equal(read_swf(tmp_path / "nasa.swf"), trace)
