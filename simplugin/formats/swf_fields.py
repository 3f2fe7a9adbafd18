"""Lines of jobs in the Standard Workload Format into numbers, fast where nothing is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import WorkloadFileError
from simplugin.inputs.places import Line, shown
from simplugin.workloads.job_traces import FIELDS, Floats, expected, misfit

if TYPE_CHECKING:
    import os

# Possessive, so that no text takes long to refuse; but no optional group is: Python 3.11.2 then
# takes half of it.
_NUMBER = rb"[-+]?+(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?+\d++)?"
_VALUE = re.compile(_NUMBER)
_JOB = re.compile(rb"\s*+(?:" + _NUMBER + rb"\s++){%d}" % (len(FIELDS) - 1) + _NUMBER + rb"\s*+")

# A line without the end of it, and its number in the file, counted from 1.
Numbered = tuple[int, bytes]


def rows(lines: Sequence[Numbered], file: str | os.PathLike[str]) -> Floats:
    """Return the fields of jobs.

    Parameters
    ----------
    lines : sequence of (int, bytes)
        One a job.
    file : path
        Where they stand, for messages.

    Returns
    -------
    float64, shape (n_lines, 18)
        In the order of `simplugin.workloads.job_traces.FIELDS`.

    Raises
    ------
    WorkloadFileError
        A line has another number of fields, or what is no number, or what a field cannot be.
    """
    for number, line in lines:
        if _JOB.fullmatch(line) is None:
            raise _refused(line, Line(file, number))
    if not lines:
        return np.empty((0, len(FIELDS)))
    text = b"\n".join(line for _, line in lines)
    values = np.fromstring(text, dtype=np.float64, sep=" ").reshape(len(lines), len(FIELDS))
    wrong = [
        (at, column)
        for column, name in enumerate(FIELDS)
        if (at := misfit(name, values[:, column])) is not None
    ]
    if wrong:
        at, column = min(wrong)
        number, line = lines[at]
        raise _unfit(column, line.split()[column], Line(file, number))
    return values


def _refused(line: bytes, place: Line) -> WorkloadFileError:
    """Say what is wrong with a line that is no job."""
    fields = line.split()
    for name, field in zip(FIELDS, fields, strict=False):
        if _VALUE.fullmatch(field) is None:
            text = shown(field.decode("utf-8", "replace"))
            return place.error(
                f"field {FIELDS.index(name) + 1}, {name}, is {text}, which is no number",
                f"give {expected(name)}; a comment begins its line with ';'",
            )
    return place.error(
        f"a job has {len(fields)} field{'s' if len(fields) != 1 else ''}, not {len(FIELDS)}",
        "give all fields on one line, -1 for those that are unknown",
    )


def _unfit(column: int, field: bytes, place: Line) -> WorkloadFileError:
    """Say that a number is none that its field may be."""
    name = FIELDS[column]
    text = shown(field.decode("ascii"))
    return place.error(f"field {column + 1}, {name}, is {text}", f"give {expected(name)}")
