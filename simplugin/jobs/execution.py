"""Execution of a log of batch jobs on a simulated machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
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
from simplugin.jobs.nodes import NodeMask
from simplugin.jobs.policy import JobPolicy
from simplugin.platforms import Host, Platform, Zone
from simplugin.simulation import Result, SimGridOptions
from simplugin.simulation.options import SimulationKeywords, with_defaults
from simplugin.simulation.placement import Placement
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
        conditions = replace(conditions, hosts=conditions.hosts or names)
        count, front = len(conditions.hosts), conditions.hosts[0]
    parallel = any(_is_parallel(job.work_on(job.size)) for job in jobs.jobs)
    options = SimGridOptions(host_model="ptask_L07") if parallel else SimGridOptions.linear()
    setup = BatchSetup(jobs, policy, count, conditions)
    placements = [Placement(front, run_batch_system, (setup,), name="batch system")]
    if conditions.failures:
        placements += [
            Placement(host, watch_node, (node,), name="watcher", restart=True, daemon=True)
            for node, host in enumerate(conditions.hosts)
        ]
    try:
        result = simulate(
            machine,
            placements,
            **with_defaults(simulation, options),
        )
    except ActorError as error:
        # Errors of jobs and of decisions are for the caller.
        if isinstance(error.__cause__, WorkloadError):
            raise error.__cause__ from None
        raise
    records: JobRecords = result.returned[0].value
    submit, start, end = records.dates
    parts = records.state, records.nodes, records.steps, records.starts
    return JobExecution(jobs, count, submit, start, end, *parts, result)


def _is_parallel(work: JobWork) -> bool:
    """Return True if a work has a parallel task."""
    if isinstance(work, Phases):
        return any(map(_is_parallel, work.parts))
    return isinstance(work, ParallelWork)
