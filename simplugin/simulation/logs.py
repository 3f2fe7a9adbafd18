"""Lines that actors log, and prefixes of lines that they print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TextIO, TypeAlias

from simplugin.core.formatting import printable

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
LEVELS = ("debug", "info", "warning", "error")
"""From the least important to the most important."""

RunningActor: TypeAlias = tuple[str, str, int]
"""Host, name and pid of the actor that runs."""


def rank(level: object) -> int:
    """Return the position of a level in `LEVELS`; raise ValueError if it is not there."""
    if level not in LEVELS:
        known = "'debug', 'info', 'warning' or 'error'"
        raise ValueError(f"level must be {known}, not {level!r}")
    return LEVELS.index(level)


class LogPrefix:
    """The prefix of whatever an actor says, in the form of SimGrid's log: host, actor, pid, date.

    Parameters
    ----------
    speaker : callable
        Returns the actor that runs, None if none does.
    clock : callable
        Returns the simulated date [s].
    """

    def __init__(
        self, speaker: Callable[[], RunningActor | None], clock: Callable[[], float]
    ) -> None:
        self._speaker = speaker
        self._clock = clock

    def prefix(self) -> str:
        """Return the prefix of a line; empty where no actor runs."""
        who = self._speaker()
        return "" if who is None else printable("[{}:{}:({}) {:.6f}] ".format(*who, self._clock()))

    def logger(self, write: Callable[[str], object]) -> Callable[[str, object], None]:
        """Return a function of level and message that writes a line."""

        def log(level: str, message: object) -> None:
            start = f"{self.prefix()}{level.upper()}: "
            write(start + printable(str(message)).replace("\n", f"\n{start}") + "\n")

        return log


class PrefixedStream:
    """A text stream that begins each line with who writes it.

    Parameters
    ----------
    stream : text stream
        Where it writes.
    voice : LogPrefix
        The prefix of each line.
    """

    def __init__(self, stream: TextIO, voice: LogPrefix) -> None:
        self._stream = stream
        self._voice = voice
        self._at_begin = True

    def write(self, text: str) -> int:
        """Write a text, which may be a part of a line."""
        if text:
            prefix = self._voice.prefix()
            first = prefix if self._at_begin else ""
            self._at_begin = text.endswith("\n")
            self._stream.write(first + text[:-1].replace("\n", f"\n{prefix}") + text[-1])
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
