"""From rates to tasks: demand-driven dispatch of the actual tasks, simulated on SimGrid."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.platforms.graphs import Graph
from simplugin.platforms.platform import Platform
from simplugin.pricing.actors.dispatchers import AgentSetup, Neighbour, agent
from simplugin.pricing.policies.task_queues import LiveProportions, Proportions
from simplugin.simulation.options import SimGridOptions, SimulationKeywords, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.simulation.result import Result
from simplugin.simulation.simulate import simulate
from simplugin.workloads.shared_deployment import Floats, Integers, SharedDeployment

# Simulated tasks of each application, unless the caller gives their grain.
_TASKS = 2000
# Default part of the duration before the measurement.
_WARM_UP = 0.25
# Simulated tasks that an agent keeps for each queue in use while rates are negotiated.
_LIVE_THRESHOLD = 4
# Each task that is under way has an actor that waits for it.
_MOST_REQUESTED = 100_000


@dataclass(frozen=True, eq=False)
class Dispatch:
    """Throughputs of tasks that were dispatched at given rates.

    Attributes
    ----------
    throughput : float64, shape (n_applications,)
        Tasks that ended in the window over its length [tasks/s].
    theoretical : float64, shape (n_applications,)
        Throughputs of the rates, averaged over the window [tasks/s].
    window : tuple of float
        First and last date of the measurement [s].
    grain : float64, shape (n_applications,)
        Number of tasks for which a simulated task stands.
    arrived : int64, shape (n_agents,)
        Simulated tasks that came to each agent over the whole run; a master's are those that it
        released.
    agent, task : int64, shape (n_computed,)
        The agent that computed each simulated task, and the task's number, by date.
    date : float64, shape (n_computed,)
        When that ended [s].
    result : Result
        The simulation.
    """

    throughput: Floats
    theoretical: Floats
    window: tuple[float, float]
    grain: Floats
    arrived: Integers
    agent: Integers
    task: Integers
    date: Floats
    result: Result

    @property
    def deviation(self) -> Floats:
        """Theoretical minus measured throughput over theoretical, shape (n_applications,).

        NaN for an application that was promised nothing.
        """
        missing = self.theoretical - self.throughput
        promised = np.where(self.theoretical > 0, self.theoretical, np.nan)
        return missing / promised


@dataclass(frozen=True, eq=False)
class DispatchSettings:
    """Duration, measurement and sizes of a dispatch of tasks.

    Attributes
    ----------
    duration : float
        Length of the run [s].
    warm_up : float, optional
        When the measurement starts [s]; after a quarter of the duration by default.
    grain : float or float64, shape (n_applications,), optional
        Number of tasks for which a simulated task stands: it has `grain` times the computation
        and the data. By default each application releases some 2000 simulated tasks. Latencies do
        not grow with the grain: the tasks in transit, during a request's way there and a task's
        way back, should be fewer than the threshold.
    threshold : int
        Simulated tasks that an agent keeps for each queue in use.
    paced : bool
        True if masters release tasks at the throughput of their applications at most.

    Raises
    ------
    WorkloadError
        `duration`, `warm_up` or `threshold` is out of range.
    """

    duration: float
    warm_up: float | None = None
    grain: float | Floats | None = None
    threshold: int = 16
    paced: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        valid = 0 <= self.start < self.duration < np.inf
        if not valid or not 1 <= self.threshold <= _MOST_REQUESTED:
            raise WorkloadError(
                f"duration is {self.duration!r}, warm_up {self.start!r} and threshold"
                f" {self.threshold!r}; give 0 <= warm_up < duration and a threshold from 1 to"
                f" {_MOST_REQUESTED}"
            )

    @property
    def start(self) -> float:
        """When the measurement starts [s]."""
        return _WARM_UP * self.duration if self.warm_up is None else self.warm_up


def dispatch(
    platform: Graph | Platform | str | os.PathLike[str],
    sharing: SharedDeployment,
    rates: Floats | Iterable[tuple[float, Floats]],
    settings: DispatchSettings,
    **simulation: Unpack[SimulationKeywords],
) -> Dispatch:
    """Run tasks on SimGrid at the rates of a pricing method, and measure the throughputs.

    The demand-driven dispatch of [1]_. Each agent puts the tasks that come in into queues, one
    for its own computations and one for each child, in proportion to its rate and to the flows of
    its children's subtrees. Each core of its host computes one task of its own queue after another.
    An agent sends a child as many tasks as the child has requested, and requests tasks from its
    parent when its queues hold fewer than `threshold` tasks for each queue in use; requests cross
    the network too. SimGrid shares a host between the executions of all applications, and a link
    between all transfers, in equal parts.

    Proportions fix how an application's tasks are spread, not how many there are: where
    applications compete, equal parts are not the rates. So the master's agent, which has
    all tasks at hand, releases them at the throughput of its application (`paced`) and up to
    `threshold` delayed tasks together. Feasible rates then leave to each agent enough of the
    equal parts: an agent that is behind has a queue, and takes more than its rate.

    Parameters
    ----------
    platform : Graph, Platform or path
        The platform, with routes between the hosts of parents and children in both directions.
    sharing : SharedDeployment
        The deployment.
    rates : float64, shape (n_agents,), or iterable of (float, float64, shape (n_agents,))
        Tasks that each agent computes [tasks/s]; or dates [s], ascending, and the rates from
        then on, for rates that are still being negotiated. Before the first date they are 0.
    settings : DispatchSettings
        Duration, measurement and sizes.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``. In a trace executions are labelled
        with their agents.

    Returns
    -------
    Dispatch
        With the throughputs, and every simulated task that was computed.

    Raises
    ------
    WorkloadError
        Shapes or ranges are wrong, or an agent that may not compute has a rate.

    References
    ----------
    .. [1] R. Bertin, A. Legrand, C. Touati (2007). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Slides, "Decentralized Scheduling".
    """
    dates, lines = _lines(sharing, rates)
    start, duration, grain = settings.start, settings.duration, settings.grain
    flows = np.array([sharing.gather(line) for line in lines])
    masters = flows[:, sharing.masters]
    if grain is None:
        promised = _average(masters, dates, 0.0, duration) * duration
        coarse = np.where(promised > 0, promised / _TASKS, 1.0)
    else:
        coarse = _checked(grain, sharing.n_applications)
    lines, flows = (each / coarse[sharing.application] for each in (lines, flows))
    # Idle agents need no actor.
    active = np.flatnonzero(np.any(flows > 0, axis=0)).tolist()

    def proportions(number: int, children: list[int]) -> Proportions:
        weights = np.column_stack([lines[:, number], flows[:, children]])
        # Only lines that differ from the one before count.
        new = np.append(True, np.any(np.diff(weights, axis=0) != 0, axis=1))
        return Proportions(tuple(dates[new].tolist()), tuple(map(tuple, weights[new].tolist())))

    stations = _seated(sharing, active, coarse, proportions, settings)
    actors = [
        Placement(sharing.hosts[sharing.host[number]], agent, (station,), name=station.name)
        for number, station in stations.items()
    ]
    model = platform.platform() if isinstance(platform, Graph) else platform
    result = simulate(model, actors, **with_defaults(simulation, SimGridOptions.linear()))
    theoretical = _average(masters, dates, start, duration)
    return _measure(sharing, list(stations), result, coarse, theoretical, (start, duration))


def _lines(
    sharing: SharedDeployment, rates: Floats | Iterable[tuple[float, Floats]]
) -> tuple[Floats, Floats]:
    """Return dates, shape (n_changes,), and rates, shape (n_changes, n_agents)."""
    changes = [(0.0, rates)] if isinstance(rates, np.ndarray) else list(rates)
    dates = np.array([date for date, _ in changes], dtype=np.float64)
    shapes = {np.shape(line) for _, line in changes}
    if shapes != {(sharing.n_agents,)}:
        raise WorkloadError(f"rates have shapes {shapes}; give ({sharing.n_agents},)")
    lines = np.array([line for _, line in changes], dtype=np.float64)
    if not np.all(np.isfinite(lines) & (lines >= 0)):
        raise WorkloadError("a rate is negative or infinite; give numbers >= 0")
    if not np.all(dates >= 0) or np.any(np.diff(dates) <= 0):
        raise WorkloadError("the dates of the rates are not ascending from 0 on; sort them")
    idle = np.flatnonzero(np.any(lines > 0, axis=0) & ~sharing.computes)
    if len(idle):
        raise WorkloadError(f"agent {idle[0]} has a rate, but may not compute; give it 0")
    return dates, lines


def _checked(grain: float | Floats, count: int) -> Floats:
    """Return the grain of each application as given."""
    coarse = np.broadcast_to(np.asarray(grain, dtype=np.float64), (count,)).copy()
    if not np.all(np.isfinite(coarse) & (coarse > 0)):
        raise WorkloadError(f"grain is {grain!r}; give positive numbers")
    return coarse


def _average(values: Floats, dates: Floats, start: float, end: float) -> Floats:
    """Average piecewise constant values, shape (n_changes, ...), over a window."""
    length = np.diff(np.clip(np.append(dates, np.inf), start, end))
    average: Floats = (length * values.T).sum(axis=-1) / (end - start)
    return average


def live_stations(
    sharing: SharedDeployment, grain: float | Floats, period: float, end: float
) -> dict[int, AgentSetup]:
    """Return the initial knowledge of agents that dispatch tasks while they negotiate their rates.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment.
    grain : float or float64, shape (n_applications,)
        Number of tasks for which a simulated task stands.
    period : float
        Between two changes of the rates [s].
    end : float
        When all stop [s].
    """
    coarse, agents = _checked(grain, sharing.n_applications), list(range(sharing.n_agents))

    def proportions(number: int, children: list[int]) -> LiveProportions:
        del number
        return LiveProportions(period, (0.0,) * (1 + len(children)))

    settings = DispatchSettings(end, threshold=_LIVE_THRESHOLD)
    return _seated(sharing, agents, coarse, proportions, settings)


def measured(
    sharing: SharedDeployment,
    result: Result,
    grain: float | Floats,
    date: Floats,
    throughput: Floats,
) -> Dispatch:
    """Return the throughputs of tasks that were dispatched during a negotiation.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment.
    result : Result
        Of the simulation.
    grain : float or float64, shape (n_applications,)
        Number of tasks for which a simulated task stood.
    date : float64, shape (n_samples,)
        Of the negotiation's samples [s].
    throughput : float64, shape (n_samples, n_applications)
        Negotiated then [tasks/s].
    """
    window = _WARM_UP * float(date[-1]), float(date[-1])
    theoretical = throughput[date > window[0]].mean(axis=0)
    coarse = _checked(grain, sharing.n_applications)
    return _measure(sharing, list(range(sharing.n_agents)), result, coarse, theoretical, window)


def _seated(
    sharing: SharedDeployment,
    active: list[int],
    grain: Floats,
    proportions: Callable[[int, list[int]], Proportions | LiveProportions],
    settings: DispatchSettings,
) -> dict[int, AgentSetup]:
    """Return the initial knowledge of some agents, by number."""
    children: dict[int, list[int]] = {number: [] for number in active}
    for number in active:
        if sharing.parent[number] >= 0:
            children[int(sharing.parent[number])].append(number)

    def neighbour(number: int, of: int) -> Neighbour:
        return Neighbour(f"agent {number}", bool(sharing.host[number] == sharing.host[of]))

    stations = {}
    for number in active:
        application, parent = sharing.application[number], int(sharing.parent[number])
        above = None if parent < 0 else neighbour(parent, number)
        below = tuple(neighbour(child, number) for child in children[number])
        flop = float(sharing.flop[application] * grain[application])
        byte = float(sharing.byte[application] * grain[application])
        parts = proportions(number, children[number])
        rules = int(settings.threshold), settings.paced, float(settings.duration)
        name = f"agent {number}"
        stations[number] = AgentSetup(name, above, below, flop, byte, parts, *rules)
    return stations


def _measure(
    sharing: SharedDeployment,
    agents: list[int],
    result: Result,
    grain: Floats,
    theoretical: Floats,
    window: tuple[float, float],
) -> Dispatch:
    """Count the computed tasks."""
    arrived = np.zeros(sharing.n_agents, dtype=np.int64)
    rows = []
    for number in agents:
        arrived[number], computed = result.value_of(f"agent {number}")
        rows += [(date, number, task) for task, date in computed]
    rows.sort()
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    date, agent = np.array(columns[0], dtype=np.float64), np.array(columns[1], dtype=np.int64)
    counted = (date > window[0]) & (date <= window[1])
    ended = np.bincount(sharing.application[agent[counted]], minlength=sharing.n_applications)
    throughput, task = ended * grain / (window[1] - window[0]), np.array(columns[2], dtype=np.int64)
    aim = theoretical, window, grain
    return Dispatch(throughput, *aim, arrived, agent, task, date, result)
