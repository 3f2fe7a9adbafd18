"""Numbers formatted for tables and axes."""

from __future__ import annotations

import math
import re

PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
# Larger numbers are written with an exponent.
_MOST_GROUPED = 1e15
SYMBOLS = {"byte": "B", "byte/s": "B/s"}
SCALED = ("flop", "flop/s", "byte", "byte/s", "J")


def scale_of(value: float) -> tuple[float, str]:
    """Return the decimal factor below a value and its prefix, such as ``(1e6, "M")``."""
    for factor, prefix in PREFIXES:
        if abs(value) >= factor:
            return factor, prefix
    return 1.0, ""


def readable(value: float | int | str | None, unit: str = "") -> str:
    """Write a value with four digits and a prefix of its unit: ``1.25 GB``.

    Times and counts have no prefix; a missing value is a dash. From 1e15 on: ``1.25e+20 s``.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not unit:
        return f"{value:,}".replace(",", "\u202f")
    symbol = SYMBOLS.get(unit, unit)
    factor, prefix = scale_of(value) if unit in SCALED else (1.0, "")
    scaled = value / factor
    grouped = 1e4 <= abs(scaled) < _MOST_GROUPED
    digits = f"{scaled:,.0f}".replace(",", "\u202f") if grouped else f"{scaled:.4g}"
    return f"{digits} {prefix}{symbol}".rstrip()


def percent(value: float | None) -> str:
    """Write a ratio in percent."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{100 * value:z.1f} %"


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in names by their value: h2 before h10."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
