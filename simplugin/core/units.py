"""Quantities with units, as SimGrid reads them: "125MBps" <-> 1.25e8.

Reading follows SimGrid 4.1 to the bit, in values and errors (its
``src/xbt/xbt_parse_units.cpp``), except that not-a-number is refused; a number without a unit is
taken in the SI unit, as is a value that is a number already. Writing gives the shortest text that
reads back as the same float.
"""

from __future__ import annotations

import math
import re
import reprlib
import sys
from collections.abc import Mapping
from numbers import Real

from simplugin.core.errors import UnitError

_DECIMAL = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_DECIMAL_WORDS = ("kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta")
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")


def _scaled(unit: str, value: float, prefixes: tuple[str, ...], step: float) -> dict[str, float]:
    """Return a unit and its multiples, by repeated multiplication as SimGrid computes them."""
    scale = {unit: value}
    for prefix in prefixes:
        value *= step
        scale[prefix + unit] = value
    return scale


_FLOPS = _scaled("f", 1.0, _DECIMAL, 1000.0)
_SPEEDS = _FLOPS | _scaled("flops", 1.0, _DECIMAL_WORDS, 1000.0)
_BYTES = _scaled("B", 1.0, _DECIMAL, 1000.0)
_BINARY_BYTES = _scaled("B", 1.0, _BINARY, 1024.0)
_SIZES = (
    _BYTES
    | _BINARY_BYTES
    | _scaled("b", 0.125, _DECIMAL, 1000.0)
    | _scaled("b", 0.125, _BINARY, 1024.0)
)
_BANDWIDTHS = {f"{unit}ps": value for unit, value in _SIZES.items()}
_SUBSECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Each begins with its unit.
_TIME_WORDS = ("weeks", "days", "hours", "minutes", "seconds")
_TIMES = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, **_SUBSECONDS}

# What C's strtod takes as a number; SimGrid calls it.
_NUMBER = re.compile(
    r"""[ \t\n\v\f\r]*
    (?P<number>[+-]?(?:
        (?P<hexadecimal>(?i:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?))
      | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?
      | (?i:inf(?:inity)?)
    ))(?P<unit>.*)""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def parse_speed(text: str | float) -> float:
    """Read a computing speed [flop/s], for instance ``98.095Mf`` or ``2gigaflops``.

    Raises
    ------
    UnitError
        It is no number, out of range, or of an unknown unit. The other parsers do the same.
    """
    return _parse(text, _SPEEDS, "speed", "f", "1.5Gf")


def parse_work(text: str | float) -> float:
    """Read an amount of computation [flop]; SimGrid writes it as it writes speeds."""
    return _parse(text, _SPEEDS, "amount of computation", "f", "1.5Gf")


def parse_speeds(text: str) -> list[float]:
    """Read a comma-separated list of speeds [flop/s], one for each performance state."""
    return [parse_speed(part.strip()) for part in text.split(",")]


def parse_bandwidth(text: str | float) -> float:
    """Read a bandwidth [byte/s], for instance ``125MBps``, ``1Gbps`` or ``64KiBps``."""
    return _parse(text, _BANDWIDTHS, "bandwidth", "Bps", "125MBps")


def parse_bandwidths(text: str) -> list[float]:
    """Read a list of bandwidths [byte/s] separated by commas or semicolons."""
    return [parse_bandwidth(part) for part in re.split("[;,]", text)]


def parse_size(text: str | float) -> float:
    """Read an amount of data [byte], for instance ``4MiB``, ``1kB`` or ``64b`` (bits)."""
    return _parse(text, _SIZES, "size", "B", "4MiB")


def parse_time(text: str | float) -> float:
    """Read a duration [s], for instance ``59.904us``, ``2h`` or ``1w``."""
    return _parse(text, _TIMES, "time", "s", "50us")


def has_unit(text: str) -> bool:
    """Return True if a text that one of the parsers reads names its unit."""
    match = _NUMBER.fullmatch(text)
    return match is not None and match["unit"] != ""


def format_speed(value: float) -> str:
    """Write a computing speed [flop/s], for instance ``98.095Mf``.

    Raises
    ------
    UnitError
        It is not finite. The other formatters do the same.
    """
    return _format(value, _FLOPS, "f")


def format_bandwidth(value: float) -> str:
    """Write a bandwidth [byte/s], for instance ``125MBps``."""
    return _format(value, {f"{unit}ps": scale for unit, scale in _BYTES.items()}, "Bps")


def format_size(value: float) -> str:
    """Write an amount of data [byte], in powers of 1024 where that is shorter: ``4MiB``."""
    return _format(value, _BYTES | _BINARY_BYTES, "B")


def format_time(value: float) -> str:
    """Write a duration [s], for instance ``50us``; never in minutes, hours, days or weeks."""
    return _format(value, _SUBSECONDS, "s")


def _parse(
    text: object, units: Mapping[str, float], kind: str, default: str, example: str
) -> float:
    """Read a number followed by one of the units; return a number unchanged."""
    match = _NUMBER.match(text) if isinstance(text, str) else None
    if match is None:
        if isinstance(text, int | float | Real) and text is not True and text is not False:
            return text  # type: ignore[return-value]  # of numpy
        message = f"{kind} {reprlib.repr(text)} is not a number with a unit"
        raise UnitError(message, f"write e.g. {example!r}")
    digits, hexadecimal, unit = match.group("number", "hexadecimal", "unit")
    number = _number(digits.lower(), hexadecimal is not None)
    if number is None:
        message = f"{kind} {text!r} is out of the range of floating-point numbers"
        raise UnitError(message, f"write e.g. {example!r}")
    unit = unit or default
    if unit not in units:
        message = f"{kind} {text!r} has the unknown unit {unit!r}{_nearest(unit, units)}"
        raise UnitError(message, f"write e.g. {example!r}")
    return number * units[unit]


def _number(digits: str, hexadecimal: bool) -> float | None:
    """Return what strtod makes of the number; None where that is ERANGE."""
    try:
        value = float.fromhex(digits) if hexadecimal else float(digits)
    except OverflowError:
        return None
    if sys.float_info.min <= abs(value) < math.inf:
        return value
    if math.isinf(value):
        return value if "inf" in digits else None
    mantissa = digits.partition("p" if hexadecimal else "e")[0]
    return None if re.search("[1-9a-f]", mantissa) else value


def _nearest(unit: str, units: Mapping[str, float]) -> str:
    """Point out a unit that differs only in spaces or case, or is a word of time cut short."""
    plain = unit.strip().lower()
    similar = [known for known in units if known.lower() == plain]
    if units is _TIMES and plain.strip("s") and not similar:
        words = (word for word in _TIME_WORDS if word.startswith(plain.removesuffix("s")))
        similar = [word[0] for word in words]
    return f" (did you mean {' or '.join(map(repr, similar))}?)" if similar else ""


def _format(value: float, units: Mapping[str, float], plain: str) -> str:
    """Return the shortest text in one of the units that reads back as the same float.

    Ties go to the last unit, the largest.
    """
    if not math.isfinite(value):
        raise UnitError(f"{value} cannot be written with the unit {plain!r}")
    best = _digits(value) + plain
    for unit, scale in units.items():
        quotient = value / scale
        if 0 < abs(quotient) < sys.float_info.min:
            continue  # not to be read back
        # It is rounded: the intended number can be shorter and need not multiply back exactly.
        for number in (float(f"{quotient:.15g}"), quotient):
            if number * scale == value:
                best = min(_digits(number) + unit, best, key=_length)
    return best


def _digits(value: float) -> str:
    """Return the shortest digits of a float."""
    return repr(float(value)).removesuffix(".0")


def _length(text: str) -> int:
    """Return the length of a text without its decimal point."""
    return len(text.replace(".", ""))
