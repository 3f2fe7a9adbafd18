"""A simulation as plain data: its settings and its actors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simplugin.simulation.api.callbacks import Callbacks
from simplugin.simulation.choices import Chooser
from simplugin.simulation.options import SimulationOptions

BACK_ENDS = {
    "coroutines": "simplugin.simulation.coroutines:CoroutinesBackEnd",
    "threads": "simplugin.simulation.threads.engine:ThreadsBackEnd",
}
"""Module and class of each back end."""


@dataclass(frozen=True)
class SimulationSettings:
    """Everything about a simulation but its actors; pickles without the caller's modules.

    Attributes
    ----------
    platform : str
        Path of the platform file.
    arguments : list of str
        SimGrid's command line.
    options : SimulationOptions
        The caller's, without callbacks, chooser and progress.
    reports_progress : bool
        True to report the date now and then.
    steps : bool
        True to pause, and to wait for commands.
    locates : bool
        True to note where operations and coroutines are created, and to print nothing: the
        simulation runs again because one of them was never awaited.
    question : dict, optional
        Questions about the platform, instead of a simulation; see `resolve`.
    """

    platform: str
    arguments: list[str]
    options: SimulationOptions
    reports_progress: bool = False
    steps: bool = False
    locates: bool = False
    question: dict[str, Any] | None = None

    @property
    def back_end(self) -> str:
        """Module and class of the back end, ``module:class``."""
        return BACK_ENDS[self.options.back_end]


class ActorJob(NamedTuple):
    """One actor to start; a tuple, since there may be very many.

    Attributes
    ----------
    function, args
        An ``async def``, and its arguments after the actor itself.
    host, name, start_time, kill_time, restart, daemon, properties
        As in `simplugin.simulation.placement.Placement`.
    """

    function: Any
    args: tuple[Any, ...]
    host: str
    name: str
    start_time: float
    kill_time: float | None
    restart: bool
    daemon: bool
    properties: dict[str, str]


class UserFunctions(NamedTuple):
    """The user's functions that a simulation calls; pickles with the caller's modules.

    Attributes
    ----------
    actors : sequence of ActorJob
        The actors to start.
    callbacks : Callbacks or None
        Functions that SimGrid calls.
    chooser : callable or None
        Takes the decisions that actors leave to it.
    """

    actors: Sequence[ActorJob]
    callbacks: Callbacks | None = None
    chooser: Chooser | None = None
