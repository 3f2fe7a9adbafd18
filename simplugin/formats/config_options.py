"""SimGrid's options and plug-ins, and those that are refused."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import get_close_matches
from functools import partial

from simplugin.core.name_suggestions import did_you_mean
from simplugin.platforms.validation import WARNING, PlatformProblem

GOVERNORS = ("performance", "powersave", "ondemand", "conservative")
"""Governors of the plug-in host_dvfs in a SimGrid without SMPI."""

ALIASES = {
    "maxmin/precision": "precision/work-amount",
    "model-check/soft-timeout": "model-check/timeout-soft",
    "smpi/bw-factor": "network/bandwidth-factor",
    "smpi/lat-factor": "network/latency-factor",
    "surf/precision": "precision/timing",
}
"""Old names of options that SimGrid 4.1 still takes, and today's."""

_SOLVERS = ("maxmin", "fairbottleneck", "bmf")
_CHOICES = {
    "cpu/model": ("Cas01",),
    "cpu/optim": ("Lazy", "TI", "Full"),
    "cpu/solver": _SOLVERS,
    "contexts/synchro": ("futex", "posix", "busy_wait"),
    "disk/model": ("S19",),
    "disk/solver": _SOLVERS,
    "host/solver": ("fairbottleneck", "bmf"),  # those of parallel tasks
    "network/optim": ("Lazy", "Full"),
    "network/solver": _SOLVERS,
    "network/model": ("raw", "LV08", "CM02", "SMPI", "Constant"),
    "host/model": ("default", "ptask_L07"),
    "plugin/dvfs/governor": GOVERNORS,
}
_FACTOR_STEP = re.compile(r"\d+:([-+.\deE]+)")


def _number(text: str) -> float:
    """Return the number that SimGrid reads; NaN for another text, or one that is denormalised."""
    try:
        number = float(text) if "_" not in text and text[-1:].strip() else math.nan
    except ValueError:
        return math.nan
    return number if number == 0 or abs(number) >= sys.float_info.min else math.nan


def is_factor(option: str, text: str) -> bool:
    """Return True if a text is a factor of bandwidths or latencies, or such by message size."""
    steps = [text] if ":" not in text else []
    for step in text.split(";") if not steps else ():
        found = _FACTOR_STEP.fullmatch(step)
        steps.append(found[1] if found else "")
    factors = [_number(step) for step in steps]
    no_delay = option == "network/latency-factor"
    return all(0 < each < math.inf or (no_delay and each == 0) for each in factors)


# Valid values of the other options: the remedy, a check, and the options, as SimGrid
# 4.1 lists them when it is built without SMPI and the model checker, and network/incremental, which
# the plug-in adds.
_VALUES: tuple[tuple[str, Callable[[str], object], str], ...] = (
    (
        "write yes or no",
        re.compile("yes|on|true|1|no|off|false|0", re.IGNORECASE).fullmatch,
        "cmonkey/tell cpu/maxmin-selective-update debug/clean-atexit debug/fullstack "
        "debug/lmm-leaks debug/verbose-exit exception/cutpath help-nostop "
        "model-check/communications-determinism model-check/debug model-check/debug-optimality "
        "model-check/no-fork model-check/output-lts model-check/search-critical "
        "model-check/send-determinism model-check/timeout network/crosstraffic "
        "network/incremental network/maxmin-selective-update tracing tracing/actor tracing/basic "
        "tracing/categorized tracing/disable-destroy tracing/disable_link tracing/disable_power "
        "tracing/platform tracing/platform/topology tracing/smpi tracing/smpi/computing "
        "tracing/smpi/display-sizes tracing/smpi/format/ti-one-file tracing/smpi/group "
        "tracing/smpi/internals tracing/smpi/sleeping tracing/uncategorized tracing/vm",
    ),
    (
        "give a whole number",
        re.compile(r"[+-]?(0x[\da-f]{1,7}|\d{1,9})", re.ASCII | re.IGNORECASE).fullmatch,
        "cmonkey/host cmonkey/link cmonkey/pid contexts/guard-size contexts/nthreads "
        "contexts/stack-size maxmin/concurrency-limit model-check/befs-threshold "
        "model-check/cached-states-interval model-check/k-alternatives model-check/max-depth "
        "model-check/max-errors model-check/parallel-thread model-check/rand-seed "
        "model-check/timeout-soft plugin/dvfs/max-pstate plugin/dvfs/min-pstate tracing/precision",
    ),
    (
        "give a number above 0, without a unit",
        lambda text: 0 < _number(text) < math.inf,
        "network/loopback-bw plugin/dvfs/sampling-rate precision/timing precision/work-amount",
    ),
    (
        "give a number of 0 or more, without a unit",
        lambda text: 0 <= _number(text) < math.inf,
        "cmonkey/time debug/breakpoint network/TCP-gamma network/loopback-lat network/weight-S",
    ),
    (
        "give a number above 0, or factors by size such as '65472:0.94;0:0.81'",
        partial(is_factor, "network/bandwidth-factor"),
        "network/bandwidth-factor",
    ),
    (
        "give a number of 0 or more, or factors by size such as '65472:11.6;0:8.9'",
        partial(is_factor, "network/latency-factor"),
        "network/latency-factor",
    ),
    (
        "",
        bool,
        "contexts/factory model-check/exploration-algo model-check/reduction model-check/replay "
        "model-check/strategy path plugin smpi/IB-penalty-factors smpi/buffering tracing/comment "
        "tracing/comment-file tracing/filename tracing/smpi/format",
    ),
)
OPTIONS = frozenset(_CHOICES).union(*(names.split() for _, _, names in _VALUES))
"""Names of SimGrid's options."""

_NOT_BY_NAME = "SimGrid 4.1 cannot start it by its name (bad_function_call), only a C++ program can"
PLUGINS = {
    "battery": _NOT_BY_NAME,
    "chiller": _NOT_BY_NAME,
    "cmonkey": "",
    "host_dvfs": "",
    "host_energy": "",
    "host_load": "",
    "link_energy": "",
    "link_energy_wifi": "",
    "link_load": "",
    "solar_panel": _NOT_BY_NAME,
    "task": _NOT_BY_NAME,
    "vm_load": "neither platform files nor actors make virtual machines",
}
"""SimGrid's plug-ins; why each is refused, empty for those that work."""

_NO_SMPI = "SimGrid is built without SMPI here"
_IN_TURN = "actors of a simulation run one after the other, in the simulation's only thread"
_REFUSED = {
    "cmonkey/pid": "SimGrid numbers other processes than the simulation's actors",
    "cmonkey/tell": "it counts SimGrid's own processes and steps, which the back ends do not share",
    "contexts/factory": "each back end needs its own; SimGrid's Python bindings die with another",
    "contexts/nthreads": _IN_TURN,
    "contexts/synchro": _IN_TURN,
    "debug/breakpoint": "it ends the process unless a debugger is attached",
    "model-check": "SimGrid is built without its model checker here, which needs a C++ program",
    "smpi": _NO_SMPI,
    "tracing/actor": "the actors of the back end coroutines are none of SimGrid's; "
    "the result's trace has them",
    "tracing/smpi": _NO_SMPI,
    "tracing/vm": "SimGrid 4.1 then refuses every platform ('container already present')",
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
    reasons = (why for name, why in _REFUSED.items() if f"{option}/".startswith(f"{name}/"))
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
        for remedy, fits, names in _VALUES:
            if remedy and option in names.split() and not fits(value):
                yield f"option {option!r} is {value!r}", remedy
