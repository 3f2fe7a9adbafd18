"""Applications and changes of the platform, for the kinds "bags" and "fair_sharing"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from simplugin.core.errors import InfeasibleError, UnitError, WorkloadError
from simplugin.core.units import parse_bandwidth, parse_speed
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import NOT_NEGATIVE, POSITIVE, Bandwidth, Size, Speed, Time, Work
from simplugin.inputs.sections import Section
from simplugin.scenarios.scenario import Scenario
from simplugin.simulation.platform_changes import CapacityChange, ChangeableResources
from simplugin.workloads.applications import Application


def keys_of_kind(kind: str, *keys: str) -> Any:
    """Return a validator that refuses keys which only another kind of workload has."""

    def check(table: Any) -> Any:
        """Raise InvalidValueError at the first of the keys."""
        for key in keys:
            if isinstance(table, Mapping) and key in table:
                message = f"{{key}} is a key of workloads of kind {kind!r}"
                remedy = f"remove it, or write workload.kind = {kind!r}"
                raise InvalidValueError(message, remedy, (key,))
        return table

    return model_validator(mode="before")(check)


class ApplicationTable(Section):
    """Keys of ``[[workload.applications]]`` of both kinds.

    Attributes
    ----------
    name, master, flop, byte, weight, hosts
        See `Application`.
    """

    name: Annotated[str, Field(min_length=1)]
    master: str
    flop: Annotated[Work, POSITIVE]
    byte: Annotated[Size, NOT_NEGATIVE] = 0.0
    weight: Annotated[float, POSITIVE] = 1.0
    hosts: list[str] | None = None

    def application(self) -> Application:
        """Return the application."""
        return Application(**{name: getattr(self, name) for name in type(self).model_fields})


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
        Date of the change [s].
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


@contextmanager
def errors_at_applications(scenario: Scenario) -> Iterator[None]:
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


def change_in(scenario: Scenario, number: int, known: ChangeableResources) -> CapacityChange:
    """Return one of the changes of a scenario.

    Parameters
    ----------
    scenario : Scenario
        Its workload has changes.
    number : int
        The position of the change in ``[[workload.changes]]``.
    known : ChangeableResources
        The resources of the platform.

    Raises
    ------
    ScenarioError
        The resource cannot change, or the capacity has the unit of the other kind of resource.
    """
    table: ChangeTable = scenario.workload.changes[number]
    key = ("workload", "changes", number)
    try:
        known.check(table.resource)
        capacity = table.value(of_host=table.resource in known.hosts)
    except WorkloadError as error:
        raise scenario.error(str(error), *key, "resource") from error
    except UnitError as error:
        raise scenario.error(f"{{key}}: {error}", *key, "capacity") from None
    return CapacityChange(table.date, table.resource, capacity)
