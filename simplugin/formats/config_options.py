"""SimGrid options that a platform file may set."""

from __future__ import annotations

import math
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
_CHOICES = {
    "network/model": ("raw", "LV08", "CM02", "SMPI", "Constant"),
    "host/model": ("default", "compound", "ptask_L07"),
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
        choices = _CHOICES.get(option)
        # A plug-in may bring options of its own.
        if option not in _KNOWN and "plugin" not in options:
            near = sorted(
                name for name in _KNOWN if name.partition("/")[0] == option.partition("/")[0]
            )
            remedy = f"choose among {', '.join(near)}" if near else "remove it"
            problems.append((f"SimGrid has no option {option!r}", remedy))
        elif choices is not None and value not in choices:
            problems.append(
                (f"option {option!r} is {value!r}", f"choose among {', '.join(choices)}")
            )
        elif option in _NUMBERS and not _is_number(value):
            problems.append((f"option {option!r} is {value!r}", "give a number without a unit"))
    return problems


def _is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
