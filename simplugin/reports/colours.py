"""Colour-blind-safe colours of activities and groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import natural_order
from simplugin.simulation import Result
from simplugin.simulation.trace import KINDS

# The palette of Okabe and Ito without black, a paler yellow last.
PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#5d5d5d", "#f0e442",
)  # fmt: skip
# Colours of groups: eight more follow.
GROUP_COLOURS = (
    *PALETTE, "#882255", "#999933", "#332288", "#a5d8a0", "#8c564b", "#ffb3a7", "#00334d",
    "#c5b0d5",
)  # fmt: skip
_NAMELESS = "#8c8c8c"
_WORK = [KINDS.index("exec"), KINDS.index("ptask")]


@dataclass(frozen=True)
class Colouring:
    """Colours of activities.

    Attributes
    ----------
    of_activity : str, shape (n,)
        Colour of each activity of the trace, ``#rrggbb``.
    legend : dict of str to str
        Name to colour; empty where there are more names than colours.
    """

    of_activity: NDArray[np.str_]
    legend: dict[str, str]


def colouring(
    result: Result, by: Literal["auto", "label", "actor", "host"], groups: Sequence[str] = ()
) -> Colouring:
    """Assign a colour to each execution.

    Parameters
    ----------
    result : Result
        With its trace.
    by : {"auto", "label", "actor", "host"}
        Meaning of a colour. "auto" takes labels if executions have from one to eight of
        them, else names of actors, if they are several.
    groups : sequence of str
        Names of the first colours.
    """
    if by not in ("auto", "label", "actor", "host"):
        raise SimpluginError(f"colour is {by!r}; choose 'auto', 'label', 'actor' or 'host'")
    trace = result.trace
    work = np.isin(trace.kind_code, _WORK)
    if by == "auto":
        labels = set(np.unique(trace.label_code[work]).tolist()) - {-1}
        actors = {trace.actor_names[code] for code in np.unique(trace.actor_code[work]).tolist()}
        by = meaning_of_colours(len(labels), len(actors))
    if by == "label":
        return _coloured(trace.label_code, (*trace.label_names, ""), work, groups)
    if by == "actor":
        return _coloured(trace.actor_code, trace.actor_names, work, groups)
    hosts = (*groups, *sorted(result.hosts.name, key=natural_order))
    return _coloured(trace.resource_code, trace.resource_names, work, hosts)


def meaning_of_colours(labels: int, actors: int) -> Literal["label", "actor"]:
    """Return the usual meaning of the colours of executions.

    Parameters
    ----------
    labels, actors : int
        Number of distinct labels, empty ones left out, and of names of actors.
    """
    several = 1 < actors <= len(PALETTE)
    return "label" if 1 <= labels <= len(PALETTE) or (labels and not several) else "actor"


def _coloured(
    codes: NDArray[np.int32], names: Sequence[str], work: NDArray[np.bool_], groups: Sequence[str]
) -> Colouring:
    """Assign colours to names in the order of `in_colour_order`; nameless ones are grey."""
    used = np.unique(codes[work]).tolist()
    number = {name: at for at, name in enumerate(in_colour_order([names[c] for c in used], groups))}
    palette = [group_colour(number[name]) if name in number else _NAMELESS for name in names]
    shown = {names[code] for code in used}
    legend = {name: group_colour(at) for name, at in number.items() if name in shown}
    many = len(legend) > len(PALETTE)
    if legend and "" in shown:
        legend["(none)"] = _NAMELESS
    return Colouring(np.array([*palette, _NAMELESS])[codes], {} if many else legend)


def in_colour_order(names: Iterable[str], groups: Sequence[str] = ()) -> list[str]:
    """Return distinct names in the order of their colours, the same in every chart.

    Parameters
    ----------
    names : iterable of str
        Those of executions; empty ones are left out.
    groups : sequence of str
        Names that come first, in this order, such as all applications of a run. The others follow
        in natural order.
    """
    return [*dict.fromkeys([*groups, *sorted(filter(None, set(names)), key=natural_order)])]


def group_colour(number: int) -> str:
    """Return the colour of a group that is known by its number, the same in every chart.

    After those of `PALETTE` come eight more, then the first again.
    """
    return GROUP_COLOURS[number % len(GROUP_COLOURS)]


def reads_dark(colour: str) -> bool:
    """Return True if black is more legible than white on a colour ``#rrggbb``."""
    red, green, blue = components(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140


def mixed(one: str, other: str, share: float) -> str:
    """Return a colour between two colours ``#rrggbb``: the first if the share of the other is 0."""
    parts = zip(components(one), components(other), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in parts)


def components(colour: str) -> tuple[int, ...]:
    """Return red, green and blue of a colour ``#rrggbb``, from 0 to 255."""
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
