"""Workloads of kind "bags": applications of independent tasks, each with a master.

Without a number of tasks they are endless, and share the platform by prices. With one they are
handed out over a tree.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator, model_validator

from simplugin.bags.policies import POLICIES as TREE_POLICIES
from simplugin.errors import UnitError, WorkloadError
from simplugin.pricing.agents.platform_changes import Change
from simplugin.pricing.policies import POLICIES
from simplugin.scenarios.kinds import Kind, Outcome, Progress
from simplugin.scenarios.quantities import Size, Time, Work
from simplugin.scenarios.sections import Section
from simplugin.units import parse_bandwidth, parse_speed
from simplugin.workloads import Application

if TYPE_CHECKING:
    from simplugin.scenarios.scenario import Scenario

# The function that runs scenarios whose scheduler's name starts so; it is loaded when it is used.
FAMILIES = {
    "bags": "simplugin.scenarios.executions:run",
    "pricing": "simplugin.scenarios.pricing:run",
}
# The keys of the workload, and of its applications, that only one family has.
_KEYS = {
    "bags": ("parents", "distributors"),
    "pricing": ("alpha", "trees"),
}
_APPLICATION_KEYS = {
    "bags": ("count",),
    "pricing": ("hosts", "start", "end"),
}
_WHAT = {
    "bags": "tasks that are handed out over a tree, with a bags.* scheduler",
    "pricing": "endless applications, with a pricing.* scheduler",
}


class ApplicationTable(Section):
    """``[[workload.applications]]``: the fields of `Application`, by their names."""

    name: str
    master: str
    flop: Work
    byte: Size = 0.0
    weight: float = 1.0
    hosts: list[str] | None = None
    start: Time = 0.0
    end: Time = math.inf
    count: int | None = None

    @model_validator(mode="after")
    def _sensible(self) -> ApplicationTable:
        """Refuse what `Application` does."""
        try:
            self.application()
        except WorkloadError as error:
            raise ValueError(str(error)) from None
        return self

    def application(self) -> Application:
        """Return the application."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return Application(**fields)


class ChangeTable(Section):
    """``[[workload.changes]]``: from a date on, a host or link has another capacity.

    Attributes
    ----------
    date : float
        From when on [s].
    resource : str
        Name of the host or link.
    capacity : float or str
        Speed of all cores [flop/s] or bandwidth [byte/s]; 0: it fails, until its next change.
    """

    date: Annotated[Time, Field(ge=0, allow_inf_nan=False)]
    resource: str
    capacity: Annotated[float, Field(ge=0, allow_inf_nan=False)] | str

    @field_validator("capacity")
    @classmethod
    def _readable(cls, value: float | str) -> float | str:
        """Refuse what is neither a speed nor a bandwidth."""
        if isinstance(value, str):
            readings = [_read(parse, value) for parse in (parse_speed, parse_bandwidth)]
            if not any(read is not None and 0 <= read < math.inf for read in readings):
                raise ValueError("give a speed such as '5Gf', or a bandwidth such as '10MBps'")
        return value

    def change(self, *, of_host: bool) -> Change:
        """Return the change.

        Raises
        ------
        UnitError
            The capacity has the unit of the other kind of resource.
        """
        value = self.capacity
        if isinstance(value, str):
            value = (parse_speed if of_host else parse_bandwidth)(value)
        return Change(self.date, self.resource, value)


def _read(parse: Callable[[str], float], text: str) -> float | None:
    """Return the number that a text is, None if it is none."""
    try:
        return parse(text)
    except UnitError:
        return None


class BagsWorkload(Section):
    """``[workload]`` of kind "bags".

    Attributes
    ----------
    applications : list of ApplicationTable
        At least one.
    alpha : float
        Of the fairness between them; 1 is proportional fairness.
    trees : dict of str to dict of str to str
        For an application's name, the father of each host of its tree but the master; by
        default those of `simplugin.pricing.platform_trees.sharing_of`.
    changes : list of ChangeTable
        What happens to hosts and links, besides profiles of the platform.
    parents : dict of str to str
        The parent of each host of the tree but the master; by default as in
        `simplugin.bags.platform_trees.tree_of`.
    distributors : list of str
        Hosts that compute no tasks.
    """

    applications: Annotated[list[ApplicationTable], Field(min_length=1)]
    alpha: Annotated[float, Field(ge=0)] = 1.0
    trees: dict[str, dict[str, str]] = Field(default_factory=dict)
    changes: list[ChangeTable] = Field(default_factory=list)
    parents: dict[str, str] = Field(default_factory=dict)
    distributors: list[str] = Field(default_factory=list)

    @property
    def is_counted(self) -> bool:
        """Whether some application has a number of tasks."""
        return any(each.count is not None for each in self.applications)


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Hand the scenario to those that know its scheduler."""
    if scenario.scheduler is None:
        known = ", ".join(repr(name) for name in KIND.schedulers or ())
        remedy = f"add it, with a name: {known}"
        raise scenario.error("table [scheduler] is missing", "workload", remedy=remedy)
    family = _family(scenario)
    _check_keys(scenario, family)
    module, _, attribute = FAMILIES[family].partition(":")
    runs: Callable[[Scenario, Progress | None], Outcome]
    runs = getattr(importlib.import_module(module), attribute)
    return runs(scenario, progress)


def _family(scenario: Scenario) -> str:
    """Return who runs the scheduler; one's own is for a tree if there are tasks to be counted."""
    assert scenario.scheduler is not None
    name = scenario.scheduler.name
    if ":" not in name:
        return name.partition(".")[0]
    return "bags" if scenario.workload.is_counted else "pricing"


def _check_keys(scenario: Scenario, family: str) -> None:
    """Refuse keys that mean nothing to a family."""
    workload: BagsWorkload = scenario.workload
    other = next(each for each in FAMILIES if each != family)
    remedy = f"remove it: it is for {_WHAT[other]}"
    for key in _KEYS[other]:
        if key in workload.model_fields_set:
            raise scenario.error(f"workload.{key} is given", "workload", key, remedy=remedy)
    for number, each in enumerate(workload.applications):
        for key in _APPLICATION_KEYS[other]:
            if key in each.model_fields_set:
                message = f"application {each.name!r} has the key {key!r}"
                place = ("workload", "applications", number, key)
                raise scenario.error(message, *place, remedy=remedy)


KIND = Kind(
    workload=BagsWorkload,
    run=run,
    schedulers=(
        *(f"pricing.{name}" for name in POLICIES),
        *(f"bags.{name}" for name in TREE_POLICIES),
    ),
    outputs=("result", "curves"),
)
