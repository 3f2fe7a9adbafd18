"""Job traces from and to the Standard Workload Format."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from simplugin.core.errors import WorkloadFileError
from simplugin.inputs.files import FilePath, opened, write
from simplugin.inputs.locations import LineLocation, shown
from simplugin.results.tables import OpenPoints
from simplugin.workloads.bundles import GROUPS
from simplugin.workloads.job_traces import (
    FIELDS,
    UNKNOWN,
    Floats,
    JobTrace,
    expected,
    fitting,
)

# Possessive, so that no text takes long to refuse; but no optional group is: Python 3.11.2 then
# takes half of it.
_NUMBER = r"[-+]?+(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?+\d++)?"
_VALUE = re.compile(_NUMBER, re.ASCII)
_JOB = re.compile(rf"\s*+(?:{_NUMBER}\s++){{{len(FIELDS) - 1}}}{_NUMBER}\s*+", re.ASCII)

# The number of a line in its file, counted from 1, and the line, in Latin-1.
Numbered = tuple[int, str]


# Fields that bundles are made of.
_USED = {"job", "submit", "run_time", "processors", "requested_processors", "status", *GROUPS}


def _rows(lines: Sequence[Numbered], file: FilePath, points: OpenPoints, lenient: bool) -> Floats:
    """Return the fields of jobs, a line a job; shape (n_jobs, 18). See `read_swf`."""
    jobs = []
    for number, line in lines:
        job = (
            line
            if _JOB.fullmatch(line)
            else _mended(line, LineLocation(file, number), points, lenient)
        )
        if job is not None:
            jobs.append((number, job))
    if not jobs:
        return np.empty((0, len(FIELDS)))
    text = "\n".join(job for _, job in jobs)
    values = np.fromstring(text, dtype=np.float64, sep=" ").reshape(len(jobs), len(FIELDS))
    fits = np.array([fitting(name, values[:, at]) for at, name in enumerate(FIELDS)]).T
    used = np.array([name in _USED for name in FIELDS])
    for at, column in () if lenient else np.argwhere(~fits & used).tolist():
        number, job = jobs[at]
        name, text = FIELDS[column], shown(job.split()[column])
        message = f"field {column + 1}, {name}, is {text}"
        raise LineLocation(file, number).error(message, f"give {expected(name)}; {_LENIENT}")
    kept = np.all(fits | ~used, axis=1)
    points.note("jobs with wrong fields", "left out", int(np.sum(~kept)))
    for column in np.flatnonzero(~used).tolist():
        odd = kept & ~fits[:, column]
        points.note(f"odd values of {FIELDS[column]}", "unknown", int(odd.sum()))
        values[odd, column] = UNKNOWN
    return values[kept]


_LENIENT = "or leave such jobs out: lenient = true"


def _mended(line: str, place: LineLocation, points: OpenPoints, lenient: bool) -> str | None:
    """Return a job without its useless values; None if it is skipped.

    Raises
    ------
    WorkloadFileError
        It has too few fields, or twice as many, or one that is used is no number.
    """
    fields = line.split()
    further = len(FIELDS) < len(fields) < 2 * len(FIELDS)
    odd = [
        at
        for at, (name, text) in enumerate(zip(FIELDS, fields, strict=False))
        if name not in _USED and _VALUE.fullmatch(text) is None
    ]
    mended = ["-1" if at in odd else text for at, text in enumerate(fields)]
    job = " ".join(mended[: len(FIELDS)] if further else mended)
    if _JOB.fullmatch(job) is None:
        if not lenient:
            raise _refused(job, place)
        points.note("lines that are no job", "left out")
        return None
    points.note("jobs with further fields", "those after the 18th left out", further)
    for at in odd:
        points.note(f"odd values of {FIELDS[at]}", "unknown")
    return job


def _refused(line: str, place: LineLocation) -> WorkloadFileError:
    """Return the error for a line that is no job."""
    fields = line.split()
    for name, field in zip(FIELDS, fields, strict=False):
        if _VALUE.fullmatch(field) is None:
            text = shown(field.encode("latin-1").decode("utf-8", "replace"))
            return place.error(
                f"field {FIELDS.index(name) + 1}, {name}, is {text}, which is no number",
                f"give {expected(name)}; a comment begins its line with ';'; {_LENIENT}",
            )
    return place.error(
        f"a job has {len(fields)} field{'s' if len(fields) != 1 else ''}, not {len(FIELDS)}",
        f"give one job a line, and -1 for fields that are unknown; {_LENIENT}",
    )


# Labels of version 2.2. Others are read as well, but not if they are indented like a second line or
# no blank follows the colon.
_LABELS = (
    "Version|Computer|Installation|Acknowledge|Information|Conversion|MaxJobs|MaxRecords|"
    "Preemption|UnixStartTime|TimeZone|TimeZoneString|StartTime|EndTime|MaxNodes|MaxProcs|"
    "MaxRuntime|MaxMemory|AllowOveruse|MaxQueues|Queues|Queue|MaxPartitions|Partitions|"
    "Partition|Note"
)
_LABELLED = re.compile(
    r"[ \t]{0,2}(?P<any>[^\W\d_]\w*):(?:[ \t]|$)" rf"|[ \t]*(?P<known>{_LABELS}):"
)


def header_of(comments: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return labels and values of comments.

    A comment is ``; Label: value``. One that is indented further continues the value above it;
    any other has the label ``""``.

    Parameters
    ----------
    comments : iterable of str
        The comments, without the semicolons.

    Returns
    -------
    tuple of (str, str)
        In order; lines of a value are joined by line feeds.
    """
    pairs: list[tuple[str, str]] = []
    for comment in comments:
        found = _LABELLED.match(comment)
        if found is not None:
            label = found["any"] or found["known"]
            pairs.append((label, comment[found.end() :].strip()))
        elif pairs and pairs[-1][0] and comment.startswith(("   ", "\t")) and comment.strip():
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]}\n{comment.strip()}")
        else:
            pairs.append(("", comment.strip()))
    return tuple(pairs)


def header_lines(header: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of a header, semicolons included.

    Parameters
    ----------
    header : iterable of (str, str)
        Labels and values, as `header_of` gives them.
    """
    lines = []
    for label, value in header:
        first, *further = value.split("\n")
        if label:
            lines.append(f"; {label}: {first}".rstrip())
            indent = " " * (len(label) + 3)
            lines += [f";{indent}{each}" for each in further]
        else:
            lines += [f"; {each}".rstrip() for each in (first, *further)]
    return lines


_MARK = "\xef\xbb\xbf"
_BLANKS = " \t\n\r\v\f"
_AT_ONCE = 1 << 16
# Longest line and largest file, unpacked, that are read [byte].
LONGEST_LINE = 1 << 20
LARGEST_FILE = 4 << 30


def read_swf(path: FilePath, *, lenient: bool = False) -> JobTrace:
    """Read a job trace in the Standard Workload Format, version 2.2 [1]_.

    A line is a job of 18 numbers apart by blanks or tabs, a comment that begins with ``;``, or
    blank. Comments make the header anywhere, and need not be there. They are UTF-8, or
    Latin-1 if they are not. Jobs may be in any order and share numbers, as real logs do; see
    `JobTrace.is_sorted`. Fields after the 18th are left out. Of fields that make no bundle, such as
    waiting times and memory, values that the format has not are unknown. `JobTrace.left_open`
    counts both.

    Parameters
    ----------
    path : path
        The file, perhaps compressed.
    lenient : bool
        True if jobs with other fields that the format has not are left out, and not refused.

    Returns
    -------
    JobTrace
        Jobs in the order of the file.

    Raises
    ------
    WorkloadFileError
        The file cannot be read or says something wrong; the message names the line.

    References
    ----------
    .. [1] Parallel Workloads Archive. The Standard Workload Format.
       https://www.cs.huji.ac.il/labs/parallel/workload/swf.html
    """
    comments: list[bytes] = []
    parts = []
    points = OpenPoints()
    lines = _lines(path)
    while some := list(islice(lines, _AT_ONCE)):
        texts = [(number, line.strip(_BLANKS)) for number, line in some]
        comments += [text[1:].encode("latin-1") for _, text in texts if text.startswith(";")]
        jobs = [each for each in texts if each[1] and each[1][0] != ";"]
        parts.append(_rows(jobs, path, points, lenient))
    values = np.concatenate([np.empty((0, len(FIELDS))), *parts])
    if not len(values):
        remedy = f"a job is a line of {len(FIELDS)} numbers"
        raise WorkloadFileError("there is no job", file=path, remedy=remedy)
    columns = dict(zip(FIELDS, values.T, strict=True))
    return JobTrace(columns, header_of(_decoded(comments)), points.points())


def _decoded(comments: list[bytes]) -> list[str]:
    """Return comments as text: all in UTF-8, or all in Latin-1."""
    try:
        return [comment.decode("utf-8") for comment in comments]
    except UnicodeDecodeError:
        return [comment.decode("latin-1") for comment in comments]


def _lines(path: FilePath) -> Iterator[Numbered]:
    """Yield the lines of a regular file, unpacked, with their numbers."""
    size = 0
    with opened(path, WorkloadFileError, "give the path of a file that you may read") as stream:
        # In Latin-1, each byte is a letter.
        content = io.TextIOWrapper(stream, "latin-1")
        for number in itertools.count(1):
            line = content.readline(LONGEST_LINE + 1)
            size += len(line)
            message, remedy = "", "name a trace in text, or compressed by gzip"
            if "\0" in line:
                message = "this is no text"
            elif len(line) > LONGEST_LINE:
                message = f"a line is longer than the {LONGEST_LINE >> 20} MiB that are read"
                remedy = "give a job a line of its own"
            elif size > LARGEST_FILE:
                message = f"more than the {LARGEST_FILE >> 30} GiB that are read"
                remedy = "cut it into several traces"
            if message:
                raise WorkloadFileError(message, file=path, line=number, remedy=remedy)
            if not line:
                return
            yield number, line.removeprefix(_MARK) if number == 1 else line


def write_swf(trace: JobTrace, path: FilePath) -> None:
    """Write a job trace in the Standard Workload Format; `read_swf` gives an equal one back.

    Parameters
    ----------
    trace : JobTrace
        What to write; its header comes first.
    path : path
        Where; an existing file is replaced. It is compressed if its name ends so, e.g. in ``.gz``.

    Raises
    ------
    WorkloadFileError
        The header has what comments cannot say, or the file cannot be written.
    """
    lines = header_lines(trace.header)
    if _read_back(trace.header) != trace.header:
        odd = (pair for pair in trace.header if _read_back((pair,)) != (pair,))
        label, value = next(odd, trace.header[0])
        raise WorkloadFileError(
            f"comments cannot say {label!r}: {value!r} so that it is read back",
            file=path,
            remedy="give a label of letters, digits and underscores, and a value of plain lines",
        )
    # Each number is the shortest text that reads back as the same.
    texts = [
        [repr(value).removesuffix(".0") for value in column.tolist()]
        for column in trace.columns.values()
    ]
    lines += [" ".join(job) for job in zip(*texts, strict=True)]
    write("\n".join([*lines, ""]), path, WorkloadFileError)


def _read_back(header: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...] | None:
    """Return a header as its comments are read, or None if they are not."""
    try:
        data = "\n".join(header_lines(header)).encode("utf-8")
    except UnicodeEncodeError:
        return None
    comments = [line.lstrip().removeprefix(b";") for line in data.splitlines()]
    if b"\0" in data or max(map(len, comments), default=0) >= LONGEST_LINE:
        return None
    return header_of(_decoded(comments))
