"""The log of a store: what was done when, a line each, for humans."""

from __future__ import annotations

import os
import platform
import re
import shlex
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import simplugin
from simplugin.campaigns.jobs import JobSource, Record
from simplugin.campaigns.running.printable import printable
from simplugin.errors import StoreError

_KEY_DIGITS = 12
_LOOKED_AT = 64
# Of a log: a date and "begun"; or less of it, if the disk was full.
_BEGINNING = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z begun |[-\dT:.]{0,24}(Z( b?e?g?u?n?)?)?\Z")


class RunLog:
    """Appends lines to a file, which it opens when there is something to write.

    Parameters
    ----------
    path : Path
        The file; made if there is none.
    command : sequence of str
        The words of the command that runs the campaign; empty if a program does.

    Raises
    ------
    StoreError
        By every method: the file cannot be written.
    """

    def __init__(self, path: Path, command: Sequence[str] = ()) -> None:
        self._path = path
        self._command = command
        self._stream: BinaryIO | None = None
        self._lines: list[str] = []

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def begun(self, source: JobSource, store: Path) -> None:
        """Note that a campaign begins or goes on: which, with what, where, and by whose words."""
        words = f": {shlex.join(self._command)}" if self._command else ""
        file = f" of {source.file}" if source.file else ""
        self._note(
            f"begun {source.title!r}{file}, {source.total} runs, "
            f"identity {source.identity[:_KEY_DIGITS]}, into {store}, by process {os.getpid()} on "
            f"{socket.gethostname()}, simplugin {simplugin.__version__}, "
            f"Python {platform.python_version()}{words}"
        )
        self.flush()

    def ran(self, record: Record, *, again: bool = False) -> None:
        """Note a run; `again` if it crashed and is tried again."""
        failure = record.failure
        state = "done" if failure is None else f"{failure.kind}, again" if again else failure.kind
        why = "" if failure is None else f": {first_line(failure.text)}"
        job = record.job
        self._note(
            f"run {job.position} {job.key[:_KEY_DIGITS]} {state} in {record.duration:.3f} s "
            f"on {record.place}{why}"
        )

    def outdated(self, record: Record) -> None:
        """Note a run whose result is given up."""
        job = record.job
        self._note(
            f"run {job.position} {job.key[:_KEY_DIGITS]} not recorded: a file that it depends on "
            f"changed during its {record.duration:.3f} s on {record.place}"
        )

    def interrupted(self, why: str) -> None:
        """Note that somebody or something stopped it."""
        self._note(f"interrupted: {first_line(why)}")

    def ended(self, done: int, failed: int, total: int, seconds: float, runners: str) -> None:
        """Note how it ended, and who ran."""
        self._note(
            f"ended: {done} done, {failed} failed, of {total} runs, in {seconds:.1f} s; {runners}"
        )

    def flush(self) -> None:
        """Give what was noted to the file."""
        if not self._lines:
            return
        text = "".join(self._lines).encode()
        try:
            if self._stream is None:
                self._stream = self._opened()
            if self._stream.write(text) != len(text):
                raise OSError(ENOSPC, os.strerror(ENOSPC))
        except OSError as error:
            raise StoreError(
                f"the log cannot be written: {error.strerror or error}",
                file=self._path,
                remedy="make room or right it, and give the same command again; what was "
                "recorded is safe",
            ) from error
        self._lines.clear()

    def _opened(self) -> BinaryIO:
        """Open the file to write at its end, unless it is something else."""
        # Not buffered: what could not be written must not come up again at the end.
        stream = self._path.open("a+b", buffering=0)
        stream.seek(0)
        if not _BEGINNING.match(stream.read(_LOOKED_AT)):
            stream.close()
            raise StoreError(
                "this is no log of runs, and stays as it is",
                file=self._path,
                remedy="move it elsewhere, or name another store",
            )
        return stream

    def _note(self, event: str) -> None:
        """Keep a line until the next flush."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._lines.append(f"{now} {event}\n")


def first_line(text: str) -> str:
    """Return the first line of a message that has one, as it can be shown."""
    return printable(next((line for line in text.splitlines() if line.strip()), text))
