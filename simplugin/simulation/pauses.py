"""The simulation's side of going step by step: at each pause it does what its caller says."""

from __future__ import annotations

import math
import socket
import sys
from typing import TYPE_CHECKING

from simplugin.simulation.protocol import COMMAND, LOOK, PAUSED, STATE, STEP, write_outcome

if TYPE_CHECKING:
    from simplugin.simulation.coroutines import CoroutinesBackEnd


class Pauses:
    """Reports pauses and obeys commands, while SimGrid's engine stays where it is.

    Parameters
    ----------
    news : socket
        To the caller and from it.
    file : int
        Descriptor of the file into which the state is written.
    back_end : CoroutinesBackEnd
        What pauses.
    """

    def __init__(self, news: socket.socket, file: int, back_end: CoroutinesBackEnd) -> None:
        self._news = news
        self._file = file
        self._back_end = back_end
        self._reached = -math.inf

    def begin(self) -> None:
        """Wait before anything happens."""
        self._back_end.pause_with(self.wait, self.wait(self._back_end.clock()))

    def end(self) -> None:
        """Wait at the end, unless the caller has asked for the result."""
        if self._reached < math.inf:
            self._reached = -math.inf
            self._obey(math.inf, at_end=True)

    def wait(self, event: float) -> float:
        """Wait before an event at a date; return the date that the caller wants to reach [s]."""
        self._reached = self._obey(event, at_end=False)
        return self._reached

    def _obey(self, event: float, *, at_end: bool) -> float:
        """Report the pause and obey until a command is to go on."""
        date = max(self._back_end.clock(), self._reached)
        while True:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            self._news.send(PAUSED.pack(b"P", date, at_end))
            kind, further = COMMAND.unpack(self._news.recv(COMMAND.size))
            if kind == LOOK:
                write_outcome(self._file, STATE, *self._back_end.look(date))
            else:
                return event if kind == STEP else further
