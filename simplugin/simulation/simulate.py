"""One call, one simulation: a result or an exception."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from simplugin.core.errors import (
    NeverAwaitedError,
    SimpluginError,
    SimulationError,
)
from simplugin.simulation.api.callbacks import Callbacks
from simplugin.simulation.logs import Level, check_level
from simplugin.simulation.options import SimGridOptions
from simplugin.simulation.placement import Actors, placements
from simplugin.simulation.process_environment import ProcessEnvironment, check_simulations_may_start
from simplugin.simulation.protocol import BACK_ENDS, ActorJob, SimulationSettings

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.simulation.result import Result
    from simplugin.simulation.servers import Supervision

# The fields of an ActorJob, of a Placement.
_JOB_OF = attrgetter(
    *("function", "args", "host", "actor_name", "start_time", "kill_time"),
    *("restart", "daemon", "properties"),
)
# SimGrid announces each option, figures and each change of a governor on standard error otherwise.
_QUIET = [
    f"--log={category}.threshold:warning"
    for category in ("xbt_cfg", "host_dvfs", "host_energy", "link_energy", "link_energy_wifi")
]


def simulate(
    platform: Platform | str | os.PathLike[str],
    actors: Actors,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    options: SimGridOptions | None = None,
    back_end: Literal["coroutines", "threads"] = "coroutines",
    until: float | None = None,
    wall_limit: float | None = None,
    memory_limit: int | None = None,
    trace: bool = True,
    trace_limit: int | None = None,
    energy: bool = False,
    seed: int = 0,
    progress: Callable[[float, int], None] | None = None,
    callbacks: Callbacks | None = None,
    log: Level = "info",
    prefix_prints: bool = False,
    debug: bool = False,
) -> Result:
    """Run actors on a platform in a process of its own; return the result.

    Whatever goes wrong in the simulation is an exception here and leaves no process behind. It
    may be called from several threads at a time, from scripts, notebooks and tests; functions
    may be lambdas and closures. Changes that actors make to global variables stay in their
    process: return values instead.

    Parameters
    ----------
    platform : Platform, or path
        The platform; a path is that of a SimGrid XML file.
    actors : sequence of Placement or of tuples, Deployment, or path
        Placements, tuples ``(host, function, *args)``, or a deployment (or its file).
    functions : mapping of str to callable, optional
        With a deployment: the async function that each of its function names stands for.
    options : SimGridOptions, optional
        Models and precision; SimGrid's defaults without.
    back_end : {"coroutines", "threads"}
        The fast one, or the reference on SimGrid's own Python bindings.
    until : float, optional
        Simulated date that must not be passed while actors run [s].
    wall_limit : float, optional
        Real time that the simulation may take [s].
    memory_limit : int, optional
        Address space that the simulation may add to that of an empty one [byte].
    trace : bool
        True to record activities.
    trace_limit : int, optional
        Memory that the trace may occupy: 38 byte a row, and texts; a quarter of the memory of this
        host or control group, or of `memory_limit`, by default [byte].
    energy : bool
        True to account for energy. All hosts of the platform need the property
        ``wattage_per_state``, those that run nothing, too: they consume energy while they idle.
    seed : int
        Seed of the actors' random numbers, 0 or more.
    progress : callable, optional
        Called now and then with the simulated date and the number of actors alive.
    callbacks : Callbacks, optional
        Functions that decide shares and factors, or hear what happens.
    log : {"debug", "info", "warning", "error"}
        The least level of ``me.log`` that is written to standard error.
    prefix_prints : bool
        True to begin what actors print with host, actor and date, as what they log.
    debug : bool
        True to run in this process, for ``breakpoint()`` and debuggers: once in a process, and
        without `wall_limit`, `memory_limit` and `prefix_prints`.

    Returns
    -------
    Result
        The same bytes for the same inputs.

    Raises
    ------
    PlatformError
        The platform cannot be read, SimGrid refuses it, or it has hosts without wattages
        although `energy` is true; the message names them.
    DeploymentError
        An actor has an unknown host or function.
    ActorError
        An actor raised; the original exception is the ``__cause__``.
    CallbackError
        A callback raised, or returned no valid number.
    NeverAwaitedError
        An actor called an operation or a coroutine function without `await`; names the line.
    DeadlockError
        Actors wait for what can never happen.
    SimulatedTimeLimitError, WallClockLimitError
        A limit was reached.
    CrashError
        The simulation's process died: a crash, or out of memory.
    SimulationError
        Base of the last seven; also for a trace that outgrows its limit, and for arguments or
        returned values that cannot be pickled.
    SetupError
        SimGrid is missing.
    """
    arguments = locals()
    with prepared(**arguments) as job:
        return job.run_here() if debug else job.run()


# What a simulation's process has as it was given, and what of it determines the outcome.
_PASSED_ON = (
    *("until", "memory_limit", "trace", "trace_limit"),
    *("energy", "seed", "log", "prefix_prints"),
)
_DETERMINING = ("seed", "until", "energy", "trace")


@contextlib.contextmanager
def prepared(
    platform: Platform | str | os.PathLike[str],
    actors: Actors,
    *,
    steps: bool = False,
    **given: Any,
) -> Iterator[SimulationJob]:
    """Check the arguments of `simulate`; give what is ready to run."""
    # Loaded late: `import simplugin` must be quick.
    from simplugin.simulation import digests
    from simplugin.simulation.platform_files import platform_file

    check_simulations_may_start()
    bound = inspect.signature(simulate).bind(platform, actors, **given)
    bound.apply_defaults()
    given = bound.arguments
    options, callbacks, progress = (given[name] for name in ("options", "callbacks", "progress"))
    chosen = SimGridOptions() if options is None else options
    if not isinstance(chosen, SimGridOptions):
        raise SimpluginError(f"options is {options!r}; give SimGridOptions")
    if callbacks is not None and not isinstance(callbacks, Callbacks):
        raise SimpluginError(f"callbacks is {callbacks!r}; give Callbacks")
    _check_limits(given)
    check_level(given["log"])
    if given["back_end"] not in BACK_ENDS:
        known = " or ".join(map(repr, BACK_ENDS))
        raise SimpluginError(f"back_end is {given['back_end']!r}; choose {known}")
    # Prefixes would stand before what the debugger prints, too.
    for name in ("wall_limit", "memory_limit", "prefix_prints"):
        if given["debug"] and given[name]:
            raise SimpluginError(f"debug=True simulates in this process; leave {name} out")
    jobs = [ActorJob(*_JOB_OF(each)) for each in placements(actors, given["functions"])]
    given |= {name: bool(given[name]) for name in ("trace", "energy", "prefix_prints")}
    with platform_file(platform, chosen.items(), energy=given["energy"]) as file:
        settings = SimulationSettings(
            platform=file,
            arguments=[*_QUIET, *chosen.arguments()],
            back_end=BACK_ENDS[given["back_end"]],
            # Asked for also for the sake of the date in the message about the wall-clock limit.
            reports_progress=progress is not None or given["wall_limit"] is not None,
            surroundings=ProcessEnvironment.current(),
            steps=steps,
            **{name: given[name] for name in _PASSED_ON},
        )
        choices = {name: given[name] for name in ("back_end", *_DETERMINING)}
        platform_sha256 = digests.platform_hash(file)
        content = digests.content_hash(
            platform_sha256, jobs, callbacks, choices | {"arguments": chosen.arguments()}
        )
        hashes = {"platform_sha256": platform_sha256, "content_sha256": content}
        yield SimulationJob(
            settings, jobs, callbacks, given["wall_limit"], progress, choices | hashes
        )


@dataclass(frozen=True)
class SimulationJob:
    """A simulation that is ready to run.

    Attributes
    ----------
    settings, actors, callbacks
        All that the simulation's process needs.
    wall_limit, progress
        As in `simulate`.
    provenance : dict
        That part which is known before it runs.
    """

    settings: SimulationSettings
    actors: Sequence[ActorJob]
    callbacks: Callbacks | None
    wall_limit: float | None
    progress: Callable[[float, int], None] | None
    provenance: dict[str, Any]

    def run(self) -> Result:
        """Simulate in a process of its own."""
        supervision = self.supervision()
        with self.locating():
            return self.result(supervision.run())

    def run_here(self) -> Result:
        """Simulate in this process."""
        from simplugin.simulation.child import simulate_here

        return self.result(simulate_here(self.settings, self.actors, self.callbacks, self.progress))

    def supervision(self) -> Supervision:
        """Return the supervision of its process, which has not started yet."""
        from simplugin.simulation.serialization import pack_functions
        from simplugin.simulation.servers import Supervision

        packed = pack_functions(self.actors, self.callbacks)
        return Supervision(self.settings, packed, self.wall_limit, self.progress)

    @contextlib.contextmanager
    def locating(self) -> Iterator[None]:
        """Simulate again to find the line of an operation that is never awaited."""
        try:
            yield
        except NeverAwaitedError as error:
            if error.place:
                raise
            # To note the place of each operation would slow every simulation down.
            silent = replace(self.settings, locates=True, steps=False)
            again = replace(self, settings=silent, progress=None).supervision()
            found = error
            try:
                again.run()
            except NeverAwaitedError as located:
                found = located
            except SimulationError:
                pass
            raise found from None

    def result(self, body: bytes) -> Result:
        """Join the outcome to its provenance."""
        from simplugin.simulation.result import Result, Returned, ReturnedValues

        parts = pickle.loads(body)
        options = {"options": dict(sorted(parts["options"].items()))}
        names, hosts, packed, states = parts["returned"]
        try:
            values = pickle.loads(packed)
        except Exception as error:
            raise SimulationError(
                f"what the actors returned cannot be read here: {error!r}"
            ) from error
        return Result(
            clock=float(parts["clock"]),
            returned=ReturnedValues(map(Returned, names, hosts, values, states)),
            provenance={**parts["versions"], **self.provenance, **options},
            **{name: parts[name] for name in ("hosts", "links", "trace", "plugins", "off_times")},
        )


def _check_limits(given: Mapping[str, Any]) -> None:
    """Raise for limits that limit nothing, and for seeds that numpy refuses."""
    until, wall_limit, seed = given["until"], given["wall_limit"], given["seed"]
    if until is not None and not (is_real(until) and until >= 0):
        raise SimpluginError(f"until is {until!r}; give a date of 0 s or more")
    if wall_limit is not None and not (
        is_real(wall_limit) and wall_limit > 0 and math.isfinite(wall_limit)
    ):
        raise SimpluginError(f"wall_limit is {wall_limit!r}; give a time above 0 s")
    for name in ("memory_limit", "trace_limit"):
        limit = given[name]
        if limit is not None and not (isinstance(limit, int) and 0 < limit < 2**63):
            raise SimpluginError(f"{name} is {limit!r}; give a number of bytes")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise SimpluginError(f"seed is {seed!r}; give an integer of 0 or more")


def is_real(value: object) -> TypeGuard[float]:
    """Return True if a value is a number that compares with 0."""
    return isinstance(value, Real) and not isinstance(value, bool)
