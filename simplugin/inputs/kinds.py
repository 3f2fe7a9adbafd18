"""Protocol between scenarios and the kinds of workload that they can have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from simplugin.core.errors import ScenarioError
from simplugin.inputs.messages import InputProblem
from simplugin.inputs.sections import PlatformSection, SchedulerSection
from simplugin.results.charts import GraphChart, ScheduleChart
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Row
from simplugin.results.tables import ResultTable

Progress = Callable[[float, int], None]


class ScenarioParts(Protocol):
    """The part of a scenario that a kind of workload uses; see `simplugin.scenarios.ScenarioParts`.

    Attributes
    ----------
    title : str
        For tables and charts.
    platform, scheduler
        The sections of these names.
    workload : object
        The section of this name, an instance of the kind's class `workload`.
    simulation : object
        A `simplugin.scenarios.sections.SimulationSection`; its method `arguments` returns the
        keyword arguments of `simplugin.simulate`.
    """

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def platform(self) -> PlatformSection: ...  # noqa: D102
    @property
    def workload(self) -> Any: ...  # noqa: D102
    @property
    def scheduler(self) -> SchedulerSection: ...  # noqa: D102
    @property
    def simulation(self) -> Any: ...  # noqa: D102

    @property
    def directory(self) -> Path:
        """The directory of the file, to which paths are relative."""

    def make_platform(self) -> Any:
        """Return the path of the platform's file, or the `Platform` of its generator."""

    def function(self, reference: str, *key: str | int) -> Callable[..., Any]:
        """Return the function ``module:function`` that the value of a key names."""

    def has_traced_output(self, *names: str) -> bool:
        """Return True if the simulation is traced and ``[output]`` has one of these files."""

    def error(self, message: str, *key: str | int, remedy: str | None = None) -> ScenarioError:
        """Return an exception about the value of a key."""

    def errors(self, problems: Iterable[InputProblem]) -> ScenarioError:
        """Return one exception about several problems."""


@contextmanager
def errors_at(
    scenario: ScenarioParts,
    *key: str | int,
    of: type[Exception] | tuple[type[Exception], ...],
    before: str = "",
    remedy: str | None = None,
) -> Iterator[None]:
    """Locate errors of a block at a key of a scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    *key : str or int
        The key.
    of : type or tuple of type
        The classes of these errors.
    before : str
        What the message has before that of the error.
    remedy : str, optional
        The remedy.

    Raises
    ------
    ScenarioError
        The block raises such an error.
    """
    try:
        yield
    except of as error:
        raise scenario.error(f"{before}{error}", *key, remedy=remedy) from error


def numbered(items: Iterable[Any]) -> list[Any]:
    """Return data classes with a name, those of the same name numbered.

    Parameters
    ----------
    items : iterable of object
        They have an attribute `name`; the first called ``x`` becomes ``x-1`` if there are more.
    """
    found = list(items)
    counts = Counter(each.name for each in found)
    used: Counter[str] = Counter()
    for place, each in enumerate(found):
        used[each.name] += 1
        if counts[each.name] > 1:
            found[place] = replace(each, name=f"{each.name}-{used[each.name]}")
    return found


@dataclass(frozen=True)
class ScenarioResult:
    """The outcome of a scenario.

    Attributes
    ----------
    row : Row
        Metrics, best, provenance.
    result : simplugin.Result
        The simulation's.
    listings : tuple of Listing
        Tables to show below the row.
    figures : tuple of Figure
        Curves.
    schedule : ScheduleChart, optional
        The schedule that the Gantt chart shows, instead of the trace.
    graphs : tuple of GraphChart
        Graphs.
    """

    row: Row
    result: Any
    listings: tuple[ResultTable, ...] = ()
    figures: tuple[CurvePlot, ...] = ()
    schedule: ScheduleChart | None = None
    graphs: tuple[GraphChart, ...] = ()

    def _repr_html_(self) -> str:
        """Show metrics and tables in a notebook."""
        return self.row._repr_html_() + "".join(each._repr_html_() for each in self.listings)


@dataclass(frozen=True)
class WorkloadKind:
    """A kind of workload.

    Attributes
    ----------
    workload : class
        The keys of ``[workload]`` besides `kind`.
    run : callable
        ``(scenario, progress) -> Outcome``.
    schedulers : tuple of str
        Names of the shipped policies; empty if the kind takes no ``[scheduler]``.
    check : callable
        ``(scenario) -> None``; raises ScenarioError if the policy or its parameters are invalid,
        as `run` does, but simulates nothing and makes no platform. Depends on the values of
        ``[scheduler]``, on which keys ``[workload]`` has and which of its tables are empty;
        without schedulers, on the values of ``[workload]``.
    outputs : tuple of str
        The files that `-o` gets; ``curves`` and ``graphs`` can be asked for only if they are
        among them.
    need_trace : tuple of str
        Files that need a trace.
    """

    workload: type[BaseModel]
    run: Callable[[Any, Progress | None], ScenarioResult]
    schedulers: tuple[str, ...] = ()
    check: Callable[[Any], object] = lambda _: None
    outputs: tuple[str, ...] = ("result", "trace", "gantt")
    need_trace: tuple[str, ...] = ("trace", "gantt")
