"""Pure iterations: runs, trajectories and counts of rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from simplugin.core.errors import SimpluginError, WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.pricing.method import Iteration, State
from simplugin.workloads.shared_deployment import AlphaFair, Floats, SharedDeployment

_State = TypeVar("_State", bound=State)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """An iteration round by round; entry 0 is its start.

    Attributes
    ----------
    throughput : float64, shape (n_rounds + 1, n_applications)
        Of each application [tasks/s].
    overload : float64, shape (n_rounds + 1,)
        Largest excess of a load over its capacity, relative to the capacity.
    rate : float64, shape (n_agents,)
        Tasks that each agent computes at the end [tasks/s].
    host_price : float64, shape (n_rounds + 1, n_hosts)
        Of computation [utility/flop]; one entry, the last, where prices were not kept.
    link_price : float64, shape (n_rounds + 1, n_links)
        Of traffic [utility/byte]; likewise.
    date : float64, shape (n_rounds + 1,)
        When each round ended in a simulation [s]; NaN for a pure iteration.
    bytes_sent : float
        Through the simulated network [byte]; 0 for a pure iteration.
    rates : float64, shape (n_rounds + 1, n_agents), optional
        Of every round, where they were kept.
    sent : float64, shape (n_rounds + 1,), optional
        Bytes through the simulated network until each round ended.
    """

    throughput: Floats
    overload: Floats
    rate: Floats
    host_price: Floats
    link_price: Floats
    date: Floats = field(default_factory=lambda: np.zeros(0))
    bytes_sent: float = 0.0
    rates: Floats | None = None
    sent: Floats | None = None

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.throughput) - 1


def require_rounds(rounds: object, least: int) -> None:
    """Raise unless a number of rounds is a whole number of at least `least`."""
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < least:
        raise WorkloadError(f"rounds is {rounds!r}; give a whole number from {least} on")


def iterate(
    method: Iteration[_State],
    sharing: SharedDeployment,
    utility: AlphaFair,
    rounds: int,
    *,
    start: _State | None = None,
    prices: bool = True,
    rates: bool = False,
) -> Trajectory:
    """Run a pure iteration.

    Parameters
    ----------
    method : Iteration
        A method, or another object with `start` and `round`.
    sharing : SharedDeployment
        The problem.
    utility : AlphaFair
        Of every application.
    rounds : int
        Number of rounds.
    start : State, optional
        The first state; by default that of the method.
    prices, rates : bool
        True to keep the prices, and each agent's rate, of every round.

    Returns
    -------
    Trajectory
        Without dates.

    Raises
    ------
    WorkloadError
        `rounds` is not a whole number of at least 0.
    """
    require_rounds(rounds, 0)
    state = method.start(sharing, utility) if start is None else start
    seen, priced, rated = [], [], []
    for number in range(rounds + 1):
        if number:
            state = method.round(sharing, utility, state)
        who = f"method {type(method).__name__!r} has in round {number} the"
        rate = _checked(f"{who} rate", getattr(state, "rate", None), sharing.n_agents)
        seen.append((sharing.throughput(rate), sharing.overload(rate)))
        host_price = _checked(f"{who} host_price", state.host_price, sharing.n_hosts)
        link_price = _checked(f"{who} link_price", state.link_price, sharing.n_links)
        if prices or number == rounds:
            priced.append((host_price, link_price))
        if rates:
            rated.append(rate)
    host_price, link_price = (np.array(each) for each in zip(*priced, strict=True))
    throughput, overload = (np.array(each) for each in zip(*seen, strict=True))
    dates, kept = np.full(rounds + 1, np.nan), np.array(rated) if rates else None
    return Trajectory(throughput, overload, rate, host_price, link_price, dates, rates=kept)


def _checked(what: str, values: Any, size: int) -> Floats:
    """Return rates or prices; raise WorkloadError unless they are numbers from 0 on."""
    is_array = isinstance(values, np.ndarray) and values.dtype == float and values.shape == (size,)
    if is_array and np.all(values >= 0):
        return np.asarray(values)
    return decided(what, values, f"{size} finite numbers from 0 on", (size,), least=0.0)


def settled(error: Floats, level: float) -> int | None:
    """Return the first round from which an error stays within a level to the end.

    Parameters
    ----------
    error : float64, shape (n_rounds + 1,)
        Of each round, from round 0; NaN counts as outside.
    level : float
        The largest error that is accepted.

    Returns
    -------
    int or None
        None if the last round is outside.
    """
    outside = np.flatnonzero(~(np.asarray(error) <= level))
    if len(outside) == 0:
        return 0
    first = int(outside[-1]) + 1
    return first if first < len(error) else None


def objective_error(
    trajectory: Trajectory, sharing: SharedDeployment, utility: AlphaFair, best: float
) -> Floats:
    """Return how far the objective is from the best, relative to it, as the report measures.

    Depends on the unit of the tasks, and forgives overloads: for reproductions. Shape
    (n_rounds + 1,).
    """
    if best == 0:
        raise SimpluginError("the best objective is 0; choose another unit of tasks")
    value = utility.objective(trajectory.throughput, sharing.weight)
    return np.asarray(np.abs(value - best) / abs(best))


def throughput_error(trajectory: Trajectory, best: Floats) -> Floats:
    """Return the larger of the worst relative error of a throughput and the overload.

    Parameters
    ----------
    trajectory : Trajectory
        An iteration.
    best : float64, shape (n_applications,)
        The optimal throughputs [tasks/s].

    Returns
    -------
    float64, shape (n_rounds + 1,)
        The measure of "every throughput within 1 %".
    """
    worst = np.abs(trajectory.throughput / best - 1).max(axis=1)
    return np.asarray(np.maximum(worst, trajectory.overload))
