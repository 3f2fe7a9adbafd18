"""Lookahead: a chooser that tries the options in copies of the running simulation.

Each option is tried in a fork of the simulation's process, which goes on with the base chooser to
the end, or to a horizon. Rollouts never end worse than their base if that is deterministic and
there is no horizon: the best plan seen so far is followed until a better one is found.

References
----------
D. P. Bertsekas, J. N. Tsitsiklis, C. Wu: Rollout algorithms for combinatorial optimization. Journal
of Heuristics 3, 1997 (fortified rollout).
"""

from __future__ import annotations

import math
import os
import pickle
import random
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, NoReturn

from simplugin.core.errors import ChoiceError, SimpluginError, SimulationError
from simplugin.simulation.choices import Choice, Chooser, first_option
from simplugin.simulation.options import is_real
from simplugin.simulation.paused_state import PausedState
from simplugin.simulation.process.operating_system import obstacle_to_copies
from simplugin.simulation.result import Result


class _Trial(NamedTuple):
    """The outcome of an option.

    Attributes
    ----------
    value : float
        The measure.
    plan : dict of int to int
        The index taken at each later choice, by the choice's number.
    """

    value: float
    plan: dict[int, int]


_UNKNOWN = _Trial(math.inf, {})
# Copies that were started in this process to try options.
_started = 0
# Interventions in this process, after which no plan made before holds.
_interventions = 0
# In the copy of a simulation that tries an option: reports the outcome, and ends the process.
_conclude: Callable[[Callable[[], Result] | BaseException], NoReturn] | None = None


def conclude_trial(outcome: Callable[[], Result] | BaseException) -> None:
    """Report the outcome of a simulation and end the process, if it only tries an option.

    Parameters
    ----------
    outcome : callable or BaseException
        Returns the result; or the error that ended the simulation.
    """
    if _conclude is not None:
        _conclude(outcome)


def note_intervention() -> None:
    """Let rollouts forget their plans: somebody has changed what they counted on."""
    global _interventions
    _interventions += 1


class _InCopyError(BaseException):
    """Unwinds to the choice in the copy that tries an option."""


def started_branches() -> int:
    """Return how many copies of this simulation were started to try options."""
    return _started


def end_date(result: Result) -> float:
    """Return the date of the end [s]: what a rollout makes small by default."""
    return result.clock


@dataclass
class Rollout:
    """A chooser that tries each option in a copy of the simulation, and takes the best.

    Parameters
    ----------
    base : callable
        Decides in the copies, as `Chooser`; the first option by default.
    metric : callable
        Gives the measure of a `Result` that is to be small; the date of the end by default.
    horizon : float, optional
        Simulated time after which a copy ends [s]; the end of the simulation without.
    estimate : callable, optional
        With a horizon: gives the measure of a `PausedState` there. A simulation that ends before is
        measured by `metric`.
    candidates : callable, optional
        Gives the indices of a `Choice` that are tried, best first; all without. The base's own
        decision is always tried, first.
    most : int, optional
        Number of options to try at each choice.
    seconds : float, optional
        Real time for each choice [s]; what has not ended is not considered. Results then depend
        on the speed of the machine.
    workers : int, optional
        Copies at a time; the number of cores without.

    Raises
    ------
    SimpluginError
        A horizon without an estimate, or the reverse; a value is out of range.
    """

    base: Chooser = first_option
    metric: Callable[[Result], float] = end_date
    horizon: float | None = None
    estimate: Callable[[PausedState], float] | None = None
    candidates: Callable[[Choice], Sequence[int]] | None = None
    most: int | None = None
    seconds: float | None = None
    workers: int | None = None
    # The best plan seen so far, and the choice that comes next in it: its number, and that of
    # interventions before it.
    _best: _Trial = field(default=_UNKNOWN, init=False, repr=False)
    _next: tuple[int, int] = field(default=(0, 0), init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise for what does not go together."""
        if (self.horizon is None) != (self.estimate is None):
            raise SimpluginError("horizon and estimate go together; give both or neither")
        for name in ("most", "workers"):
            number = getattr(self, name)
            if number is not None and not (type(number) is int and number >= 1):
                raise SimpluginError(f"{name} is {number!r}; give a whole number, 1 or more")
        for name in ("horizon", "seconds"):
            limit = getattr(self, name)
            if limit is not None and not (is_real(limit) and 0 < limit < math.inf):
                raise SimpluginError(f"{name} is {limit!r}; give a time above 0 s")

    def __call__(self, choice: Choice) -> int:
        """Return the index of the option that ends best.

        Raises
        ------
        SimulationError
            The simulation's process cannot be copied, or `metric` or `estimate` raised.
        """
        decided = self.base(choice)
        if _conclude is not None:
            return decided
        if self._next != (choice.number, _interventions):  # somebody else has decided in between
            self._best = _UNKNOWN
        self._next = choice.number + 1, _interventions
        first = self._best.plan.get(choice.number, decided)
        trials = {first: self._best} if choice.number in self._best.plan else {}
        others = range(len(choice.options)) if self.candidates is None else self.candidates(choice)
        indices = list(dict.fromkeys((first, decided, *others)))[: self.most]
        known = range(len(choice.options))
        if wrong := [each for each in indices if each not in known]:
            raise SimulationError(f"no option has the index {wrong[0]!r}; there are {len(known)}")
        try:
            trials |= self._tried(choice, [each for each in indices if each not in trials])
        except _InCopyError as copy:
            return int(copy.args[0])
        # Of equal ones the first.
        finished = [index for index in indices if index in trials]
        taken = min(finished, key=lambda index: trials[index].value, default=first)
        self._best = trials.get(taken, _UNKNOWN)
        return taken

    def _tried(self, choice: Choice, indices: Sequence[int]) -> dict[int, _Trial]:
        """Try options in copies of this process, several at a time; return those that ended."""
        if len(choice.options) == 1 or self.most == 1:
            return {}
        end = math.inf if self.seconds is None else time.monotonic() + self.seconds
        most = self.workers or len(os.sched_getaffinity(0))
        waiting, found = list(indices), {}
        # By the descriptor of what a copy reports: its option, and its process.
        running: dict[int, tuple[int, int]] = {}
        try:
            while (waiting or running) and (left := end - time.monotonic()) > 0:
                while waiting and len(running) < most:
                    index = waiting.pop(0)
                    self._start(choice, index, running)
                ended, _, _ = select.select(running, [], [], None if left == math.inf else left)
                for channel in ended:
                    index, pid = running.pop(channel)
                    with open(channel, "rb") as stream:
                        body = stream.read()
                    os.waitpid(pid, 0)
                    if body:
                        outcome = pickle.loads(body)
                        if isinstance(outcome, str):
                            raise SimulationError(outcome)
                        found[index] = outcome
        finally:
            for channel, (_, pid) in running.items():
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(channel)
        return found

    def _start(self, choice: Choice, index: int, running: dict[int, tuple[int, int]]) -> None:
        """Fork; raise in the copy, which takes the option."""
        global _conclude, _started
        expected = {0, 1, 2, *running}
        if obstacle := obstacle_to_copies(expected, [pid for _, pid in running.values()]):
            raise SimulationError(f"no options can be tried here: {obstacle}")
        reads, writes = os.pipe()
        # Python seeds its own generator anew after a fork.
        drawn = random.getstate()
        if pid := os.fork():
            os.close(writes)
            _started += 1
            running[reads] = index, pid
            return
        running.clear()
        random.setstate(drawn)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        _conclude = partial(self._report, writes, choice.number)
        self._pause_at(math.inf if self.horizon is None else choice.date + self.horizon, writes)
        raise _InCopyError(index)

    def _pause_at(self, date: float, channel: int) -> None:
        """Let this copy report at a date [s], before the first event after it."""
        # Loaded late: the driver is.
        from simplugin.simulation.coroutines import CoroutinesBackEnd

        def stop(_: float) -> float:
            state = PausedState.of_rows(date, *CoroutinesBackEnd.look(date))
            assert self.estimate is not None
            estimate = partial(self.estimate, state)
            _send(channel, _measured(lambda: _Trial(float(estimate()), {})))

        CoroutinesBackEnd.pause_with(stop, date)

    def _report(
        self, channel: int, number: int, outcome: Callable[[], Result] | BaseException
    ) -> NoReturn:
        """Report the measure of a result and the choices after the one of a number, and end."""

        def trial() -> _Trial:
            assert not isinstance(outcome, BaseException)
            result = outcome()
            later = enumerate(result.choices[number + 1 :], start=number + 1)
            plan = {each: taken.index for each, taken in later} if self.horizon is None else {}
            return _Trial(float(self.metric(result)), plan)

        if isinstance(outcome, ChoiceError):
            _send(channel, f"the base failed in a copy: {outcome}")
        # An option that makes the simulation fail is not taken.
        _send(channel, None if isinstance(outcome, BaseException) else _measured(trial))


def _measured(trial: Callable[[], _Trial]) -> _Trial | str:
    """Return the outcome of an option, or the error of a function of the user's as a text."""
    try:
        done = trial()
    except BaseException as error:
        return f"the measure of an option failed: {error!r}"
    return "the measure of an option is NaN; return a number" if math.isnan(done.value) else done


def _send(channel: int, outcome: _Trial | str | None) -> NoReturn:
    """Write an outcome to a pipe, nothing if there is none, and end the process."""
    try:
        with open(channel, "wb") as stream:
            stream.write(b"" if outcome is None else pickle.dumps(outcome))
    finally:
        os._exit(0)
