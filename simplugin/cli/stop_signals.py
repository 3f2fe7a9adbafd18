"""Signals that ask a command to stop, which then ends what it began."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# A shell's status of a command that a signal ended is this and the signal's number.
BY_SIGNAL = 128
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Keep the numbers of the signals that ask to stop, instead of dying of them.

    A signal that is ignored stays so: shells have programs in the background ignore Ctrl-C, and
    nohup has them ignore the end of the terminal.
    """
    stopped: list[int] = []

    def keep(number: int, _: FrameType | None) -> None:
        stopped.append(number)

    previous = {
        each: signal.signal(each, keep)
        for each in _SIGNALS
        if signal.getsignal(each) != signal.SIG_IGN
    }
    try:
        yield stopped
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)
