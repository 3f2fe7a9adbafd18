"""Policies for jobs whose number of nodes is chosen at their start, or changes."""

from __future__ import annotations

import math
from operator import attrgetter

from simplugin.jobs.policies.profiles import CountProfile
from simplugin.jobs.policy import SAME_DATE, Decisions, QueueState, Resize, Start
from simplugin.workloads.batch_jobs import Job, known_duration


def fcfs_max(state: QueueState) -> Decisions:
    """Start the first job on as many free nodes as it can use, else let all wait."""
    starts = []
    free = state.n_free
    for job in state.queue:
        if free < job.smallest:
            break
        size = min(job.largest, free)
        starts.append(Start(job, size=size))
        free -= size
    return Decisions(starts)


def equipartition(state: QueueState) -> Decisions:
    """Divide the nodes equally among jobs, which are admitted while their least numbers fit.

    Jobs are admitted in order; the first that does not fit stops the admission. Each has its least
    number of nodes, a running one that is not malleable those that it has. Then one node after
    another goes to the job below its largest number that has the fewest.
    """
    running = sorted(state.running, key=attrgetter("rank"))
    sizes = {each.job.id: each.size for each in running}
    jobs = [each.job for each in running]
    least = [each.job.smallest if each.job.kind == "malleable" else each.size for each in running]
    most = [each.job.largest if each.job.kind == "malleable" else each.size for each in running]
    left = state.n_free + sum(sizes.values()) - sum(least)
    for job in state.queue:
        if job.smallest > left:
            break
        left -= job.smallest
        jobs.append(job)
        least.append(job.smallest)
        most.append(job.largest)
    share = _equal_shares(least, most, left)
    starts, resizes = [], []
    for job, size in zip(jobs, share, strict=True):
        if job.id not in sizes:
            starts.append(Start(job, size=size))
        elif size != sizes[job.id]:
            resizes.append(Resize(job, size))
    return Decisions(starts, resizes)


def shrink_to_start(state: QueueState) -> Decisions:
    """Start jobs in order, and shrink malleable jobs if the first one does not fit otherwise.

    The job that has most nodes beyond its least number gives one after another. When no job waits,
    the free nodes go to malleable jobs as under `equipartition`.
    """
    running = sorted(state.running, key=attrgetter("rank"))
    size = {each.job.id: each.size for each in running}
    malleable = [each.job for each in running if each.job.kind == "malleable"]
    free, starts = state.n_free, []
    for job in state.queue:
        spare = {each.id: size[each.id] - each.smallest for each in malleable}
        if free + sum(spare.values()) < job.smallest:
            break
        while free < job.smallest:
            giver = max(spare, key=spare.__getitem__)
            spare[giver] -= 1
            size[giver] -= 1
            free += 1
        starts.append(Start(job, size=min(job.largest, free)))
        free -= min(job.largest, free)
    if len(starts) == len(state.queue):
        least = [size[each.id] for each in malleable]
        most = [each.largest for each in malleable]
        for each, share in zip(malleable, _equal_shares(least, most, free), strict=True):
            size[each.id] = share
    resizes = [
        Resize(each.job, size[each.job.id]) for each in running if size[each.job.id] != each.size
    ]
    return Decisions(starts, resizes)


def earliest_completion(state: QueueState) -> Decisions:
    """Give each job in order the number of nodes and the date that let it end first.

    Times are those of the jobs' work where they are known, else walltimes. Later jobs fill gaps,
    but delay no earlier one.
    """
    now = state.now
    usable = state.n_free + sum(each.size for each in state.running)
    profile = CountProfile(now, usable)
    for each in state.running:
        end = min(each.planned_end, each.start + _duration(each.job, each.size))
        profile.reserve(now, max(end, now + 2 * SAME_DATE), each.size)
    starts = []
    wake = math.inf
    free = state.n_free
    for job in state.queue:
        best = (math.inf, 0, 0.0, 0.0)
        for size in range(job.smallest, min(job.largest, usable) + 1):
            duration = _duration(job, size)
            start, _ = profile.find(size, duration)
            # Of equally good ones, the smallest number of nodes.
            if start + duration < best[0] - SAME_DATE:
                best = (start + duration, size, start, duration)
        end, size, start, _ = best
        if not size:  # of unknown duration: as soon as possible on its own number
            end, size = math.inf, job.size
            start, _ = profile.find(size, math.inf)
        if start < math.inf:
            profile.reserve(start, end, size)
        if start <= now + SAME_DATE and size <= free:
            starts.append(Start(job, size=size))
            free -= size
        elif start > now + SAME_DATE:
            wake = min(wake, start)
    return Decisions(starts, wake=wake)


def _duration(job: Job, size: int) -> float:
    """Return the time for which a job is planned to run [s]."""
    known = known_duration(job.work_on(size), size)
    walltime = math.inf if job.walltime is None else job.walltime
    return walltime if known is None else min(known, walltime)


def _equal_shares(least: list[int], most: list[int], left: int) -> list[int]:
    """Give one node after another to the job with the fewest, the first of equal ones."""
    share = list(least)
    while left:
        open_ = [job for job in range(len(share)) if share[job] < most[job]]
        if not open_:
            break
        share[min(open_, key=lambda job: (share[job], job))] += 1
        left -= 1
    return share
