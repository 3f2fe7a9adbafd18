"""Progress of a simulation and of many runs, on a terminal or line by line."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from simplugin.core.console import EscapingConsole

if TYPE_CHECKING:
    from simplugin.campaigns.running.reporting import CampaignProgress

# Time between two lines in a log file [s].
_LINE_PERIOD = 30.0
# Units of durations; the largest one with at least this many is used.
_ENOUGH = 1.5
_UNITS = (("days", 86400.0), ("h", 3600.0), ("min", 60.0))

# Width of lines that are never folded.
_UNFOLDED = 1_000_000


def standard_output() -> Console:
    """Return a console for standard output that folds lines at its width or $COLUMNS."""
    console = EscapingConsole(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _UNFOLDED
    return console


def spinner(console: Console, word: str) -> AbstractContextManager[object]:
    """Show a spinner, on terminals only."""
    return console.status(word) if console.is_terminal else nullcontext()


class SimulationDisplay(Bars):
    """Shows the simulated date and how many actors are alive, on a terminal only.

    Parameters
    ----------
    console : Console
        Where; that of standard error leaves standard output to results.
    until : float, optional
        The latest possible end [s], full length of the bar; by default the bar counts actors
        that ended.
    """

    def __init__(self, console: Console, until: float | None) -> None:
        self._until = until
        self._most_actors = 0
        super().__init__(
            TextColumn("simulating"),
            BarColumn(bar_width=40),
            TextColumn("{task.fields[date]} s, actors: {task.fields[actors]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self.add_task("", total=None, date="0", actors=0)

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        """Leave a full bar, unless it failed."""
        if kind is None:
            self.update(self._task, total=1.0, completed=1.0)
        super().__exit__(kind, *rest)

    def report(self, clock: float, actors: int) -> None:
        """Show how far the simulation got."""
        self._most_actors = max(self._most_actors, actors)
        done = None
        if self._until:
            done = min(1.0, clock / self._until)
        elif actors < self._most_actors:
            done = 1.0 - actors / self._most_actors
        self.update(
            self._task,
            total=None if done is None else 1.0,
            completed=done or 0.0,
            date=f"{clock:.4g}",
            actors=actors,
        )


class RunsDisplay(Bars):
    """Shows how far a campaign is.

    A bar on a terminal, a text that is kept up to date in a notebook, else a line every 30 s and at
    the end.

    Parameters
    ----------
    console : Console
        Where; that of standard error leaves standard output to results.
    """

    def __init__(self, console: Console) -> None:
        self._last: CampaignProgress | None = None
        self._line = monotonic()
        self._cell: Any = None
        super().__init__(
            BarColumn(bar_width=30),
            TextColumn("{task.fields[text]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self.add_task("", total=None, text="looking for what is recorded")

    def __exit__(self, *exception: Any) -> None:
        """Leave the last progress."""
        super().__exit__(*exception)
        if not (self.console.is_terminal or self.console.is_jupyter) and self._last is not None:
            self._write_line(self._last)

    def report(self, progress: CampaignProgress) -> None:
        """Show how far it is."""
        self._last = progress
        if self.console.is_terminal:
            finished = progress.done + progress.failed
            self.update(
                self._task, total=progress.total, completed=finished, text=progress_text(progress)
            )
        elif self.console.is_jupyter:
            # The text in the output of the cell; needs no widgets, unlike bars.
            from IPython import display

            shown = {"text/plain": progress_text(progress)}
            if self._cell is None:
                self._cell = cast("Any", display).display(shown, raw=True, display_id=True)
            else:
                self._cell.update(shown, raw=True)
        elif monotonic() - self._line >= _LINE_PERIOD:
            self._line = monotonic()
            self._write_line(progress)

    def _write_line(self, progress: CampaignProgress) -> None:
        """Write a line without wrapping."""
        self.console.print(progress_text(progress), soft_wrap=True, markup=False, highlight=False)


def progress_text(progress: CampaignProgress) -> str:
    """Return the progress of a campaign in one line."""
    parts = [f"{progress.done} of {progress.total} done"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.running:
        parts.append(f"{progress.running} under way")
    if progress.rate > 0:
        parts.append(rate_text(progress.rate))
    if progress.done + progress.failed >= progress.total:
        parts.append(f"in {duration_text(progress.seconds)}")
    else:
        parts.append("time left unknown" if progress.left is None else left_text(*progress.left))
    return f"{', '.join(parts)}; {progress.runners}"


def rate_text(rate: float) -> str:
    """Write runs a second [1/s] so that the number is not below one, if that can be."""
    for unit, seconds in (("s", 1.0), ("min", 60.0)):
        if rate * seconds >= 1:
            return f"{rate * seconds:.3g} runs/{unit}"
    return f"{rate * 3600:.3g} runs/h"


def left_text(low: float, high: float) -> str:
    """Write a range of time left [s]; as one number if both ends look the same."""
    unit, seconds = _unit(high)
    first, last = (
        f"{each / seconds:.2g}" if each < 99 * seconds else f"{each / seconds:.0f}"
        for each in (low, high)
    )
    return f"{first} {unit} left" if first == last else f"{first} to {last} {unit} left"


def duration_text(duration: float) -> str:
    """Write a duration [s] in a unit that suits it."""
    unit, seconds = _unit(duration)
    return f"{duration / seconds:.3g} {unit}"


def _unit(duration: float) -> tuple[str, float]:
    """Return the unit that suits a duration, and its length [s]."""
    for unit, seconds in _UNITS:
        if duration >= _ENOUGH * seconds:
            return unit, seconds
    return "s", 1.0
