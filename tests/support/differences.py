"""Comparison of nested values whose numbers may differ in their last bits."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

RELATIVE = 1e-9


def differences(expected: Any, measured: Any, place: str = "") -> Iterator[str]:
    """Yield the differences of two values; numbers may differ by 1e-9 of their size."""
    if isinstance(expected, bool) or isinstance(measured, bool):
        if expected is not measured:
            yield f"{place}: {measured!r} instead of {expected!r}"
    elif isinstance(expected, int | float) and isinstance(measured, int | float):
        if not math.isclose(expected, measured, rel_tol=RELATIVE, abs_tol=1e-12):
            yield f"{place}: {measured!r} instead of {expected!r}"
    elif isinstance(expected, Mapping) and isinstance(measured, Mapping):
        for key in sorted({*expected, *measured}, key=repr):
            if key not in expected or key not in measured:
                yield f"{place}[{key!r}] is on one side only"
            else:
                yield from differences(expected[key], measured[key], f"{place}[{key!r}]")
    elif isinstance(expected, list | tuple) and isinstance(measured, list | tuple):
        if len(expected) != len(measured):
            yield f"{place}: {measured!r} instead of {expected!r}"
        else:
            for index, pair in enumerate(zip(expected, measured, strict=True)):
                yield from differences(*pair, f"{place}[{index}]")
    elif expected != measured:
        yield f"{place}: {measured!r} instead of {expected!r}"
