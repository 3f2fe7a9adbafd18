"""Policies for jobs whose number of nodes is chosen at their start, or changes."""

from __future__ import annotations

from operator import attrgetter

from simplugin.jobs.policy import Decisions, QueueState, Resize, Start


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
    left = state.n_nodes - sum(least)
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
