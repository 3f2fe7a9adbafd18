"""What is kept of a run: totals of hosts and links, and the trace."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import simgrid

KINDS = {"exec": 0, "ptask": 1, "comm": 2, "sleep": 3}
STATES = {"FINISHED": 0, "FAILED": 1, "CANCELED": 2}


@dataclass(frozen=True)
class Row:
    """One activity that is over.

    Attributes
    ----------
    actor : int
        Pid of the actor that started it.
    resource : str
        Host, hosts separated by commas, or ``source->destination``.
    kind, state : str
        Keys of `KINDS` and `STATES`.
    start, end : float
        Dates [s].
    amount : float
        Done [flop, byte or s], NaN where the bindings do not say.
    """

    actor: int
    resource: str
    kind: str
    label: str | None
    start: float
    end: float
    amount: float
    state: str


class Record:
    """Rows of the trace, and what each host and link did.

    Parameters
    ----------
    keeps_rows : bool
        Whether the trace is wanted.
    """

    def __init__(self, keeps_rows: bool) -> None:
        self._keeps_rows = keeps_rows
        self._rows: list[Row] = []
        self._computed: defaultdict[str, float] = defaultdict(float)
        self._intervals: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._carried: defaultdict[tuple[str, str], float] = defaultdict(float)

    def add(self, row: Row) -> None:
        """Keep a row of the trace."""
        if self._keeps_rows:
            self._rows.append(row)

    def computed(self, host: str, start: float, end: float, flops: float) -> None:
        """Count an execution."""
        self._intervals[host].append((start, end))
        if not math.isnan(flops):
            self._computed[host] += flops

    def carried(self, source: str, destination: str, size: float) -> None:
        """Count a transfer; NaN if nobody knows how much."""
        if size > 0:
            self._carried[source, destination] += size

    def flops(self, hosts: list[str]) -> NDArray[np.float64]:
        """Return what each host computed [flop]."""
        return np.array([self._computed[host] for host in hosts], dtype=np.float64)

    def busy(self, hosts: list[str]) -> NDArray[np.float64]:
        """Return for how long each host had at least one execution [s]."""
        return np.array([_length(self._intervals[host]) for host in hosts], dtype=np.float64)

    def bytes_of(self, links: list[str]) -> NDArray[np.float64]:
        """Return what each link carried [byte]."""
        total: defaultdict[str, float] = defaultdict(float)
        for (source, destination), size in self._carried.items():
            route, _ = simgrid.Host.by_name(source).route_to(simgrid.Host.by_name(destination))
            for link in route:
                total[link.name] += size
        return np.array([total[link] for link in links], dtype=np.float64)

    def columns(self, actors: list[str]) -> dict[str, Any]:
        """Return the trace as columns; `actors` are the names in order of pid."""
        resources: dict[str, int] = {}
        labels: dict[str, int] = {}
        rows = self._rows
        resource_code = [resources.setdefault(row.resource, len(resources)) for row in rows]
        label_code = [
            -1 if row.label is None else labels.setdefault(row.label, len(labels)) for row in rows
        ]
        return {
            "actor_code": np.array([row.actor - 1 for row in rows], dtype=np.int32),
            "actor_names": actors,
            "resource_code": np.array(resource_code, dtype=np.int32),
            "resource_names": list(resources),
            "kind": np.array([KINDS[row.kind] for row in rows], dtype=np.int8),
            "label_code": np.array(label_code, dtype=np.int32),
            "label_names": list(labels),
            "start": np.array([row.start for row in rows], dtype=np.float64),
            "end": np.array([row.end for row in rows], dtype=np.float64),
            "amount": np.array([row.amount for row in rows], dtype=np.float64),
            "state": np.array([STATES[row.state] for row in rows], dtype=np.int8),
        }


def _length(intervals: list[tuple[float, float]]) -> float:
    """Return the length of the union of some intervals."""
    total, reached = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
