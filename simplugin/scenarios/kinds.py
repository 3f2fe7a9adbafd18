"""The kinds of workload that a scenario can have: one line each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from simplugin.charts import GraphChart, ScheduleChart
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.rows import Row
from simplugin.simulation import Result

Progress = Callable[[float, int], None]

# The module of each kind is loaded when a scenario of that kind is.
KINDS = {
    "actors": "simplugin.scenarios.actors:KIND",
    "bags": "simplugin.scenarios.bags:KIND",
    "bundles": "simplugin.scenarios.bundles:KIND",
    "taskgraphs": "simplugin.scenarios.taskgraphs:KIND",
}


@dataclass(frozen=True)
class Outcome:
    """What running a scenario returns.

    Attributes
    ----------
    row : Row
        Metrics, best, provenance.
    result : Result
        The simulation's.
    listings : tuple of Listing
        Tables of the kind's own, to be shown below the row.
    figures : tuple of Figure
        Curves of the kind's own.
    schedule : ScheduleChart, optional
        What to draw as the Gantt chart, instead of the trace.
    graphs : tuple of GraphChart
        Graphs of the kind's own.
    """

    row: Row
    result: Result
    listings: tuple[Listing, ...] = ()
    figures: tuple[Figure, ...] = ()
    schedule: ScheduleChart | None = None
    graphs: tuple[GraphChart, ...] = ()


@dataclass(frozen=True)
class Kind:
    """How scenarios with one kind of workload are read and run.

    Attributes
    ----------
    workload : class
        The keys of ``[workload]`` besides `kind`.
    run : callable
        ``(scenario, progress) -> Outcome``.
    schedulers : tuple of str, optional
        Names of the shipped policies; None if the kind takes no ``[scheduler]``.
    outputs : tuple of str
        The files that `-o` gets; ``curves`` and ``graphs`` can be asked for only where they are
        among them.
    need_trace : tuple of str
        Files that there are only with a trace.
    """

    workload: type[BaseModel]
    run: Callable[[Any, Progress | None], Outcome]
    schedulers: tuple[str, ...] | None = None
    outputs: tuple[str, ...] = ("result", "trace", "gantt")
    need_trace: tuple[str, ...] = ("trace", "gantt")


def kind_called(name: str) -> Kind:
    """Return a kind by its name, a key of `KINDS`."""
    module, _, attribute = KINDS[name].partition(":")
    found: Kind = getattr(importlib.import_module(module), attribute)
    return found
