"""A meta-scheduler that sends each job to the batch system of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simplugin.core.errors import WorkloadError
from simplugin.inputs.locations import shown
from simplugin.jobs.actors.batch_system import inbox_of
from simplugin.jobs.actors.messages import (
    REPORTS,
    SUBMISSION_BYTE,
    ClusterReport,
    SubmittedJobs,
)
from simplugin.jobs.policy import JobPolicy
from simplugin.simulation.api import Actor
from simplugin.workloads.batch_jobs import Job, JobLog

# Chooses a cluster for a job among those that are large enough, by what they last reported.
Dispatch: TypeAlias = Callable[[Job, Sequence[ClusterReport]], ClusterReport]


@dataclass(frozen=True)
class LocalCluster:
    """A cluster with its own queue.

    Attributes
    ----------
    name : str
        Its name.
    hosts : tuple of str
        Its nodes; its batch system is on the first one.
    policy : JobPolicy
        The policy of its queue.
    """

    name: str
    hosts: tuple[str, ...]
    policy: JobPolicy


def by_queue(job: Job, clusters: Sequence[ClusterReport]) -> ClusterReport:
    """Return the cluster with the name of the job's queue; the first one if there is none."""
    return next((each for each in clusters if each.name == job.queue), clusters[0])


def least_loaded(job: Job, clusters: Sequence[ClusterReport]) -> ClusterReport:  # noqa: ARG001
    """Return the cluster that has fewest nodes wanted beyond its free ones, for its size."""
    return min(clusters, key=lambda each: (each.wanted - each.n_free) / each.n_nodes)


async def dispatch_jobs(
    me: Actor, log: JobLog, clusters: tuple[LocalCluster, ...], dispatch: Dispatch
) -> None:
    """Send each job to a cluster at its submission; messages cross the network."""
    reports = {
        each.name: ClusterReport(each.name, len(each.hosts), len(each.hosts), 0)
        for each in clusters
    }
    me.spawn(_listen, reports, name="reports", daemon=True)
    largest = max(reports.values(), key=lambda each: each.n_nodes)
    numbers = range(len(log.jobs))
    for number in sorted(numbers, key=lambda number: log.jobs[number].submit):
        job = log.jobs[number]
        await me.sleep_until(job.submit)
        # Jobs that are too large for all are rejected by the largest.
        fitting = [each for each in reports.values() if each.n_nodes >= job.smallest]
        chosen: object = dispatch(job, fitting or [largest])
        if not (isinstance(chosen, ClusterReport) and chosen.name in reports):
            raise WorkloadError(
                f"the dispatch of job {job.id!r} returns {shown(chosen)} (date {job.submit:g} s);"
                " return one of the reports"
            )
        me.mailbox(chosen.name).put_detached((number,), SUBMISSION_BYTE)
    for each in clusters:
        me.mailbox(each.name).put_detached((), SUBMISSION_BYTE)


async def _listen(me: Actor, reports: dict[str, ClusterReport]) -> None:
    """Keep the last report of each cluster."""
    while True:
        report: ClusterReport = await me.mailbox(REPORTS).get()
        reports[report.name] = report


async def receive_jobs(me: Actor, cluster: str) -> None:
    """Give the jobs that arrive to the batch system of a cluster."""
    inbox = me.message_queue(inbox_of(cluster))
    jobs: tuple[int, ...] = (0,)
    while jobs:
        jobs = await me.mailbox(cluster).get()
        inbox.put_detached(SubmittedJobs(me.now, jobs, -1))
