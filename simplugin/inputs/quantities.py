"""Types of quantities: a number in the SI unit, or a text with a unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field

from simplugin.core import units
from simplugin.core.errors import UnitError
from simplugin.inputs.locations import shown
from simplugin.inputs.messages import InvalidValueError


@dataclass(frozen=True)
class Dimension:
    """A dimension of quantities, in the metadata of their types.

    Attributes
    ----------
    unit : str
        The unit of a bare number.
    example : str
        A text with a unit.
    parse, write : callable
        From such a text to the number, and back.
    """

    unit: str
    example: str
    parse: Callable[[str], float]
    write: Callable[[float], str]

    def read(self, value: Any) -> Any:
        """Return the number that a text stands for; leave numbers to pydantic.

        A text without a unit is refused: ``"4.3"`` was meant in some other unit.
        """
        if not isinstance(value, str):
            if isinstance(value, bool) or not isinstance(value, int | float):
                remedy = f"give a number [{self.unit}], or a text such as {self.example!r}"
                raise InvalidValueError(f"{{key}} is {shown(value)}", remedy)
            return value
        try:
            number = self.parse(value)
        except UnitError as error:
            raise InvalidValueError(f"{{key}}: {error.message}", error.remedy) from None
        if not units.has_unit(value):
            remedy = f"write e.g. {self.example!r}, or a number [{self.unit}] without quotes"
            raise InvalidValueError(f"{{key}} is {value!r}, which has no unit", remedy)
        return number


_WORK = Dimension("flop", "10Gf", units.parse_work, units.format_speed)
_SPEED = Dimension("flop/s", "2.5Gf", units.parse_speed, units.format_speed)
_BANDWIDTH = Dimension("byte/s", "10Gbps", units.parse_bandwidth, units.format_bandwidth)
_SIZE = Dimension("byte", "4MiB", units.parse_size, units.format_size)
_TIME = Dimension("s", "50us", units.parse_time, units.format_time)
Work = Annotated[float, _WORK, BeforeValidator(_WORK.read)]
Speed = Annotated[float, _SPEED, BeforeValidator(_SPEED.read)]
Bandwidth = Annotated[float, _BANDWIDTH, BeforeValidator(_BANDWIDTH.read)]
Size = Annotated[float, _SIZE, BeforeValidator(_SIZE.read)]
Time = Annotated[float, _TIME, BeforeValidator(_TIME.read)]


def _in_bytes(value: Any) -> Any:
    """Return whole bytes."""
    size = _SIZE.read(value)
    return round(size) if isinstance(value, str) and math.isfinite(size) else size


Memory = Annotated[int, Field(gt=0), _SIZE, BeforeValidator(_in_bytes)]
POSITIVE = Field(gt=0, allow_inf_nan=False)
NOT_NEGATIVE = Field(ge=0, allow_inf_nan=False)
HostSpeed = Annotated[Speed, NOT_NEGATIVE, Field(description="Of each host, of each of its cores.")]
LinkBandwidth = Annotated[
    Bandwidth, POSITIVE, Field(description="Of each link, in each direction.")
]
Latency = Annotated[Time, NOT_NEGATIVE, Field(description="Of each link.")]


def dimension_of(kind: Any) -> Dimension | None:
    """Return the dimension of a type or of a part of it; None without dimension."""
    inner = (*getattr(kind, "__metadata__", ()), *get_args(kind))
    found = (each if isinstance(each, Dimension) else dimension_of(each) for each in inner)
    return next((each for each in found if each is not None), None)
