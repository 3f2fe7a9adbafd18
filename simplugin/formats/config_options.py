"""SimGrid options that a platform file may set."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# As SimGrid 4.1 lists them when it is built without SMPI and the model checker.
_OPTIONS = {
    "cmonkey": "host link pid tell time",
    "contexts": "factory guard-size nthreads stack-size synchro",
    "cpu": "maxmin-selective-update model optim solver",
    "debug": "breakpoint clean-atexit fullstack lmm-leaks verbose-exit",
    "disk": "model solver",
    "exception": "cutpath",
    "host": "model solver",
    "maxmin": "concurrency-limit",
    "model-check": "befs-threshold cached-states-interval communications-determinism debug "
    "debug-optimality exploration-algo k-alternatives max-depth max-errors no-fork output-lts "
    "parallel-thread rand-seed reduction replay search-critical send-determinism strategy timeout "
    "timeout-soft",
    "network": "TCP-gamma bandwidth-factor crosstraffic latency-factor loopback-bw loopback-lat "
    "maxmin-selective-update model optim solver weight-S",
    "plugin": "dvfs/governor dvfs/max-pstate dvfs/min-pstate dvfs/sampling-rate",
    "precision": "timing work-amount",
    "smpi": "IB-penalty-factors buffering",
    "tracing": "actor basic categorized comment comment-file disable-destroy disable_link "
    "disable_power filename platform platform/topology precision smpi smpi/computing "
    "smpi/display-sizes smpi/format smpi/format/ti-one-file smpi/group smpi/internals "
    "smpi/sleeping uncategorized vm",
}
_KNOWN = {"help-nostop", "path", "plugin", "tracing"} | {
    f"{section}/{name}" for section, names in _OPTIONS.items() for name in names.split()
}
_SOLVERS = ("maxmin", "fairbottleneck", "bmf")
_CHOICES = {
    "cpu/model": ("Cas01",),
    "cpu/optim": ("Lazy", "TI", "Full"),
    "cpu/solver": _SOLVERS,
    "contexts/synchro": ("futex", "posix", "busy_wait"),
    "disk/model": ("S19",),
    "disk/solver": _SOLVERS,
    "host/solver": _SOLVERS,
    "network/optim": ("Lazy", "Full"),
    "network/solver": _SOLVERS,
    "network/model": ("raw", "LV08", "CM02", "SMPI", "Constant"),
    "host/model": ("default", "compound", "ptask_L07"),
}
_SWITCHES = {
    "cpu/maxmin-selective-update",
    "exception/cutpath",
    "network/crosstraffic",
    "network/maxmin-selective-update",
    "tracing",
    "tracing/actor",
    "tracing/basic",
    "tracing/categorized",
    "tracing/disable-destroy",
    "tracing/disable_link",
    "tracing/disable_power",
    "tracing/platform",
    "tracing/platform/topology",
    "tracing/uncategorized",
    "tracing/vm",
}
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,10}", re.ASCII)
_SWITCH_WORDS = {"yes", "on", "true", "1", "no", "off", "false", "0"}
_WHOLE_NUMBERS = {
    "contexts/guard-size",
    "contexts/nthreads",
    "contexts/stack-size",
    "maxmin/concurrency-limit",
    "tracing/precision",
}
_NUMBERS = {
    "network/TCP-gamma",
    "network/loopback-bw",
    "network/loopback-lat",
    "network/weight-S",
    "precision/timing",
    "precision/work-amount",
}


def option_problems(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Say which options SimGrid would refuse.

    Parameters
    ----------
    options : mapping of str to str
        Option to value.

    Returns
    -------
    list of (message, remedy)
        One for each unknown option and each value out of place.
    """
    problems = []
    for option, value in options.items():
        # A plug-in may bring options of its own.
        if option not in _KNOWN and "plugin" not in options:
            near = sorted(
                name for name in _KNOWN if name.partition("/")[0] == option.partition("/")[0]
            )
            remedy = f"choose among {', '.join(near)}" if near else "remove it"
            problems.append((f"SimGrid has no option {option!r}", remedy))
        else:
            remedy = _value_remedy(option, value)
            if remedy:
                problems.append((f"option {option!r} is {value!r}", remedy))
    return problems


def _value_remedy(option: str, value: str) -> str:
    """Say what to write instead of a value that SimGrid would refuse; empty if it is right."""
    choices = _CHOICES.get(option)
    if choices is not None and value not in choices:
        return f"choose among {', '.join(choices)}" if len(choices) > 1 else f"write {choices[0]}"
    if option in _SWITCHES and value.lower() not in _SWITCH_WORDS:
        return "write yes or no"
    if option in _WHOLE_NUMBERS and _WHOLE_NUMBER.fullmatch(value) is None:
        return "give a whole number"
    if option in _NUMBERS and not _is_number(value):
        return "give a number without a unit"
    return ""


def _is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
