"""Step by step: a simulation that pauses, with its state as plain data."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack, cast

from simplugin.core.errors import (
    BlockedActor,
    ChoiceError,
    DeploymentError,
    SimpluginError,
    SimulationError,
)
from simplugin.simulation.choices import Choice
from simplugin.simulation.options import SimulationKeywords, SimulationOptions, is_real
from simplugin.simulation.paused_state import (
    ActivityState,
    HostState,
    LinkState,
    PausedState,
)
from simplugin.simulation.placement import (
    Actors,
    Placement,
    placements,
    suggestion,
    unknown_host,
)
from simplugin.simulation.process.serialization import pack_functions, unpack_functions
from simplugin.simulation.process.wire_format import (
    ASK,
    CHOICE,
    END,
    GO,
    INTERVENE,
    LOOK,
    STEP,
)
from simplugin.simulation.protocol import ActorJob, UserFunctions
from simplugin.simulation.simulate import SimulationJob, actor_job, prepare_job

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.simulation.api import Actor
    from simplugin.simulation.process.supervision import Supervision
    from simplugin.simulation.result import Result

# The kind of a command that takes an option.
ANSWER = b"k"
T = TypeVar("T")
R = TypeVar("R")


class SimulationCommand(NamedTuple):
    """A command to a simulation.

    Attributes
    ----------
    kind : bytes
        As in `simplugin.simulation.process.wire_format`; or `ANSWER`, which goes with the next.
    date : float
        Its date, or the index of an answer.
    packed : bytes
        The actor of an intervention, as it was sent.
    name, host : str
        Its name and its host.
    """

    kind: bytes
    date: float
    packed: bytes = b""
    name: str = ""
    host: str = ""


class Simulation:
    """A simulation that pauses; `simulation` makes it.

    Parameters
    ----------
    job : SimulationJob
        The simulation to run.
    supervision : Supervision
        Its process, which pauses.
    commands : sequence of SimulationCommand
        All that have led to this pause.
    choice : Choice, optional
        The choice at which it has paused.
    """

    def __init__(
        self,
        job: SimulationJob,
        supervision: Supervision,
        commands: Sequence[SimulationCommand] = (),
        choice: Choice | None = None,
    ) -> None:
        self._job = job
        self._open_choice = choice
        self._commands = list(commands)
        self._supervision = supervision
        self._looked: PausedState | None = None
        self._result: Result | None = None
        self._ended = False
        # One command at a time, from whichever thread.
        self._lock = threading.RLock()

    @property
    def clock(self) -> float:
        """Simulated time [s]; after an error, the time at which it occurred."""
        return self._supervision.clock if self._result is None else self._result.clock

    @property
    def at_end(self) -> bool:
        """True after the last event; `run` gives the result, or raised an error."""
        return self._supervision.pause == END or self._ended

    @property
    def hosts(self) -> tuple[HostState, ...]:
        """All hosts."""
        return self._look().hosts

    @property
    def links(self) -> tuple[LinkState, ...]:
        """All links."""
        return self._look().links

    @property
    def activities(self) -> tuple[ActivityState, ...]:
        """All activities on hosts and links, in order of creation."""
        return self._look().activities

    @property
    def actors(self) -> tuple[BlockedActor, ...]:
        """All living actors: the operation that each awaits, since when, and the line of code."""
        return self._look().actors

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
            started = [(each.date, each.name, each.host) for each in self._commands if each.packed]
            self._result = self._job.result(body, started)
        return self._result

    @contextlib.contextmanager
    def branch(self, *, quiet: bool = False) -> Iterator[Simulation]:
        """Fork the simulation at this pause: ``with sim.branch() as other:``.

        The branch goes on by itself, in a process of its own that shares memory until one of the
        two writes to it, and has the same future to the last bit. It ends with the block. What is
        left of `wall_limit` holds for it, too. Callable from several threads.

        Parameters
        ----------
        quiet : bool
            True not to show what its actors print and log.

        Raises
        ------
        SimulationError
            The actors have opened files or sockets, or started threads or processes, which a
            branch cannot have for itself; the message names them.
        """
        with contextlib.ExitStack() as stack:
            with self._lock:
                self._require_pause()
                forked = stack.enter_context(self._supervision.branch(quiet=quiet))
            yield Simulation(self._job, forked, self._commands, self._open_choice)

    @contextlib.contextmanager
    def branches(self, number: int, *, quiet: bool = False) -> Iterator[list[Simulation]]:
        """Make several branches: ``with sim.branches(3) as others:``; see `branch`."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self.branch(quiet=quiet)) for _ in range(number)]

    def map(
        self,
        function: Callable[[Simulation, T], R],
        values: Iterable[T],
        *,
        workers: int | None = None,
    ) -> list[R]:
        """Call a function of a quiet branch and a value for each value, several at a time.

        Parameters
        ----------
        function : callable
            Called in threads of this process; returns a result.
        values : iterable
            What to try.
        workers : int, optional
            Branches at a time; the number of cores without.

        Returns
        -------
        list
            What the function returned, in the order of the values.
        """

        def attempt(value: T) -> R:
            with self.branch(quiet=True) as other:
                return function(other, value)

        if workers is not None and not (type(workers) is int and workers >= 1):
            raise SimpluginError(f"workers is {workers!r}; give a whole number, 1 or more")
        with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(attempt, values))

    def intervene(
        self,
        function: Callable[..., Any],
        *args: Any,
        host: str | None = None,
        name: str | None = None,
    ) -> None:
        """Start an actor at the date of the pause, before all that is yet to happen.

        It may do whatever actors do: turn hosts and links off and on, set speeds, bandwidths and
        pstates, kill or suspend other actors, spawn new ones, send messages. The call returns
        after the events at this date; the result lists the actor, and its provenance names it.

        Parameters
        ----------
        function : async function
            Called with the actor and `args`.
        *args
            Its further arguments.
        host : str, optional
            Where it runs; the first host that is on without.
        name : str, optional
            The actor's name; the function's without.

        Raises
        ------
        DeploymentError
            There is no such host, or it is off; the function does not take these arguments.
        SimulationError
            As `step`; also at the end of the simulation, where nothing can happen any more.
        """
        with self._lock:
            if self.at_end:
                raise SimulationError("nothing can happen after the end; intervene before it")
            on = [each.name for each in self.hosts if each.is_on]
            if not on:
                raise SimulationError("no host is on that could run the intervention")
            placement = Placement(host or on[0], function, args, name=name)
            names = [each.name for each in self.hosts]
            if placement.host not in names:
                raise unknown_host(placement.actor_name, placement.host, names)
            if placement.host not in on:
                raise DeploymentError(
                    f"actor {placement.actor_name!r}: host {placement.host!r} is off",
                    remedy="turn it on first",
                )
            # An error in the simulation's process would end it.
            try:
                inspect.signature(function).bind(None, *args)
            except TypeError as error:
                who = f"actor {placement.actor_name!r}"
                raise DeploymentError(f"{who}: {error}; give its arguments after it") from None
            job = actor_job(placement)._replace(start_time=self.clock)
            self._command(INTERVENE, self.clock, job)

    def turn_off(self, name: str) -> None:
        """Turn off a host or a link now; see `intervene`."""
        self._switch(name, turns_on=False)

    def turn_on(self, name: str) -> None:
        """Turn on a host or a link now; see `intervene`."""
        self._switch(name, turns_on=True)

    def _switch(self, name: str, *, turns_on: bool) -> None:
        """Turn a host or a link off or on."""
        if not isinstance(cast(object, name), str):
            raise SimpluginError(f"{name!r} is no name of a host or link; give a text")
        hosts, links = ([each.name for each in kind] for kind in (self.hosts, self.links))
        if name not in (*hosts, *links):
            near = suggestion(name, (*hosts, *links))
            raise SimpluginError(f"the platform has no host or link {name!r}; {near}")
        if name in hosts and name in links:
            raise SimpluginError(f"{name!r} is a host and a link; switch one by intervene")
        verb = "turn_on" if turns_on else "turn_off"
        # It would end with its own host, and the switch of another is seen by all.
        others = [each.name for each in self.hosts if each.is_on and each.name != name]
        host = others[0] if others else None
        self.intervene(_call, name in hosts, name, verb, host=host, name=f"{verb} {name}")

    def run_to_choice(self) -> Choice | None:
        """Advance to the next decision that an actor leaves to a chooser; raise as `step`.

        An intervention that follows stops at decisions, too.

        Returns
        -------
        Choice or None
            The decision, which `choose` answers; None at the end.
        """
        with self._lock:
            if not self.at_end and self._open_choice is None:
                self._command(ASK, sys.float_info.max)
            return self._open_choice

    def choose(self, index: int) -> None:
        """Take the decision at which the simulation has paused; what follows waits for a command.

        Parameters
        ----------
        index : int
            Position of an option.

        Raises
        ------
        ChoiceError
            There is no option of this index.
        SimpluginError
            The simulation has not paused at a choice.
        """
        with self._lock:
            choice = self._open_choice
            if choice is None:
                raise SimpluginError(
                    f"no choice is open at {self.clock:g} s; call run_to_choice first"
                )
            given: object = index
            count = len(choice.options)
            is_index = hasattr(given, "__index__") and not isinstance(given, bool)
            if not (is_index and 0 <= index < count):
                wrong = f"{index!r} was given; give an index from 0 to {count - 1}"
                raise ChoiceError(choice.actor, choice.date, choice.label, wrong, "")
            self._require_pause()
            # It travels with the next command.
            self._supervision.answer = int(index)
            self._commands.append(SimulationCommand(ANSWER, float(index)))
            self._open_choice = None

    def recipe(self) -> Recipe:
        """Return the inputs and commands that lead to this pause, for processes elsewhere.

        A recipe can be pickled, and be replayed by another process or on another host.
        """
        with self._lock:
            job, commands = self._job, tuple(self._commands)
            packed, options = self._supervision.packed_functions, job.settings.options
            return Recipe(job.platform, packed, options, commands, self._look().digest())

    def _repeat(self, command: SimulationCommand) -> None:
        """Execute a command of a recipe."""
        if command.kind == ANSWER:
            self.choose(int(command.date))
        else:
            actors = unpack_functions(command.packed).actors if command.packed else [None]
            self._command(command.kind, command.date, *actors)

    def _look(self) -> PausedState:
        """Request the state, once a pause."""
        with self._lock:
            if self._looked is None:
                self._command(LOOK, 0.0)
                self._looked = PausedState.of_rows(self.clock, *self._supervision.state())
            return self._looked

    def _require_pause(self) -> None:
        """Raise unless the simulation waits for a command."""
        if not self._supervision.is_paused:
            raise SimpluginError("this simulation has ended; make another one")

    def _command(self, kind: bytes, date: float, actor: ActorJob | None = None) -> bytes | None:
        """Send a command to the simulation; an actor is that of an intervention."""
        with self._lock:
            self._require_pause()
            if (choice := self._open_choice) is not None and kind != LOOK:
                about = "" if choice.label is None else f" about {choice.label!r}"
                raise SimpluginError(
                    f"actor {choice.actor!r} waits for a choice{about} at {choice.date:g} s;"
                    " call choose first"
                )
            given: tuple[bytes, str, str] = (b"", "", "")
            if actor is not None:
                given = pack_functions(UserFunctions([actor])), actor.name, actor.host
                self._supervision.send_actor(given[0])
            if kind != LOOK:
                self._commands.append(SimulationCommand(kind, date, *given))
            self._looked = None
            try:
                with self._job.locating():
                    body = self._supervision.command(kind, date)
                is_open = self._supervision.is_paused and self._supervision.pause == CHOICE
                if is_open and kind != LOOK:
                    (packed,) = self._supervision.state()
                    self._open_choice = pickle.loads(packed)
                return body
            except SimulationError as error:
                if error.clock is not None:
                    self._supervision.clock = error.clock
                raise
            finally:
                self._ended = not self._supervision.is_paused


async def _call(me: Actor, is_host: bool, name: str, verb: str) -> None:
    """Call a method of a host or a link."""
    resource = me.host_by_name(name) if is_host else me.link_by_name(name)
    getattr(resource, verb)()


@dataclass(frozen=True)
class Recipe:
    """The inputs and commands that lead to a pause of a simulation; `Simulation.recipe` makes it.

    Attributes
    ----------
    platform : Platform or path
        The platform; a path must be valid where the recipe is replayed.
    functions : bytes
        Actors, callbacks and chooser, as they were sent.
    options : SimulationOptions
        Options of the simulation.
    commands : tuple of SimulationCommand
        All that led to the pause, in order.
    digest : str
        Digest of the state at the pause.
    """

    platform: Platform | str | os.PathLike[str]
    functions: bytes
    options: SimulationOptions
    commands: tuple[SimulationCommand, ...]
    digest: str

    @contextlib.contextmanager
    def replayed(self) -> Iterator[Simulation]:
        """Simulate up to the pause: ``with recipe.replayed() as sim:``.

        Raises
        ------
        SimulationError
            The state is another one; also as `simulation`.
        """
        actors, callbacks, chooser = unpack_functions(self.functions)
        options = replace(self.options, callbacks=callbacks, chooser=chooser)
        with _started(self.platform, actors, options) as sim:
            for command in self.commands:
                sim._repeat(command)
            if sim.recipe().digest != self.digest:
                raise SimulationError(
                    f"the replay is in another state at {sim.clock:g} s: the platform's file, the"
                    " functions or the versions of the software are not those of the recipe"
                )
            yield sim


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
    jobs = [actor_job(each) for each in placements(actors, functions)]
    with _started(platform, jobs, chosen) as sim:
        yield sim


@contextlib.contextmanager
def _started(
    platform: Platform | str | os.PathLike[str],
    actors: Sequence[ActorJob],
    options: SimulationOptions,
) -> Iterator[Simulation]:
    """Start a simulation that pauses before the first event."""
    with prepare_job(platform, actors, options, steps=True) as job:
        supervision = job.supervision()
        with supervision.started():
            with job.locating():
                supervision.wait()
            yield Simulation(job, supervision)
