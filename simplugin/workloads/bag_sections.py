"""The section ``[workload]`` of scenarios of kind "bags"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from simplugin.errors import UnitError, WorkloadError
from simplugin.inputs.quantities import Size, Time, Work
from simplugin.inputs.sections import Section
from simplugin.units import parse_bandwidth, parse_speed
from simplugin.workloads.applications import Application


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
    capacity: float | str

    @field_validator("capacity")
    @classmethod
    def _readable(cls, value: float | str) -> float | str:
        """Refuse what is neither a speed nor a bandwidth."""
        # A bound in the annotation would become part of the key in messages.
        if not isinstance(value, str) and not 0 <= value < math.inf:
            raise ValueError("give a finite number greater than or equal to 0")
        if isinstance(value, str):
            readings = [_read(parse, value) for parse in (parse_speed, parse_bandwidth)]
            if not any(read is not None and 0 <= read < math.inf for read in readings):
                raise ValueError("give a speed such as '5Gf', or a bandwidth such as '10MBps'")
        return value

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
