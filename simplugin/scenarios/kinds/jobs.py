"""Workloads of kind "jobs": batch jobs that are submitted to a queue."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from simplugin.core.errors import DeploymentError, PlatformError, WorkloadError
from simplugin.formats.job_log_files import read_job_log
from simplugin.formats.job_schedules import read_job_schedule
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import NOT_NEGATIVE, POSITIVE, Bandwidth, Time
from simplugin.inputs.sections import ExistingFile, Section
from simplugin.inputs.validation import table
from simplugin.jobs.actors.batch_system import JobConditions
from simplugin.jobs.assessment import JobAssessment
from simplugin.jobs.execution import JobExecution, last_end
from simplugin.jobs.execution import prepare as prepare_execution
from simplugin.jobs.policies.shipped import POLICIES
from simplugin.jobs.policy import JobPolicy
from simplugin.scenarios.scenario import Scenario, ScenarioResult, Schedulers, WorkloadKind
from simplugin.scenarios.schedulers import (
    PARAMETERS,
    ChosenScheduler,
    policy_of,
    read_scheduler,
)
from simplugin.scenarios.sections import Hosts
from simplugin.simulation.options import SimGridOptions
from simplugin.simulation.prepared import PreparedSimulation
from simplugin.workloads.batch_jobs import JobLog
from simplugin.workloads.job_logs import cut_log, perfectly_estimated, scaled_log, trace_jobs
from simplugin.workloads.job_schedules import JobSchedule
from simplugin.workloads.lublin import LublinModel, lublin

# The keys that go with one source of jobs only.
_KEYS = {
    "file": ("lenient", "node"),
    "generator": ("overestimate", "model", "seed"),
}


if TYPE_CHECKING:
    LublinTable: TypeAlias = LublinModel
else:
    _NAMES = [each.name for each in fields(LublinModel)]
    LublinTable = table(LublinModel, **dict.fromkeys(_NAMES, float | None))


class JobsWorkload(Section):
    """``[workload]`` of kind "jobs": a log, or jobs that are drawn, then cut and scaled.

    Attributes
    ----------
    file : path, optional
        A log, perhaps compressed: ``.swf``, ``.json`` of Batsim or ElastiSim, else a table of
        Slurm's sacct.
    lenient : bool
        True to leave out jobs of SWF and ElastiSim with invalid fields, instead of an error.
    node : {"nodes", "cores"}
        What a node of a table of sacct is: one of Slurm's, or a core.
    generator : {"lublin"}, optional
        Instead of a file: the model of Lublin and Feitelson, see `simplugin.workloads.lublin`.
    overestimate : float, optional
        Of drawn jobs, the largest excess of a requested time, in run times.
    model : LublinModel
        Parameters of the generator's model.
    seed : int, optional
        Seed of the generator; by default that of the simulation.
    n_jobs : int, optional
        Number of jobs: the first ones of a log, or those that are drawn.
    n_nodes : int, optional
        Nodes of the machine; by default those of the platform, or of the log.
    start, end : float
        Keep the jobs submitted from the start and before the end [s]; the start becomes date 0.
    load : float, optional
        Submit jobs faster or slower, so that the work submitted is this part of what the nodes can
        do until the last submission.
    time : float
        Instead of a load: factor of all dates of submission.
    perfect_estimates : bool
        True if jobs request exactly the time that they run, for logs without requested times.
    measured : path, optional
        A table of when the jobs really ran, to compare with: of Slurm, Batsim, OAR, ElastiSim or
        evalys.
    """

    file: ExistingFile | None = None
    lenient: bool = False
    node: Literal["nodes", "cores"] = "nodes"
    generator: Literal["lublin"] | None = None
    overestimate: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    model: LublinTable = LublinModel()
    seed: Annotated[int, Field(ge=0)] | None = None
    n_jobs: Annotated[int, Field(ge=1)] | None = None
    n_nodes: Annotated[int, Field(ge=1)] | None = None
    start: Annotated[Time, NOT_NEGATIVE] = 0.0
    end: Annotated[Time, POSITIVE] | None = None
    load: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    time: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    perfect_estimates: bool = False
    measured: ExistingFile | None = None

    @model_validator(mode="after")
    def _one_source(self) -> JobsWorkload:
        """Raise ValueError unless there is one source, with its own keys."""
        if (self.file is None) == (self.generator is None):
            raise ValueError("give either a file or a generator")
        source, other = ("file", "generator") if self.generator is None else ("generator", "file")
        for key in _KEYS[other]:
            if key in self.model_fields_set:
                message = f"{{key}} goes with a {other}, not with a {source}"
                raise InvalidValueError(message, "remove it", (key,))
        if self.generator is not None and self.n_jobs is None:
            raise ValueError("a generator needs n_jobs; give a number of jobs")
        if self.load is not None and "time" in self.model_fields_set:
            raise InvalidValueError(
                "{key} cannot be combined with load", "remove one of the two", ("time",)
            )
        return self


class JobSchedulerSection(Section):
    """The parameters of the scheduler that are not the policy's own.

    Attributes
    ----------
    optimum : bool
        True to compute the best schedule of up to ten rigid jobs, instead of bounds.
    hosts : str, optional
        The hosts of the platform that are nodes, for instance ``node-*``; by default all.
    storage, latency, prologue, epilogue, added, shortest, grace, at_walltime, too_large, passes
        As in `simplugin.jobs.actors.batch_system.JobConditions`.
    failures, restarts, checkpoint, checkpoint_cost, restart_cost, boot_time
        As in `simplugin.jobs.actors.batch_system.JobConditions`.
    bandwidth : float, optional
        As in `simplugin.jobs.actors.batch_system.JobConditions`; by default changes take no time.
    """

    optimum: bool = False
    hosts: Hosts | None = None
    storage: str | None = None
    latency: Annotated[Time, NOT_NEGATIVE] = 0.0
    prologue: Annotated[Time, NOT_NEGATIVE] = 0.0
    epilogue: Annotated[Time, NOT_NEGATIVE] = 0.0
    added: Annotated[Time, NOT_NEGATIVE] = 0.0
    shortest: Annotated[Time, NOT_NEGATIVE] = 0.0
    grace: Annotated[Time, NOT_NEGATIVE] = 0.0
    at_walltime: Literal["completed", "killed"] = "completed"
    too_large: Literal["rejected", "blocks"] = "rejected"
    passes: Literal["date", "event"] = "date"
    bandwidth: Annotated[Bandwidth, POSITIVE] | None = None
    failures: bool = False
    restarts: Annotated[int, Field(ge=0)] = 0
    checkpoint: Annotated[Time, POSITIVE] | None = None
    checkpoint_cost: Annotated[Time, NOT_NEGATIVE] = 0.0
    restart_cost: Annotated[Time, NOT_NEGATIVE] = 0.0
    boot_time: Annotated[Time, NOT_NEGATIVE] = 0.0

    def conditions(self, hosts: tuple[str, ...]) -> JobConditions:
        """Return the conditions of an execution on some hosts."""
        known = {each.name for each in fields(JobConditions)} - {"hosts", "bandwidth"}
        names = known & set(type(self).model_fields)
        given = {name: getattr(self, name) for name in names}
        bandwidth = math.inf if self.bandwidth is None else self.bandwidth
        return JobConditions(hosts=hosts, bandwidth=bandwidth, **given)


def run(scenario: Scenario) -> ScenarioResult:
    """Execute the jobs, and compare the schedule with bounds."""
    return prepare(scenario).run()


def prepare(scenario: Scenario, *, choices: bool = False) -> PreparedSimulation[ScenarioResult]:
    """Return the execution of the jobs, ready to start; the batch system offers choices or not."""
    from simplugin.scenarios.user_metrics import host_choice

    chosen = check(scenario)
    settings, workload = chosen.settings, scenario.workload
    platform = scenario.make_platform() if scenario.platform.is_given else None
    hosts: tuple[str, ...] = ()
    if platform is None:
        for key in ("hosts", "storage"):
            if getattr(settings, key) is not None:
                raise scenario.error(
                    f"{key} is given, but there is no platform",
                    *PARAMETERS, key, remedy="add [platform], or remove it",
                )  # fmt: skip
        count = workload.n_nodes
    else:
        if workload.n_nodes is not None:
            message = "n_nodes is given beside a platform, whose hosts are the nodes"
            raise scenario.error(message, "workload", "n_nodes", remedy="remove it")
        choice = host_choice(platform)
        with scenario.errors_at(*PARAMETERS, "hosts", of=DeploymentError):
            hosts = tuple(choice.chosen(settings.hosts)) if settings.hosts else choice.hosts
        count = len(hosts)
    log = job_log(scenario, count)
    with scenario.errors_at("workload", "measured", of=WorkloadError):
        measured = _measured(workload, log)
    with scenario.errors_at("scheduler", "name", of=WorkloadError):
        policy = _policy(chosen)
    chooser = scenario.rollout("scheduler", last_end)
    simulation = replace(scenario.traced_on_demand("trace"), chooser=chooser).keywords()
    if scenario.simulation.options == SimGridOptions():
        del simulation["options"]
    refused = partial(scenario.errors_at, "scheduler", of=(WorkloadError, PlatformError))
    with refused():
        execution = prepare_execution(
            log,
            policy,
            platform=platform,
            n_nodes=None if platform else count,
            conditions=settings.conditions(hosts),
            choices=choices or chooser is not None,
            **simulation,
        )

    @contextmanager
    def errors() -> Iterator[None]:
        """Locate errors of decisions."""
        with refused(), execution.errors():
            yield

    def assessed(done: JobExecution) -> ScenarioResult:
        """Compare an execution with bounds."""
        with scenario.errors_at(*PARAMETERS, "optimum", of=WorkloadError):
            found = JobAssessment(done, settings.optimum, measured)
        outcome = ScenarioResult.of(found, done.result, figures=found.figures())
        return replace(outcome, schedule=found.chart(scenario.title))

    return replace(execution, errors=errors).then(assessed)


def check(scenario: Scenario) -> ChosenScheduler[JobSchedulerSection]:
    """Return the policy with its parameters, and the conditions.

    Raises
    ------
    ScenarioError
        A parameter of the scheduler, or of the generator's model, is unknown or invalid.
    """
    policy = policy_of(scenario, SCHEDULERS)
    is_function = ":" in scenario.scheduler.name and not inspect.isclass(policy)
    return read_scheduler(scenario, SCHEDULERS, policy, by_position=int(is_function))


def _policy(chosen: ChosenScheduler[JobSchedulerSection]) -> JobPolicy:
    """Return the policy: of a shipped one or a class what it makes, or the user's function."""
    make: Callable[..., Any] = chosen.policy
    if make in POLICIES.values() or inspect.isclass(make):
        policy: JobPolicy = make(**chosen.parameters)
        return policy
    return partial(make, **chosen.parameters) if chosen.parameters else make


def job_log(scenario: Scenario, n_nodes: int | None) -> JobLog:
    """Return the jobs of a scenario, cut and scaled.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    n_nodes : int, optional
        Nodes of the machine, if known; those of the log by default.

    Raises
    ------
    ScenarioError
        No job is left, or the number of nodes is needed.
    WorkloadFileError
        The file is invalid; the message names the line.
    """
    workload: JobsWorkload = scenario.workload
    if workload.file is None:
        log = _drawn(scenario, workload, n_nodes)
    else:
        with scenario.errors_at("workload", "file", of=WorkloadError):
            log = read_job_log(workload.file, size=workload.node, lenient=workload.lenient)
    known = log.n_nodes if n_nodes is None else n_nodes
    if known is None:
        message = f"{workload.file and workload.file.name} does not tell the nodes of the machine"
        raise scenario.error(message, "workload", remedy="add n_nodes, or a platform")
    cut = workload.start > 0 or workload.end is not None or workload.n_jobs is not None
    with scenario.errors_at("workload", of=WorkloadError):
        if cut:
            last = math.inf if workload.end is None else workload.end
            log = cut_log(log, workload.start, last, workload.n_jobs)
        if workload.load is not None or workload.time != 1:
            log = scaled_log(log, load=workload.load, n_nodes=known, time=workload.time)
        if workload.perfect_estimates:
            log = perfectly_estimated(log)
    return replace(log, n_nodes=known)


def _measured(workload: JobsWorkload, log: JobLog) -> JobSchedule | None:
    """Return the measured schedule of the jobs of a log, with dates as in the log."""
    if workload.measured is None:
        return None
    every = read_job_schedule(workload.measured)
    jobs = {job.id: job for job in log.jobs}
    kept = [place for place, id_ in enumerate(every.ids) if id_ in jobs]
    if not kept:
        raise WorkloadError(
            f"{workload.measured.name} has none of the jobs, for instance {log.jobs[0].id!r}; give"
            " the schedule of the same log"
        )
    found = every.of(kept)
    # The log may begin at another date, and count cores.
    found = found.moved(jobs[found.ids[0]].submit - float(found.submit[0]))
    if any(found.nodes):
        return found
    return replace(found, sizes=np.array([jobs[id_].size for id_ in found.ids]))


def _drawn(scenario: Scenario, workload: JobsWorkload, n_nodes: int | None) -> JobLog:
    """Return the jobs of the generator."""
    assert workload.n_jobs is not None
    if n_nodes is None:
        message = "the generator needs the nodes of the machine"
        raise scenario.error(message, "workload", remedy="add n_nodes, or a platform")
    seed = scenario.simulation.seed if workload.seed is None else workload.seed
    with scenario.errors_at("workload", of=WorkloadError):
        trace = lublin(
            workload.n_jobs,
            n_nodes,
            seed=seed,
            overestimate=workload.overestimate,
            model=workload.model,
        )
        return trace_jobs(trace)


SCHEDULERS = Schedulers("jobs", POLICIES, JobSchedulerSection)
KIND = WorkloadKind(
    JobsWorkload,
    run,
    SCHEDULERS,
    check,
    outputs=("result", "gantt", "curves"),
    need_trace=("trace",),
    prepare=prepare,
    needs_platform=False,
)
