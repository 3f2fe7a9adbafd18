"""A progress bar in simulated time."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars


class Progress:
    """Shows the simulated date and how many actors are alive, on a terminal only.

    Parameters
    ----------
    console : Console
        Where; that of standard error leaves standard output to results.
    until : float, optional
        The latest possible end [s]: what the bar is a part of. Without, nobody knows how much
        is to come, and the bar counts the actors that have ended.
    """

    def __init__(self, console: Console, until: float | None) -> None:
        self._until = until
        self._most_actors = 0
        self._bars = Bars(
            TextColumn("simulating"),
            BarColumn(bar_width=40),
            TextColumn("{task.fields[date]} s, actors: {task.fields[actors]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bars.add_task("", total=None, date="0", actors=0)

    def __enter__(self) -> Self:
        """Start to show."""
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave a full bar, unless it failed."""
        if kind is None:
            self._bars.update(self._task, total=1.0, completed=1.0)
        self._bars.stop()

    def report(self, clock: float, actors: int) -> None:
        """Show how far the simulation got."""
        self._most_actors = max(self._most_actors, actors)
        done = None
        if self._until:
            done = min(1.0, clock / self._until)
        elif actors < self._most_actors:
            done = 1.0 - actors / self._most_actors
        self._bars.update(
            self._task,
            total=None if done is None else 1.0,
            completed=done or 0.0,
            date=f"{clock:.4g}",
            actors=actors,
        )
