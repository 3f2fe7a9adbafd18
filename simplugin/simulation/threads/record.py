"""The record of a run: totals of hosts and links, and the trace."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

import simgrid
from simplugin.simulation.result import HostTotals, LinkTotals
from simplugin.simulation.trace import KINDS, Trace

_STATES = ("FINISHED", "FAILED", "CANCELED")
_Row = tuple[int, int, int, int, float, float, float, int]


class Record:
    """Rows of the trace, and totals of each host and link.

    Parameters
    ----------
    keeps_rows : bool
        True to keep the trace.
    """

    def __init__(self, keeps_rows: bool) -> None:
        self._keeps_rows = keeps_rows
        self._rows: list[_Row] = []
        self._resources: dict[str, int] = {}
        self._labels: dict[str, int] = {}
        self._computed: defaultdict[str, float] = defaultdict(float)
        self._intervals: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._carried: defaultdict[tuple[str, str], float] = defaultdict(float)

    def add(
        self,
        actor: int,
        resource: str,
        kind: str,
        label: str | None,
        start: float,
        end: float,
        amount: float,
        state: str,
    ) -> None:
        """Keep a row of the trace.

        Parameters
        ----------
        actor : int
            Pid of the actor that started the activity.
        resource : str
            Host, hosts separated by commas, or ``source->destination``.
        kind : str
            One of `simplugin.simulation.trace.KINDS`.
        label : str or None
            Label of the activity.
        start, end : float
            Dates [s].
        amount : float
            Done [flop, byte or s], NaN where the bindings do not say.
        state : str
            FINISHED, FAILED or CANCELED.
        """
        if self._keeps_rows:
            where = self._resources.setdefault(resource, len(self._resources))
            text = -1 if label is None else self._labels.setdefault(label, len(self._labels))
            codes = KINDS.index(kind), text
            self._rows.append((actor - 1, where, *codes, start, end, amount, _STATES.index(state)))

    def computed(self, host: str, start: float, end: float, flops: float) -> None:
        """Count an execution."""
        self._intervals[host].append((start, end))
        if not math.isnan(flops):
            self._computed[host] += flops

    def carried(self, source: str, destination: str, size: float) -> None:
        """Count a transfer; NaN if nobody knows how much."""
        if size > 0:
            self._carried[source, destination] += size

    def host_totals(self, hosts: Sequence[str], energy: Sequence[float]) -> HostTotals:
        """Return work computed and time with at least one execution, joined to the energy."""
        flops = np.array([self._computed[host] for host in hosts])
        busy = np.array([_length(self._intervals[host]) for host in hosts])
        return HostTotals(tuple(hosts), flops, busy, np.array(energy))

    def link_totals(self, links: Sequence[str], energy: Sequence[float]) -> LinkTotals:
        """Return the bytes carried, joined to the energy."""
        total: defaultdict[str, float] = defaultdict(float)
        for (source, destination), size in self._carried.items():
            route, _ = simgrid.Host.by_name(source).route_to(simgrid.Host.by_name(destination))
            for link in route:
                total[link.name] += size
        carried = np.array([total[link] for link in links])
        return LinkTotals(tuple(links), carried, np.array(energy))

    def trace(self, actors: Sequence[str]) -> Trace:
        """Return the trace; `actors` are the names in order of pid."""
        codes = ("actor_code", "resource_code", "kind_code", "label_code")
        names = (*codes, "start", "end", "amount", "state_code")
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(names)
        return Trace.from_columns(
            dict(zip(names, columns, strict=True))
            | {"actor_names": actors, "resource_names": self._resources}
            | {"label_names": self._labels}
        )


def _length(intervals: list[tuple[float, float]]) -> float:
    """Return the length of the union of some intervals."""
    total, reached = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
