"""Quantities as SimGrid writes them; equal ones, of which platforms are full, are written once."""

from __future__ import annotations

from functools import lru_cache

from simplugin.units import format_bandwidth, format_speed, format_time

speed_text = lru_cache(maxsize=4096)(format_speed)
bandwidth_text = lru_cache(maxsize=4096)(format_bandwidth)
time_text = lru_cache(maxsize=4096)(format_time)


def number_text(value: float) -> str:
    """Return a number without a unit, for instance ``10`` or ``0.5``."""
    return repr(float(value)).removesuffix(".0")
