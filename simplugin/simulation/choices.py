"""Decisions that actors leave to a chooser: ``k = await me.choose(options)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, NamedTuple, TypeAlias

from simplugin.core.errors import ChoiceError, SimulationError
from simplugin.simulation.process.failures import described


class Choice(NamedTuple):
    """A decision that an actor leaves to a chooser.

    Attributes
    ----------
    date : float
        Simulated date [s].
    actor, host : str
        Who asks, and its host.
    label : str or None
        What the decision is about.
    options : sequence
        What there is to choose from, at least one.
    observation : object
        What the actor tells the chooser.
    number : int
        Its position among the choices of the simulation, from 0.
    """

    date: float
    actor: str
    host: str
    label: str | None
    options: Sequence[Any]
    observation: Any
    number: int


class TakenChoice(NamedTuple):
    """A decision that was taken.

    Attributes
    ----------
    date : float
        Simulated date [s].
    actor : str
        Who asked.
    label : str or None
        What it was about.
    n_options : int
        Number of options.
    index : int
        Position of the option that was chosen.
    """

    date: float
    actor: str
    label: str | None
    n_options: int
    index: int  # type: ignore[assignment]  # instead of the method of tuples


Chooser: TypeAlias = Callable[[Choice], int]


def first_option(_: Choice) -> int:
    """Choose the first option: the chooser of a simulation that is given none."""
    return 0


class ChoiceRecorder:
    """Asks the chooser, checks its answer and keeps it.

    Parameters
    ----------
    chooser : callable
        Gives the index of an option of a `Choice`.
    clock : callable
        Returns the simulated date [s].
    stop : callable
        Ends the simulation with an error.

    Attributes
    ----------
    taken : list of tuple
        The decisions so far, as the fields of `TakenChoice`.
    """

    def __init__(
        self,
        chooser: Chooser,
        clock: Callable[[], float],
        stop: Callable[[SimulationError], object],
    ) -> None:
        self._chooser, self._clock, self._stop = chooser, clock, stop
        self.taken: list[tuple[float, str, str | None, int, int]] = []

    def ask(self, actor: Any, options: Any, observation: Any, label: Any) -> int:
        """Return the index of the option that is chosen; 0 after an error of the chooser.

        Raises
        ------
        TypeError, ValueError
            The actor offers no options, or something else than a sequence of them.
        """
        count = len(options)
        if not count:
            raise ValueError("choose() needs at least one option")
        if label is not None and not isinstance(label, str):
            raise TypeError(f"a label must be a str, not {label!r}")
        date, name = self._clock(), actor.name
        choice = Choice(date, name, actor.host.name, label, options, observation, len(self.taken))
        try:
            answer: Any = self._chooser(choice)
            chosen = -1 if isinstance(answer, bool) else index(answer)
        except BaseException as error:
            inside = error.__traceback__ and error.__traceback__.tb_next
            return self._fail(choice, error, *described(error, inside))
        if not 0 <= chosen < count:
            wrong = f"it returned {answer!r}; return an index from 0 to {count - 1}"
            return self._fail(choice, None, wrong, "")
        self.taken.append((date, name, label, count, chosen))
        return chosen

    def _fail(
        self, choice: Choice, cause: BaseException | None, summary: str, traceback: str
    ) -> int:
        """End the simulation because of an error of the chooser."""
        error = ChoiceError(choice.actor, choice.date, choice.label, summary, traceback)
        error.__cause__ = cause
        self._stop(error)
        return 0
