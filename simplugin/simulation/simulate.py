"""One call, one simulation: a result or an exception."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from simplugin.core.errors import NeverAwaitedError, SimulationError
from simplugin.simulation.options import SimulationKeywords, SimulationOptions
from simplugin.simulation.placement import Actors, Placement, placements
from simplugin.simulation.process.environment import check_simulations_may_start
from simplugin.simulation.protocol import ActorJob, SimulationSettings, UserFunctions

if TYPE_CHECKING:
    from simplugin.platforms import Platform
    from simplugin.simulation.process.supervision import Supervision
    from simplugin.simulation.result import Result

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
    **options: Unpack[SimulationKeywords],
) -> Result:
    """Run actors on a platform in a separate process; return the result.

    Any failure of the simulation is an exception here and leaves no process behind. The function
    may be called from several threads at the same time, from scripts, notebooks and tests; actor
    functions may be lambdas and closures. Changes that actors make to global variables stay in
    their process: return values instead.

    Parameters
    ----------
    platform : Platform, or path
        The platform; a path is that of a SimGrid XML file.
    actors : sequence of Placement or of tuples, Deployment, or path
        Placements, tuples ``(host, function, *args)``, or a deployment (or its file).
    functions : mapping of str to callable, optional
        With a deployment: the async function of each function name in it.
    **options
        The fields of `SimulationOptions` by name: `back_end`, `seed`, `until`, `wall_limit`,
        `memory_limit`, `trace`, `trace_limit`, `energy`, `log`, `prefix_prints`, `options`,
        `progress`, `callbacks`, `chooser`, `order`, `debug`.

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
    ChoiceError
        The chooser raised, or returned no index of an option.
    NeverAwaitedError
        An actor called an operation or a coroutine function without `await`; names the line.
    DeadlockError
        Actors wait for what can never happen.
    SimulatedTimeLimitError, WallClockLimitError
        A limit was reached.
    CrashError
        The simulation's process died: a crash, or out of memory.
    SimulationError
        Base of the last eight; also for a trace that outgrows its limit, and for arguments or
        returned values that cannot be pickled.
    SetupError
        SimGrid is missing.
    """
    chosen = SimulationOptions(**options)
    jobs = [actor_job(each) for each in placements(actors, functions)]
    with prepare_job(platform, jobs, chosen) as job:
        return job.run_here() if chosen.debug else job.run()


@dataclass
class DrawnOrder:
    """An order for all simulations of a block: ``with DrawnOrder(seed):``.

    Attributes
    ----------
    seed : int, optional
        As the option `order`; the usual order without. The back end ``threads`` and simulations
        with an order of their own are left as they are.
    simulations : int
        Number of simulations that it applied to.
    """

    seed: int | None
    simulations: int = 0

    def __enter__(self) -> DrawnOrder:
        """Begin the block."""
        self._before = _drawn_order.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End the block."""
        _drawn_order.reset(self._before)

    def applied(self, options: SimulationOptions) -> SimulationOptions:
        """Return the options of a simulation of the block."""
        if options.order is not None or options.back_end != "coroutines":
            return options
        self.simulations += 1
        return replace(options, order=self.seed)


_drawn_order: ContextVar[DrawnOrder | None] = ContextVar("_drawn_order", default=None)


@contextlib.contextmanager
def prepare_job(
    platform: Platform | str | os.PathLike[str],
    actors: Sequence[ActorJob],
    options: SimulationOptions,
    *,
    steps: bool = False,
) -> Iterator[SimulationJob]:
    """Write the platform's file if necessary, and yield the simulation that is ready to run."""
    # Loaded late: `import simplugin` must be quick.
    from simplugin.simulation import digests
    from simplugin.simulation.platform_files import platform_file

    check_simulations_may_start()
    if (drawn := _drawn_order.get()) is not None:
        options = drawn.applied(options)
    functions = UserFunctions(actors, options.callbacks, options.chooser)
    of_simgrid = options.options
    with platform_file(platform, of_simgrid.items(), energy=options.energy) as file:
        settings = SimulationSettings(
            platform=file,
            arguments=[*_QUIET, *of_simgrid.arguments()],
            # Functions travel with the actors; progress is reported here.
            options=replace(options, callbacks=None, chooser=None, progress=None),
            # Also needed for the date in the message about the wall-clock limit.
            reports_progress=options.progress is not None or options.wall_limit is not None,
            steps=steps,
        )
        choices = {
            "back_end": options.back_end,
            "energy": options.energy,
            "seed": options.seed,
            "trace": options.trace,
            "until": options.until,
        }
        if options.order is not None:
            choices["order"] = options.order
        platform_sha256 = digests.platform_hash(file)
        content = digests.content_hash(
            platform_sha256,
            functions,
            choices | {"arguments": of_simgrid.arguments()},
        )
        hashes = {"platform_sha256": platform_sha256, "content_sha256": content}
        yield SimulationJob(platform, settings, functions, options, choices | hashes)


def actor_job(placement: Placement) -> ActorJob:
    """Return a placement as a simulation's process needs it."""
    return ActorJob(
        placement.function,
        placement.args,
        placement.host,
        placement.actor_name,
        placement.start_time,
        placement.kill_time,
        placement.restart,
        placement.daemon,
        dict(placement.properties),
    )


@dataclass(frozen=True)
class SimulationJob:
    """A simulation that is ready to run.

    Attributes
    ----------
    platform : Platform or path
        The platform as it was given.
    settings : SimulationSettings
        Settings of the simulation's process.
    functions : UserFunctions
        What it executes.
    options : SimulationOptions
        The caller's options.
    provenance : dict
        The part of the result's provenance that is known before it runs.
    """

    platform: Platform | str | os.PathLike[str]
    settings: SimulationSettings
    functions: UserFunctions
    options: SimulationOptions
    provenance: dict[str, Any]

    def run(self) -> Result:
        """Simulate in a process of its own."""
        supervision = self.supervision()
        with self.locating():
            return self.result(supervision.run())

    def run_here(self) -> Result:
        """Simulate in this process."""
        from simplugin.simulation.process.simulation_process import simulate_here

        return self.result(simulate_here(self.settings, self.functions, self.options.progress))

    def supervision(self) -> Supervision:
        """Return the supervision of its process, which has not started yet."""
        from simplugin.simulation.process.serialization import pack_functions
        from simplugin.simulation.process.supervision import Supervision

        packed = pack_functions(self.functions)
        return Supervision(self.settings, packed, self.options.wall_limit, self.options.progress)

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
            options = replace(self.options, progress=None)
            again = replace(self, settings=silent, options=options).supervision()
            found = error
            try:
                again.run()
            except NeverAwaitedError as located:
                found = located
            except SimulationError:
                pass
            raise found from None

    def result(self, body: bytes, interventions: Sequence[tuple[float, str, str]] = ()) -> Result:
        """Join the outcome to its provenance, which names interventions."""
        from simplugin.simulation.result import result_of

        parts = pickle.loads(body)
        options: dict[str, Any] = {"options": dict(sorted(parts["options"].items()))}
        if interventions:
            options["interventions"] = [list(each) for each in interventions]
        names, hosts, packed, states = parts["returned"]
        try:
            values = pickle.loads(packed)
        except Exception as error:
            raise SimulationError(
                f"what the actors returned cannot be read here: {error!r}"
            ) from error
        returned = zip(names, hosts, values, states, strict=True)
        provenance = {**parts["versions"], **self.provenance, **options}
        return result_of(parts | {"returned": returned}, provenance)
