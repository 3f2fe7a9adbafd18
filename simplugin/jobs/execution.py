"""Execution of a log of batch jobs on a simulated machine."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from operator import itemgetter
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import ActorError, PlatformError, WorkloadError
from simplugin.formats import read_platform
from simplugin.inputs.locations import shown
from simplugin.jobs.actors.batch_system import (
    BatchSetup,
    JobConditions,
    run_batch_system,
    watch_node,
)
from simplugin.jobs.actors.messages import JobRecords, JobState
from simplugin.jobs.actors.meta_scheduler import (
    Dispatch,
    LocalCluster,
    dispatch_jobs,
    least_loaded,
    receive_jobs,
)
from simplugin.jobs.nodes import NodeMask
from simplugin.jobs.policy import SAME_DATE, JobPolicy
from simplugin.platforms import Host, Platform, Zone
from simplugin.simulation import Result, SimGridOptions
from simplugin.simulation.options import SimulationKeywords, SimulationOptions, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.simulation.prepared import PreparedSimulation
from simplugin.simulation.simulate import simulate
from simplugin.workloads.batch_jobs import JobLog, JobWork, ParallelWork, Phases
from simplugin.workloads.parameter_ranges import whole


@dataclass(frozen=True, eq=False)
class JobExecution:
    """Result of the execution of a log.

    Attributes
    ----------
    log : JobLog
        The jobs.
    n_nodes : int
        Number of nodes of the machine.
    submit, start, end : float64, shape (n_jobs,)
        Dates of each job, NaN where it has none; of a job that started several times, those of the
        last run [s].
    state : tuple of str, shape (n_jobs,)
        ``completed``, ``killed`` (at its walltime or by the policy), ``rejected`` or ``failed``.
    nodes : tuple of int, shape (n_jobs,)
        Nodes of each job, bit i for node i, see `simplugin.jobs.nodes`; of a malleable job all that
        it had.
    steps : tuple of tuple of (float, int), shape (n_jobs,)
        Dates and numbers of nodes of each malleable job, empty for others.
    starts : tuple of int, shape (n_jobs,)
        How often each job started; more than once after failures.
    result : Result
        The simulation's.
    """

    log: JobLog
    n_nodes: int
    submit: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    state: tuple[JobState, ...]
    nodes: tuple[NodeMask, ...]
    steps: tuple[tuple[tuple[float, int], ...], ...]
    starts: tuple[int, ...]
    result: Result


def execute(
    jobs: JobLog,
    policy: JobPolicy,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    n_nodes: int | None = None,
    conditions: JobConditions | None = None,
    choices: bool = False,
    others: Sequence[Placement] = (),
    **simulation: Unpack[SimulationKeywords],
) -> JobExecution:
    """Execute a log of batch jobs on a simulated machine.

    Parameters
    ----------
    jobs : JobLog
        The jobs.
    policy : JobPolicy
        The decisions, see `simplugin.jobs.policy`.
    platform : Platform or path, optional
        The machine; without it a number of nodes, for jobs of known duration.
    n_nodes : int, optional
        Number of nodes of a machine without platform; that of the log by default.
    conditions : JobConditions, optional
        Hosts, overheads, and readings of rules.
    choices : bool
        True to offer a choice whenever another job than the policy's first could start: the
        `Decisions` of the policy, then the start of each other waiting job that fits. It has the
        `QueueState`, and the date as label. After another job has started, the policy is asked
        again.
    others : sequence of Placement
        Further daemons on the platform, such as foreign traffic.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``trace=False`` and SimGrid's linear model, ``SimGridOptions.linear()``, or ``ptask_L07``
        if a job has a parallel task.

    Raises
    ------
    WorkloadError
        An argument is invalid, or a decision of the policy is; the message names policy, job and
        date.
    PlatformError
        The platform does not have the hosts.
    ActorError
        The policy raised an exception.
    """
    return prepare(
        jobs,
        policy,
        platform=platform,
        n_nodes=n_nodes,
        conditions=conditions,
        choices=choices,
        others=others,
        **simulation,
    ).run()


def prepare(
    jobs: JobLog,
    policy: JobPolicy,
    *,
    platform: Platform | str | os.PathLike[str] | None = None,
    n_nodes: int | None = None,
    conditions: JobConditions | None = None,
    choices: bool = False,
    others: Sequence[Placement] = (),
    **simulation: Unpack[SimulationKeywords],
) -> PreparedSimulation[JobExecution]:
    """Return the simulation of `execute`, with the same arguments, ready to start."""
    conditions = conditions or JobConditions()
    if not isinstance(jobs, JobLog):
        raise WorkloadError(f"jobs is {shown(jobs)}; give a JobLog")
    if not callable(policy):
        raise WorkloadError(f"policy is {shown(policy)}; give a function, or one of POLICIES")
    if platform is None:
        count = jobs.n_nodes if n_nodes is None else n_nodes
        if count is None:
            raise WorkloadError("the size of the machine is unknown; give n_nodes or a platform")
        whole("n_nodes", count)
        if conditions.hosts or conditions.storage:
            raise WorkloadError("there is no platform with hosts; give it, or leave out hosts")
        machine = Platform((Zone("machine", "Full", (Host("front end", 1e9),)),))
        front = "front end"
    else:
        if n_nodes is not None:
            raise WorkloadError("n_nodes and a platform are given; leave out n_nodes")
        machine = platform if isinstance(platform, Platform) else read_platform(platform)
        names = tuple(machine.host_names())
        for name in (*conditions.hosts, *filter(None, [conditions.storage])):
            if name not in names:
                raise PlatformError(f"the platform has no host {name!r}, which conditions name")
        disks = {each.id: each.disks for each, _ in machine.walk() if isinstance(each, Host)}
        if conditions.storage and not disks.get(conditions.storage):
            raise PlatformError(f"storage is {conditions.storage!r}, which is no host with a disk")
        conditions = replace(conditions, hosts=conditions.hosts or names)
        count, front = len(conditions.hosts), conditions.hosts[0]

    def executed(result: Result) -> JobExecution:
        """Return the execution from the records of jobs."""
        records: JobRecords | None = result.returned[0].value
        if records is None:
            raise _host_failed(front)
        return _execution(jobs, count, records, result)

    _check_reservations(jobs, count)
    setup = BatchSetup(jobs, policy, count, conditions, choices)
    placements = [Placement(front, run_batch_system, (setup,), name="batch system")]
    if conditions.failures:
        placements += [
            Placement(host, watch_node, (node, ""), name="watcher", restart=True, daemon=True)
            for node, host in enumerate(conditions.hosts)
        ]
    options = _options(jobs, simulation)
    return PreparedSimulation(machine, [*placements, *others], options, executed, _decision_errors)


def last_end(result: Result) -> float:
    """Return the date at which the last job ended [s]; 0 if none started."""
    records: JobRecords = result.returned[0].value
    _, _, end = records.dates
    return float(np.nanmax(end, initial=0.0))


def execute_clusters(
    jobs: JobLog,
    clusters: Sequence[LocalCluster],
    dispatch: Dispatch = least_loaded,
    *,
    platform: Platform | str | os.PathLike[str],
    conditions: JobConditions | None = None,
    **simulation: Unpack[SimulationKeywords],
) -> JobExecution:
    """Execute a log on clusters with a queue each, to which a meta-scheduler sends the jobs.

    The meta-scheduler is on the first host of the first cluster. A job arrives after its message
    has crossed the network, and the batch systems report their states by messages.

    Parameters
    ----------
    jobs : JobLog
        The jobs, without dependencies; each runs on one cluster.
    clusters : sequence of LocalCluster
        The clusters; nodes are numbered through in their order.
    dispatch : callable
        Chooses a cluster for a job among the reports of those that are large enough:
        `least_loaded`, `by_queue`, or a function of one's own.
    platform, conditions, **simulation
        As for `execute`; `JobConditions.hosts` are those of the clusters.

    Raises
    ------
    WorkloadError
        A job has dependencies, or clusters share a name or a host.
    """
    clusters = tuple(clusters)
    machine = platform if isinstance(platform, Platform) else read_platform(platform)
    hosts = [host for each in clusters for host in each.hosts]
    if not hosts or len({*hosts}) < len(hosts) or len({e.name for e in clusters}) < len(clusters):
        raise WorkloadError("clusters share a name or a host, or have none; give each its own")
    if missing := {*hosts} - {*machine.host_names()}:
        raise PlatformError(f"the platform has no host {min(missing)!r}, which a cluster names")
    if later := next((job.id for job in jobs.jobs if job.after), None):
        raise WorkloadError(f"job {later!r} has dependencies, which clusters do not know")
    placements = []
    for each in clusters:
        own = replace(conditions or JobConditions(), hosts=each.hosts)
        setup = BatchSetup(jobs, each.policy, len(each.hosts), own, cluster=each.name)
        front = each.hosts[0]
        placements += [
            Placement(front, run_batch_system, (setup,), name=f"batch system {each.name}"),
            Placement(front, receive_jobs, (each.name,), name=f"door {each.name}"),
        ]
        if own.failures:
            placements += [
                Placement(host, watch_node, (node, each.name), restart=True, daemon=True)
                for node, host in enumerate(each.hosts)
            ]
    meta = Placement(hosts[0], dispatch_jobs, (jobs, clusters, dispatch), name="meta-scheduler")
    result = _simulated(machine, [*placements, meta], jobs, simulation)
    first, parts = 0, []
    systems = {each.name: each.value for each in result.returned}
    for each in clusters:
        records = systems[f"batch system {each.name}"]
        if records is None:
            raise _host_failed(each.hosts[0])
        parts.append((records, first))
        first += len(each.hosts)
    return _execution(jobs, len(hosts), JobRecords.joined(parts), result)


def _check_reservations(jobs: JobLog, n_nodes: int) -> None:
    """Raise WorkloadError for an advance reservation that others leave too few nodes."""
    booked = [(job.reserved, job) for job in jobs.jobs if job.reserved is not None]
    ends: list[tuple[float, int]] = []
    taken = 0
    for date, job in sorted(booked, key=itemgetter(0)):
        if job.size > n_nodes:
            continue
        while ends and ends[0][0] <= date + SAME_DATE:
            taken -= heappop(ends)[1]
        taken += job.size
        if taken > n_nodes:
            raise WorkloadError(
                f"job {job.id!r} has an advance reservation of {job.size} nodes at {date:g} s, when"
                f" others hold {taken - job.size} of {n_nodes}; give it another date"
            )
        heappush(ends, (date + (math.inf if job.walltime is None else job.walltime), job.size))


def _host_failed(front: str) -> PlatformError:
    """Return the error of a batch system whose own host failed."""
    return PlatformError(
        f"host {front!r}, where the batch system is, failed before the end; leave out its state"
        " profile, or give another first host"
    )


def _simulated(
    machine: Platform, placements: list[Placement], jobs: JobLog, simulation: SimulationKeywords
) -> Result:
    """Simulate; raise errors of jobs and decisions as they are."""
    with _decision_errors():
        return simulate(machine, placements, **_options(jobs, simulation).keywords())


def _options(jobs: JobLog, simulation: SimulationKeywords) -> SimulationOptions:
    """Return the options of a simulation, by default of the model that the jobs need."""
    parallel = any(_is_parallel(job.work_on(job.size)) for job in jobs.jobs)
    options = SimGridOptions(host_model="ptask_L07") if parallel else SimGridOptions.linear()
    return SimulationOptions(**with_defaults(simulation, options))


@contextmanager
def _decision_errors() -> Iterator[None]:
    """Raise errors of jobs and decisions as they are."""
    try:
        yield
    except ActorError as error:
        if isinstance(error.__cause__, WorkloadError):
            raise error.__cause__ from None
        raise


def _execution(jobs: JobLog, n_nodes: int, records: JobRecords, result: Result) -> JobExecution:
    """Return an execution from the records of jobs."""
    submit, start, end = records.dates
    parts = records.state, records.nodes, records.steps, records.starts
    return JobExecution(jobs, n_nodes, submit, start, end, *parts, result)


def _is_parallel(work: JobWork) -> bool:
    """Return True if a work has a parallel task."""
    if isinstance(work, Phases):
        return any(map(_is_parallel, work.parts))
    return isinstance(work, ParallelWork)
