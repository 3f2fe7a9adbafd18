"""Scenarios: what a run consists of, read from TOML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError, ValidationInfo, create_model, field_validator

from simplugin.core.errors import PlatformError, ScenarioError
from simplugin.formats.platform_reading import options_of, read_document
from simplugin.inputs import documents
from simplugin.inputs.kinds import Progress, WorkloadKind
from simplugin.inputs.kinds import ScenarioResult as ScenarioResult
from simplugin.inputs.messages import (
    InputProblem,
    InvalidValueError,
    dotted,
    missing_key,
    problems_of,
    suggestion,
)
from simplugin.inputs.named_files import named_modules
from simplugin.inputs.references import References, UnresolvedError
from simplugin.inputs.sections import PlatformSection, SchedulerSection, Section, is_below
from simplugin.platforms import Platform
from simplugin.scenarios.generators.registry import Generator, generator_called
from simplugin.scenarios.importing import importable
from simplugin.scenarios.kinds import KINDS, kind_called
from simplugin.scenarios.ranges import is_too_large
from simplugin.scenarios.sections import (
    BELOW,
    NEED_TRACE,
    TRACE_FILE,
    MetricsSection,
    OutputSection,
    SimulationSection,
)

_SECTIONS = ("platform", "workload", "scheduler", "simulation", "metrics", "output")
SCENARIO_KEYS = ("title", *_SECTIONS)
# What campaign files have besides.
CAMPAIGN_TABLES = ("campaign", "sweep", "variations", "slurm")


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
    kind: WorkloadKind
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

    def importable(self) -> AbstractContextManager[None]:
        """Let the modules that it names be imported, with what they import beside it."""
        return importable(self.directory, named_modules(self.document))

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
        return self.errors([InputProblem(key, message, remedy)])

    def errors(self, problems: Iterable[InputProblem]) -> ScenarioError:
        """Return one exception about several problems."""
        return scenario_error(problems, self.file, self.text)

    def refuse_stray_outputs(self) -> None:
        """Raise unless all outputs stay below the output directory, and it below the file's.

        Raises
        ------
        ScenarioError
            One leaves it.
        """
        if strays := list(self.output.strays(self.directory)):
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
        generator, parameters, problems = self.generator(section.generator)
        if problems:
            raise self.errors(problems)
        try:
            return generator.platform(parameters, self.directory)
        except PlatformError as error:
            place = ("platform", "parameters")
            raise self.error(error.message, *place, remedy=error.remedy) from error

    def generator(self, name: str) -> tuple[Generator, dict[str, Any], list[InputProblem]]:
        """Return the generator of the platform, its parameters, and what is wrong with these.

        Raises
        ------
        ScenarioError
            There is none of this name.
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
        """Raise if a platform file has SimGrid write its trace outside the current directory."""
        for _, option, value in options_of(read_document(platform, PlatformError, head=True)):
            if option == TRACE_FILE and not is_below(Path(value), Path()):
                message = f"{platform} sets {TRACE_FILE} to {value!r}"
                raise self.error(message, "platform", "file", remedy=BELOW)


def scenario_error(problems: Iterable[InputProblem], file: Path, text: str) -> ScenarioError:
    """Return one exception about all problems, with the line and the key of the first."""
    found = documents.Document(None, ScenarioError, file, text).errors(problems)
    assert isinstance(found, ScenarioError)
    return found


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
    refuse_large_numbers(document, file, text)
    problems, kind, found = _checked(document, file)
    if problems or kind is None or found is None:
        raise scenario_error(problems, file, text)
    about: dict[str, Any] = dict(found)
    return Scenario(file=file, text=text, document=document, kind=kind, trust=tuple(trust), **about)


# More of the same would not help.
_MOST_LARGE = 20


def refuse_large_numbers(document: Mapping[str, Any], file: Path, text: str) -> None:
    """Raise if there are integers beyond all floats.

    Raises
    ------
    ScenarioError
        There is one.
    """
    found = [
        InputProblem(path, f"{dotted(path)} is beyond all floats", "give a number up to 1.79e308")
        for path in _large_numbers(document, ())
    ]
    if found:
        raise scenario_error(found[:_MOST_LARGE], file, text)


def _large_numbers(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of integers beyond all floats."""
    if isinstance(value, Mapping | list | tuple):
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _large_numbers(each, (*path, key))
    elif is_too_large(value):
        yield path


def scenario_problems(document: Mapping[str, Any], file: Path) -> list[InputProblem]:
    """Return what is wrong with a scenario, as `scenario_from` would raise it."""
    return _checked(document, file)[0]


def run_scenario(scenario: Scenario, progress: Progress | None = None) -> ScenarioResult:
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
    # With numpy, which no check needs; and before modules beside the scenario can be imported.
    from simplugin.scenarios.user_metrics import with_own_metrics

    with scenario.importable():
        return with_own_metrics(scenario.metrics, scenario, scenario.kind.run(scenario, progress))


class Sections(Section):
    """The tables of a scenario of any kind.

    Attributes
    ----------
    title : str
        For tables and charts.
    platform : PlatformSection
        The hosts and the network.
    workload : object
        What is run; its `kind` decides which other keys it has.
    scheduler : SchedulerSection
        The policy, where the kind of workload has a choice.
    simulation : SimulationSection
        How it is simulated.
    metrics : MetricsSection
        What is recorded besides the metrics of the kind.
    output : OutputSection
        The files that are written.
    """

    title: str = ""
    platform: PlatformSection
    workload: Any
    scheduler: SchedulerSection = SchedulerSection(name="")
    simulation: SimulationSection = SimulationSection()
    metrics: MetricsSection = MetricsSection.model_validate({})
    output: OutputSection = OutputSection()

    @field_validator("scheduler")
    @classmethod
    def _of_kind(cls, section: SchedulerSection, info: ValidationInfo) -> SchedulerSection:
        """Raise unless the kind of workload takes the scheduler."""
        kind: WorkloadKind | None = (info.context or {}).get("kind")
        if kind is None or ":" in section.name or section.name in kind.schedulers:
            return section
        if not kind.schedulers:
            message = "this kind of workload takes no [scheduler]"
            raise InvalidValueError(message, "remove the table: the actors decide")
        remedy = suggestion(section.name, kind.schedulers, "write 'module:function' or one of")
        raise InvalidValueError(f"{{key}} is {section.name!r}", remedy, ("name",))

    @field_validator("output")
    @classmethod
    def _available(cls, section: OutputSection, info: ValidationInfo) -> OutputSection:
        """Raise if a file is asked for that the kind or the simulation cannot have."""
        kind: WorkloadKind | None = (info.context or {}).get("kind")
        for name in ("curves", "graphs"):
            if kind is not None and name not in kind.outputs and getattr(section, name) is not None:
                message = f"this kind of workload has no {name}"
                raise InvalidValueError(message, "remove the key", (name,))
        simulation = info.data.get("simulation")
        if simulation is not None and not simulation.trace:
            for name in NEED_TRACE if kind is None else kind.need_trace:
                if getattr(section, name) is not None:
                    message = "{key} needs the trace, which simulation.trace turns off"
                    raise InvalidValueError(message, "remove one of the two", (name,))
        return section


@lru_cache
def _sections_of(kind: str) -> type[Sections]:
    """Return the sections of scenarios of a kind."""
    return create_model("Sections", __base__=Sections, workload=(kind_called(kind).workload, ...))


def _checked(
    document: Mapping[str, Any], file: Path
) -> tuple[list[InputProblem], WorkloadKind | None, Sections | None]:
    """Return what is wrong with a document, the kind of its workload, and its sections."""
    remedy = f"this file is for 'simplugin campaign run {file}'"
    problems = [
        InputProblem((key,), "[{key}] is for campaigns of many runs", remedy)
        for key in CAMPAIGN_TABLES
        if key in document
    ]
    content = {key: each for key, each in document.items() if key not in CAMPAIGN_TABLES}
    table, kind, model, path = content.get("workload"), None, Sections, ("workload", "kind")
    if isinstance(table, Mapping):
        name = table.get("kind")
        content["workload"] = {key: each for key, each in table.items() if key != "kind"}
        if "kind" not in table:
            problems.append(missing_key(path, " or ".join(map(repr, KINDS))))
        elif not isinstance(name, str) or name not in KINDS:
            remedy = suggestion(str(name), KINDS, "there is")
            problems.append(InputProblem(path, f"{{key}} is {name!r}", remedy))
        else:
            kind, model = kind_called(name), _sections_of(name)
    if kind is not None and kind.schedulers and "scheduler" not in content:
        remedy = f"add it, with a name: {', '.join(map(repr, kind.schedulers))}"
        problems.append(InputProblem(("workload",), "table [scheduler] is missing", remedy))
    try:
        found = model.model_validate(content, context={"directory": file.parent, "kind": kind})
    except ValidationError as error:
        return problems + problems_of(error, model, content), kind, None
    return problems, kind, found
