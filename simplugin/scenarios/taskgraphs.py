"""Workloads of kind "taskgraphs": parallel task graphs that share a site."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from simplugin.inputs.kinds import Kind, Outcome, Progress
from simplugin.inputs.messages import suggestion
from simplugin.inputs.quantities import Speed, Time
from simplugin.inputs.sections import ExistingFile, Section
from simplugin.taskgraphs.policies import POLICIES
from simplugin.workloads.graph_generators import GENERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.scenarios.scenario import Scenario

_RUN = "simplugin.scenarios.graph_executions:run"
# Schedulers that decide everything themselves, by functions that return a schedule.
BASELINES = {
    "heft": "simplugin.taskgraphs.heft:heft",
    "mheft": "simplugin.taskgraphs.mheft:mheft",
}
# The keys that go with one source of graphs only.
_KEYS = {"file": ("alpha", "speed"), "generator": ("parameters", "seed")}


def _known(generator: str) -> str:
    """Return the name of a generator; raise ValueError if it is unknown."""
    if generator not in GENERATORS:
        raise ValueError(suggestion(generator, GENERATORS, "there are"))
    return generator


class GraphTable(Section):
    """``[[workload.graphs]]``: a task graph, or several of the same origin.

    Attributes
    ----------
    file : path, optional
        A DOT, DAX or WfFormat file.
    alpha : float, optional
        Part of tasks that is not parallel, where the file does not say it.
    speed : float, optional
        Of the processors on which times in the file were measured [flop/s].
    generator : str, optional
        Instead of a file: a key of `simplugin.workloads.graph_generators.GENERATORS`.
    parameters : dict
        What the generator is given, by name.
    seed : int, optional
        Of the generator's draws; by default they follow from that of the simulation.
    name : str, optional
        By default that of the file or generator.
    release : float
        When it is submitted [s].
    count : int
        How many; from a generator one draws them one after the other.
    """

    file: ExistingFile | None = None
    alpha: Annotated[float, Field(ge=0, le=1)] | None = None
    speed: Annotated[Speed, Field(gt=0, allow_inf_nan=False)] | None = None
    generator: Annotated[str, AfterValidator(_known)] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] | None = None
    name: Annotated[str, Field(min_length=1)] | None = None
    release: Annotated[Time, Field(ge=0, allow_inf_nan=False)] = 0.0
    count: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _one_source(self) -> GraphTable:
        """Refuse no source and two of them."""
        if (self.file is None) == (self.generator is None):
            raise ValueError("give either a file or a generator")
        source, other = ("file", "generator") if self.generator is None else ("generator", "file")
        for key in _KEYS[other]:
            if key in self.model_fields_set:
                raise ValueError(f"{key} goes with a {other}, not with a {source}")
        return self


class TaskGraphsWorkload(Section):
    """``[workload]`` of kind "taskgraphs".

    Attributes
    ----------
    graphs : list of GraphTable
        At least one.
    """

    graphs: Annotated[list[GraphTable], Field(min_length=1)]


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Schedule the graphs and execute them on the simulated platform."""
    module, _, attribute = _RUN.partition(":")
    runs: Callable[[Scenario, Progress | None], Outcome]
    runs = getattr(importlib.import_module(module), attribute)
    return runs(scenario, progress)


def check(scenario: Scenario) -> None:
    """Raise ScenarioError if a parameter of the scheduler is unknown or invalid."""
    from simplugin.scenarios.graph_schedulers import wishes_of

    wishes_of(scenario)


KIND = Kind(
    workload=TaskGraphsWorkload,
    run=run,
    check=check,
    schedulers=tuple(f"taskgraphs.{name}" for name in (*POLICIES, *BASELINES)),
    outputs=("result", "gantt", "graphs"),
    need_trace=("trace",),
)
