"""Speeds, bandwidths and latencies as scenarios give them: numbers, texts with a unit, laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from simplugin.errors import PlatformError
from simplugin.platforms.laws import PARAMETERS, Law
from simplugin.units import parse_bandwidth, parse_speed, parse_time

if TYPE_CHECKING:
    from simplugin.platforms.topologies import Capacities

# A number in the SI unit, or a text with a unit; and also a law as a table.
Quantity = float | str
Drawn = float | str | Mapping[str, Any]

_PARSERS: dict[str, Callable[[str], float]] = {
    "speed": parse_speed,
    "bandwidth": parse_bandwidth,
    "latency": parse_time,
}
# Parameters of laws that have no unit.
_PLAIN = frozenset({"shape", "variation"})


def kind_of(name: str) -> str | None:
    """Return what a parameter is by its name: speed, bandwidth, latency, or nothing of these."""
    kind = name.rpartition("_")[2]
    return {"speeds": "speed", "bandwidths": "bandwidth"}.get(
        kind, kind if kind in _PARSERS else None
    )


def read_quantity(name: str, value: Any) -> float:
    """Return a speed [flop/s], a bandwidth [byte/s] or a latency [s].

    Parameters
    ----------
    name : str
        Of the parameter, which ends in its kind.
    value : float or str
        A number in the SI unit, or a text with a unit.

    Raises
    ------
    PlatformError
        It is neither.
    UnitError
        The unit is of something else.
    """
    if isinstance(value, str):
        return _PARSERS[kind_of(name) or ""](value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PlatformError(f"{name} is {value!r}", remedy="give a number or a text with a unit")
    return float(value)


def read_drawn(name: str, value: Any) -> float | Law:
    """Return a quantity, or the law that it is drawn from.

    Parameters
    ----------
    name : str
        Of the parameter, which ends in its kind.
    value : float, str or mapping
        As for `read_quantity`; or a law with its parameters by the names that
        `simplugin.platforms.laws.PARAMETERS` gives, as in
        ``{ law = "uniform", low = "1Gf", high = "2Gf" }``.

    Raises
    ------
    PlatformError
        It is nothing of these, or there is no such law.
    UnitError
        The unit is of something else.
    """
    if not isinstance(value, Mapping):
        return read_quantity(name, value)
    given = dict(value)
    law = given.pop("law", None)
    if law not in PARAMETERS:
        raise PlatformError(
            f"the law of {name} is {law!r}", remedy=f"give law as one of {', '.join(PARAMETERS)}"
        )
    if set(given) != set(PARAMETERS[law]):
        raise PlatformError(
            f"the {law} law of {name} has the parameters {', '.join(given) or '(none)'}",
            remedy=f"give {' and '.join(PARAMETERS[law])}",
        )
    values = []
    for parameter in PARAMETERS[law]:
        each = given[parameter]
        if parameter in _PLAIN and isinstance(each, str):
            raise PlatformError(f"{parameter} of {name} is {each!r}", remedy="give a number")
        values.append(read_quantity(name, each))
    return Law(law, tuple(values))


def read_capacities(speed: Drawn, bandwidth: Drawn, latency: Drawn) -> Capacities:
    """Return capacities of hosts and links."""
    from simplugin.platforms.topologies import Capacities

    return Capacities(
        read_drawn("speed", speed),
        read_drawn("bandwidth", bandwidth),
        read_drawn("latency", latency),
    )
