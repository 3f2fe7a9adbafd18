"""Options of a simulation, and those of SimGrid, as validated fields.

Names and allowed values of SimGrid's options are those of SimGrid 4.1 (its ``--help`` and
"Configuring SimGrid").
"""

# A function makes the fields of items.
# ruff: noqa: RUF009

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, Literal, TypedDict, TypeGuard, cast, get_args

from simplugin.core.errors import SimpluginError, UnitError
from simplugin.core.units import parse_bandwidth, parse_size, parse_time
from simplugin.formats.config_options import ALIASES, option_problems, option_refusal
from simplugin.simulation.api.callbacks import Callbacks
from simplugin.simulation.choices import Chooser
from simplugin.simulation.logs import LEVELS, Level

BackEndName = Literal["coroutines", "threads"]
Progress = Callable[[float, int], None]
NetworkModel = Literal["LV08", "CM02", "raw", "SMPI", "Constant"]
HostModel = Literal["default", "ptask_L07"]
CpuModel = Literal["Cas01"]
HostSolver = Literal["fairbottleneck", "bmf"]
CpuOptim = Literal["Lazy", "TI", "Full"]
NetworkOptim = Literal["Lazy", "Full"]
Factors = float | str | Mapping[str, float]

_EXTRA_NAME = re.compile(r"[A-Za-z][\w-]*(/[\w-]+)*")


def _number(value: Any) -> float:
    """Return a number; raise for anything else."""
    if not is_real(value):
        raise UnitError(f"{value!r} is not a number", "give a number")
    return value


def _truth(value: Any) -> bool:
    """Return True or False; raise for anything else."""
    if not isinstance(value, bool):
        raise UnitError(f"{value!r} is not a truth value", "write True or False")
    return value


def _solver(value: Any) -> str:
    """Return a solver of parallel tasks; raise for anything else."""
    if value not in get_args(HostSolver):
        known = " or ".join(map(repr, get_args(HostSolver)))
        raise UnitError(f"{value!r} solves no parallel tasks", f"choose {known}")
    return str(value)


def _factors(value: Any) -> Any:
    """Return SimGrid's text for factors by size, and anything else as it is."""
    if not isinstance(value, Mapping):
        return value
    return ";".join(f"{size}:{factor}" for size, factor in value.items())


def _item(name: str, read: Callable[[Any], Any] | None = None) -> Any:
    """Return a field for an item of SimGrid's, None by default; `read` raises UnitError."""
    return field(default=None, metadata={"item": name, "read": read})


def _text(value: object) -> str:
    """Return SimGrid's text for the value of an item."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(float(value)) if is_real(value) else str(value)


@dataclass(frozen=True)
class SimGridOptions:
    """SimGrid's command-line options; None leaves SimGrid's own default.

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
    bandwidth_factor, latency_factor : float, str or mapping, optional
        ``network/bandwidth-factor`` and ``network/latency-factor``: a number, or factors of
        messages above certain sizes [byte], such as ``"65472:0.94;15424:0.69;0:0.81"`` or
        ``{"0": 0.81, "15424": 0.69, "65472": 0.94}``.
    tcp_gamma : float, optional
        ``network/TCP-gamma``, the largest TCP window [byte]: a transfer gets at most the bandwidth
        factor times gamma / (2 latency), where the latency is that of its route without the latency
        factor: 0.97 gamma / (2 latency) under LV08. 0 is no window. SimGrid's default is 4194304.
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
        ``precision/timing`` [s]; 1e-9 by default, 1e-9 of a date before 1 s, 1e-15 of one after
        1e6 s.
    precision_work_amount : float, optional
        ``precision/work-amount`` [flop or byte]; 1e-5 by default, or that part of the least speed
        and bandwidth if it is below 1.
    cpu_optim : {"Lazy", "TI", "Full"}, optional
        ``cpu/optim``: update algorithm. Lazy and Full give the same dates; under TI the failure
        of a host is noticed only when its executions would have ended.
    network_optim : {"Lazy", "Full"}, optional
        ``network/optim``: update algorithm. Both give the same dates.
    incremental : bool, optional
        ``network/incremental``: after a change, rates are recomputed only for the transfers or
        parallel tasks that it affects; yes by default. With no, or with ``network_optim="Full"``,
        another ``network/solver`` or ``host/solver``, SimGrid's own solver computes all that are
        connected; a platform with Wi-Fi links is refused. The dates of transfers are the same to
        about 1e-12, and those that end at one date may do so in another order; the dates of
        parallel tasks are the same.
    extra : mapping of str to str
        Any other SimGrid item, for instance ``{"maxmin/concurrency-limit": "100"}``. Plug-ins
        are separated by commas: ``{"plugin": "host_load,link_load"}``.

    Raises
    ------
    SimpluginError
        A value is out of range, or a simulation cannot honour an item; the message names it.
    """

    network_model: NetworkModel | None = _item("network/model")
    host_model: HostModel | None = _item("host/model")
    cpu_model: CpuModel | None = _item("cpu/model")
    host_solver: HostSolver | None = _item("host/solver", _solver)
    bandwidth_factor: Factors | None = _item("network/bandwidth-factor", _factors)
    latency_factor: Factors | None = _item("network/latency-factor", _factors)
    tcp_gamma: float | None = _item("network/TCP-gamma", parse_size)
    weight_s: float | None = _item("network/weight-S", parse_size)
    crosstraffic: bool | None = _item("network/crosstraffic", _truth)
    loopback_bandwidth: float | None = _item("network/loopback-bw", parse_bandwidth)
    loopback_latency: float | None = _item("network/loopback-lat", parse_time)
    precision_timing: float | None = _item("precision/timing", parse_time)
    precision_work_amount: float | None = _item("precision/work-amount", _number)
    cpu_optim: CpuOptim | None = _item("cpu/optim")
    network_optim: NetworkOptim | None = _item("network/optim")
    incremental: bool | None = _item("network/incremental", _truth)
    extra: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Raise for what SimGrid would refuse, with the field's name."""
        for name, each in _FIELDS.items():
            value, read = getattr(self, name), each["read"]
            if value is None:
                continue
            if read is not None:
                try:
                    object.__setattr__(self, name, read(value))
                except UnitError as error:
                    raise SimpluginError(f"{name}: {error}") from None
            for _, problem in option_problems([(0, each["item"], _text(getattr(self, name)))]):
                raise SimpluginError(f"{name} is {value!r}; {problem.remedy}")
        extra: Any = self.extra
        if not isinstance(extra, Mapping):
            raise SimpluginError(f"extra is {extra!r}; give a dict of SimGrid's items")
        object.__setattr__(self, "extra", dict(extra))
        for name, value in extra.items():
            if (field := _FIELD_OF_ITEM.get(ALIASES.get(name, name))) is not None:
                raise SimpluginError(f"extra has {name!r}; set {field} instead")
            if not isinstance(name, str) or not _EXTRA_NAME.fullmatch(name):
                raise SimpluginError(f"extra has {name!r}; SimGrid's items look like 'cpu/solver'")
            if not isinstance(value, str):
                raise SimpluginError(f"extra[{name!r}] is {value!r}; give SimGrid's text for it")
            for part in _split(name, value):
                why = option_refusal(name, part)
                if why:
                    raise SimpluginError(f"extra has {name!r}: {part!r}, which is refused: {why}")
        if self.host_model == "ptask_L07":
            for name in ("network_model", "cpu_model"):
                if getattr(self, name) is not None:
                    raise SimpluginError(
                        f"{name} cannot be chosen with host_model 'ptask_L07', "
                        "which brings its own; leave it out"
                    )

    @classmethod
    def linear(cls) -> SimGridOptions:
        """Return the papers' linear model: a transfer of s bytes alone takes latency + s / b.

        CM02 without cross-traffic and without a TCP window. Transfers share a link in inverse
        proportion to the latencies of their routes, as in LV08 and raw; equally (max-min) where
        these are equal or zero, and under ptask_L07. With latencies of zero in the platform,
        transfers take s / b, as in scheduling papers. `dataclasses.replace` changes further fields.
        """
        return cls(network_model="CM02", crosstraffic=False, tcp_gamma=0.0)

    def items(self) -> dict[str, str]:
        """Return SimGrid's name and value of each option that is set."""
        given = {each["item"]: getattr(self, name) for name, each in _FIELDS.items()}
        chosen = {item: _text(value) for item, value in given.items() if value is not None}
        return chosen | dict(sorted(self.extra.items()))

    def arguments(self) -> list[str]:
        """Return SimGrid's command-line arguments, such as ``--cfg=network/model:CM02``."""
        pairs = [
            (name, each) for name, value in self.items().items() for each in _split(name, value)
        ]
        return [f"--cfg={name}:{value}" for name, value in pairs]


_FIELDS = {each.name: each.metadata for each in fields(SimGridOptions) if each.metadata}
_FIELD_OF_ITEM = {each["item"]: name for name, each in _FIELDS.items()}


def _split(name: str, value: str) -> list[str]:
    """Return the values of an item: SimGrid loads each plug-in by its own option."""
    return [each.strip() for each in value.split(",")] if name == "plugin" else [value]


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """Options of a simulation, without its platform and its actors.

    Parameters
    ----------
    back_end : {"coroutines", "threads"}
        The fast one, or the reference on SimGrid's own Python bindings.
    seed : int
        Seed of the actors' random numbers, 0 or more.
    until : float, optional
        Simulated date that must not be passed while actors run [s].
    wall_limit : float, optional
        Real time that the simulation may take [s].
    memory_limit : int, optional
        Address space that the simulation may add to that of an empty one [byte].
    trace : bool
        True to record activities.
    trace_limit : int, optional
        Memory that the trace may occupy: 38 byte a row, and texts; a quarter of the memory of this
        host or control group, or of `memory_limit`, by default [byte].
    energy : bool
        True to account for energy. All hosts of the platform need the property
        ``wattage_per_state``, those that run nothing, too: they consume energy while they idle.
    log : {"debug", "info", "warning", "error"}
        Minimum level of ``me.log`` messages written to standard error.
    prefix_prints : bool
        True to begin each line that actors print with host, actor and date, like log messages.
    options : SimGridOptions
        Models and precision; SimGrid's defaults if left out.
    progress : callable, optional
        Called now and then with the simulated date and the number of actors alive.
    callbacks : Callbacks, optional
        Functions that decide shares and factors, or are notified of events.
    chooser : callable, optional
        Takes the decisions that actors leave to it (``me.choose``): function of a `Choice` that
        returns the index of an option, in the simulation's process; the first option without.
    order : int, optional
        Seed of the order in which actors that are ready at one date run; in the order in which
        they became ready without. SimGrid leaves it open: see `Result.ties`.
    debug : bool
        True to run in this process, for ``breakpoint()`` and debuggers: once in a process, and
        without `wall_limit`, `memory_limit` and `prefix_prints`.

    Raises
    ------
    SimpluginError
        A value is out of range; the message names the option.
    """

    back_end: BackEndName = "coroutines"
    seed: int = 0
    until: float | None = None
    wall_limit: float | None = None
    memory_limit: int | None = None
    trace: bool = True
    trace_limit: int | None = None
    energy: bool = False
    log: Level = "info"
    prefix_prints: bool = False
    options: SimGridOptions = SimGridOptions()
    progress: Progress | None = None
    callbacks: Callbacks | None = None
    chooser: Chooser | None = None
    order: int | None = None
    debug: bool = False

    def __post_init__(self) -> None:
        """Raise for limits that limit nothing, and for seeds that numpy refuses."""
        if not isinstance(cast(object, self.options), SimGridOptions):
            raise SimpluginError(f"options is {self.options!r}; give SimGridOptions")
        if not isinstance(cast(object, self.callbacks), Callbacks | None):
            raise SimpluginError(f"callbacks is {self.callbacks!r}; give Callbacks")
        if self.chooser is not None and not callable(self.chooser):
            raise SimpluginError(f"chooser is {self.chooser!r}; give a function of a Choice")
        until, wall_limit = self.until, self.wall_limit
        if until is not None and not (is_real(until) and until >= 0):
            raise SimpluginError(f"until is {until!r}; give a date of 0 s or more")
        if wall_limit is not None and not (
            is_real(wall_limit) and wall_limit > 0 and math.isfinite(wall_limit)
        ):
            raise SimpluginError(f"wall_limit is {wall_limit!r}; give a time above 0 s")
        for name in ("memory_limit", "trace_limit"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, int) and 0 < limit < 2**63):
                raise SimpluginError(f"{name} is {limit!r}; give a number of bytes")
        for name in ("seed", "order"):
            number = getattr(self, name)
            if name == "order" and number is None:
                continue
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise SimpluginError(f"{name} is {number!r}; give an integer of 0 or more")
        if self.order is not None and self.order >= 2**64:
            raise SimpluginError(f"order is {self.order}; give an integer below 2**64")
        for name, choices in (("log", LEVELS), ("back_end", get_args(BackEndName))):
            if getattr(self, name) not in choices:
                known = " or ".join(map(repr, choices))
                raise SimpluginError(f"{name} is {getattr(self, name)!r}; choose {known}")
        # Prefixes would also precede the output of the debugger.
        for name in ("wall_limit", "memory_limit", "prefix_prints"):
            if self.debug and getattr(self, name):
                raise SimpluginError(f"debug=True simulates in this process; leave {name} out")
        for name in ("trace", "energy", "prefix_prints"):
            object.__setattr__(self, name, bool(getattr(self, name)))

    def keywords(self) -> SimulationKeywords:
        """Return all options as keyword arguments of `simulate`."""
        return cast(SimulationKeywords, dict(vars(self)))


class SimulationKeywords(TypedDict, total=False):
    """The fields of `SimulationOptions` as keyword arguments, for type checkers."""

    back_end: BackEndName
    seed: int
    until: float | None
    wall_limit: float | None
    memory_limit: int | None
    trace: bool
    trace_limit: int | None
    energy: bool
    log: Level
    prefix_prints: bool
    options: SimGridOptions
    progress: Progress | None
    callbacks: Callbacks | None
    chooser: Chooser | None
    order: int | None
    debug: bool


def with_defaults(given: SimulationKeywords, options: SimGridOptions) -> SimulationKeywords:
    """Return the keywords of a capability's simulation: without a trace by default.

    Parameters
    ----------
    given : SimulationKeywords
        The caller's keywords.
    options : SimGridOptions
        SimGrid's options if the caller gives none.
    """
    return {"trace": False, "options": options, **given}


def is_real(value: object) -> TypeGuard[float]:
    """Return True if a value is a number that compares with 0."""
    return isinstance(value, Real) and not isinstance(value, bool)
