"""What the caller, the server and a simulation's process say to each other.

The caller and the simulation exchange frames: a kind, a length, that many bytes. The caller and
the server exchange single messages, each a packet of its own.
"""

from __future__ import annotations

import signal
import struct
from collections.abc import Iterator
from dataclasses import dataclass

# Kinds of frames. From the caller: the job, in two frames.
SETTINGS = b"S"
ACTORS = b"A"
# From the simulation, in the order in which they come.
MODULES = b"M"
LOADED = b"L"
PROGRESS = b"P"
RESULT = b"R"
ERROR = b"E"

# Makes the simulation's process write to its standard error where it is.
WHERE_ARE_YOU = signal.SIGUSR1

HEADER = struct.Struct("<cQ")
PROGRESS_BODY = struct.Struct("<dq")
# Messages of the server about one simulation.
STATUS = struct.Struct("<ci")
STARTED = b"s"  # and its process id
ENDED = b"e"  # and its wait status
NOT_STARTED = b"n"  # and the errno of the fork that failed


def frame(kind: bytes, body: bytes) -> bytes:
    """Return the bytes of one frame."""
    return HEADER.pack(kind, len(body)) + body


@dataclass(frozen=True)
class Frame:
    """One message to or from a simulation."""

    kind: bytes
    body: bytes


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take some bytes, give the frames that they complete."""
        self._bytes += data
        while len(self._bytes) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._bytes)
            end = HEADER.size + length
            if len(self._bytes) < end:
                return
            body = bytes(memoryview(self._bytes)[HEADER.size : end])
            del self._bytes[:end]
            yield Frame(kind, body)
