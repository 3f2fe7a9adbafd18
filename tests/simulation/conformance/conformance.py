"""Conformance scenarios, their outcomes, and the comparison of two outcomes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worlds import PLAIN

from simplugin.core.errors import (
    ActivityError,
    ActorError,
    CallbackError,
    DeadlockError,
    SimpluginError,
    SimulatedTimeLimitError,
    SimulationError,
)
from simplugin.simulation import Callbacks, Placement, SimGridOptions, simulate


@dataclass(frozen=True)
class Scenario:
    """A small program and its expected outcome.

    Attributes
    ----------
    name : str
        Its id in the tests.
    platform : str
        SimGrid XML.
    actors : tuple of Placement
        The program.
    expected : mapping
        By actor's name, the value that it must return: dates come from the platform's numbers,
        not from a run. By ``"error"``, ``"clock"``, ... what must be wrong if that is expected.
    clock : float, optional
        Date of the end [s].
    options : SimGridOptions
        The linear model unless something else is tested.
    energy : list of float, optional
        The energy that each host must have used at the end [J]; not measured if None.
    until : float, optional
        Limit of simulated time [s].
    callbacks : Callbacks, optional
        Functions of the user's.
    """

    name: str
    platform: str
    actors: tuple[Placement, ...]
    expected: Mapping[str, Any]
    clock: float | None = None
    options: SimGridOptions = field(default_factory=SimGridOptions.linear)
    energy: list[float] | None = None
    until: float | None = None
    callbacks: Callbacks | None = None

    def inputs(self, directory: Path) -> dict[str, Any]:
        """Return what `simulate` takes; the platform is written to a directory."""
        platform = directory / f"{self.name}.xml"
        platform.write_text(self.platform)
        same = {name: getattr(self, name) for name in ("actors", "options", "until", "callbacks")}
        return same | {"platform": platform, "energy": self.energy is not None, "wall_limit": 20}


SCENARIOS: list[Scenario] = []
"""Those of the modules that were imported."""


def scenario(
    name: str,
    *roles: tuple[Placement, Any],
    platform: str = PLAIN,
    wrong: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """Add a scenario of actors and what each must return, or of what must be wrong."""
    actors = tuple(placement for placement, _ in roles)
    gives = {placement.actor_name: value for placement, value in roles}
    assert len(gives) == len(actors), "each actor has a name of its own"
    SCENARIOS.append(Scenario(name, platform, actors, wrong or gives, **more))


def _on(
    host: str, function: Any, *args: Any, gives: Any = None, **placement: Any
) -> tuple[Placement, Any]:
    """Return an actor of a scenario and what it must return."""
    return Placement(host, function, args, **placement), gives


ada, bob, cyd = (functools.partial(_on, host) for host in ("ada", "bob", "cyd"))


def returns(
    gives: Any, *args: Any, on: Any = ada, beside: Iterable[Any] = (), **more: Any
) -> Callable[[Any], Any]:
    """Return a decorator that makes a scenario of an actor function and what it must return.

    Other actors beside it have their own functions; the scenario is called as the function.
    """

    def add(function: Any) -> Any:
        scenario(function.__name__, on(function, *args, gives=gives), *beside, **more)
        return function

    return add


async def tried(me: Any, operation: Any, culprit: Any = None) -> tuple[Any, ...]:
    """Return what an operation gives, or the name of its error, and the date [s].

    With a culprit also whether the error is of that activity, and the activity's state.
    """
    try:
        return await operation, me.now
    except ActivityError as error:
        told = (error.activity is culprit, culprit.state) if culprit else ()
        return type(error).__name__, me.now, *told


async def attempt(me: Any, start: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return what the operation that a function of the actor makes gives, as `tried`."""
    return await tried(me, start(me))


def errors_of(*calls: Callable[[], object]) -> list[str]:
    """Return the names of the errors of calls."""
    names = []
    for call in calls:
        try:
            call()
        except (SimpluginError, ValueError, TypeError, RuntimeError) as error:
            names.append(type(error).__name__)
    return names


async def send(me: Any, size: float = 1e6, delay: float = 0.0, box: str = "box") -> Any:
    await me.sleep_for(delay)
    return await tried(me, me.mailbox(box).put(me.name, size))


async def receive(me: Any, delay: float = 0.0, box: str = "box") -> Any:
    await me.sleep_for(delay)
    return await tried(me, me.mailbox(box).get())


async def sleep(me: Any, duration: float) -> float:
    await me.sleep_for(duration)
    return float(me.now)


async def work(me: Any, flops: float) -> float:
    await me.execute(flops)
    return float(me.now)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a scenario.

    Attributes
    ----------
    values : dict
        Returned values by actor's name, or what was wrong.
    clock : float
        Date of the end [s].
    states : dict
        How each actor ended.
    rows : list of tuples
        Rows of the trace, sorted.
    totals : dict
        Flops and busy time of hosts, bytes of links.
    """

    values: dict[str, Any]
    clock: float
    states: dict[str, str]
    rows: list[tuple[Any, ...]]
    totals: dict[str, Any]


def run(scenario: Scenario, back_end: Any, directory: Path) -> Outcome:
    """Run a scenario in a process of its own."""
    try:
        result = simulate(**scenario.inputs(directory), back_end=back_end, seed=42)
    except SimulationError as error:
        return Outcome(_wrong(error), error.clock or 0.0, {}, [], {})
    values = {each.name: each.value for each in result.returned}
    if scenario.energy is not None:
        values["energy"] = result.hosts.energy.tolist()
    table = result.trace.to_pandas().itertuples(index=False, name=None)
    rows = [tuple(None if item != item else item for item in row) for row in table]
    return Outcome(
        values=values,
        clock=result.clock,
        states={each.name: each.state for each in result.returned},
        rows=sorted(rows, key=lambda row: [repr(item) for item in rounded(row)]),
        totals={
            "busy": dict(zip(result.hosts.name, result.hosts.busy.tolist(), strict=True)),
            "flops": dict(zip(result.hosts.name, result.hosts.flops.tolist(), strict=True)),
            "bytes": dict(zip(result.links.name, result.links.bytes.tolist(), strict=True)),
        },
    )


def rounded(row: tuple[Any, ...]) -> list[Any]:
    """Return a row whose numbers are cut to what both back ends have in common."""
    return [round(item, 6) if isinstance(item, float) else item for item in row]


def _wrong(error: SimulationError) -> dict[str, Any]:
    """Return what is to be compared of an error."""
    wrong: dict[str, Any] = {"error": type(error).__name__, "clock": error.clock}
    if isinstance(error, SimulatedTimeLimitError):
        wrong["limit"] = error.limit
    if isinstance(error, DeadlockError):
        wrong["blocked"] = [
            (
                *(each.name, each.host, each.since, each.waits_for),
                Path(each.where.partition(":")[0]).name,
            )
            for each in error.blocked
        ]
    if isinstance(error, CallbackError):
        files = re.findall(r'File "(.*?)"', error.callback_traceback)
        wrong["callback"] = error.callback.partition("[")[0]
        wrong["cause"] = repr(error.__cause__)
        wrong["frames"] = [Path(file).name for file in files]
    if isinstance(error, ActorError):
        wrong["actor"] = (error.actor, error.host)
        wrong["cause"] = repr(error.__cause__)
    return wrong
