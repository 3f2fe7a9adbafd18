"""Reading, checking and running scenarios."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError, ValidationInfo, create_model, field_validator

from simplugin.core.errors import ScenarioError
from simplugin.inputs import documents
from simplugin.inputs.messages import (
    InputProblem,
    InvalidValueError,
    dotted,
    missing_key,
    problems_of,
    suggestion,
)
from simplugin.inputs.sections import PlatformSection, SchedulerSection, Section
from simplugin.scenarios.kinds import KINDS, kind_called
from simplugin.scenarios.ranges import is_too_large
from simplugin.scenarios.scenario import Scenario, ScenarioResult, WorkloadKind, scenario_error
from simplugin.scenarios.sections import NEED_TRACE, MetricsSection, OutputSection, SimulationTable
from simplugin.simulation.options import Progress, SimulationOptions

_SECTIONS = ("platform", "workload", "scheduler", "simulation", "metrics", "output")
SCENARIO_KEYS = ("title", *_SECTIONS)
# Further tables of campaign files.
CAMPAIGN_TABLES = ("campaign", "sweep", "variations", "slurm", "calibrate", "adversary")


def load_scenario(path: str | os.PathLike[str], *, trust: Iterable[str] = ()) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : path
        A TOML file.
    trust : iterable of str
        Modules and packages of which it may also name functions, besides modules in its directory
        and packages that declare themselves.

    Raises
    ------
    ScenarioError
        It is not readable, or has an unknown key or an invalid value; the message names key and
        line of each, and `key` is the first of them.
    """
    file = Path(path)
    document, text = read_toml(file)
    return scenario_from(document, file, text, trust)


def read_toml(file: Path) -> tuple[dict[str, Any], str]:
    """Read a scenario or campaign file; return it as `tomllib` has it, and its text.

    Raises
    ------
    ScenarioError
        It is not readable, or not TOML.
    """
    document = documents.read_toml(file, ScenarioError)
    return document.content, document.text


def scenario_from(
    document: Mapping[str, Any], file: Path, text: str = "", trust: Iterable[str] = ()
) -> Scenario:
    """Check a scenario that a program read or composed.

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


# Maximum number of them in a message.
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
    """Return the problems of a scenario that `scenario_from` would raise."""
    return _checked(document, file)[0]


def run_scenario(scenario: Scenario, progress: Progress | None = None) -> ScenarioResult:
    """Run a scenario; write nothing.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    progress : callable, optional
        Called regularly with the simulated date and the number of running actors.

    Raises
    ------
    ScenarioError
        A module or function that it names cannot be imported.
    UncertifiedError
        The scenario verifies its optima, and one differs from that of its model.
    SimpluginError
        As `simplugin.simulate`.
    """
    # It imports numpy, which checks do not need; before the scenario's own modules are importable.
    from simplugin.scenarios.user_metrics import add_user_metrics

    with scenario.importable():
        simulation = replace(scenario.simulation, progress=progress)
        outcome = scenario.kind.run(replace(scenario, simulation=simulation))
        outcome = add_user_metrics(scenario.metrics, scenario, outcome)
    if scenario.scheduler.verify:
        from simplugin.optimum.verification import verify_optima

        outcome = replace(outcome, listings=(*outcome.listings, verify_optima(outcome.optima)))
    return outcome


class Sections(Section):
    """The tables of a scenario of any kind.

    Attributes
    ----------
    title : str
        For tables and charts.
    platform : PlatformSection
        The hosts and the network.
    workload : object
        The workload; its `kind` decides which other keys it has.
    scheduler : SchedulerSection
        The policy, if the kind of workload has policies.
    simulation : SimulationOptions
        Options of the simulation.
    metrics : MetricsSection
        Metrics in addition to those of the kind.
    output : OutputSection
        Output files.
    """

    title: str = ""
    platform: PlatformSection
    workload: Any
    scheduler: SchedulerSection = SchedulerSection(name="")
    simulation: SimulationTable = SimulationOptions()
    metrics: MetricsSection = MetricsSection.model_validate({})
    output: OutputSection = OutputSection()

    @field_validator("scheduler")
    @classmethod
    def _of_kind(cls, section: SchedulerSection, info: ValidationInfo) -> SchedulerSection:
        """Raise unless the kind of workload takes the scheduler."""
        kind: WorkloadKind | None = (info.context or {}).get("kind")
        if kind is not None and section.lookahead is not None and kind.prepare is None:
            raise InvalidValueError(
                "{key} goes with schedulers that leave choices", "remove it", ("lookahead",)
            )
        if kind is None or ":" in section.name or section.name in kind.scheduler_names:
            return section
        if kind.schedulers is None:
            message = "this kind of workload takes no [scheduler]"
            raise InvalidValueError(message, "remove the table: the actors decide")
        for other in KINDS:
            if section.name in kind_called(other).scheduler_names:
                message = f"{{key}} is {section.name!r}, which is for another kind of workload"
                raise InvalidValueError(message, f"write workload.kind = {other!r}", ("name",))
        remedy = suggestion(section.name, kind.scheduler_names, "write 'module:function' or one of")
        raise InvalidValueError(f"{{key}} is {section.name!r}", remedy, ("name",))

    @field_validator("simulation")
    @classmethod
    def _can_be_copied(cls, section: SimulationOptions, info: ValidationInfo) -> SimulationOptions:
        """Raise if rollouts are to copy a simulation that cannot be copied."""
        tables = (info.data.get(name) for name in ("scheduler", "workload"))
        if section.back_end == "threads" and any(
            getattr(each, "lookahead", None) for each in tables
        ):
            message = "{key} is 'threads', whose simulations cannot be copied to look ahead"
            raise InvalidValueError(message, "remove it, or the lookahead", ("back_end",))
        return section

    @field_validator("output")
    @classmethod
    def _available(cls, section: OutputSection, info: ValidationInfo) -> OutputSection:
        """Raise if an output is named that the kind or the simulation does not have."""
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
    found = kind_called(kind)
    # Without its validation, which wants a source.
    default = ... if found.needs_platform else PlatformSection.model_construct()
    return create_model(
        "Sections",
        __base__=Sections,
        platform=(PlatformSection, default),
        workload=(found.workload, ...),
    )


def _checked(
    document: Mapping[str, Any], file: Path
) -> tuple[list[InputProblem], WorkloadKind | None, Sections | None]:
    """Return the problems of a document, the kind of its workload, and its sections."""
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
    if kind is not None and kind.schedulers is not None and "scheduler" not in content:
        remedy = f"add it, with a name: {', '.join(map(repr, kind.scheduler_names))}"
        problems.append(InputProblem(("workload",), "table [scheduler] is missing", remedy))
    try:
        found = model.model_validate(content, context={"directory": file.parent, "kind": kind})
    except ValidationError as error:
        return problems + problems_of(error, model, content), kind, None
    return problems, kind, found
