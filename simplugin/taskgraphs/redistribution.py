"""Redistributions: which processor sends how much to which one between two tasks."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Pattern = Literal["block", "uniform"]
Local = Literal["sent", "kept"]


def redistribution(
    byte: float,
    sources: Sequence[int],
    targets: Sequence[int],
    *,
    pattern: Pattern = "block",
    local: Local = "sent",
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return what moves data from the processors of a task to those of the next one.

    The data are spread evenly before and after, in blocks: of m processors the i-th holds the
    i-th m-th of them. A processor of both tasks occurs once.

    Parameters
    ----------
    byte : float
        How much there is [byte].
    sources, targets : sequence of int, of length m and n
        Processors of either task, in the order of their blocks; none twice.
    pattern : {"block", "uniform"}
        Whether each sends those parts of its block that the others' blocks take, at most m + n - 1
        messages, or an n-th of it to each. What each sends and receives in all is the same.
    local : {"sent", "kept"}
        What a processor of both tasks sends to itself: it stands on the diagonal, and SimGrid
        carries it wherever the platform's route from a host to itself leads (in a cluster, over
        the host's own link and the switch), or it costs nothing.

    Returns
    -------
    hosts : int64, shape (n_hosts,)
        Processors: first the sources, then those targets that are none.
    sizes : float64, shape (n_hosts, n_hosts)
        What each (row) sends to each (column) [byte].

    Raises
    ------
    WorkloadError
        There is no source or no target, or no such pattern or choice of what is local.
    """
    check_choices(pattern, local)
    m, n = len(sources), len(targets)
    if not m or not n:
        raise WorkloadError(f"a redistribution from {m} to {n} processors; give one at least each")
    row, column, part = overlaps(m, n) if pattern == "block" else _everyone(m, n)
    place = {processor: at for at, processor in enumerate(sources)}
    where = np.array([place.setdefault(each, len(place)) for each in targets])
    sizes = np.zeros((len(place), len(place)))
    sizes[row, where[column]] = byte * part
    if local == "kept":
        np.fill_diagonal(sizes, 0.0)
    return np.fromiter(place, dtype=np.int64, count=len(place)), sizes


def check_choices(pattern: str, local: str) -> None:
    """Refuse unknown patterns, and unknown choices of what is local.

    Raises
    ------
    WorkloadError
        It names what there is.
    """
    for name, value, choices in (
        ("pattern", pattern, get_args(Pattern)),
        ("local", local, get_args(Local)),
    ):
        if value not in choices:
            raise WorkloadError(f"{name} is {value!r}; choose {' or '.join(map(repr, choices))}")


@lru_cache(maxsize=4096)
def overlaps(m: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return which of m equal blocks overlap with which of n, and how much.

    Returns
    -------
    row, column : int64, shape (m + n - gcd(m, n),)
        Numbers of the blocks.
    part : float64, same shape
        Their overlap, as a part of all data.
    """
    # In units of which m n are all data, so that the cuts are whole numbers.
    cuts = np.array(sorted({*range(0, m * n + 1, n), *range(0, m * n + 1, m)}))
    return _frozen(cuts[:-1] // n, cuts[:-1] // m, (cuts[1:] - cuts[:-1]) / (m * n))


@lru_cache(maxsize=4096)
def _everyone(m: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the same where each of m sends as much to each of n."""
    row, column = np.divmod(np.arange(m * n), n)
    return _frozen(row, column, np.full(m * n, 1 / (m * n)))


def _frozen(
    row: NDArray[np.int64], column: NDArray[np.int64], part: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Make arrays that are handed out again and again read-only."""
    for each in (row, column, part):
        each.flags.writeable = False
    return row, column, part
