"""Job traces: the log of a computing centre, a row a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.errors import WorkloadError
from simplugin.results.tables import OpenPoint

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# The value of fields that a log does not have.
UNKNOWN = -1
# Status of a job that ended as it should.
COMPLETED = 1
# From here on floats do not distinguish whole numbers.
LARGEST = 2.0**53
# The largest status.
CANCELLED = 5


class JobTrace:
    """Jobs of a log in the fields of the Standard Workload Format, version 2.2 [1]_.

    Every field is an array of shape (n_jobs,), read-only; -1 says that the log does not know.
    Jobs are in the order of the log. Numbers may repeat: some logs have one line for each part of
    an interrupted job.

    Parameters
    ----------
    columns : mapping of str to array_like
        Values by the name of their field, or one value for all jobs. Fields that are left out are
        unknown, but for `job`: jobs are numbered from 1.
    header : iterable of (str, str)
        Labels and values of the comments. A value has several lines if its comment has; a comment
        without a label has the label ``""``.
    left_open : iterable of OpenPoint
        Values that were left out or unknown when the trace was read.

    Attributes
    ----------
    job : int64
        Number of the job.
    submit, wait : float64
        When it was submitted since the start of the log, and how long it waited then [s].
    run_time : float64
        Run time [s].
    processors : int64
        Number of processors it had.
    average_cpu : float64
        Processor time of each of its processors, on average [s].
    memory : float64
        Memory used on each processor, on average [KiB].
    requested_processors : int64
        Number of processors requested.
    requested_time, requested_memory : float64
        Time [s] and memory for each processor [KiB] requested.
    status : int64
        1 completed, 0 failed, 5 cancelled; 2, 3 and 4 are parts of a job with checkpoints.
    user, group, executable, queue, partition : int64
        Their numbers, which the header may name.
    preceding_job : int64
        Number of a job that had to end before.
    think_time : float64
        From then to when the job was submitted [s].
    header : tuple of (str, str)
        As the parameter.
    left_open : tuple of OpenPoint
        As the parameter; of the whole log in a trace of some of its jobs.

    Raises
    ------
    WorkloadError
        A field is unknown, of another length, or has a value that the format has not.

    References
    ----------
    .. [1] S. Chapin et al. (1999). Benchmarks and standards for the evaluation of parallel job
       schedulers. JSSPP 1999; version 2.2: Parallel Workloads Archive.
    """

    job: Integers
    submit: Floats
    wait: Floats
    run_time: Floats
    processors: Integers
    average_cpu: Floats
    memory: Floats
    requested_processors: Integers
    requested_time: Floats
    requested_memory: Floats
    status: Integers
    user: Integers
    group: Integers
    executable: Integers
    queue: Integers
    partition: Integers
    preceding_job: Integers
    think_time: Floats
    header: tuple[tuple[str, str], ...]
    left_open: tuple[OpenPoint, ...]

    def __init__(
        self,
        columns: Mapping[str, ArrayLike],
        header: Iterable[tuple[str, str]] = (),
        left_open: Iterable[OpenPoint] = (),
    ) -> None:
        """Check the columns, and fill in those that are left out."""
        if foreign := [name for name in columns if name not in FIELDS]:
            raise WorkloadError(f"a job has no field {foreign[0]!r}; give {', '.join(FIELDS)}")
        given = {name: np.asarray(values) for name, values in columns.items()}
        shapes = {values.shape for values in given.values()} - {()}
        if len(shapes) != 1 or len(shape := shapes.pop()) != 1 or not shape[0]:
            raise WorkloadError("a trace has no job, or columns of several lengths; give one a job")
        numbers = given.pop("job", np.arange(1, shape[0] + 1))
        for name in FIELDS:
            values = numbers if name == "job" else given.get(name, np.array(UNKNOWN))
            object.__setattr__(self, name, _column(name, np.broadcast_to(values, shape)))
        object.__setattr__(self, "header", tuple((str(a), str(b)) for a, b in header))
        object.__setattr__(self, "left_open", tuple(left_open))

    def __setattr__(self, name: str, value: Any) -> None:
        """Raise: traces do not change."""
        raise AttributeError(f"{name} of a trace cannot be set; make another trace")

    def __len__(self) -> int:
        return len(self.job)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JobTrace):
            return NotImplemented
        return self.header == other.header and all(
            np.array_equal(self.columns[name], other.columns[name]) for name in FIELDS
        )

    __hash__ = None  # type: ignore[assignment] # as for lists: it is equal by its content

    def __repr__(self) -> str:
        return f"<JobTrace of {len(self)} jobs>"

    @property
    def is_sorted(self) -> bool:
        """True if no job was submitted before the one above it."""
        return bool(np.all(self.submit[1:] >= self.submit[:-1]))

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """All fields by their names, in the order of the format."""
        return {name: getattr(self, name) for name in FIELDS}

    def labels(self, label: str) -> list[str]:
        """Return the values that the header has under a label, in order."""
        return [value for name, value in self.header if name == label]

    def label(self, label: str) -> str | None:
        """Return the first value that the header has under a label; None without one."""
        return next(iter(self.labels(label)), None)

    def names(self, label: str) -> dict[int, str]:
        """Return the names of the partitions or queues in the header.

        Parameters
        ----------
        label : {"Partition", "Queue"}
            The label.

        Returns
        -------
        dict of int to str
            Names by their numbers; values that begin with no number are left out.
        """
        words = [value.partition("\n")[0].split(None, 1) for value in self.labels(label)]
        return {
            int(word[0]): "".join(word[1:]).strip()
            for word in words
            if word and word[0].isascii() and word[0].isdigit()
        }

    def select(self, chosen: ArrayLike) -> JobTrace:
        """Return the trace of some of its jobs.

        Parameters
        ----------
        chosen : bool or int, shape (n_jobs,) or (n_chosen,)
            Which, or their positions.

        Raises
        ------
        WorkloadError
            None is left.
        """
        which = np.asarray(chosen)
        columns = {name: each[which] for name, each in self.columns.items()}
        return JobTrace(columns, self.header, self.left_open)


# The fields of the Standard Workload Format, in its order.
FIELDS = tuple(JobTrace.__annotations__)[:18]
# Fields that may have a fractional part; the others are counts or identifiers.
FRACTIONAL = {name for name in FIELDS if JobTrace.__annotations__[name] == "Floats"}


def fitting(name: str, values: Floats) -> NDArray[np.bool_]:
    """Return which values a field can have.

    Parameters
    ----------
    name : str
        Of the field.
    values : float64, shape (n_jobs,)
        Its values.
    """
    largest = CANCELLED + 1 if name == "status" else LARGEST
    right: NDArray[np.bool_] = ((values >= 0) & (values < largest)) | (values == UNKNOWN)
    return right if name in FRACTIONAL else right & (values == np.floor(values))


def expected(name: str) -> str:
    """Return a description of the valid values of a field, for messages."""
    if name == "status":
        return f"a whole number from 0 to {CANCELLED}, or -1 if it is unknown"
    kind = "number" if name in FRACTIONAL else "whole number"
    return f"a {kind} from 0 to 2^53, or -1 if it is unknown"


def _column(name: str, given: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a field in its type."""
    try:
        values = given.astype(np.float64)
    except (TypeError, ValueError):
        raise WorkloadError(f"{name} of a trace has no numbers; give {expected(name)}") from None
    for at in np.flatnonzero(~fitting(name, values)).tolist():
        raise WorkloadError(f"{name} of job {at + 1} is {given[at]!r}; give {expected(name)}")
    column = values if name in FRACTIONAL else values.astype(np.int64)
    column.flags.writeable = False
    return column
