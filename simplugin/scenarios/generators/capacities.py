"""Speeds, bandwidths and latencies as scenarios give them: numbers, texts with a unit, laws."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simplugin.errors import PlatformError
from simplugin.platforms.laws import QUANTITIES, Dimension, read_law, read_number

if TYPE_CHECKING:
    from simplugin.platforms.laws import Law
    from simplugin.platforms.topologies.shapes import Capacities

# A number in the SI unit, or a text with a unit; and also a law as a table.
Quantity = float | str
Drawn = float | str | Mapping[str, Any]

_PLURALS = {"speeds": "speed", "bandwidths": "bandwidth", "latencies": "latency"}


def kind_of(name: str) -> str | None:
    """Return what a parameter is by its name: speed, bandwidth, latency, or nothing of these."""
    kind = re.split("[._]", name)[-1]
    kind = _PLURALS.get(kind, kind)
    return kind if kind in QUANTITIES else None


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
        It is neither, or out of its range.
    """
    return read_number(name, value, _dimension(name))


def read_drawn(name: str, value: Any) -> float | Law:
    """Return a quantity, or the law that it is drawn from.

    Parameters
    ----------
    name : str
        Of the parameter, which ends in its kind.
    value : float, str or mapping
        As for `read_quantity`; or a law as `simplugin.platforms.laws.read_law` takes it,
        such as ``{ law = "uniform", low = "1Gf", high = "2Gf" }``.

    Raises
    ------
    PlatformError
        It is nothing of these, or there is no such law.
    """
    if isinstance(value, Mapping):
        return read_law(name, value, _dimension(name))
    return read_number(name, value, _dimension(name))


def read_range(name: str, value: Any) -> tuple[float, float]:
    """Return the smallest and the largest of a quantity, of two in brackets.

    Raises
    ------
    PlatformError
        There are not two, or one of them is no such quantity.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise PlatformError(f"{name} is {value!r}", remedy="give the smallest and the largest")
    return read_quantity(name, value[0]), read_quantity(name, value[1])


def _dimension(name: str) -> Dimension:
    """Return what a parameter is."""
    return QUANTITIES[kind_of(name) or ""]


def read_capacities(speed: Drawn, bandwidth: Drawn, latency: Drawn) -> Capacities:
    """Return capacities of hosts and links."""
    from simplugin.platforms.topologies.shapes import Capacities

    return Capacities(
        read_drawn("speed", speed),
        read_drawn("bandwidth", bandwidth),
        read_drawn("latency", latency),
    )
