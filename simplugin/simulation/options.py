"""SimGrid's options as validated fields.

Names and allowed values are those of SimGrid 4.1 (its ``--help`` and "Configuring SimGrid").
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, get_args

from simplugin.errors import SimpluginError
from simplugin.formats.config_options import option_refusal

NetworkModel = Literal["LV08", "CM02", "raw", "SMPI", "Constant"]
HostModel = Literal["default", "ptask_L07"]
CpuModel = Literal["Cas01"]
HostSolver = Literal["fairbottleneck", "bmf"]
CpuOptim = Literal["Lazy", "TI", "Full"]
NetworkOptim = Literal["Lazy", "Full"]

_ITEMS = {
    "network_model": "network/model",
    "host_model": "host/model",
    "cpu_model": "cpu/model",
    "host_solver": "host/solver",
    "bandwidth_factor": "network/bandwidth-factor",
    "latency_factor": "network/latency-factor",
    "tcp_gamma": "network/TCP-gamma",
    "weight_s": "network/weight-S",
    "crosstraffic": "network/crosstraffic",
    "loopback_bandwidth": "network/loopback-bw",
    "loopback_latency": "network/loopback-lat",
    "precision_timing": "precision/timing",
    "precision_work_amount": "precision/work-amount",
    "cpu_optim": "cpu/optim",
    "network_optim": "network/optim",
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "network_model": get_args(NetworkModel),
    "host_model": get_args(HostModel),
    "cpu_model": get_args(CpuModel),
    "host_solver": get_args(HostSolver),
    "cpu_optim": get_args(CpuOptim),
    "network_optim": get_args(NetworkOptim),
}
# Choices of other SimGrid versions or builds, and what to do about them.
_ELSEWHERE = {
    ("network_model", "IB"): "the InfiniBand model only exists in a SimGrid built with SMPI",
    ("network_model", "ns-3"): "the ns-3 model only exists in a SimGrid built with ns-3",
    ("host_model", "compound"): "SimGrid 4 calls it 'default'",
}
_POSITIVE = ("loopback_bandwidth", "precision_timing", "precision_work_amount")
_NOT_NEGATIVE = ("tcp_gamma", "weight_s", "loopback_latency")
_FACTORS = ("bandwidth_factor", "latency_factor")
# One threshold [bytes] and its factor, as in "65472:0.94;15424:0.69;0:0.81".
_FACTOR_STEP = re.compile(r"\d+:[-+.\deE]+")
_EXTRA_NAME = re.compile(r"[A-Za-z][\w-]*(/[\w-]+)*")


@dataclass(frozen=True)
class SimGridOptions:
    """What SimGrid is told on its command line; None leaves SimGrid's own default.

    Parameters
    ----------
    network_model : {"LV08", "CM02", "raw", "SMPI", "Constant"}, optional
        ``network/model``. SimGrid's default is LV08: latencies times 13.01, bandwidths times 0.97,
        sharing weighted by latencies. CM02 has neither factor; raw has no factors, no TCP
        window and no cross-traffic; in Constant every transfer takes one second.
    host_model : {"default", "ptask_L07"}, optional
        ``host/model``. Parallel tasks need ptask_L07, which has its own network and CPU model.
    cpu_model : {"Cas01"}, optional
        ``cpu/model``.
    host_solver : {"fairbottleneck", "bmf"}, optional
        ``host/solver``: how parallel tasks share resources.
    bandwidth_factor, latency_factor : float or str, optional
        ``network/bandwidth-factor`` and ``network/latency-factor``: a number, or factors by
        message size [byte] such as ``"65472:0.94;15424:0.69;0:0.81"``.
    tcp_gamma : float, optional
        ``network/TCP-gamma``, the largest TCP window [byte]: a transfer gets at most gamma / (2
        latency). 0 is no window. SimGrid's default is 4194304.
    weight_s : float, optional
        ``network/weight-S`` [byte]: added weight of each link in sharing. LV08 has 20537.
    crosstraffic : bool, optional
        ``network/crosstraffic``: acknowledgements load the way back by 5 %. SimGrid's default is
        yes, except for raw.
    loopback_bandwidth : float, optional
        ``network/loopback-bw`` [byte/s]; 1e10 by default.
    loopback_latency : float, optional
        ``network/loopback-lat`` [s]; 0 by default.
    precision_timing : float, optional
        ``precision/timing`` [s]; 1e-9 by default.
    precision_work_amount : float, optional
        ``precision/work-amount`` [flop or byte]; 1e-5 by default.
    cpu_optim : {"Lazy", "TI", "Full"}, optional
        ``cpu/optim``: update algorithm. Lazy and Full give the same dates; under TI the failure
        of a host is noticed only when what it executes would have ended.
    network_optim : {"Lazy", "Full"}, optional
        ``network/optim``: update algorithm. Both give the same dates.
    extra : mapping of str to str
        Any other SimGrid item, for instance ``{"maxmin/concurrency-limit": "100"}``. Plug-ins
        are separated by commas: ``{"plugin": "host_load,link_load"}``.

    Raises
    ------
    SimpluginError
        A value is out of range, or a simulation cannot honour an item; the message names it.
    """

    network_model: NetworkModel | None = None
    host_model: HostModel | None = None
    cpu_model: CpuModel | None = None
    host_solver: HostSolver | None = None
    bandwidth_factor: float | str | None = None
    latency_factor: float | str | None = None
    tcp_gamma: float | None = None
    weight_s: float | None = None
    crosstraffic: bool | None = None
    loopback_bandwidth: float | None = None
    loopback_latency: float | None = None
    precision_timing: float | None = None
    precision_work_amount: float | None = None
    cpu_optim: CpuOptim | None = None
    network_optim: NetworkOptim | None = None
    extra: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse what SimGrid would refuse, with the field's name."""
        for name, choices in _CHOICES.items():
            _check_choice(name, getattr(self, name), choices)
        for name in _POSITIVE:
            _check_number(name, getattr(self, name), above_zero=True)
        for name in _NOT_NEGATIVE:
            _check_number(name, getattr(self, name), above_zero=False)
        for name in _FACTORS:
            _check_factor(name, getattr(self, name))
        if self.crosstraffic is not None and not isinstance(self.crosstraffic, bool):
            raise SimpluginError(f"crosstraffic is {self.crosstraffic!r}; write True or False")
        object.__setattr__(self, "extra", dict(self.extra))
        _check_extra(self.extra)
        if self.host_model == "ptask_L07":
            for name in ("network_model", "cpu_model"):
                if getattr(self, name) is not None:
                    raise SimpluginError(
                        f"{name} cannot be chosen with host_model 'ptask_L07', "
                        "which brings its own; leave it out"
                    )

    @classmethod
    def linear(cls, **others: Any) -> SimGridOptions:
        """Return the papers' linear model: a transfer of s bytes alone takes latency + s / b.

        CM02 without cross-traffic and without a TCP window. Transfers share a link in inverse
        proportion to the latencies of their routes, as in LV08 and raw; equally (max-min) where
        these are equal or zero, and under ptask_L07. With latencies of zero in the platform,
        transfers take s / b, as scheduling papers have it.

        Parameters
        ----------
        **others
            Further fields of SimGridOptions.
        """
        fixed: dict[str, Any] = {
            "network_model": "CM02",
            "crosstraffic": False,
            "tcp_gamma": 0.0,
        }
        return cls(**(fixed | others))

    def items(self) -> dict[str, str]:
        """Return SimGrid's name and value of each option that is set."""
        chosen = {
            item: _text(getattr(self, name))
            for name, item in _ITEMS.items()
            if getattr(self, name) is not None
        }
        return chosen | dict(sorted(self.extra.items()))

    def arguments(self) -> list[str]:
        """Return SimGrid's command-line arguments, such as ``--cfg=network/model:CM02``."""
        pairs = [
            (name, each) for name, value in self.items().items() for each in _split(name, value)
        ]
        return [f"--cfg={name}:{value}" for name, value in pairs]


_FIELD_OF_ITEM = {item: name for name, item in _ITEMS.items()}


def _text(value: float | str | bool) -> str:
    """Write a value as SimGrid reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else repr(float(value))


def _split(name: str, value: str) -> list[str]:
    """Return the values of an item: SimGrid loads one plug-in at a time."""
    return [each.strip() for each in value.split(",")] if name == "plugin" else [value]


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of `choices`."""
    if value is None or value in choices:
        return
    if (name, value) in _ELSEWHERE:
        way_out = _ELSEWHERE[name, str(value)]
    else:
        close = get_close_matches(str(value), choices, 1, 0.4)
        way_out = f"did you mean {close[0]!r}?" if close else "see SimGridOptions"
    listed = ", ".join(repr(choice) for choice in choices)
    raise SimpluginError(f"{name} is {value!r}, not one of {listed}; {way_out}")


def _check_number(name: str, value: object, *, above_zero: bool) -> None:
    """Refuse what is not a finite number of the right sign."""
    if value is None:
        return
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or not math.isfinite(value)
        or value < 0
        or (above_zero and value == 0)
    ):
        bound = "above 0" if above_zero else "of 0 or more"
        raise SimpluginError(f"{name} is {value!r}; give a finite number {bound}")


def _check_factor(name: str, value: object) -> None:
    """Refuse what is neither a positive number nor factors by message size."""
    if not isinstance(value, str):
        _check_number(name, value, above_zero=True)
        return
    steps = value.split(";")
    if not all(_FACTOR_STEP.fullmatch(step) for step in steps):
        raise SimpluginError(
            f"{name} is {value!r}; give a number, or factors by size such as '65472:0.94;0:0.81'"
        )
    for step in steps:
        try:
            _check_number(name, float(step.split(":")[1]), above_zero=True)
        except ValueError:
            raise SimpluginError(f"{name} has {step!r}; write a size, ':' and a factor") from None


def _check_extra(extra: Mapping[Any, Any]) -> None:
    """Refuse items that have a field of their own, and what is not an item at all."""
    for name, value in extra.items():
        if name in _FIELD_OF_ITEM:
            raise SimpluginError(f"extra has {name!r}; set {_FIELD_OF_ITEM[name]} instead")
        if not isinstance(name, str) or not _EXTRA_NAME.fullmatch(name):
            raise SimpluginError(f"extra has {name!r}; SimGrid's items look like 'cpu/solver'")
        if not isinstance(value, str):
            raise SimpluginError(f"extra[{name!r}] is {value!r}; give SimGrid's text for it")
        for each in _split(name, value):
            why = option_refusal(name, each)
            if why:
                raise SimpluginError(f"extra has {name!r}: {each!r}, which is refused: {why}")
