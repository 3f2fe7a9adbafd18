"""Numbers formatted for tables and axes, tables for notebooks, and texts for terminals."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any, TextIO

PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
# Larger numbers are written with an exponent.
_MOST_GROUPED = 1e15
# Letters of a text in a table for notebooks.
_LONGEST = 200
# Control characters, marks and overrides of the direction, separators of lines that no line break
# shows, halves of surrogate pairs, and noncharacters.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
SYMBOLS = {"byte": "B", "byte/s": "B/s"}
SCALED = ("flop", "flop/s", "byte", "byte/s", "J")


def scale_of(value: float) -> tuple[float, str]:
    """Return the decimal factor below a value and its prefix, such as ``(1e6, "M")``."""
    for factor, prefix in PREFIXES:
        if abs(value) >= factor:
            return factor, prefix
    return 1.0, ""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1: ``1 host``, ``4,000 hosts``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def numbered(names: Iterable[str]) -> list[str]:
    """Return names, with a number for each repeated one: ``x-1``, ``x-2``."""
    every = list(names)
    total, used = Counter(every), Counter[str]()
    for place, name in enumerate(every):
        used[name] += 1
        if total[name] > 1:
            every[place] = f"{name}-{used[name]}"
    return every


def readable(value: float | int | str | None, unit: str = "") -> str:
    """Write a value with four digits and a prefix of its unit: ``1.25 GB``.

    Times and counts get no prefix; a missing value is a dash. From 1e15 on: ``1.25e+20 s``.
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


def printable(text: str) -> str:
    """Return a text without what would steer a terminal; with escapes instead, as in `repr`."""
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


class EscapingStream:
    """A text stream that makes text `printable`.

    Parameters
    ----------
    stream : text stream
        Where it writes.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        self.stream.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def listed(names: Iterable[str], most: int = 10) -> str:
    """Return names as messages list them, cut where there are many."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in names by their value: h2 before h10."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def html_table(
    columns: Sequence[tuple[str, str]],
    lines: Iterable[Sequence[object]],
    total: int,
    *,
    title: str = "",
    note: str = "",
    most: int = 20,
) -> str:
    """Return a table as HTML, all texts escaped.

    Parameters
    ----------
    columns : sequence of (str, str)
        Name and unit of each; ``%`` for ratios to be shown in percent.
    lines : iterable of sequence
        One value a column. Numbers are written by `readable`, other objects by their `repr`.
    total : int
        Number of lines; those after the first `most` are counted below the table.
    title, note : str
        Above and below it.
    most : int
        Maximum number of lines.
    """
    cells = [
        [_html_text(value, unit) for value, (_, unit) in zip(line, columns, strict=True)]
        for line in islice(lines, most)
    ]
    sides = [
        "left" if any(line[at][1] for line in cells) else "right" for at in range(len(columns))
    ]
    head = _html_line("th", [name for name, _ in columns], sides)
    body = "".join(_html_line("td", [text for text, _ in line], sides) for line in cells)
    named = any(name for name, _ in columns)
    rest = f"and {readable(total - most)} more" if total > most else ""
    below = "; ".join(filter(None, (rest, note)))
    return (
        (f"<p><b>{escape(title)}</b></p>" if title else "")
        + f"<table><thead>{head if named else ''}</thead><tbody>{body}</tbody></table>"
        + (f"<p><small>{escape(below)}</small></p>" if below else "")
    )


def _html_text(value: Any, unit: str) -> tuple[str, bool]:
    """Return a value as text, and True if it is not a number."""
    if hasattr(value, "dtype") and not value.shape:
        value = value.item()  # a number of numpy
    if value is None or (isinstance(value, float | int) and not isinstance(value, bool)):
        return (percent(value) if unit == "%" else readable(value, unit)), False
    text = value if isinstance(value, str) else repr(value)
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."), True


def _html_line(tag: str, texts: Sequence[str], sides: Sequence[str]) -> str:
    """Return a line of a table."""
    cells = (
        f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>'
        for text, side in zip(texts, sides, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"
