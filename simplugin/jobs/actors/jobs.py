"""A job that runs: it sleeps, computes, communicates, reads and writes until its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simplugin.core.errors import (
    CancelException,
    HostFailureException,
    NetworkFailureException,
    StorageFailureException,
    TimeoutException,
    WorkloadError,
)
from simplugin.jobs.actors.messages import Calendar, JobEnd, JobRecord, JobState
from simplugin.jobs.policy import SAME_DATE
from simplugin.simulation.api import Activity, Actor, MessageQueue, SimulatedDisk, SimulatedHost
from simplugin.workloads.batch_jobs import (
    AmdahlWork,
    Computation,
    Delay,
    DiskTransfer,
    Job,
    JobWork,
    Messages,
    ParallelWork,
    Phases,
    known_duration,
)

FAILURES = (
    CancelException,
    HostFailureException,
    NetworkFailureException,
    StorageFailureException,
)


@dataclass(frozen=True, slots=True)
class JobTerms:
    """Conditions of the run of a job.

    Attributes
    ----------
    number, starts : int
        Its number in the log, and how often it has started.
    start : float
        Date at which its walltime begins [s].
    limit : float
        Time after which it is killed [s].
    kills_at_limit : bool
        True if it is killed where its run time is equal to its limit.
    added : float
        Added to its run time [s].
    shortest : float
        Least run time [s].
    epilogue : float
        Time after its end for which its nodes are busy [s].
    """

    number: int
    starts: int
    start: float
    limit: float
    kills_at_limit: bool
    added: float
    shortest: float
    epilogue: float

    def end(self, duration: float) -> tuple[float, JobState]:
        """Return time and state of the end of a job of known duration."""
        duration = max(duration + self.added, self.shortest)
        if duration > self.limit or (self.kills_at_limit and duration == self.limit):
            return self.limit, "killed"
        return duration, "completed"


async def run_delay(
    me: Actor, terms: JobTerms, duration: float, ticket: int, inbox: MessageQueue
) -> None:
    """Sleep until the end of a job of known duration."""
    time, state = terms.end(duration)
    end = terms.start + time
    date = end + terms.epilogue
    await me.sleep_until(date)
    inbox.put_detached(JobEnd(date, terms.number, terms.starts, state, end, ticket))


async def run_malleable(
    me: Actor,
    terms: JobTerms,
    work: AmdahlWork,
    size: int,
    calendar: Calendar,
    inbox: MessageQueue,
    resizes: MessageQueue,
    record: JobRecord,
) -> None:
    """Progress on numbers of nodes that change, with a pause after each change."""
    left, since = 1.0, terms.start
    while True:
        duration = work.duration(size)
        time, state = terms.end(since + left * duration - terms.start)
        end = terms.start + time
        record.ends(end, state)
        date = end + terms.epilogue
        ticket = calendar.add(date)
        try:
            now, size, pause = await resizes.get(timeout=max(date - me.now, 0.0))
        except TimeoutException:
            break
        calendar.remove(ticket)
        if duration:
            left -= max(now - since, 0.0) / duration
        since = now + pause
    inbox.put_detached(JobEnd(date, terms.number, terms.starts, state, end, ticket))


async def run_work(
    me: Actor,
    terms: JobTerms,
    job: Job,
    work: JobWork,
    hosts: Sequence[SimulatedHost],
    disk: SimulatedDisk | None,
    inbox: MessageQueue,
    record: JobRecord,
) -> None:
    """Do the work of a job on its hosts until its walltime at the latest."""
    await me.sleep_until(terms.start)
    run = _Run(me, terms, job, hosts, disk, record)
    state: JobState = "completed"
    try:
        await run.do(work)
        await run.sleep(terms.added)
        await run.sleep(terms.start + terms.shortest - me.now)
    except TimeoutException:
        state = "killed"
    except FAILURES:
        state = "failed"
    end = min(me.now, terms.start + terms.limit)
    if terms.kills_at_limit and end == terms.start + terms.limit:
        state = "killed"
    if state != "failed":
        record.ends(end, state)
    await me.sleep_until(end + terms.epilogue)
    inbox.put_detached(JobEnd(end + terms.epilogue, terms.number, terms.starts, state, end))


class _Run:
    """The activities of a job."""

    def __init__(
        self,
        me: Actor,
        terms: JobTerms,
        job: Job,
        hosts: Sequence[SimulatedHost],
        disk: SimulatedDisk | None,
        record: JobRecord,
    ) -> None:
        self.me, self.job, self.hosts, self.disk = me, job, hosts, disk
        self.record = record
        # Parts that are done, and those that a checkpoint has saved.
        self.n_done, self.n_saved = 0, int(record.saved)
        # Work that ends at the limit up to rounding is complete.
        self.limit = terms.start + terms.limit + SAME_DATE

    async def do(self, work: JobWork) -> None:
        """Do a work, without parts that are saved; raise TimeoutException at the limit."""
        if isinstance(work, Phases):
            for _ in range(work.times):
                for part in work.parts:
                    await self.do(part)
            return
        self.n_done += 1
        if self.n_done <= self.n_saved:
            return
        if isinstance(work, Delay | AmdahlWork):
            await self.sleep(known_duration(work, len(self.hosts)) or 0.0)
        else:
            await self.wait(self.started(work))
        if isinstance(work, DiskTransfer) and work.checkpoint:
            self.record.saved = self.n_done

    async def sleep(self, time: float) -> None:
        """Sleep for a time, or until the limit."""
        if time <= 0:
            return
        await self.me.sleep_until(min(self.me.now + time, self.limit))
        if self.me.now >= self.limit:
            raise TimeoutException("the job reached its walltime")

    async def wait(self, activities: list[Activity]) -> None:
        """Wait for activities; cancel them at the limit or if one fails."""
        if not activities:
            return
        timeout = None if self.limit == math.inf else max(self.limit - self.me.now, 0.0)
        try:
            await self.me.wait_all(activities, timeout)
        except (TimeoutException, *FAILURES):
            for each in activities:
                each.cancel()
            raise

    def started(self, work: JobWork) -> list[Activity]:
        """Start the activities of a work."""
        me, hosts = self.me, self.hosts
        match work:
            case Computation(flop):
                each = self.fitting(flop, len(hosts), "flop")
                return [
                    me.exec_async(amount, host=host)
                    for host, amount in zip(hosts, each, strict=True)
                    if amount
                ]
            case Messages(messages):
                activities = []
                for sender, receiver, size in messages:
                    if max(sender, receiver) >= len(hosts):
                        raise WorkloadError(
                            f"job {self.job.id!r} sends from node {sender} to {receiver}, but it"
                            f" has {len(hosts)} nodes; their numbers start at 0"
                        )
                    activities.append(me.sendto_async(hosts[sender], hosts[receiver], size))
                return activities
            case ParallelWork(flop, byte):
                count = len(hosts)
                flops = np.array(self.fitting(flop, count, "flop"))
                sizes = np.array(self.fitting(byte, count * count, "byte")).reshape(count, count)
                if not isinstance(byte, tuple):
                    np.fill_diagonal(sizes, 0.0)
                if not (flops.any() or sizes.any()):
                    return []
                return [me.parallel_async(hosts, flops, sizes if sizes.any() else None)]
            case DiskTransfer():
                return self.transfers(work)
        raise WorkloadError(f"job {self.job.id!r} has unknown work {work!r}")

    def fitting(self, values: float | tuple[float, ...], count: int, what: str) -> Sequence[float]:
        """Return one value for each of a number of places."""
        if not isinstance(values, tuple):
            return [values] * count
        if len(values) != count:
            raise WorkloadError(
                f"job {self.job.id!r} has {len(values)} values of {what} on {len(self.hosts)}"
                f" nodes; give {count}"
            )
        return values

    def transfers(self, work: DiskTransfer) -> list[Activity]:
        """Start reading or writing of the shared disk, each with a transfer over the network."""
        if self.disk is None:
            raise WorkloadError(
                f"job {self.job.id!r} uses a shared disk, but there is none; give"
                " JobConditions(storage=...) the name of a host that has one"
            )
        nodes = self.hosts if work.nodes == "all" else self.hosts[:1]
        share = work.byte / len(nodes)
        storage = self.disk.host
        activities = []
        for host in nodes:
            access = self.disk.write_async if work.writes else self.disk.read_async
            activities.append(access(share))
            if host.name != storage.name:
                ends = (host, storage) if work.writes else (storage, host)
                activities.append(self.me.sendto_async(*ends, share))
        return activities
