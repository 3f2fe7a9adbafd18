"""Header comments of the Standard Workload Format."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Labels of version 2.2. Others are read as well, but not if they are indented like a second line or
# no blank follows the colon.
LABELS = (
    "Version",
    "Computer",
    "Installation",
    "Acknowledge",
    "Information",
    "Conversion",
    "MaxJobs",
    "MaxRecords",
    "Preemption",
    "UnixStartTime",
    "TimeZone",
    "TimeZoneString",
    "StartTime",
    "EndTime",
    "MaxNodes",
    "MaxProcs",
    "MaxRuntime",
    "MaxMemory",
    "AllowOveruse",
    "MaxQueues",
    "Queues",
    "Queue",
    "MaxPartitions",
    "Partitions",
    "Partition",
    "Note",
)
_LABELLED = re.compile(
    r"[ \t]{0,2}(?P<any>[^\W\d_]\w*):(?:[ \t]|$)" rf"|[ \t]*(?P<known>{'|'.join(LABELS)}):"
)


def header_of(comments: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return labels and values of comments.

    A comment is ``; Label: value``. One that is indented further goes on with the value above it;
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
