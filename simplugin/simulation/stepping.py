"""Step by step: a simulation that pauses, with its state as plain data."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from simplugin.core.errors import BlockedActor, SimpluginError, SimulationError
from simplugin.simulation.options import SimulationKeywords, SimulationOptions, is_real
from simplugin.simulation.placement import Actors, placements
from simplugin.simulation.process.wire_format import GO, LOOK, STEP
from simplugin.simulation.simulate import SimulationJob, prepare_job

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.simulation.process.supervision import Supervision
    from simplugin.simulation.result import Result


@dataclass(frozen=True, slots=True)
class HostState:
    """A host at a pause.

    Attributes
    ----------
    name : str
        Its name.
    is_on : bool
        True if it is on.
    speed : float
        Of a core, as its profile leaves it [flop/s]; NaN under ``cpu/optim:TI``, where SimGrid
        gives neither this nor the next two.
    load : float
        Speed in use [flop/s].
    flops : float
        Work computed so far [flop].
    executions : int
        Executions in progress.
    """

    name: str
    is_on: bool
    speed: float
    load: float
    flops: float
    executions: int


@dataclass(frozen=True, slots=True)
class LinkState:
    """A link at a pause.

    Attributes
    ----------
    name : str
        Its name.
    is_on : bool
        True if it is on.
    bandwidth : float
        As its profile leaves it [byte/s].
    load : float
        Bandwidth in use [byte/s].
    """

    name: str
    is_on: bool
    bandwidth: float
    load: float


@dataclass(frozen=True, slots=True)
class ActivityState:
    """An execution, a parallel task or a transfer in progress.

    Attributes
    ----------
    kind, actor, resource, label, start
        As in `simplugin.simulation.trace.Trace`; actor and label are None without.
    amount : float
        Of all [flop or byte].
    remaining : float
        Remaining amount [flop or byte]; NaN if SimGrid does not tell.
    """

    kind: str
    actor: str | None
    resource: str
    label: str | None
    start: float
    amount: float
    remaining: float


class Simulation:
    """A simulation that pauses; `simulation` makes it.

    Parameters
    ----------
    job : SimulationJob
        The simulation to run.
    supervision : Supervision
        Its process, which pauses.
    """

    def __init__(self, job: SimulationJob, supervision: Supervision) -> None:
        self._job = job
        self._supervision = supervision
        self._looked: tuple[Any, ...] | None = None
        self._result: Result | None = None
        self._ended = False

    @property
    def clock(self) -> float:
        """Simulated time [s]; after an error, the time at which it occurred."""
        return self._supervision.clock if self._result is None else self._result.clock

    @property
    def at_end(self) -> bool:
        """True after the last event; `run` gives the result, or raised an error."""
        return self._supervision.at_end or self._ended

    @property
    def hosts(self) -> tuple[HostState, ...]:
        """All hosts."""
        return tuple(HostState(*row) for row in self._look()[0])

    @property
    def links(self) -> tuple[LinkState, ...]:
        """All links."""
        return tuple(LinkState(*row) for row in self._look()[1])

    @property
    def activities(self) -> tuple[ActivityState, ...]:
        """All activities on hosts and links, in order of creation."""
        return tuple(ActivityState(*row) for row in self._look()[2])

    @property
    def actors(self) -> tuple[BlockedActor, ...]:
        """All living actors: the operation that each awaits, since when, and the line of code."""
        found: tuple[BlockedActor, ...] = self._look()[3]
        return found

    def step(self) -> bool:
        """Advance to the next event, with all events of its date.

        Returns
        -------
        bool
            False after the last event.

        Raises
        ------
        SimulationError
            As `simulate`, at the call that reaches it.
        """
        if not self.at_end:
            self._command(STEP, 0.0)
        return not self.at_end

    def run_until(self, date: float) -> None:
        """Advance to a date [s], events at that date included; raise as `step`."""
        given: object = date
        if not is_real(given) or math.isnan(given):
            raise SimpluginError(f"date is {date!r}; give a number of seconds")
        if date < self.clock:
            raise SimpluginError(f"date is {date!r}; the simulation is at {self.clock:g} s already")
        if not self.at_end:
            # An infinite date is the command to run to the end.
            self._command(GO, min(date, sys.float_info.max))

    def run(self) -> Result:
        """Advance to the end; return the same result as `simulate`; raise as `step`."""
        if self._result is None:
            body = self._command(GO, math.inf)
            assert body is not None
            self._result = self._job.result(body)
        return self._result

    def _look(self) -> tuple[Any, ...]:
        """Request the state, once a pause."""
        if self._looked is None:
            self._command(LOOK, 0.0)
            self._looked = self._supervision.state()
        return self._looked

    def _command(self, kind: bytes, date: float) -> bytes | None:
        """Send a command to the simulation."""
        if not self._supervision.is_paused:
            raise SimpluginError("this simulation has ended; make another one")
        self._looked = None
        try:
            with self._job.locating():
                return self._supervision.command(kind, date)
        except SimulationError as error:
            if error.clock is not None:
                self._supervision.clock = error.clock
            raise
        finally:
            self._ended = not self._supervision.is_paused


@contextlib.contextmanager
def simulation(
    platform: Platform | str | os.PathLike[str],
    actors: Actors,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    **options: Unpack[SimulationKeywords],
) -> Iterator[Simulation]:
    """Simulate step by step: ``with simulation(platform, actors) as sim:``.

    The simulation begins before the first event. At the end of the block it ends, and its process.

    Parameters
    ----------
    platform, actors, functions
        As in `simplugin.simulate`.
    **options
        As in `simplugin.simulate`, but `debug`; `wall_limit` does not count the time between
        calls.

    Raises
    ------
    SimpluginError
        As `simplugin.simulate`; also for ``back_end="threads"``.
    """
    chosen = SimulationOptions(**options)
    if chosen.debug:
        raise SimpluginError(
            "a simulation that goes step by step has a process of its own; leave debug out"
        )
    if chosen.back_end == "threads":
        # SimGrid's Engine.run_until adds an event, which changes the last bits of later dates.
        raise SimpluginError("back_end is 'threads'; step by step needs back_end='coroutines'")
    with prepare_job(platform, placements(actors, functions), chosen, steps=True) as job:
        supervision = job.supervision()
        with supervision.started():
            with job.locating():
                supervision.wait()
            yield Simulation(job, supervision)
