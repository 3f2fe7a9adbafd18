"""Totals of hosts and links, and the trace."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from simplugin.simulation.threads import simgrid
from simplugin.simulation.trace import KINDS, Trace

_STATES = ("FINISHED", "FAILED", "CANCELED")
# Memory of a row, and overhead of a text, about [byte].
_ROW, _TEXT = sum(np.dtype(each).itemsize for each in Trace.dtypes.values()), 100


class ThreadsRecorder:
    """Rows of the trace, and totals of each host and link.

    Parameters
    ----------
    trace_limit : int
        Memory that the trace may occupy [byte]; 0 to keep none.

    Attributes
    ----------
    is_full : bool
        True if the trace has outgrown its limit.
    """

    def __init__(self, trace_limit: int) -> None:
        self.is_full = False
        # Below 0 no row is kept.
        self._left = trace_limit or -1
        self._columns = {name: array(np.dtype(each).char) for name, each in Trace.dtypes.items()}
        self._resources: dict[str, int] = {}
        self._labels: dict[str, int] = {}
        self._computed: defaultdict[str, float] = defaultdict(float)
        self._intervals: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._carried: defaultdict[tuple[str, str], float] = defaultdict(float)

    def add(self, activity: Any, resource: str, kind: str, amount: float, state: str) -> None:
        """Keep a row of the trace.

        Parameters
        ----------
        activity : Activity
            Which; it ends now.
        resource : str
            Host, hosts separated by commas, or ``source->destination``.
        kind : str
            One of `simplugin.simulation.trace.KINDS`.
        amount : float
            Done [flop, byte or s].
        state : str
            How it ended.
        """
        if self._left < 0:
            return
        texts = self._code(self._resources, resource), self._code(self._labels, activity.label)
        codes = KINDS.index(kind), _STATES.index(state)
        row = (activity.owner.pid - 1, *texts, *codes, activity.start_time, activity.world.now)
        for column, value in zip(self._columns.values(), (*row, amount), strict=True):
            column.append(value)
        self._left -= _ROW
        self.is_full = self._left < 0

    def _code(self, known: dict[str, int], text: str | None) -> int:
        """Return the number of a text, -1 for none."""
        if text is not None and text not in known:
            known[text] = len(known)
            self._left -= _TEXT + len(text)
        return -1 if text is None else known[text]

    def computed(self, host: str, activity: Any, flops: float) -> None:
        """Count an execution, which ends now."""
        self._intervals[host] += activity.spans
        self._computed[host] += flops

    def carried(self, source: str, destination: str, size: float) -> None:
        """Count a transfer."""
        if size > 0:
            self._carried[source, destination] += size

    def host_totals(self, hosts: Sequence[str], energy: Sequence[float]) -> dict[str, Any]:
        """Return work computed and time with at least one execution, joined to the energy."""
        flops = [self._computed[host] for host in hosts]
        busy = [_length(self._intervals[host]) for host in hosts]
        return {"name": hosts, "flops": flops, "busy": busy, "energy": energy}

    def link_totals(self, links: Sequence[str], energy: Sequence[float]) -> dict[str, Any]:
        """Return the bytes carried, joined to the energy."""
        total: defaultdict[str, float] = defaultdict(float)
        # Without links, as in the model Constant, there need not be routes.
        for (source, destination), size in self._carried.items() if links else ():
            route, _ = simgrid.Host.by_name(source).route_to(simgrid.Host.by_name(destination))
            for link in route:
                total[link.name] += size
        return {"name": links, "bytes": [total[link] for link in links], "energy": energy}

    def trace(self, actors: Sequence[str]) -> dict[str, Any]:
        """Return the trace; `actors` are the names in order of pid."""
        texts = {"resource_names": self._resources, "label_names": self._labels}
        return self._columns | texts | {"actor_names": actors}


def _length(intervals: list[tuple[float, float]]) -> float:
    """Return the length of the union of some intervals."""
    total, reached = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
