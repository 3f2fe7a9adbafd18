"""Workloads of kind "bags": applications of independent tasks, each with a master."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator, model_validator

from simplugin.campaigns.kinds import Kind, Outcome, Progress
from simplugin.campaigns.quantities import Size, Time, Work
from simplugin.campaigns.sections import Section
from simplugin.errors import UnitError, WorkloadError
from simplugin.pricing.agents.platform_changes import Change
from simplugin.pricing.policies import POLICIES
from simplugin.units import parse_bandwidth, parse_speed
from simplugin.workloads import Application

if TYPE_CHECKING:
    from simplugin.campaigns.scenario import Scenario

# The function that runs scenarios whose scheduler's name starts so; it is loaded when it is used.
FAMILIES = {
    "pricing": "simplugin.campaigns.pricing:run",
}
# Who runs a policy of one's own, ``module:function``.
_OWN = "pricing"


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
    """

    applications: Annotated[list[ApplicationTable], Field(min_length=1)]
    alpha: Annotated[float, Field(ge=0)] = 1.0
    trees: dict[str, dict[str, str]] = Field(default_factory=dict)
    changes: list[ChangeTable] = Field(default_factory=list)


def run(scenario: Scenario, progress: Progress | None) -> Outcome:
    """Hand the scenario to those that know its scheduler."""
    if scenario.scheduler is None:
        known = ", ".join(repr(name) for name in KIND.schedulers or ())
        remedy = f"add it, with a name: {known}"
        raise scenario.error("table [scheduler] is missing", "workload", remedy=remedy)
    name = scenario.scheduler.name
    family = _OWN if ":" in name else name.partition(".")[0]
    module, _, attribute = FAMILIES[family].partition(":")
    runs: Callable[[Scenario, Progress | None], Outcome]
    runs = getattr(importlib.import_module(module), attribute)
    return runs(scenario, progress)


KIND = Kind(
    workload=BagsWorkload,
    run=run,
    schedulers=tuple(f"pricing.{name}" for name in POLICIES),
    outputs=("result", "curves"),
)
