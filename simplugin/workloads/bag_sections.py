"""The section ``[workload]`` of scenarios of kind "bags"."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.core.units import parse_bandwidth, parse_speed
from simplugin.inputs.kinds import ScenarioParts
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import NOT_NEGATIVE, POSITIVE, Bandwidth, Size, Speed, Time, Work
from simplugin.inputs.sections import Section
from simplugin.workloads.applications import Application


class ApplicationTable(Section):
    """``[[workload.applications]]``: the fields of `Application`, by their names.

    Attributes
    ----------
    name, master, flop, byte, weight, hosts, start, end, count
        See `Application`.
    """

    name: Annotated[str, Field(min_length=1)]
    master: str
    flop: Annotated[Work, POSITIVE]
    byte: Annotated[Size, NOT_NEGATIVE] = 0.0
    weight: Annotated[float, POSITIVE] = 1.0
    hosts: list[str] | None = None
    start: Annotated[Time, NOT_NEGATIVE] = 0.0
    end: Annotated[Time, Field(gt=0)] = math.inf
    count: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _sensible(self) -> ApplicationTable:
        """Raise unless it ends after it starts."""
        if not self.start < self.end:
            message = f"{{key}} is {self.end:g} s, not after the start, {self.start:g} s"
            raise InvalidValueError(message, "give a later date", ("end",))
        return self

    def application(self) -> Application:
        """Return the application."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return Application(**fields)


_CAPACITY: TypeAdapter[float] = TypeAdapter(
    Annotated[Speed, NOT_NEGATIVE] | Annotated[Bandwidth, NOT_NEGATIVE]
)


def _capacity(value: float | str) -> float | str:
    """Raise unless a value is a speed or a bandwidth; which one, its resource says."""
    _CAPACITY.validate_python(value)
    return value


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

    date: Annotated[Time, NOT_NEGATIVE]
    resource: str
    capacity: Annotated[float | str, AfterValidator(_capacity)]

    def value(self, *, of_host: bool) -> float:
        """Return the capacity of a host [flop/s] or a link [byte/s].

        Raises
        ------
        UnitError
            The capacity has the unit of the other kind of resource.
        """
        if isinstance(self.capacity, str):
            return (parse_speed if of_host else parse_bandwidth)(self.capacity)
        return self.capacity


class BagsWorkload(Section):
    """``[workload]`` of kind "bags".

    Attributes
    ----------
    applications : list of ApplicationTable
        At least one.
    alpha : float
        Of the fairness between them; 1 is proportional fairness.
    trees : dict of str to dict of str to str
        For an application's name, the parent of each host of its tree but the master; by
        default those of `simplugin.pricing.deployment.sharing_of`.
    changes : list of ChangeTable
        Changes of hosts and links, besides profiles of the platform.
    parents : dict of str to str
        The parent of each host of the tree but the master; by default as in
        `simplugin.bags.trees.tree_of`.
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
        """True if some application has a number of tasks."""
        return any(each.count is not None for each in self.applications)


@contextmanager
def errors_at_applications(scenario: ScenarioParts) -> Iterator[None]:
    """Locate errors of a block at the applications of a scenario, or at the one that they name.

    Raises
    ------
    ScenarioError
        The block raises a WorkloadError or an InfeasibleError.
    """
    try:
        yield
    except (InfeasibleError, WorkloadError) as error:
        names = [each.name for each in scenario.workload.applications]
        place: list[str | int] = []
        if isinstance(error, WorkloadError) and error.application in names:
            place = [names.index(error.application), *([error.argument] if error.argument else [])]
        raise scenario.error(str(error), "workload", "applications", *place) from error
