"""Traces in the Trace Event Format of Chromium, which Perfetto and others show.

References
----------
.. [1] Chromium project. Trace Event Format.
   https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TextIO

from simplugin.core.formatting import natural_order
from simplugin.results.charts import lanes

Event = dict[str, Any]
Row = tuple[str, str, str, str, float, float, float, str]
_MICROSECONDS = 1e6
# Tracks of a host, from the top.
_TRACKS = ("executions", "sent", "received", "disks", "sleeps")
EXECUTIONS, SENT, RECEIVED, DISKS, SLEEPS = range(5)


class _Slice(NamedTuple):
    """An activity on a host; `flow` is the number of a transfer that is at another host, too."""

    start: float
    end: float
    host: str
    track: int
    flow: int | None
    row: Row


def write_chrome_trace(file: TextIO, rows: Iterable[Row], units: Mapping[str, str]) -> None:
    """Write activities as JSON, an event a line.

    Parameters
    ----------
    file : text file
        Where.
    rows : iterable of tuple
        Those of a trace: actor, resource, kind, label, start, end, amount, state.
    units : mapping of str to str
        Kind to the unit of its amounts.
    """
    file.write('{"displayTimeUnit": "ms", "traceEvents": [')
    for number, event in enumerate(_events(rows, units)):
        file.write((",\n" if number else "\n") + json.dumps(event, allow_nan=False))
    file.write("\n]}\n")


def _events(rows: Iterable[Row], units: Mapping[str, str]) -> Iterator[Event]:
    """Yield the names of hosts and tracks, then the activities by date."""
    slices = [
        _Slice(row[4], row[5], host, track, number if row[2] == "comm" else None, row)
        for number, row in enumerate(rows)
        for host, track in places(row[2], row[1])
    ]
    slices.sort(key=lambda each: (each.start, each.end))
    by_track: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for each in slices:
        by_track.setdefault((each.host, each.track), []).append((each.start, each.end))
    order = sorted(by_track, key=lambda key: (natural_order(key[0]), key))
    processes = {host: at for at, host in enumerate(dict.fromkeys(h for h, _ in order), start=1)}
    for host, process in processes.items():
        yield from _named("process", host, process, process)
    threads = {}
    # Numbers of threads are unlike each other and those of processes, as in an operating system.
    first = len(processes) + 1
    for key in order:
        lane = lanes(by_track[key])
        threads[key] = iter([first + each for each in lane])
        for number in range(max(lane) + 1):
            name = _TRACKS[key[1]] + (f" {number + 1}" if number else "")
            yield from _named("thread", name, processes[key[0]], first + number)
        first += max(lane) + 1
    for each in slices:
        place = {"pid": processes[each.host], "tid": next(threads[each.host, each.track])}
        event = _event(each.row, units) | place
        yield event
        if each.flow is not None and each.end > each.start:
            step = {"ph": "s"} if each.track == SENT else {"ph": "f", "bp": "e"}
            yield {**step, "name": "transfer", "cat": "comm", "id": each.flow} | (
                {"ts": event["ts"]} | place
            )


def places(kind: str, resource: str) -> list[tuple[str, int]]:
    """Return the hosts of an activity, by its kind and resource in a trace, with its tracks."""
    if kind == "comm":
        source, _, destination = resource.partition("->")
        return [(source, SENT), (destination, RECEIVED)]
    if kind in ("read", "write"):
        return [(resource.rpartition(":")[0], DISKS)]
    hosts = dict.fromkeys(resource.split(",")) if kind == "ptask" else (resource,)
    return [(host, SLEEPS if kind == "sleep" else EXECUTIONS) for host in hosts]


def _event(row: Row, units: Mapping[str, str]) -> Event:
    """Return the event of an activity, without its place."""
    actor, _, kind, label, start, end, amount, state = row
    known = amount if math.isfinite(amount) else None
    return {
        "name": label or kind,
        "cat": kind,
        "ph": "X",
        "ts": start * _MICROSECONDS,
        "dur": (end - start) * _MICROSECONDS,
        "args": {"actor": actor, units[kind]: known, "state": state},
    }


def _named(what: str, name: str, process: int, thread: int) -> Iterator[Event]:
    """Yield the events that name a process or thread and say which come above it."""
    place = {"ph": "M", "pid": process, "tid": thread}
    yield {"name": f"{what}_name", **place, "args": {"name": name}}
    yield {"name": f"{what}_sort_index", **place, "args": {"sort_index": thread}}
