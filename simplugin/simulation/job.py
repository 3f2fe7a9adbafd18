"""What a simulation's process is told to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Settings:
    """Everything about a simulation but its actors; pickles without the caller's modules.

    Attributes
    ----------
    back_end : str
        ``module:class``.
    platform : str
        Path of the platform file.
    arguments : list of str
        SimGrid's command line.
    until, memory_limit, trace, energy, seed
        As in `simulate`.
    reports_progress : bool
        Whether the caller wants the date now and then.
    surroundings : bytes
        Those of the caller, see `simplugin.simulation.surroundings`.
    locates : bool
        Whether to note where operations and coroutines are created, and to print nothing: the
        simulation runs again because one of them was never awaited.
    """

    back_end: str
    platform: str
    arguments: list[str]
    until: float | None
    memory_limit: int | None
    trace: bool
    energy: bool
    seed: int
    reports_progress: bool
    surroundings: bytes
    locates: bool = False


class ActorJob(NamedTuple):
    """One actor to start; a tuple, since there may be very many."""

    function: Any
    args: tuple[Any, ...]
    host: str
    name: str
    start_time: float
    kill_time: float | None
    restart: bool
    daemon: bool
    properties: dict[str, str]
