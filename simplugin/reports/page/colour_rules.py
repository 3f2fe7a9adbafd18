"""Colours of groups on light and on dark paper, as rules of a style sheet."""

from __future__ import annotations

from itertools import takewhile

from simplugin.reports.colours import PALETTE, group_colour, reads_dark

_LIGHT, _DARK = "#ffffff", "#15181b"
# Contrast that a line needs to be seen on its paper; the palette's brighter colours would be
# other colours with the 3 that texts have, and no line is told by its colour alone.
_LEAST_ON_LIGHT, _LEAST_ON_DARK = 2.0, 3.2
_STEP = 0.05
_DARK_RULES = """\
  --paper: #15181b; --ink: #e4e7ea; --quiet: #99a2ab; --line: #2e3439; --band: #1d2125;
  --accent: #6cbcf0; --good: #4cc79c; --bad: #ff8a80;
  color-scheme: dark;"""


def count_of_colours() -> int:
    """Return after how many groups colours start again."""
    seen = [group_colour(number) for number in range(len(PALETTE))]
    fresh = takewhile(lambda number: group_colour(number) != seen[0], range(1, 100))
    return 1 + len(list(fresh))


def colour_rules() -> str:
    """Return the rules that set ``--c0`` and so on, and what can be read on them, ``--on0``."""
    light = _variables(_LIGHT, "#000000", _LEAST_ON_LIGHT)
    dark = f"{_DARK_RULES}\n{_variables(_DARK, '#ffffff', _LEAST_ON_DARK)}"
    # Paper is light, whatever the screen is.
    return (
        f":root {{\n  color-scheme: light;\n{light}\n}}\n"
        f'@media screen {{\n:root[data-theme="dark"] {{\n{dark}\n}}\n}}\n'
        f"@media screen and (prefers-color-scheme: dark) {{\n"
        f':root[data-theme="auto"] {{\n{dark}\n}}\n}}\n'
    )


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours ``#rrggbb``, from 1 to 21, after WCAG 2.1."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _variables(paper: str, towards: str, least: float) -> str:
    """Set the colours, each as near to the palette's as can be seen on this paper."""
    lines = []
    for number in range(count_of_colours()):
        colour = _visible(group_colour(number), paper, towards, least)
        on = "#000000" if reads_dark(colour) else "#ffffff"
        lines.append(f"  --c{number}: {colour}; --on{number}: {on};")
    return "\n".join(lines)


def _visible(colour: str, paper: str, towards: str, least: float) -> str:
    """Mix a colour with black or white until it stands out from the paper."""
    part, mixed = 0.0, colour
    while contrast(mixed, paper) < least and part < 1:
        part += _STEP
        ends = zip(_parts(colour), _parts(towards), strict=True)
        mixed = "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in ends)
    return mixed


def _parts(colour: str) -> tuple[int, ...]:
    """Return red, green and blue, from 0 to 255."""
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _luminance(colour: str) -> float:
    """Return the relative luminance of sRGB, from 0 to 1."""
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (each / 255 for each in _parts(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
