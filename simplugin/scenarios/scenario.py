"""Scenarios: what a run consists of, read from TOML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

from pydantic import BaseModel, ValidationError

from simplugin.errors import PlatformError, ScenarioError, SimpluginError
from simplugin.inputs import documents
from simplugin.inputs.kinds import Kind, Progress
from simplugin.inputs.kinds import Outcome as Outcome
from simplugin.inputs.messages import (
    Problem,
    dotted,
    from_pydantic,
    suggestion,
    unknown_key,
)
from simplugin.inputs.positions import toml_line
from simplugin.inputs.references import References, UnresolvedError
from simplugin.inputs.sections import PlatformSection, SchedulerSection, is_below
from simplugin.platforms import Platform
from simplugin.scenarios.generators.calls import generator_called
from simplugin.scenarios.importing import importable
from simplugin.scenarios.kinds import KINDS, kind_called
from simplugin.scenarios.own_metrics import with_own_metrics
from simplugin.scenarios.sections import (
    NEED_TRACE,
    MetricsSection,
    OutputSection,
    SimulationSection,
)
from simplugin.simulation.options import SimGridOptions

_SECTIONS = ("platform", "workload", "scheduler", "simulation", "metrics", "output")
SCENARIO_KEYS = ("title", *_SECTIONS)
# What campaign files have besides.
CAMPAIGN_TABLES = ("campaign", "sweep", "variations", "slurm")
# SimGrid's own trace goes to this file.
_TRACE = "tracing/filename"
_BELOW = "name a file below the current directory"
_OPTIONS = tuple(each.name for each in fields(SimGridOptions))

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Scenario:
    """A run, checked as far as possible without running it.

    Attributes
    ----------
    file : Path
        Where it was read; paths in it are relative to its directory.
    text : str
        Its contents, for the lines in messages.
    document : dict
        Its contents as TOML has them.
    title : str
        For tables and charts.
    kind : Kind
        Of its workload.
    platform, workload, scheduler, simulation, metrics, output
        Its sections; `workload` is an instance of the kind's class, and the name of `scheduler`
        is empty if the kind takes none.
    trust : tuple of str
        Modules that it may name although they are elsewhere, as `References` has them.
    """

    file: Path
    text: str
    document: Mapping[str, Any]
    title: str
    kind: Kind
    platform: PlatformSection
    workload: Any
    scheduler: SchedulerSection
    simulation: SimulationSection
    metrics: MetricsSection
    output: OutputSection
    trust: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        """The directory of its modules, to which its paths are relative."""
        return self.file.parent

    @property
    def references(self) -> References:
        """The functions that it may name."""
        return References(self.directory, self.trust)

    def function(self, reference: str, *key: str | int) -> Callable[..., Any]:
        """Return what the key's value ``module:function`` names.

        Raises
        ------
        ScenarioError
            It cannot be had, or may not be named.
        """
        try:
            return self.references.resolve(reference)
        except UnresolvedError as error:
            message = f"{dotted(key)}: {error}"
            raise self.error(message, *key, remedy=error.remedy) from error.__cause__

    def error(self, message: str, *key: str | int, remedy: str | None = None) -> ScenarioError:
        """Return an exception about the value of a key."""
        return self.errors([Problem(key, message, remedy)])

    def errors(self, problems: Iterable[Problem]) -> ScenarioError:
        """Return one exception about several problems."""
        return scenario_error(problems, self.file, self.text)

    def refuse_stray_outputs(self) -> None:
        """Raise unless all outputs stay below the output directory, and it below the file's.

        Raises
        ------
        ScenarioError
            One leaves it.
        """
        strays = list(self.output.strays(self.directory))
        if strays:
            raise self.errors(strays)

    def has_traced_output(self, *names: str) -> bool:
        """Return True if the simulation is traced and ``[output]`` has one of these files."""
        named = any(getattr(self.output, name) is not None for name in names)
        return self.simulation.trace and named

    def make_platform(self) -> Path | Platform:
        """Return the platform: its file, or what its generator makes."""
        section = self.platform
        if section.generator is None:
            assert section.file is not None
            self._refuse_stray_trace(section.file)
            return section.file
        name, parameters = section.generator, dict(section.parameters)
        if section.seed is not None:
            parameters["seed"] = section.seed
        try:
            generator = generator_called(name, self.references.resolve)
        except PlatformError as error:
            place = ("platform", "generator")
            raise self.error(error.message, *place, remedy=error.remedy) from error.__cause__
        try:
            return generator.platform(parameters, self.directory)
        except PlatformError as error:
            key = "parameters" if section.parameters else "generator"
            raise self.error(error.message, "platform", key, remedy=error.remedy) from error

    def _refuse_stray_trace(self, platform: Path) -> None:
        """Raise if a platform file has SimGrid write its trace outside the current directory."""
        try:
            for _, each in ElementTree.iterparse(platform, ("start",)):
                # Options come first.
                if each.tag not in ("platform", "config", "prop"):
                    break
                if each.get("id") == _TRACE and not is_below(Path(each.get("value", "")), Path()):
                    message = f"{platform} sets {_TRACE} to {each.get('value')!r}"
                    raise self.error(message, "platform", "file", remedy=_BELOW)
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            # SimGrid's own parser lets some of it pass.
            message = f"this is not well-formed XML: {error}"
            line = error.position[0] if isinstance(error, ElementTree.ParseError) else 1
            remedy = "`simplugin check` names what is wrong"
            raise PlatformError(message, file=platform, line=line, remedy=remedy) from None


def scenario_error(problems: Iterable[Problem], file: Path, text: str) -> ScenarioError:
    """Return one exception about all problems, with the line and the key of the first."""
    errors = []
    for problem in problems:
        line = toml_line(text, problem.path) if text else None
        error = ScenarioError(problem.message, file=file, line=line, remedy=problem.remedy)
        error.path = problem.path
        errors.append(error)
    errors.sort(key=lambda error: error.line or 0)
    first, *others = errors
    if not others:
        return first
    remedy = "\n".join([first.remedy or "and", *map(str, others)])
    joined = ScenarioError(first.message, file=file, line=first.line, remedy=remedy)
    joined.path, joined.others = first.path, (first, *others)
    return joined


def load_scenario(path: str | os.PathLike[str], *, trust: Iterable[str] = ()) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : path
        A TOML file.
    trust : iterable of str
        Modules and packages whose functions it may name besides those of modules beside it and of
        packages that declare themselves.

    Raises
    ------
    ScenarioError
        It cannot be read, has an unknown key or a value out of range; everything that is wrong
        has key and line, and `key` is the first one concerned.
    """
    file = Path(path)
    document, text = read_toml(file)
    return scenario_from(document, file, text, trust)


def read_toml(file: Path) -> tuple[dict[str, Any], str]:
    """Read a scenario or campaign file; return it as `tomllib` has it, and its text.

    Raises
    ------
    ScenarioError
        It cannot be read, or is no TOML.
    """
    document = documents.read_toml(file, ScenarioError)
    return document.content, document.text


def scenario_from(
    document: Mapping[str, Any], file: Path, text: str = "", trust: Iterable[str] = ()
) -> Scenario:
    """Check a scenario that was read already, or put together by a program.

    Parameters
    ----------
    document : mapping
        As `tomllib` reads it.
    file : Path
        Paths are relative to its directory.
    text : str
        The file's contents, for the lines in messages.
    trust : iterable of str
        As `load_scenario` takes it.
    """
    checked = _Checker(document, file.parent)
    scenario = checked.scenario(file, text)
    if checked.problems:
        raise scenario_error(checked.problems, file, text)
    assert scenario is not None
    return replace(scenario, trust=tuple(trust))


def problems_of(document: Mapping[str, Any], file: Path) -> list[Problem]:
    """Return what is wrong with a scenario, as `scenario_from` would raise it."""
    checked = _Checker(document, file.parent)
    checked.scenario(file, "")
    return checked.problems


def run_scenario(scenario: Scenario, progress: Progress | None = None) -> Outcome:
    """Run a scenario; write nothing.

    Parameters
    ----------
    scenario : Scenario
        What to run.
    progress : callable, optional
        Called now and then with the simulated date and the number of actors alive.

    Raises
    ------
    ScenarioError
        A module or function that it names cannot be had.
    SimpluginError
        As `simplugin.simulate`.
    """
    with importable(scenario.directory):
        outcome = scenario.kind.run(scenario, progress)
        return with_own_metrics(scenario.metrics, scenario, outcome)


class _Checker:
    """Goes through a document and collects what is wrong with it."""

    def __init__(self, document: Mapping[str, Any], directory: Path) -> None:
        self.document = document
        self.directory = directory
        self.problems: list[Problem] = []

    def scenario(self, file: Path, text: str) -> Scenario | None:
        """Check everything; None if something is wrong."""
        for key in self.document:
            if key in CAMPAIGN_TABLES:
                message = f"[{key}] is for campaigns of many runs"
                remedy = f"this file is for 'simplugin campaign run {file}'"
                self.problems.append(Problem((key,), message, remedy))
            elif key not in SCENARIO_KEYS:
                self.problems.append(unknown_key((key,), SCENARIO_KEYS))
        title = self.document.get("title", "")
        if not isinstance(title, str):
            self.problems.append(Problem(("title",), f"title is {title!r}", "give a text"))
        platform = self._section("platform", PlatformSection, required=True)
        kind, workload = self._workload()
        scheduler = self._scheduler(kind)
        simulation = self._simulation()
        metrics = self._section("metrics", MetricsSection)
        output = self._output(kind, simulation)
        if self.problems:
            return None
        assert platform is not None
        assert kind is not None
        assert scheduler is not None
        assert simulation is not None
        assert metrics is not None
        assert output is not None
        return Scenario(
            file=file,
            text=text,
            document=self.document,
            title=title,
            kind=kind,
            platform=platform,
            workload=workload,
            scheduler=scheduler,
            simulation=simulation,
            metrics=metrics,
            output=output,
        )

    def _table(self, name: str, *, required: bool = False) -> dict[str, Any] | None:
        """Return a copy of a table, empty where it may be left out; None if it is wrong."""
        table = self.document.get(name)
        if table is None and not required:
            return {}
        if table is None:
            self.problems.append(Problem((name,), f"table [{name}] is missing", "add it"))
        elif not isinstance(table, dict):
            problem = Problem((name,), f"{name} is {table!r}", f"write a table, [{name}]")
            self.problems.append(problem)
        else:
            return dict(table)
        return None

    def _section(self, name: str, model: type[_Model], *, required: bool = False) -> _Model | None:
        """Check a table against its model."""
        table = self._table(name, required=required)
        return None if table is None else self._checked(name, model, table)

    def _checked(self, name: str, model: type[_Model], table: dict[str, Any]) -> _Model | None:
        """Check the contents of a table."""
        try:
            return model.model_validate(table, context={"directory": self.directory})
        except ValidationError as error:
            self.problems += from_pydantic(error, model, (name,))
            return None

    def _workload(self) -> tuple[Kind | None, Any]:
        """Check ``[workload]``, whose keys depend on its kind."""
        table = self._table("workload", required=True)
        if table is None:
            return None, None
        if "kind" not in table:
            missing = Problem(
                ("workload", "kind"),
                "key 'workload.kind' is missing",
                f"add it: {' or '.join(repr(kind) for kind in KINDS)}",
            )
            self.problems.append(missing)
            return None, None
        name = table.pop("kind")
        if name not in KINDS:
            remedy = suggestion(str(name), KINDS, "there is")
            path = ("workload", "kind")
            self.problems.append(Problem(path, f"workload.kind is {name!r}", remedy))
            return None, None
        kind = kind_called(name)
        return kind, self._checked("workload", kind.workload, table)

    def _scheduler(self, kind: Kind | None) -> SchedulerSection | None:
        """Check ``[scheduler]``, which some kinds need and others refuse."""
        if "scheduler" not in self.document:
            if kind is not None and kind.schedulers:
                remedy = f"add it, with a name: {', '.join(map(repr, kind.schedulers))}"
                message = "table [scheduler] is missing"
                self.problems.append(Problem(("workload",), message, remedy))
            return SchedulerSection(name="")
        section = self._section("scheduler", SchedulerSection)
        if kind is None or section is None:
            return section
        if not kind.schedulers:
            message = "this kind of workload takes no [scheduler]"
            remedy = "remove the table: the actors decide"
            self.problems.append(Problem(("scheduler",), message, remedy))
        elif section.name not in kind.schedulers and ":" not in section.name:
            remedy = suggestion(section.name, kind.schedulers, "write 'module:function' or one of")
            path = ("scheduler", "name")
            self.problems.append(Problem(path, f"scheduler.name is {section.name!r}", remedy))
        return section

    def _simulation(self) -> SimulationSection | None:
        """Check ``[simulation]`` and the SimGrid options in it."""
        table = self._table("simulation")
        if table is None:
            return None
        options = table.pop("options", {})
        if isinstance(options, dict):
            table["options"] = self._options(options)
        else:
            path = ("simulation", "options")
            remedy = "write a table, [simulation.options]"
            self.problems.append(Problem(path, f"simulation.options is {options!r}", remedy))
        return self._checked("simulation", SimulationSection, table)

    def _output(
        self, kind: Kind | None, simulation: SimulationSection | None
    ) -> OutputSection | None:
        """Check ``[output]``."""
        output = self._section("output", OutputSection)
        for name in ("curves", "graphs"):
            asked = output is not None and getattr(output, name) is not None
            if asked and kind is not None and name not in kind.outputs:
                message = f"this kind of workload has no {name}"
                self.problems.append(Problem(("output", name), message, "remove the key"))
        if output is not None and simulation is not None and not simulation.trace:
            for name in NEED_TRACE if kind is None else kind.need_trace:
                if getattr(output, name) is not None:
                    message = f"output.{name} needs the trace, which simulation.trace turns off"
                    remedy = "remove one of the two"
                    self.problems.append(Problem(("output", name), message, remedy))
        return output

    def _options(self, table: dict[str, Any]) -> SimGridOptions:
        """Check ``[simulation.options]``, each key by itself and then together."""
        before = len(self.problems)
        for name, value in table.items():
            path = ("simulation", "options", name)
            if name not in _OPTIONS:
                self.problems.append(unknown_key(path, _OPTIONS))
                continue
            trace = value.get(_TRACE) if isinstance(value, Mapping) else None
            if isinstance(trace, str) and not is_below(Path(trace), Path()):
                message = f"simulation.options.{name} sets {_TRACE} to {trace!r}"
                self.problems.append(Problem((*path, _TRACE), message, _BELOW))
            try:
                SimGridOptions(**{name: value})
            except (SimpluginError, TypeError, AttributeError) as error:
                self.problems.append(Problem(path, f"simulation.options.{error}"))
        if len(self.problems) > before:
            return SimGridOptions()
        try:
            return SimGridOptions(**table)
        except SimpluginError as error:
            self.problems.append(Problem(("simulation", "options"), str(error)))
            return SimGridOptions()
