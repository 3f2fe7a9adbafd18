"""SimGrid's options and plug-ins, and those that are refused."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from importlib import resources
from typing import Any

from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms.validation import WARNING, PlatformProblem, simgrid_number

_TABLE = resources.files("simplugin.formats") / "simgrid_options.toml"
_CONTENT: dict[str, dict[str, Any]] = tomllib.loads(_TABLE.read_text("utf-8"))
_CHOICES: dict[str, list[str]] = _CONTENT["choices"]
_VALUES: dict[str, list[str]] = _CONTENT["values"]
OPTIONS = frozenset(_CHOICES).union(*_VALUES.values())
"""Names of SimGrid's options."""

ALIASES: dict[str, str] = _CONTENT["aliases"]
"""Old names of options that SimGrid 4.1 still takes, and today's."""

GOVERNORS = tuple(_CHOICES["plugin/dvfs/governor"])
"""Governors of the plug-in host_dvfs in a SimGrid without SMPI."""

PLUGINS: dict[str, str] = _CONTENT["plugins"]
"""SimGrid's plug-ins; why each is refused, empty for those that work."""

_FACTOR_STEP = re.compile(r"\d+:([-+.\deE]+)")


def is_factor(option: str, text: str) -> bool:
    """Return True if a text is a factor of bandwidths or latencies, or such by message size."""
    steps = [text] if ":" not in text else []
    for step in text.split(";") if not steps else ():
        found = _FACTOR_STEP.fullmatch(step)
        steps.append(found[1] if found else "")
    factors = [simgrid_number(step) for step in steps]
    no_delay = option == "network/latency-factor"
    return all(0 < each < math.inf or (no_delay and each == 0) for each in factors)


# The remedy and the check of each kind of values but texts.
_CHECKS: dict[str, tuple[str, Callable[[str], object]]] = {
    "truths": (
        "write yes or no",
        re.compile("yes|on|true|1|no|off|false|0", re.IGNORECASE).fullmatch,
    ),
    "whole_numbers": (
        "give a whole number",
        re.compile(r"[+-]?(0x[\da-f]{1,7}|\d{1,9})", re.ASCII | re.IGNORECASE).fullmatch,
    ),
    "positive_numbers": (
        "give a number above 0, without a unit",
        lambda text: 0 < simgrid_number(text) < math.inf,
    ),
    "numbers_from_0": (
        "give a number of 0 or more, without a unit",
        lambda text: 0 <= simgrid_number(text) < math.inf,
    ),
    "bandwidth_factors": (
        "give a number above 0, or factors by size such as '65472:0.94;0:0.81'",
        partial(is_factor, "network/bandwidth-factor"),
    ),
    "latency_factors": (
        "give a number of 0 or more, or factors by size such as '65472:11.6;0:8.9'",
        partial(is_factor, "network/latency-factor"),
    ),
}


def option_refusal(option: str, value: str = "") -> str:
    """Return why a simulation refuses one of SimGrid's options or plug-ins.

    Parameters
    ----------
    option : str
        Name of the option.
    value : str
        Its value, which matters for ``plugin`` only.

    Returns
    -------
    str
        The reason; empty if the option works on both back ends.
    """
    if option == "plugin" and value:
        known = ", ".join(name for name, why in PLUGINS.items() if not why)
        return PLUGINS.get(value, f"SimGrid has no such plug-in; choose among {known}")
    refused = _CONTENT["refused"].items()
    reasons = (why for name, why in refused if f"{option}/".startswith(f"{name}/"))
    return next(reasons, "")


def refused_options() -> list[str]:
    """Return the names of all options that a simulation refuses, sorted."""
    return sorted(option for option in OPTIONS if option_refusal(option))


def is_ignored(option: str) -> bool:
    """Return True for an option of SMPI, which concerns no actor; SimGrid is built without it."""
    return option.startswith("smpi/") and option not in ALIASES


def option_problems(
    options: Sequence[tuple[int, str, str]],
) -> Iterator[tuple[int, PlatformProblem]]:
    """Yield errors and warnings about the options that a platform file sets.

    Parameters
    ----------
    options : sequence of (int, str, str)
        Line, name and value of each.

    Yields
    ------
    (int, PlatformProblem)
        The line, and an error for an option that is refused, a warning for one that is ignored.
    """
    # A plug-in may bring options of its own.
    known = OPTIONS if all(option != "plugin" for _, option, _ in options) else None
    taken: set[str] = set()
    for line, given, value in options:
        option = ALIASES.get(given, given)
        if option in taken:  # SimGrid keeps the first
            continue
        taken.add(option)
        if option != given:
            message = f"option {given!r} is called {option!r} today"
            yield line, PlatformProblem(message, "rename it", None, WARNING)
        elif is_ignored(option):
            message = f"option {option!r} concerns SMPI only and is ignored"
            yield line, PlatformProblem(message, "remove it", None, WARNING)
            continue
        for message, remedy in _faults(option, value.rstrip(" \t\n"), known):
            yield line, PlatformProblem(message, remedy)


def _faults(option: str, value: str, known: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Yield message and remedy for an option that a simulation refuses."""
    why = option_refusal(option, value)
    if known is not None and option not in known:
        # Options were once spelt with underscores. Advice to set another one would change results.
        near = get_close_matches(option.replace("_", "-"), known, 1, 0.8)
        yield f"SimGrid has no option {option!r}", f"write {near[0]!r}" if near else "remove it"
    elif why:
        refused = f"plug-in {value!r}" if option == "plugin" else f"option {option!r}"
        yield f"{refused} is refused: {why}", "remove it"
    elif re.search(r"[ \t\n,]", value):
        message = f"option {option!r} is {value!r}: SimGrid takes what follows for another option"
        yield (
            message,
            "give a value without blanks and commas, each plug-in in a <config> of its own",
        )
    elif option in _CHOICES and value not in _CHOICES[option]:
        every = f"write {' or '.join(_CHOICES[option])}"
        yield f"option {option!r} is {value!r}", did_you_mean(value, _CHOICES[option]) or every
    else:
        for kind, (remedy, fits) in _CHECKS.items():
            if option in _VALUES[kind] and not fits(value):
                yield f"option {option!r} is {value!r}", remedy
