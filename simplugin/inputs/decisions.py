"""Checks of decisions of a user's code: shares, amounts, prices, processors, plans."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.locations import shown

_LARGEST = 2**62


def decided(
    what: str,
    value: object,
    rule: str,
    shape: tuple[int, ...] = (),
    *,
    whole: bool = False,
    least: float = -math.inf,
    most: float = math.inf,
) -> NDArray[Any]:
    """Return a decision of a user's code, finite numbers, as an array.

    Truth values, texts and complex numbers are no numbers, those of numpy are.

    Parameters
    ----------
    what : str
        Subject of messages, with the decision and its owner: ``"policy 'mine:f' gives shares"``.
    value : object
        The decision.
    rule : str
        The numbers to give, for messages: ``"a number from 0 to 3"``.
    shape : tuple of int
        Of the decision; -1 for any length.
    whole : bool
        True if there are whole numbers only.
    least, most : float
        Range of the numbers; whole ones are of 64 bit in any case.

    Returns
    -------
    float64 or int64 if they are whole
        The numbers.

    Raises
    ------
    WorkloadError
        The decision breaks the rule.
    """
    given = _array_of(value)
    if whole:
        least, most = max(least, -_LARGEST), min(most, _LARGEST)
    lengths = zip(given.shape, shape, strict=False)
    if given.ndim != len(shape) or any(wanted not in (-1, found) for found, wanted in lengths):
        raise WorkloadError(f"{what} {shown(value)}; give {rule}")
    if given.dtype.kind in "iuf":
        right = np.isfinite(given) & (least <= given) & (given <= most)
        right &= np.array(given == np.floor(given)) if whole else True
    else:
        each = (_is_number(one, whole) and least <= one <= most for one in given.ravel().tolist())
        right = np.reshape([*each], given.shape)
    if not np.all(right):
        place = np.argwhere(~right)[0].tolist()
        at = f", {shown(given[*place])} at {', '.join(map(str, place))}" if place else ""
        raise WorkloadError(f"{what} {shown(value)}{at}; give {rule}")
    return given.astype(np.int64 if whole else np.float64)


def listed(what: str, value: Any, rule: str) -> list[Any]:
    """Return a decision of a user's code as a list; raise WorkloadError if it is not iterable."""
    no_list = isinstance(value, Mapping | str | bytes) or getattr(value, "ndim", 1) == 0
    if no_list or not isinstance(value, Iterable):
        raise WorkloadError(f"{what} {shown(value)}; give {rule}")
    return [*value]


def _array_of(value: object) -> NDArray[Any]:
    """Return a decision as an array, of objects unless it is one."""
    if isinstance(value, np.ndarray):
        return value
    try:
        return np.asarray(value, dtype=object)
    except Exception:  # of a user's own class, or of numpy
        return np.array(None)


def _is_number(value: object, whole: bool) -> bool:
    """Return True for a finite number, and if need be a whole one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value) and (not whole or value == math.floor(value))
    except OverflowError:
        return False
