"""Table of ``simplugin platform availability``: which hosts and links change, and by which laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WrapValidator, model_validator

from simplugin.core.errors import PlatformError, UnitError
from simplugin.core.units import parse_time
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import Time
from simplugin.inputs.sections import Section
from simplugin.platforms.availability.followers import Availability
from simplugin.platforms.availability.processes import Churn, Levels, Outages, Process, model_named
from simplugin.platforms.drawn_quantities import drawn
from simplugin.platforms.laws import parse_law, read_duration


def _read(read: Callable[[str], Any], value: Any) -> Any:
    """Read a text; raise InvalidValueError if it is invalid."""
    try:
        return read(str(value))
    except (PlatformError, UnitError) as error:
        raise InvalidValueError(f"{{key}}: {error.message}", error.remedy) from None


def _law(kind: Any, unit: Callable[[str], float]) -> Any:
    """Return the type of a law: a table as in scenarios, or a text such as ``uniform(1h, 2h)``."""

    def read(value: Any, validate: Callable[[Any], Any]) -> Any:
        """Return the law that a value describes."""
        if isinstance(value, Mapping):
            return validate(value)
        return _read(lambda text: parse_law(text, unit), value)

    return Annotated[drawn(kind), WrapValidator(read)] | None


_Times: Any = _law(Time, parse_time)
_Factors: Any = _law(float, float)
_Choice = Annotated[str, BeforeValidator(lambda x: ",".join(x) if isinstance(x, list) else x)]
_Duration = Annotated[float, BeforeValidator(lambda value: _read(read_duration, value))]
_Model = Annotated[str, BeforeValidator(lambda value: _read(model_named, value) and value)]
_Start = Literal["stationary", "up"] | None


class _Followers(Section):
    """Keys of both ``[hosts]`` and ``[links]``.

    Attributes
    ----------
    choice : str or list of str
        Hosts or links, see `Availability`.
    up, down : law, optional
        How long they are up, and down.
    start : {"stationary", "up"}, optional
        State at date 0, see `Outages`.
    """

    choice: _Choice = "all"
    up: _Times = None
    down: _Times = None
    start: _Start = None

    def _together(self, first: str, second: str) -> bool:
        """Return True if two keys are given; raise if one of them is missing."""
        given = [getattr(self, name) is not None for name in (first, second)]
        if any(given) and not all(given):
            missing = second if given[0] else first
            raise InvalidValueError("key '{key}' is missing", "add it", (missing,))
        return all(given)

    def outages(self) -> Outages | None:
        """Return when hosts or links are up by two laws."""
        if not self._together("up", "down"):
            return None
        return Outages(self.up, self.down, self.start or "stationary")

    def levels(self, name: str, most: float = 1.0) -> Levels | None:
        """Return the levels of a capacity."""
        if not self._together(name, f"{name}_for"):
            return None
        return Levels(getattr(self, name), getattr(self, f"{name}_for"), most)


class HostsTable(_Followers):
    """``[hosts]``.

    Attributes
    ----------
    model : str, optional
        Name of a published model instead of `up` and `down`.
    stay, arrival, away : law, optional
        Churn instead: how long hosts stay, when they arrive (by default at 0), and how long they
        are away (by default for ever).
    speed, speed_for : law, optional
        Fraction of the speed that is left, and how long it lasts.
    """

    model: _Model | None = None
    stay: _Times = None
    arrival: _Times = None
    away: _Times = None
    speed: _Factors = None
    speed_for: _Times = None

    def states(self) -> Process | None:
        """Return when hosts are on."""
        outages = self.outages()
        if self.model is not None:
            if outages is not None:
                raise InvalidValueError("{key} excludes up and down", "remove it", ("model",))
            outages = model_named(self.model, self.start or "stationary")
        if self.start is not None and outages is None:
            remedy = "remove it, or add model, or up and down"
            raise InvalidValueError("{key} has no effect", remedy, ("start",))
        if self.stay is None:
            for key in ("arrival", "away"):
                if getattr(self, key) is not None:
                    raise InvalidValueError("{key} needs the key stay", "add stay", (key,))
            return outages
        if outages is not None:
            raise InvalidValueError("{key} excludes outages", "give outages or churn", ("stay",))
        return Churn(self.stay, self.arrival, self.away)

    @model_validator(mode="after")
    def _consistent(self) -> HostsTable:
        """Raise if keys contradict each other."""
        self.states()
        self.levels("speed")
        return self


class LinksTable(_Followers):
    """``[links]``.

    Attributes
    ----------
    bandwidth, bandwidth_for : law, optional
        Fraction of the bandwidth that is left, and how long it lasts.
    latency, latency_for : law, optional
        Factor by which the latency grows, and how long it lasts.
    """

    bandwidth: _Factors = None
    bandwidth_for: _Times = None
    latency: _Factors = None
    latency_for: _Times = None

    @model_validator(mode="after")
    def _consistent(self) -> LinksTable:
        """Raise if keys contradict each other."""
        if self.outages() is None and self.start is not None:
            raise InvalidValueError("{key} has no effect", "remove it, or add up", ("start",))
        self.levels("bandwidth")
        self.levels("latency", math.inf)
        return self


class AvailabilityTable(Section):
    """Changes of hosts and links.

    Attributes
    ----------
    until : str
        End of the changes, a time with its unit.
    seed : int
        Seed of all draws.
    spared : str or list of str, optional
        Hosts and links to leave unchanged.
    hosts : HostsTable
        Changes of hosts.
    links : LinksTable
        Changes of links.
    """

    until: _Duration
    seed: Annotated[int, Field(ge=0)] = 0
    spared: _Choice | None = None
    hosts: HostsTable = HostsTable()
    links: LinksTable = LinksTable()

    def availability(self) -> Availability:
        """Return the processes of hosts and links."""
        return Availability(
            hosts=self.hosts.choice,
            states=self.hosts.states(),
            speeds=self.hosts.levels("speed"),
            links=self.links.choice,
            link_states=self.links.outages(),
            bandwidths=self.links.levels("bandwidth"),
            latencies=self.links.levels("latency", math.inf),
            spared=() if self.spared is None else self.spared,
        )

    @model_validator(mode="after")
    def _changing(self) -> AvailabilityTable:
        """Raise ValueError if nothing changes."""
        processes = ("states", "speeds", "link_states", "bandwidths", "latencies")
        if all(getattr(self.availability(), name) is None for name in processes):
            raise ValueError("give a process, for instance hosts.model, hosts.up or links.up")
        return self
