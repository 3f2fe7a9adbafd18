"""Following a periodic schedule on a simulated tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.periodic_actors import Duty, periodic_host
from simplugin.errors import WorkloadError
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.placement import Placement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.bags.periodic import PeriodicSchedule
    from simplugin.bags.periodic_actors import Log
    from simplugin.simulation import Result

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

# Tasks of one run, beyond which the period was hardly chosen for being simulated.
MOST_TASKS = 10_000_000
# Dates closer than this [s] and this share of a period are the same, but for rounding; SimGrid's
# own precision is 1e-9 s.
SAME = (1e-8, 1e-9)


@dataclass(frozen=True, eq=False)
class PeriodicExecution:
    """What came of a periodic schedule.

    Attributes
    ----------
    schedule : PeriodicSchedule
        The schedule.
    n_periods : int
        For how many periods the root handed out tasks.
    date : float64, shape (n_tasks,)
        When tasks were computed, in order [s].
    kind, host : int64, shape (n_tasks,)
        The type of each, and where it was computed.
    most : int64, shape (n_hosts,)
        Most tasks that the buffer of each host held, those being computed or sent included.
    result : Result
        The simulation's.
    """

    schedule: PeriodicSchedule
    n_periods: int
    date: Floats
    kind: Integers
    host: Integers
    most: Integers
    result: Result

    def done(self, until: float) -> Integers:
        """Return how many tasks of each type were computed by a date [s], shape (n_types,)."""
        late = until + _slack(self.schedule)
        early = self.kind[: np.searchsorted(self.date, late, side="right")]
        return np.bincount(early, minlength=self.schedule.bags.n_applications)


def execute_periodic(
    schedule: PeriodicSchedule,
    n_periods: int,
    *,
    options: SimGridOptions | None = None,
    trace: bool = True,
) -> PeriodicExecution:
    """Follow a periodic schedule on SimGrid.

    The root hands out tasks in the first `n_periods` periods; a host at depth d starts d periods
    later and ends as much later. Each task crosses the links one by one, and is computed or sent
    on only after it has come.

    Parameters
    ----------
    schedule : PeriodicSchedule
        For a tree without latencies: with them, sends end later than planned, and what waits for
        them starts later.
    n_periods : int
        From 1 on.
    options : SimGridOptions, optional
        ``SimGridOptions.linear()`` without.
    trace : bool
        Whether to record activities.

    Raises
    ------
    WorkloadError
        There is no period, or there are too many tasks to simulate.
    """
    _check(schedule, n_periods)
    hosts = [host for host, row in enumerate(schedule.sent) if any(row)]
    result = simulate(
        schedule.tree.platform(),
        [
            Placement(
                schedule.tree.hosts[host],
                periodic_host,
                (_duty(schedule, host, n_periods),),
                name=f"periodic {schedule.tree.hosts[host]}",
            )
            for host in hosts
        ],
        options=SimGridOptions.linear() if options is None else options,
        trace=trace,
    )
    logs = {host: each.value for host, each in zip(hosts, result.returned, strict=False)}
    done = sorted((date, kind, host) for host in hosts for date, kind in logs[host].computed)
    most = np.zeros(schedule.tree.n_hosts, dtype=np.int64)
    for host in hosts[1:]:
        most[host] = _most(logs[host], _slack(schedule))
    return PeriodicExecution(
        schedule,
        n_periods,
        np.array([each[0] for each in done]),
        np.array([each[1] for each in done], dtype=np.int64),
        np.array([each[2] for each in done], dtype=np.int64),
        most,
        result,
    )


def _check(schedule: PeriodicSchedule, n_periods: int) -> None:
    """Refuse what cannot be simulated."""
    if n_periods < 1:
        raise WorkloadError(f"n_periods is {n_periods!r}; give a number from 1 on")
    tasks = n_periods * sum(schedule.sent[0])
    if tasks > MOST_TASKS:
        raise WorkloadError(
            f"{n_periods} periods of {float(schedule.period):g} s have {tasks:.2g} tasks, more than"
            f" {MOST_TASKS:.0e}; give periodic_schedule a shorter period"
        )


def _duty(schedule: PeriodicSchedule, host: int, n_periods: int) -> Duty:
    """Return what a host has to do."""
    tree, bags = schedule.tree, schedule.bags
    children = [child for child in tree.children[host] if any(schedule.sent[child])]
    first = int(tree.depth[host])
    return Duty(
        tree.hosts[host],
        host == 0,
        tuple(float((first + i) * schedule.period) for i in range(n_periods)),
        tuple(bags.flop.tolist()),
        tuple(bags.byte.tolist()),
        schedule.compute[host],
        tuple(tree.hosts[child] for child in children),
        tuple(schedule.sent[child] for child in children),
    )


def _slack(schedule: PeriodicSchedule) -> float:
    """Return by how much dates may differ and be the same [s]."""
    return SAME[0] + SAME[1] * float(schedule.period)


def _most(log: Log, slack: float) -> int:
    """Return the most tasks that a buffer held; of those at the same date, the leaving go first."""
    came = [date for date, _ in log.came]
    left = [date - slack for date, _ in (*log.computed, *log.sent)]
    dates = np.array(came + left)
    change = np.repeat([1, -1], [len(came), len(left)])
    order = np.lexsort((change, dates))
    return int(np.cumsum(change[order]).max(initial=0))
