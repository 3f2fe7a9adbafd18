"""The wire format between a caller, its fork server and the process of a simulation.

The caller writes the job into a file in memory, which it hands to the server together with sockets.
The server forks the simulation's process, which reads the job, reports progress, and writes the
outcome into the same file. The server reports the start and the end of the process.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
from typing import Any

# Kinds of outcomes, and of the state written at a pause.
RESULT = b"R"
ERROR = b"E"
STATE = b"S"

# From the simulation's process: a message once the platform is loaded, and regularly the simulated
# date with the number of actors alive.
LOADED = b"L"
PROGRESS = struct.Struct("<dq")

# Before and after a log message in the output of the actors; not a byte of UTF-8.
LOGGED = b"\xff"

# From a simulation that goes step by step: the kind of a pause, and its date; to it: the kind of a
# command, and a date.
PAUSED = struct.Struct("<cd")
EVENT = b"E"  # before an event
CHOICE = b"C"  # at a choice, which is in the file
END = b"Z"  # after the last event
# With the index of the option of an open choice that is taken, or -1.
COMMAND = struct.Struct("<cdi")
STEP = b"s"  # to the next event
GO = b"g"  # to the last event that is not later
LOOK = b"l"  # write the state into the file
INTERVENE = b"i"  # start the actor in the file, and go on to the date
ASK = b"c"  # to the next choice
BRANCH = b"b"  # fork; the descriptors of the new process come with it

# From the server, once it has loaded what its children need, or has failed to; a text follows. Also
# from a simulation that cannot fork.
READY = b"r"
FAILED = b"f"

# From the server about one child, and from a simulation about its branch: the kind of message and a
# number.
STATUS = struct.Struct("<ci")
STARTED = b"s"  # and its process id
ENDED = b"e"  # and its wait status
NOT_STARTED = b"n"  # and the errno of the fork that failed
ADOPT = b"a"  # to the server: and the process id of a branch, which is to become its child

# To the server, with a file: an environment to adopt, and modules to load.
WARM_UP = b"warm up"

# Makes the simulation's process write its place to its standard error.
WHERE_ARE_YOU = signal.SIGUSR1


def write_job(file: int, job: object, data: bytes = b"") -> None:
    """Replace the content of a file by a job."""
    os.truncate(file, 0)
    with open(file, "wb", closefd=False) as stream:
        stream.seek(0)
        pickle.dump(job, stream, protocol=5)
        stream.write(data)


def take_job(file: int) -> tuple[Any, bytes]:
    """Read a job and its data, and empty the file."""
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        job, data = pickle.load(stream), stream.read()
    os.truncate(file, 0)
    return job, data


def is_taken(file: int) -> bool:
    """Return True unless a file still has a job that was not read."""
    return os.pread(file, 1, 0) != pickle.PROTO  # the first byte of every job


def write_outcome(file: int, kind: bytes, *parts: object) -> None:
    """Write an outcome into an empty file.

    The first byte, `kind`, is written last and marks the outcome as complete.
    """
    with open(file, "wb", closefd=False) as stream:
        stream.seek(1)
        pickle.dump(parts, stream, protocol=5)
    os.pwrite(file, kind, 0)


def read_outcome(file: int) -> tuple[bytes, tuple[Any, ...]]:
    """Return kind and parts of an outcome; the kind is empty if it is incomplete."""
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        kind = stream.read(1)
        return (kind, pickle.load(stream)) if kind in (RESULT, ERROR, STATE) else (b"", ())
