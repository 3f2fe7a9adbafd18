"""Types of quantities: a number in the SI unit, or a text with a unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator

from simplugin.errors import UnitError
from simplugin.units import parse_bandwidth, parse_size, parse_speed, parse_time, parse_work


def _read_by(parse: Callable[[str], float]) -> BeforeValidator:
    """Return what reads texts and leaves numbers to pydantic."""

    def read(value: Any) -> Any:
        """Turn a text into a number of the SI unit."""
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except UnitError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(read)


Work = Annotated[float, _read_by(parse_work)]
Speed = Annotated[float, _read_by(parse_speed)]
Bandwidth = Annotated[float, _read_by(parse_bandwidth)]
Size = Annotated[float, _read_by(parse_size)]
Time = Annotated[float, _read_by(parse_time)]
