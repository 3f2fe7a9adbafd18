"""What a back end offers, and what it hands over when a simulation is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BACK_ENDS = {
    "coroutines": "simplugin.simulation.coroutines:CoroutinesBackEnd",
    "threads": "simplugin.simulation.threads:ThreadsBackEnd",
}
"""Where the class of each back end is."""

OPTIONS_IN_FORCE = {
    "cpu/model": "s",
    "host/model": "s",
    "network/model": "s",
    "network/bandwidth-factor": "s",
    "network/crosstraffic": "b",
    "network/latency-factor": "s",
    "network/loopback-bw": "d",
    "network/loopback-lat": "d",
    "network/TCP-gamma": "d",
    "network/weight-S": "d",
    "precision/timing": "d",
    "precision/work-amount": "d",
}
"""SimGrid's options that are recorded with each result; type: s str, d float, b bool."""


@dataclass(frozen=True)
class Collected:
    """What one simulation gave.

    Attributes
    ----------
    clock : float
        Date of the end [s].
    returned : list of (name, host, value, state)
        One row an actor, in order of creation; state is "ended", "killed" or "running".
    host_names, link_names : list of str
        In SimGrid's order.
    host_flops, host_busy, host_energy : float64, shape (n_hosts,)
        Computed [flop]; time with at least one execution [s]; energy [J] or NaN.
    link_bytes, link_energy : float64, shape (n_links,)
        Carried [byte]; energy [J] or NaN.
    trace : dict of str to column
        ``actor_code`` and ``resource_code`` (int32) into ``actor_names`` and ``resource_names``,
        ``label_code`` (int32, -1: none) into ``label_names``, ``kind`` (int8: 0 exec, 1 ptask,
        2 comm, 3 sleep), ``state`` (int8: 0 done, 1 failed, 2 canceled), ``start``, ``end`` [s]
        and ``amount`` [flop, byte or s] (float64).
    options : dict of str to str
        SimGrid's options in force.
    plugins : dict of str to dict of str to float64 array
        What SimGrid's plug-ins measured, by plug-in and quantity; an entry a host or a link.
    """

    clock: float
    returned: list[tuple[str, str, Any, str]]
    host_names: list[str]
    host_flops: NDArray[np.float64]
    host_busy: NDArray[np.float64]
    host_energy: NDArray[np.float64]
    link_names: list[str]
    link_bytes: NDArray[np.float64]
    link_energy: NDArray[np.float64]
    trace: dict[str, Any]
    options: dict[str, str]
    plugins: dict[str, dict[str, NDArray[np.float64]]]


class BackEnd(Protocol):
    """One simulation in this process; SimGrid's engine starts once in a process.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    trace : bool
        Keep a row for each activity.
    energy : bool
        Measure the energy of hosts and links.
    seed : int
        Seed of the actors' random generators.
    """

    def __init__(
        self, arguments: Sequence[str], *, trace: bool, energy: bool, seed: int
    ) -> None: ...

    def load_platform(self, path: str) -> None:
        """Read a platform file."""

    def spawn(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        *,
        host: str,
        name: str,
        start_time: float,
        kill_time: float | None,
        restart: bool,
        daemon: bool,
        properties: dict[str, str],
    ) -> None:
        """Place an actor that starts at `start_time` [s]."""

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate to the end.

        Parameters
        ----------
        until : float or None
            Simulated date at which to give up [s].
        progress : function of (clock [s], actors alive), optional
            Called now and then.

        Raises
        ------
        ActorError
            An exception left an actor.
        DeadlockError
            Actors wait for what can never happen.
        SimulatedTimeLimitError
            The clock reached `until`.
        """

    def collect(self) -> Collected:
        """Hand over what there is; also after `run` raised."""


def await_place(coroutine: Any) -> str:
    """Return ``file:line`` of the innermost `await` of a suspended coroutine."""
    frame = None
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or frame
        coroutine = getattr(coroutine, "cr_await", None)
    return "its start" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
