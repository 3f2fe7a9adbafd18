"""Checks of fields of data classes that become arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from simplugin.core.errors import PlatformError
from simplugin.inputs.locations import shown
from simplugin.platforms.validation import read_number

_RANGES: dict[str, Callable[[Any], Any]] = {
    "finite numbers >= 0": lambda values: np.isfinite(values) & (values >= 0),
    "finite numbers > 0": lambda values: np.isfinite(values) & (values > 0),
    "numbers > 0": lambda values: values > 0,
}


def set_array(
    part: object,
    field: str,
    shape: tuple[int, ...],
    numbers: str = "",
    dtype: DTypeLike = np.float64,
    unit: str = "",
) -> None:
    """Turn a field of a data class into an array, and check its shape and range.

    Parameters
    ----------
    part : object
        A frozen data class.
    field : str
        Name of the field.
    shape : tuple of int
        Of the array.
    numbers : str, optional
        The range of its values: a key of `_RANGES`.
    dtype : dtype
        Of the array.
    unit : str, optional
        Of its values, which may be texts with it or a multiple of it.

    Raises
    ------
    PlatformError
        The shape or a value is wrong; the message names the field.
    """
    given = getattr(part, field)
    try:
        values = np.ascontiguousarray(given, dtype=dtype)
    except (TypeError, ValueError):
        values = np.array(_read_each(field, given, unit), dtype=dtype)
    if values.shape != shape:
        raise PlatformError(f"{field} has shape {values.shape}", remedy=f"give {shape}")
    if values.dtype.kind == "i" and not np.array_equal(values, given):
        raise PlatformError(f"{field} is {shown(given)}", remedy="give whole numbers")
    if numbers and not np.all(right := _RANGES[numbers](values)):
        place = tuple(np.argwhere(~right)[0].tolist())
        raise PlatformError(
            f"{field}{[*place]} is {float(values[place])!r}, out of its range",
            remedy=f"give {numbers}",
        )
    object.__setattr__(part, field, values)


def _read_each(place: str, values: Any, unit: str) -> Any:
    """Return nested sequences of quantities as numbers."""
    if isinstance(values, list | tuple | np.ndarray):
        return [_read_each(f"{place}[{at}]", each, unit) for at, each in enumerate(values)]
    return read_number(place, values, unit)
