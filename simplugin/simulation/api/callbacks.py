"""Functions that SimGrid's models call, and functions that are notified of events."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeAlias

from simplugin.core.errors import SimpluginError
from simplugin.simulation.api.resources import SimulatedHost, SimulatedLink

Factor: TypeAlias = Callable[
    [float, SimulatedHost, SimulatedHost, Sequence[SimulatedLink], Sequence[str]], float
]
Capacity: TypeAlias = Callable[[float, int], float]


class Completion(NamedTuple):
    """An activity that has ended: a row of the trace.

    Attributes
    ----------
    actor : str
        The actor that started it.
    resource : str
        A host, hosts with commas between them, or ``source->destination``.
    kind : str
        ``"exec"``, ``"ptask"``, ``"comm"`` or ``"sleep"``.
    label : str or None
        Its label.
    start, end : float
        Dates [s].
    amount : float
        Done [flop, byte or s]; NaN where the back end `threads` does not know it.
    state : str
        ``"done"``, ``"failed"`` or ``"canceled"``.
    """

    actor: str
    resource: str
    kind: str
    label: str | None
    start: float
    end: float
    amount: float
    state: str


@dataclass(frozen=True, kw_only=True)
class Callbacks:
    """Plain functions, given to ``simulate(..., callbacks=...)``.

    The last three only hear, the others decide. An exception in one of them ends the simulation
    with a `CallbackError`. They run in the simulation's process, like actors, and share objects
    with the actors' arguments.

    Attributes
    ----------
    host_sharing, link_sharing : mapping of str to function (capacity, count) -> float
        Nonlinear sharing of a host [flop/s] or link [byte/s], by its name: the capacity that
        `count` simultaneous executions or transfers share, above 0, given the whole `capacity`. A
        link ``l`` that is SPLITDUPLEX is two, ``l_UP`` and ``l_DOWN``.
    disk_read_sharing, disk_write_sharing : mapping of str to function (capacity, count) -> float
        The same of reading from and writing to a disk [byte/s], by ``host:disk``.
    bandwidth_factor, latency_factor : function (size, source, destination, links, zones) -> float
        What bandwidth and latency of a transfer that starts are multiplied by, instead of the
        network model's own factors: its size [byte], two hosts, the links of its route, and the
        names of the zones that this crosses.
    on_host_state_change : function (date, host, is_on)
        Called whenever a host, given by its name, goes off or on.
    on_link_state_change : function (date, link, is_on)
        Called whenever a link, given by its name, goes off or on.
    on_activity_completion : function (completion)
        Called with each activity that has ended, a `Completion`, before actors continue.

    Examples
    --------
    Each transfer more takes a tenth of the capacity of ``backbone``:

    >>> Callbacks(link_sharing={"backbone": lambda capacity, count: capacity * (1.1 - count / 10)})
    ... # doctest: +SKIP
    """

    host_sharing: Mapping[str, Capacity] = field(default_factory=dict)
    link_sharing: Mapping[str, Capacity] = field(default_factory=dict)
    disk_read_sharing: Mapping[str, Capacity] = field(default_factory=dict)
    disk_write_sharing: Mapping[str, Capacity] = field(default_factory=dict)
    bandwidth_factor: Factor | None = None
    latency_factor: Factor | None = None
    on_host_state_change: Callable[[float, str, bool], object] | None = None
    on_link_state_change: Callable[[float, str, bool], object] | None = None
    on_activity_completion: Callable[[Completion], object] | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            given: Any = getattr(self, each.name)
            by_name = each.name.endswith("_sharing")
            if by_name and not isinstance(given, Mapping):
                raise SimpluginError(f"{each.name} is {given!r}; give functions by name")
            functions = given.values() if by_name else [given] if given is not None else []
            for function in functions:
                if not callable(function) or inspect.iscoroutinefunction(function):
                    raise SimpluginError(f"{each.name} has {function!r}; give a plain function")
