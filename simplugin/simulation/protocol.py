"""The protocol between a caller, its fork server and the process of a simulation.

The caller writes the job into a file in memory, which it hands to the server together with sockets.
The server forks the simulation's process, which reads the job, reports progress, and writes the
outcome into the same file. The server reports the start and the end of the process.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

from simplugin.simulation.options import SimulationOptions
from simplugin.simulation.process_environment import ProcessEnvironment

BACK_ENDS = {
    "coroutines": "simplugin.simulation.coroutines:CoroutinesBackEnd",
    "threads": "simplugin.simulation.threads.engine:ThreadsBackEnd",
}
"""Module and class of each back end."""

# Kinds of outcomes, and of what is written while a simulation pauses.
RESULT = b"R"
ERROR = b"E"
STATE = b"S"

# From the simulation's process: a message once the platform is loaded, and the simulated date with
# the number of actors alive now and then.
LOADED = b"L"
PROGRESS = struct.Struct("<dq")

# Around what actors log, among what they print; no byte of UTF-8.
LOGGED = b"\xff"

# From a simulation that goes step by step: it pauses, at a date, perhaps at its end; and to it: the
# kind of command and a date.
PAUSED = struct.Struct("<cd?")
COMMAND = struct.Struct("<cd")
STEP = b"s"  # to the next event
GO = b"g"  # to the last event that is not later
LOOK = b"l"  # write the state into the file

# From the server, when it has loaded what its children need, or could not; a text follows.
READY = b"r"
FAILED = b"f"

# From the server about one child: the kind of message and a number.
STATUS = struct.Struct("<ci")
STARTED = b"s"  # and its process id
ENDED = b"e"  # and its wait status
NOT_STARTED = b"n"  # and the errno of the fork that failed

# Makes the simulation's process write its place to its standard error.
WHERE_ARE_YOU = signal.SIGUSR1


@dataclass(frozen=True)
class SimulationSettings:
    """Everything about a simulation but its actors; pickles without the caller's modules.

    Attributes
    ----------
    platform : str
        Path of the platform file.
    arguments : list of str
        SimGrid's command line.
    surroundings : ProcessEnvironment
        The caller's.
    options : SimulationOptions
        The caller's, without callbacks and progress.
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
    surroundings: ProcessEnvironment
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


def write_job(file: int, settings: SimulationSettings, packed_actors: bytes) -> None:
    """Write a job into an empty file."""
    with open(file, "wb", closefd=False) as stream:
        pickle.dump(settings, stream)
        stream.write(packed_actors)


def take_job(file: int) -> tuple[SimulationSettings, bytes]:
    """Read settings and packed actors, and empty the file."""
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        settings, packed_actors = pickle.load(stream), stream.read()
    os.truncate(file, 0)
    return settings, packed_actors


def write_outcome(file: int, kind: bytes, *parts: object) -> None:
    """Write an outcome into an empty file; it counts once its first byte is there."""
    with open(file, "wb", closefd=False) as stream:
        stream.seek(1)
        pickle.dump(parts, stream, protocol=5)
    os.pwrite(file, kind, 0)


def read_outcome(file: int) -> tuple[bytes, tuple[Any, ...]]:
    """Return kind and parts of an outcome; the kind is empty if there is none."""
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        kind = stream.read(1)
        return (kind, pickle.load(stream)) if kind in (RESULT, ERROR, STATE) else (b"", ())
