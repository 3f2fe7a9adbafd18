"""Progress of a long build: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

_STEP = re.compile(r"\[(\d+)/(\d+)\]")
_INTERVAL = 10.0  # seconds between lines where nothing can be overwritten
_TAIL = 40


class StepError(Exception):
    """A step of the build failed; the message says which, and where the log is."""


class Progress:
    """Reports the steps of a build on a stream and keeps everything else in a log.

    Parameters
    ----------
    title : str
        What is being built.
    log : pathlib.Path
        File that receives the output of all commands.
    stream : TextIO
        Where the progress is shown.
    """

    def __init__(self, title: str, log: Path, stream: TextIO = sys.stderr) -> None:
        self._title = title
        self._path = log
        self._log = log.open("w", encoding="utf-8")
        self._stream = stream
        self._overwrites = stream.isatty()
        self._began = time.monotonic()
        self._shown = float("-inf")

    def say(self, text: str) -> None:
        """Show a line that stays."""
        self._stream.write(f"{self._clear()}{self._title}: {text}\n")
        self._stream.flush()
        self._shown = time.monotonic()

    def run(
        self, step: str, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]
    ) -> None:
        """Run one command, its output going to the log and its ``[n/m]`` to the progress."""
        self.say(step)
        self._log.write(f"\n== {step}\n$ {' '.join(map(str, command))}\n")
        tail: deque[str] = deque(maxlen=_TAIL)
        with subprocess.Popen(
            list(map(str, command)),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process:
            try:
                self._follow(step, process, tail)
            except BaseException:
                process.terminate()
                raise
        if process.returncode:
            self.say(f"{step} failed (exit status {process.returncode}); the end of the log:")
            self._stream.writelines(f"    {line}" for line in tail)
            raise StepError(f"{self._title}: {step} failed; the whole log is {self._path}")

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def _follow(self, step: str, process: subprocess.Popen[str], tail: deque[str]) -> None:
        """Copy the output of a command to the log."""
        assert process.stdout is not None
        for line in process.stdout:
            self._log.write(line)
            self._log.flush()
            tail.append(line)
            if found := _STEP.match(line):
                self._advance(step, int(found[1]), int(found[2]))

    def _advance(self, step: str, done: int, total: int) -> None:
        """Show how far a step is."""
        now = time.monotonic()
        if now - self._shown < (0.1 if self._overwrites else _INTERVAL) and done < total:
            return
        self._shown = now
        elapsed = int(now - self._began)
        times = f"{done}/{total}  {elapsed // 60}:{elapsed % 60:02d}"
        if self._overwrites:
            filled = 30 * done // total
            bar = "#" * filled + "-" * (30 - filled)
            self._stream.write(f"{self._clear()}{self._title}: {step} [{bar}] {times}")
            if done == total:
                self._stream.write("\n")
        else:
            self._stream.write(f"{self._title}: {step} {times}\n")
        self._stream.flush()

    def _clear(self) -> str:
        """Return what erases the current line of a terminal."""
        return "\r\x1b[K" if self._overwrites else ""
