"""A scenario, the kinds of workload that it can have, and the result of running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from simplugin.core.errors import PlatformError, ScenarioError
from simplugin.formats.platform_reading import options_of, read_document
from simplugin.inputs.documents import Document
from simplugin.inputs.messages import InputProblem, dotted
from simplugin.inputs.named_files import named_modules
from simplugin.inputs.references import References, UnresolvedError
from simplugin.inputs.sections import (
    LookaheadSection,
    PlatformSection,
    SchedulerSection,
    Section,
    is_below,
)
from simplugin.platforms import Platform
from simplugin.results.charts import GraphChart, ScheduleChart
from simplugin.results.curves import CurvePlot
from simplugin.results.row import Best, Metric, Row
from simplugin.results.tables import ResultTable
from simplugin.scenarios.generators.registry import Generator, generator_called
from simplugin.scenarios.importing import importable
from simplugin.scenarios.sections import BELOW, TRACE_FILE, MetricsSection, OutputSection
from simplugin.simulation.options import SimulationOptions

if TYPE_CHECKING:
    from simplugin.optimum.verification import VerifiableOptimum
    from simplugin.simulation.lookahead import Rollout
    from simplugin.simulation.prepared import PreparedSimulation
    from simplugin.simulation.result import Result

Settings = TypeVar("Settings", bound=Section)


class Assessment(Protocol):
    """An execution compared with its optimum, as each capability has a class of."""

    @property
    def best(self) -> Best | None:
        """The best possible value of a metric."""

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the execution."""

    def listings(self) -> tuple[ResultTable, ...]:
        """Return the tables to show below the metrics."""


@dataclass(frozen=True)
class ScenarioResult:
    """The result of running a scenario.

    Attributes
    ----------
    row : Row
        Metrics, best possible value and provenance.
    result : Result
        The result of the simulation.
    listings : tuple of ResultTable
        Tables to show below the row.
    figures : tuple of CurvePlot
        Curves.
    schedule : ScheduleChart, optional
        The schedule that the Gantt chart shows instead of the trace.
    graphs : tuple of GraphChart
        Graphs.
    optima : tuple of VerifiableOptimum
        The optima, or bounds, that the result is compared with.
    """

    row: Row
    result: Result
    listings: tuple[ResultTable, ...] = ()
    figures: tuple[CurvePlot, ...] = ()
    schedule: ScheduleChart | None = None
    graphs: tuple[GraphChart, ...] = ()
    optima: tuple[VerifiableOptimum, ...] = ()

    @classmethod
    def of(
        cls,
        assessment: Assessment,
        result: Result,
        *,
        figures: tuple[CurvePlot, ...] = (),
        optima: tuple[VerifiableOptimum, ...] = (),
        also: Sequence[str] = ("energy", "branches"),
    ) -> ScenarioResult:
        """Return the result of a scenario from the assessment of its execution.

        Parameters
        ----------
        assessment : Assessment
            Gives metrics, best possible value and tables.
        result : Result
            The result of the simulation.
        figures : tuple of CurvePlot
            Curves.
        optima : tuple of VerifiableOptimum
            The optima, or bounds, that the execution is compared with.
        also : sequence of str
            Metrics of the simulation that are appended to those of the assessment.
        """
        from simplugin.simulation.metrics import metrics

        simulated = (metric for metric in metrics(result) if metric.name in also)
        row = Row((*assessment.metrics(), *simulated), result.provenance, assessment.best)
        return cls(row, result, assessment.listings(), figures, optima=optima)

    def _repr_html_(self) -> str:
        """Show metrics and tables in a notebook."""
        return self.row._repr_html_() + "".join(each._repr_html_() for each in self.listings)


class PreparesScenario(Protocol):
    """Makes the simulation of a scenario; its outcome is what `WorkloadKind.run` returns."""

    def __call__(self, scenario: Scenario, *, choices: bool) -> PreparedSimulation[ScenarioResult]:
        """Return the simulation; with choices, whoever runs it decides instead of the scheduler."""


@dataclass(frozen=True)
class Schedulers(Generic[Settings]):
    """The schedulers of a kind of workload.

    Attributes
    ----------
    capability : str
        The part before the dot in the names of the shipped policies.
    policies : mapping of str to callable
        The shipped policies by the part of their names after the dot.
    settings : class
        The keys of ``[scheduler.parameters]`` that the execution takes; all other keys are
        keyword arguments of the policy.
    by_position : int
        The number of arguments that the execution passes to a policy by position.
    """

    capability: str
    policies: Mapping[str, Callable[..., Any]]
    settings: type[Settings]
    by_position: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shipped policies, as ``scheduler.name`` has them."""
        return tuple(f"{self.capability}.{name}" for name in self.policies)


@dataclass(frozen=True)
class WorkloadKind:
    """A kind of workload.

    Attributes
    ----------
    workload : class
        The keys of ``[workload]`` other than `kind`.
    run : callable
        ``(scenario) -> ScenarioResult``.
    schedulers : Schedulers, optional
        The schedulers; None if the kind takes no ``[scheduler]``.
    check : callable
        ``(scenario) -> object``; raises ScenarioError if the policy or its parameters are invalid,
        as `run` does, but simulates nothing and makes no platform. Depends on the values of
        ``[scheduler]``, on which keys ``[workload]`` has and which of its tables are empty;
        without schedulers, on the values of ``[workload]``.
    outputs : tuple of str
        The files that ``-o`` writes; ``curves`` and ``graphs`` are allowed in ``[output]`` only
        if they are among them.
    need_trace : tuple of str
        The files that need a trace.
    prepare : PreparesScenario, optional
        Makes the simulation; None if the kind offers no choices.
    needs_platform : bool
        False if ``[platform]`` may be missing.
    """

    workload: type[BaseModel]
    run: Callable[[Scenario], ScenarioResult]
    schedulers: Schedulers[Any] | None = None
    check: Callable[[Scenario], object] = lambda _: None
    outputs: tuple[str, ...] = ("result", "trace", "gantt")
    need_trace: tuple[str, ...] = ("trace", "gantt")
    prepare: PreparesScenario | None = None
    needs_platform: bool = True

    @property
    def scheduler_names(self) -> tuple[str, ...]:
        """The names of the shipped schedulers; empty if the kind takes none."""
        return () if self.schedulers is None else self.schedulers.names


@dataclass(frozen=True)
class Scenario:
    """A run, checked without running it.

    Attributes
    ----------
    file : Path
        Its file; paths in it are relative to the directory of the file.
    text : str
        The contents of the file, for line numbers in messages.
    document : dict
        The contents as `tomllib` reads them.
    title : str
        Title of tables and charts.
    kind : WorkloadKind
        The kind of its workload.
    platform, workload, scheduler, simulation, metrics, output
        Its sections; `workload` is an instance of the kind's class, and the name of `scheduler`
        is empty if the kind takes none.
    trust : tuple of str
        Further modules that it may name, see `References`.
    output_directory : Path, optional
        The directory below which outputs must stay; by default that of the file.
    """

    file: Path
    text: str
    document: Mapping[str, Any]
    title: str
    kind: WorkloadKind
    platform: PlatformSection
    workload: Any
    scheduler: SchedulerSection
    simulation: SimulationOptions
    metrics: MetricsSection
    output: OutputSection
    trust: tuple[str, ...] = ()
    output_directory: Path | None = None

    @property
    def directory(self) -> Path:
        """The directory of its modules, to which its paths are relative."""
        return self.file.parent

    @property
    def references(self) -> References:
        """The functions that it may name."""
        return References(self.directory, self.trust)

    def importable(self) -> AbstractContextManager[None]:
        """Make the modules in its directory that it names importable."""
        return importable(self.directory, named_modules(self.document))

    def function(self, reference: str, *key: str | int) -> Callable[..., Any]:
        """Return the function ``module:function`` that a key names.

        Raises
        ------
        ScenarioError
            It cannot be imported, or is not allowed.
        """
        try:
            return self.references.resolve(reference)
        except UnresolvedError as error:
            message = f"{dotted(key)}: {error}"
            raise self.error(message, *key, remedy=error.remedy) from error.__cause__

    def error(self, message: str, *key: str | int, remedy: str | None = None) -> ScenarioError:
        """Return an exception about the value of a key."""
        return self.errors([InputProblem(key, message, remedy)])

    def errors(self, problems: Iterable[InputProblem]) -> ScenarioError:
        """Return one exception about several problems."""
        return scenario_error(problems, self.file, self.text)

    @contextmanager
    def errors_at(
        self, *key: str | int, of: type[Exception] | tuple[type[Exception], ...], before: str = ""
    ) -> Iterator[None]:
        """Locate errors of a block at a key.

        Parameters
        ----------
        *key : str or int
            The key.
        of : type or tuple of type
            The classes of these errors.
        before : str
            Text that precedes the message of the error.

        Raises
        ------
        ScenarioError
            The block raises such an error.
        """
        try:
            yield
        except of as error:
            raise self.error(f"{before}{error}", *key) from error

    def relocated(self, directory: Path) -> Scenario:
        """Return the scenario with all outputs of its kind in another directory.

        Parameters
        ----------
        directory : Path
            Relative to the current directory.
        """
        kind, traced = self.kind, self.simulation.trace
        wanted = [name for name in kind.outputs if traced or name not in kind.need_trace]
        output = self.output.relocated(directory, wanted)
        return replace(self, output=output, output_directory=directory)

    def refuse_stray_outputs(self) -> None:
        """Raise unless all outputs stay below the output directory, and it below the file's.

        Raises
        ------
        ScenarioError
            One leaves it.
        """
        if strays := list(self.output.strays(self.output_directory or self.directory)):
            raise self.errors(strays)

    def traced_on_demand(self, *names: str) -> SimulationOptions:
        """Return the options of the simulation, traced only if one of these outputs is wanted."""
        named = any(getattr(self.output, name) is not None for name in names)
        return replace(self.simulation, trace=self.simulation.trace and named)

    def rollout(self, section: str, makespan: Callable[[Result], float]) -> Rollout | None:
        """Return the chooser of ``[scheduler.lookahead]``, None if there is none.

        Parameters
        ----------
        section : {"scheduler", "workload"}
            Where the table is.
        makespan : callable
            The metric of that name.

        Raises
        ------
        ScenarioError
            It names a function that cannot be had.
        """
        from simplugin.simulation.choices import first_option
        from simplugin.simulation.lookahead import Rollout

        table: LookaheadSection | None = getattr(getattr(self, section), "lookahead", None)
        if table is None:
            return None

        def function(name: str) -> Callable[..., Any] | None:
            reference: str | None = getattr(table, name)
            return (
                None if reference is None else self.function(reference, section, "lookahead", name)
            )

        return Rollout(
            function("base") or first_option,
            makespan if table.metric == "makespan" else function("metric") or makespan,
            candidates=function("candidates"),
            most=table.most,
            seconds=table.seconds,
            workers=table.workers,
        )

    def make_platform(self) -> Path | Platform:
        """Return the file of the platform, or the platform that its generator makes."""
        section = self.platform
        if section.generator is None:
            assert section.file is not None
            self._refuse_stray_trace(section.file)
            return section.file
        generator, parameters, problems = self.generator(section.generator)
        if problems:
            raise self.errors(problems)
        try:
            return generator.platform(parameters, self.directory)
        except PlatformError as error:
            place = ("platform", "parameters")
            raise self.error(error.message, *place, remedy=error.remedy) from error

    def generator(self, name: str) -> tuple[Generator, dict[str, Any], list[InputProblem]]:
        """Return the generator of the platform, its parameters, and their problems.

        Raises
        ------
        ScenarioError
            The generator does not exist.
        """
        seed, parameters = self.platform.seed, dict(self.platform.parameters)
        if seed is not None:
            parameters["seed"] = seed
        try:
            found = generator_called(name, self.references.resolve)
        except PlatformError as error:
            message, remedy = error.message, error.remedy
            raise self.error(message, "platform", "generator", remedy=remedy) from error.__cause__
        problems = []
        for each in found.read(parameters)[1]:
            above = () if seed is not None and each.path == ("seed",) else ("parameters",)
            problems.append(replace(each, path=("platform", *above, *each.path)))
        return found, parameters, problems

    def _refuse_stray_trace(self, platform: Path) -> None:
        """Raise if a platform file sets a SimGrid trace outside the current directory."""
        for _, option, value in options_of(read_document(platform, PlatformError, head=True)):
            if option == TRACE_FILE and not is_below(Path(value), Path()):
                message = f"{platform} sets {TRACE_FILE} to {value!r}"
                raise self.error(message, "platform", "file", remedy=BELOW)


def scenario_error(problems: Iterable[InputProblem], file: Path, text: str) -> ScenarioError:
    """Return one exception about all problems, with the line and the key of the first."""
    found = Document(None, ScenarioError, file, text).errors(problems)
    assert isinstance(found, ScenarioError)
    return found
