"""SimGrid's options and plug-ins: what there is, and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

# As SimGrid 4.1 lists them when it is built without SMPI and the model checker, and
# network/incremental, which the plug-in adds.
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
    "network": "TCP-gamma bandwidth-factor crosstraffic incremental latency-factor loopback-bw "
    "loopback-lat maxmin-selective-update model optim solver weight-S",
    "plugin": "dvfs/governor dvfs/max-pstate dvfs/min-pstate dvfs/sampling-rate",
    "precision": "timing work-amount",
    "smpi": "IB-penalty-factors buffering",
    "tracing": "actor basic categorized comment comment-file disable-destroy disable_link "
    "disable_power filename platform platform/topology precision smpi smpi/computing "
    "smpi/display-sizes smpi/format smpi/format/ti-one-file smpi/group smpi/internals "
    "smpi/sleeping uncategorized vm",
}
OPTIONS = frozenset({"help-nostop", "path", "plugin", "tracing"}) | {
    f"{section}/{name}" for section, names in _OPTIONS.items() for name in names.split()
}
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

GOVERNORS = ("performance", "powersave", "ondemand", "conservative")
"""Governors of the plug-in host_dvfs in a SimGrid without SMPI."""

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
    "plugin/dvfs/governor": GOVERNORS,
}


def _is_number(text: str) -> bool:
    """Return True if a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# What the values of other options have to be: the remedy, a check, and the options.
_VALUES: tuple[tuple[str, Callable[[str], object], str], ...] = (
    (
        "write yes or no",
        re.compile("yes|on|true|1|no|off|false|0", re.IGNORECASE).fullmatch,
        "cpu/maxmin-selective-update exception/cutpath network/crosstraffic "
        "network/maxmin-selective-update tracing tracing/actor tracing/basic tracing/categorized "
        "tracing/disable-destroy tracing/disable_link tracing/disable_power tracing/platform "
        "tracing/platform/topology tracing/uncategorized tracing/vm",
    ),
    (
        "give a whole number",
        re.compile(r"[+-]?\d{1,10}", re.ASCII).fullmatch,
        "contexts/guard-size contexts/nthreads contexts/stack-size maxmin/concurrency-limit "
        "tracing/precision",
    ),
    (
        "give a number without a unit",
        _is_number,
        "network/TCP-gamma network/loopback-bw network/loopback-lat network/weight-S "
        "precision/timing precision/work-amount",
    ),
)


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


def option_problems(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the options that SimGrid would refuse.

    Parameters
    ----------
    options : mapping of str to str
        Option to value.

    Returns
    -------
    list of (message, remedy)
        One for each unknown or refused option and each value out of place.
    """
    problems = []
    for option, value in options.items():
        why = option_refusal(option, value)
        # A plug-in may bring options of its own.
        if option not in OPTIONS and "plugin" not in options:
            near = sorted(
                name for name in OPTIONS if name.partition("/")[0] == option.partition("/")[0]
            )
            remedy = f"choose among {', '.join(near)}" if near else "remove it"
            problems.append((f"SimGrid has no option {option!r}", remedy))
        elif why:
            refused = f"plug-in {value!r}" if option == "plugin" else f"option {option!r}"
            problems.append((f"{refused} is refused: {why}", "remove it"))
        else:
            choices = _CHOICES.get(option, (value,))
            remedies = [
                remedy
                for remedy, fits, options in _VALUES
                if option in options.split() and not fits(value)
            ]
            if value not in choices:
                several = f"choose among {', '.join(choices)}"
                remedies = [several if len(choices) > 1 else f"write {choices[0]}"]
            problems += [(f"option {option!r} is {value!r}", remedy) for remedy in remedies]
    return problems
