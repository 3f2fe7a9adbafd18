"""Where the bars of a Gantt chart go; no drawing here."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import SimpluginError
from simplugin.simulation import Result
from simplugin.simulation.trace import KINDS

SENT, WORK, RECEIVED, SLEEP = range(4)
_NUMBER = re.compile(r"(\d+)")
_EXEC, _PTASK, _COMM, _SLEEP = (KINDS.index(kind) for kind in ("exec", "ptask", "comm", "sleep"))
# Bars side by side in one band; more of them share the last lane.
_MOST_LANES = 48
# In units of one bar of work.
_WORK_HEIGHT, _TRANSFER_HEIGHT, _MOST_TRANSFERS = 1.0, 0.16, 3.0
# Between rows, for up to so many of them and for more.
_GAPS, _FEW_ROWS = (0.35, 0.08), 60


@dataclass(frozen=True)
class Layout:
    """Bars, and the rows that they are in; row 0 is at the top, y grows downwards.

    Attributes
    ----------
    rows : tuple of str
        Hosts or actors, from the top.
    centre, height : float64, shape (n_rows,)
        Of each row.
    extent, gap : float
        Of all rows together, and between two of them.
    activity : int64, shape (n,)
        Position in the trace of what each bar stands for.
    row : int64, shape (n,)
        Row of each bar.
    band : int8, shape (n,)
        ``SENT``, ``WORK``, ``RECEIVED`` or ``SLEEP``.
    bottom, top : float64, shape (n,)
        Vertical extent of each bar.
    """

    rows: tuple[str, ...]
    centre: NDArray[np.float64]
    height: NDArray[np.float64]
    extent: float
    gap: float
    activity: NDArray[np.int64]
    row: NDArray[np.int64]
    band: NDArray[np.int8]
    bottom: NDArray[np.float64]
    top: NDArray[np.float64]


def by_host(result: Result, only: Sequence[str] | None = None) -> Layout:
    """Lay out one row a host: what it sends above, what it computes, what it receives below.

    Parameters
    ----------
    result : Result
        With its trace.
    only : sequence of str, optional
        The hosts to show, in this order; by default those that did something, in natural order:
        ``node-2`` before ``node-10``.
    """
    trace = result.trace
    names = tuple(sorted(result.hosts.name, key=_natural) if only is None else only)
    _refuse_unknown(names, result.hosts.name, "host")
    known = set(result.hosts.name)
    row_of = {name: row for row, name in enumerate(names)}
    places = [_places(name, known) for name in trace.resource_names]
    found: list[tuple[int, int, int]] = []
    codes = zip(trace.resource_code.tolist(), trace.kind_code.tolist(), strict=True)
    for activity, (code, kind) in enumerate(codes):
        if kind != _SLEEP:
            found += [(activity, row_of[h], band) for h, band in places[code] if h in row_of]
    return _laid_out(result, names, found, keep_empty=only is not None)


def by_actor(result: Result, only: Sequence[str] | None = None) -> Layout:
    """Lay out one row an actor: what it computes and, below, transfers; sleeps as thin lines.

    Parameters
    ----------
    result : Result
        With its trace.
    only : sequence of str, optional
        Names of the actors to show; by default those that did something. Actors keep the order
        of their creation.
    """
    trace = result.trace
    _refuse_unknown(only or (), trace.actor_names, "actor")
    names = _distinct(result)
    band_of = {_EXEC: WORK, _PTASK: WORK, _COMM: RECEIVED, _SLEEP: SLEEP}
    shown = set(trace.actor_names if only is None else only)
    codes = zip(trace.actor_code.tolist(), trace.kind_code.tolist(), strict=True)
    found = [
        (activity, code, band_of[kind])
        for activity, (code, kind) in enumerate(codes)
        if trace.actor_names[code] in shown
    ]
    return _laid_out(result, names, found, keep_empty=False)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in names by their value."""
    parts = _NUMBER.split(name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]


def _refuse_unknown(names: Sequence[str], known: Sequence[str], what: str) -> None:
    """Refuse a name that the result does not have."""
    there = set(known)
    for name in names:
        if name not in there:
            raise SimpluginError(f"the result has no {what} {name!r}")


def _places(resource: str, hosts: set[str]) -> list[tuple[str, int]]:
    """Return the hosts that a resource of the trace stands for, with the bands."""
    if resource in hosts:
        return [(resource, WORK)]
    source, arrow, destination = resource.partition("->")
    if arrow and source == destination:
        return []  # by the loopback: it takes no part of the network
    if arrow:
        return [(source, SENT), (destination, RECEIVED)]
    return [(name, WORK) for name in dict.fromkeys(resource.split(","))]


def _distinct(result: Result) -> tuple[str, ...]:
    """Tell actors of the same name apart by their host, then by their number."""
    names = result.trace.actor_names
    hosts = [each.host for each in result.returned]
    if len(set(names)) == len(names):
        return names
    if len(hosts) != len(names):
        return tuple(f"{name} {number}" for number, name in enumerate(names, start=1))
    full = [f"{name}@{host}" for name, host in zip(names, hosts, strict=True)]
    if len(set(full)) == len(full):
        return tuple(full)
    return tuple(f"{name} {number}" for number, name in enumerate(full, start=1))


def _laid_out(
    result: Result, names: Sequence[str], found: list[tuple[int, int, int]], *, keep_empty: bool
) -> Layout:
    """Give every bar its lane, every row its height."""
    columns = np.array(found, dtype=np.int64).reshape(-1, 3)
    activity, row, band = columns.T
    used = np.arange(len(names)) if keep_empty else np.unique(row)
    row = np.searchsorted(used, row)
    start, end = result.trace.start[activity], result.trace.end[activity]
    lane = np.zeros(len(activity), dtype=np.int64)
    lanes = np.zeros((len(used), 4), dtype=np.int64)
    for bars in _groups(row * 4 + band):
        lane[bars], count = _lanes(start[bars], end[bars])
        lanes[row[bars[0]], band[bars[0]]] = count
    bands = _band_heights(lanes)
    height = np.maximum(bands.sum(axis=1), _WORK_HEIGHT)
    gap = _GAPS[len(used) > _FEW_ROWS]
    first = np.concatenate([[0.0], np.cumsum(height + gap)])[:-1]
    # A row without transfers still has its work in the middle.
    above = first + (height - bands.sum(axis=1)) / 2
    offset = above[:, None] + np.cumsum(bands, axis=1) - bands
    thickness = bands[row, band] / np.maximum(lanes[row, band], 1)
    bottom = offset[row, band] + lane * thickness
    return Layout(
        rows=tuple(names[position] for position in used),
        centre=first + height / 2,
        height=height,
        extent=float((height + gap).sum()),
        gap=gap,
        activity=activity,
        row=row,
        band=band.astype(np.int8),
        bottom=bottom,
        top=bottom + thickness,
    )


def _band_heights(lanes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the height of each band of each row."""
    heights = np.zeros(lanes.shape)
    heights[:, WORK] = np.where(lanes[:, WORK] > 0, _WORK_HEIGHT, 0.0)
    for band in (SENT, RECEIVED):
        heights[:, band] = np.minimum(_TRANSFER_HEIGHT * lanes[:, band], _MOST_TRANSFERS)
        heights[:, band] = np.maximum(heights[:, band], 2 * _TRANSFER_HEIGHT * (lanes[:, band] > 0))
    heights[:, SLEEP] = _TRANSFER_HEIGHT * (lanes[:, SLEEP] > 0)
    return heights


def _groups(keys: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the positions of equal keys."""
    order = np.argsort(keys, kind="stable")
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def _lanes(start: NDArray[np.float64], end: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Give bars that overlap different lanes, the lowest that is free."""
    lanes = np.zeros(len(start), dtype=np.int64)
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    count = 0
    # Rounding must not make two bars of what follows each other.
    tolerance = 1e-9 * float(end.max(initial=0.0))
    # Bars of length zero come before those that start at the same date.
    for bar in np.lexsort((end, start)).tolist():
        while busy and busy[0][0] <= start[bar] + tolerance:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane = min(count, _MOST_LANES - 1)
            count = min(count + 1, _MOST_LANES)
        lanes[bar] = lane
        heapq.heappush(busy, (float(end[bar]), lane))
    return lanes, max(count, 1)
