"""How far a campaign is, how fast it goes, and when it will be over."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import sqrt

# The rate is that of the last minute: runs of one campaign can differ much.
_WINDOW = 60.0
# From fewer runs than these nobody can tell when it will be over.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is.

    Attributes
    ----------
    total : int
        Runs that it consists of.
    done, failed : int
        Runs with an outcome, and runs without, also those recorded by earlier commands.
    before : int
        How many of the two were recorded by earlier commands.
    running : int
        Runs handed over and not finished.
    seconds : float
        Since this command began [s].
    rate : float
        Runs finished in the last minute, a second [1/s].
    left : tuple of float, optional
        Time left if the others are like those of the last minute, as a range [s]; None while too
        few are finished.
    runners : str
        Who runs.
    """

    total: int
    done: int
    failed: int
    before: int
    running: int
    seconds: float
    rate: float
    left: tuple[float, float] | None
    runners: str


class Pace:
    """Measures how fast runs are finished.

    Parameters
    ----------
    now : float
        The date at which it begins [s].
    """

    def __init__(self, now: float) -> None:
        self._seen: deque[tuple[float, int]] = deque([(now, 0)])

    def note(self, now: float, finished: int) -> None:
        """Note how many runs have been finished so far.

        Parameters
        ----------
        now : float
            The date [s].
        finished : int
            Runs finished by this command so far.
        """
        self._seen.append((now, finished))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Runs finished in the last minute, a second [1/s]."""
        seconds, runs = self._span()
        return runs / seconds if seconds > 0 else 0.0

    def left(self, remaining: int) -> tuple[float, float] | None:
        """Return how long the remaining runs will take, as a range [s].

        Counts of independent runs spread by the root of their number, which is how uncertain the
        rate is.

        Parameters
        ----------
        remaining : int
            Runs that are not finished.

        Returns
        -------
        tuple of float, optional
            None if too few have been finished to tell.
        """
        if remaining <= 0:
            return 0.0, 0.0
        seconds, runs = self._span()
        if runs < _FEWEST or seconds <= 0:
            return None
        spread = sqrt(runs)
        return remaining * seconds / (runs + spread), remaining * seconds / (runs - spread)

    def _span(self) -> tuple[float, int]:
        """Return the seconds that were looked at, and the runs finished in them."""
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return last - first, after - before
