"""The batch system: a submitter, and a scheduler that asks a policy and starts jobs."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from simplugin.core.errors import TimeoutException, WorkloadError
from simplugin.inputs.locations import shown
from simplugin.jobs.actors.jobs import (
    JobTerms,
    run_delay,
    run_malleable,
    run_work,
)
from simplugin.jobs.actors.messages import (
    REPORT_BYTE,
    REPORTS,
    Calendar,
    ClusterReport,
    JobEnd,
    JobRecord,
    JobRecords,
    NodeEvent,
    SubmittedJobs,
)
from simplugin.jobs.nodes import NodeMask, lowest, mask_of, node_text, nodes_of
from simplugin.jobs.policy import (
    SAME_DATE,
    Decisions,
    JobPolicy,
    QueueState,
    RunningJob,
    Start,
    policy_name,
)
from simplugin.simulation.api import Actor, MessageQueue
from simplugin.workloads.batch_jobs import AmdahlWork, Job, JobLog, known_duration
from simplugin.workloads.parameter_ranges import at_least, one_of, whole

# Time for which jobs wait for hosts that have failed [s].
_LONGEST_REPAIR = 1e9
_FIRST_INSTANT = 1e-12
# Rounds of actors in which jobs that end at one date can say so.
_ROUNDS = 8
# Conditions that are times.
_TIMES = (
    *("latency", "prologue", "epilogue", "added", "shortest", "grace"),
    *("checkpoint_cost", "restart_cost", "boot_time"),
)


@dataclass(frozen=True, kw_only=True)
class JobConditions:
    """Conditions of an execution: hosts, overheads, and readings of rules that are open.

    Attributes
    ----------
    hosts : tuple of str
        Hosts of the platform that are the nodes 0, 1, ...; all in the order of the platform by
        default.
    storage : str, optional
        The host whose first disk is the shared one.
    latency : float
        Time from a decision to the start of a job; its nodes are busy [s].
    prologue, epilogue : float
        Times before the start and after the end of a job for which its nodes are busy [s].
    added : float
        Added to the run time of each job [s].
    shortest : float
        Least run time of a job [s].
    grace : float
        Time after its walltime at which a job is killed [s].
    at_walltime : {"completed", "killed"}
        State of a job whose run time is its walltime.
    too_large : {"rejected", "blocks"}
        What happens to a job larger than the machine: it is rejected at its submission, or waits
        forever.
    passes : {"date", "event"}
        Whether the policy is called once for all events of a date, ends before submissions, or
        after each event.
    bandwidth : float
        A change of nodes of a malleable job takes its data divided by this [byte/s].
    failures : bool
        True if hosts may fail, other than the first one of the platform's `hosts`, where the batch
        system is. A job on a host that fails ends, and its other nodes are free at once.
    restarts : int
        How often a job that failed returns to its place in the queue; then its state is
        ``failed``.
    checkpoint : float, optional
        Time of work after which a job of known duration writes a checkpoint, from which it
        restarts [s]; see `young_interval`. Other jobs restart after transfers that are
        checkpoints.
    checkpoint_cost, restart_cost : float
        Times of writing a checkpoint and of restarting from it [s].
    boot_time : float
        Time from the decision to switch a node on until jobs can use it [s].
    """

    hosts: tuple[str, ...] = ()
    storage: str | None = None
    latency: float = 0.0
    prologue: float = 0.0
    epilogue: float = 0.0
    added: float = 0.0
    shortest: float = 0.0
    grace: float = 0.0
    at_walltime: Literal["completed", "killed"] = "completed"
    too_large: Literal["rejected", "blocks"] = "rejected"
    passes: Literal["date", "event"] = "date"
    bandwidth: float = math.inf
    failures: bool = False
    restarts: int = 0
    checkpoint: float | None = None
    checkpoint_cost: float = 0.0
    restart_cost: float = 0.0
    boot_time: float = 0.0

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        for name in _TIMES:
            at_least(name, getattr(self, name), 0)
        if not self.bandwidth > 0:
            raise WorkloadError(f"bandwidth is {shown(self.bandwidth)}; give byte/s above 0")
        if self.checkpoint is not None:
            at_least("checkpoint", self.checkpoint, 0, above=True)
        whole("restarts", self.restarts, 0)
        one_of("at_walltime", self.at_walltime, ("completed", "killed"))
        one_of("too_large", self.too_large, ("rejected", "blocks"))
        one_of("passes", self.passes, ("date", "event"))


@dataclass(frozen=True, eq=False)
class BatchSetup:
    """All that a batch system starts with.

    Attributes
    ----------
    log : JobLog
        The jobs.
    policy : JobPolicy
        The decisions.
    n_nodes : int
        Number of nodes.
    conditions : JobConditions
        The conditions; its `hosts` are those of all nodes, or empty for a machine without
        platform.
    choices : bool
        True to offer a choice of the next job.
    cluster : str
        Name of a cluster to which a meta-scheduler sends jobs; empty if all are its own.
    """

    log: JobLog
    policy: JobPolicy
    n_nodes: int
    conditions: JobConditions
    choices: bool = False
    cluster: str = ""


async def run_batch_system(me: Actor, setup: BatchSetup) -> JobRecords:
    """Run all jobs of a log and return their records."""
    system = _BatchSystem(me, setup)
    await system.run()
    return JobRecords.of(system.records)


async def _submit(
    me: Actor,
    dates: list[tuple[float, list[int]]],
    calendar: Calendar,
    ticket: int,
    inbox: MessageQueue,
) -> None:
    """Submit jobs at their dates."""
    for position, (date, jobs) in enumerate(dates, 1):
        await me.sleep_until(date)
        # The next date is known before the batch system hears of this one.
        coming = calendar.add(dates[position][0]) if position < len(dates) else -1
        inbox.put_detached(SubmittedJobs(date, tuple(jobs), ticket))
        ticket = coming


def inbox_of(cluster: str) -> str:
    """Return the name of the message queue of a batch system."""
    return f"batch system {cluster}"


async def watch_node(me: Actor, node: int, cluster: str) -> None:
    """Tell the batch system when a node comes back, and when it fails."""
    inbox = me.message_queue(inbox_of(cluster))
    inbox.put_detached(NodeEvent(me.now, 1 << node, ready=True))
    me.on_exit(lambda _: inbox.put_detached(NodeEvent(me.now, 1 << node, ready=False)))
    await me.suspend()


async def _boot(me: Actor, date: float, nodes: NodeMask, ticket: int, inbox: MessageQueue) -> None:
    """Boot nodes."""
    await me.sleep_until(date)
    inbox.put_detached(NodeEvent(date, nodes, ready=True, ticket=ticket))


def _by_end(entry: RunningJob) -> tuple[float, int]:
    """Return the place of a job among those that run."""
    return entry.planned_end, entry.rank


class _BatchSystem:
    """State of a batch system."""

    def __init__(self, me: Actor, setup: BatchSetup) -> None:
        self.me, self.setup = me, setup
        self.jobs, self.conditions = setup.log.jobs, setup.conditions
        self.n_nodes = setup.n_nodes
        self.hosts = [me.host_by_name(name) for name in self.conditions.hosts]
        storage = self.conditions.storage
        self.disk = me.host_by_name(storage).disks[0] if storage else None
        self.records = [JobRecord() for _ in self.jobs]
        self.number = {job.id: number for number, job in enumerate(self.jobs)}
        self.inbox = me.message_queue(inbox_of(setup.cluster))
        self.calendar = Calendar()
        self.free: NodeMask = (1 << setup.n_nodes) - 1
        self.n_free = setup.n_nodes
        # Nodes that cannot be used, and why.
        self.off: NodeMask = 0
        self.booting: NodeMask = 0
        self.down: NodeMask = 0
        self.queue: list[Job] = []
        self.running: list[RunningJob] = []
        self.entries: dict[int, RunningJob] = {}
        self.actors: dict[int, tuple[Actor, int]] = {}
        self.resizes: dict[int, MessageQueue] = {}
        self.memory: object = None
        self.now = 0.0
        self.wake = math.inf
        self.open = len(self.jobs)
        # Submissions that are still to come, and jobs that run with activities.
        self.to_come = 0
        self.n_working = 0
        self.n_starts = 0
        self.missing = {n: set(job.after) for n, job in enumerate(self.jobs) if job.after}
        self.followers: dict[str, list[int]] = {}
        for number, job in enumerate(self.jobs):
            for before in job.after:
                self.followers.setdefault(before, []).append(number)

    # ---- events ----

    async def run(self) -> None:
        """Run all jobs."""
        if self.setup.cluster:
            # The end of submissions counts as a job.
            self.open = self.to_come = 1
        if self.conditions.failures:
            # SimGrid turns hosts off that are off from the beginning when time first passes.
            await self.me.sleep_for(_FIRST_INSTANT)
            self.down = mask_of(node for node, host in enumerate(self.hosts) if not host.is_on)
            self.free &= ~self.down
            self.n_free = self.free.bit_count()
        one_by_one = self.conditions.passes == "event"
        dates: dict[tuple[float, int], list[int]] = {}
        for number, job in enumerate(self.jobs):
            if not (job.after or self.setup.cluster):
                event = (job.submit, number if one_by_one else 0)
                dates.setdefault(event, []).append(number)
        self.submit_at([(date, jobs) for (date, _), jobs in sorted(dates.items())])
        while self.open:
            if not (self.to_come or self.running or self.booting or self.down) and (
                self.wake == math.inf
            ):
                raise self.stuck()
            await self.gather()
            if self.open:
                while await self.decide():
                    pass
                if self.setup.cluster:
                    wanted = sum(job.size for job in self.queue)
                    report = ClusterReport(self.setup.cluster, self.n_nodes, self.n_free, wanted)
                    self.me.mailbox(REPORTS).put_detached(report, REPORT_BYTE)

    def submit_at(self, dates: list[tuple[float, list[int]]]) -> None:
        """Let a submitter submit jobs at dates in order."""
        if dates:
            self.to_come += sum(len(jobs) for _, jobs in dates)
            ticket = self.calendar.add(dates[0][0])
            self.me.spawn(_submit, dates, self.calendar, ticket, self.inbox, name="submitter")

    async def gather(self) -> None:
        """Wait for the next event, and note all events of its date: ends, then submissions."""
        inbox = self.inbox
        submissions: list[SubmittedJobs] = []
        try:
            patience = None if self.wake == math.inf else max(self.wake - self.me.now, 0.0)
            if patience is None and self.down:
                # SimGrid goes on to the repair of a host only if something has a date.
                patience = _LONGEST_REPAIR
            message = await inbox.get(timeout=patience)
        except TimeoutException:
            if self.wake == math.inf:
                raise self.stuck() from None
            message = None
            date = self.wake
        else:
            date = message.date
        rounds = _ROUNDS if self.n_working else 0
        while True:
            if message is not None:
                self.calendar.remove(message.ticket)
                date = max(date, message.date)
                if isinstance(message, SubmittedJobs):
                    submissions.append(message)
                elif isinstance(message, JobEnd):
                    self.ended(message)
                else:
                    self.changed(message)
                if self.conditions.passes == "event":
                    break
            if not inbox.empty or self.calendar.is_due(date):
                message = await inbox.get()
            elif rounds:
                rounds -= 1
                message = None
                await self.me.yield_()
            else:
                break
        self.now = max(self.now, date)
        for each in submissions:
            if not self.setup.cluster:
                self.to_come -= len(each.jobs)
            elif each.jobs:
                self.open += len(each.jobs)
            else:
                self.open -= 1
                self.to_come = 0
            for number in each.jobs:
                sent = self.jobs[number].submit if self.setup.cluster else each.date
                self.submitted(number, sent)

    def submitted(self, number: int, date: float) -> None:
        """Put a job in the queue, or reject it."""
        job, record = self.jobs[number], self.records[number]
        record.submit = date
        if job.smallest > self.n_nodes and self.conditions.too_large == "rejected":
            record.state = "rejected"
            self.closed(job, date)
            return
        insort(self.queue, job, key=self.place)

    def place(self, job: Job) -> tuple[float, int]:
        """Return the place of a job in the queue."""
        number = self.number[job.id]
        return self.records[number].submit, number

    def ended(self, end: JobEnd) -> None:
        """Note the end of a job."""
        number, record = end.job, self.records[end.job]
        entry = self.entries.get(number)
        if entry is None or record.starts != end.start:
            return
        record.end = end.end
        self.released(number, entry)
        if end.state == "failed":
            self.failed(number, end.date)
        else:
            record.state = end.state
            self.closed(entry.job, end.date)

    def failed(self, number: int, date: float) -> None:
        """Return a job that failed to the queue, or give it up."""
        job, record = self.jobs[number], self.records[number]
        if record.starts <= self.conditions.restarts:
            record.state = "waiting"
            insort(self.queue, job, key=self.place)
        else:
            record.state = "failed"
            self.closed(job, date)

    def changed(self, event: NodeEvent) -> None:
        """Note that nodes failed, or that they are ready."""
        nodes = event.nodes
        if event.ready:
            usable = nodes & (self.booting | self.down) & ~self.off
            self.booting &= ~nodes
            self.down &= ~nodes
            self.free |= usable
        elif not nodes & self.off:
            self.down |= nodes
            for number, entry in list(self.entries.items()):
                if not entry.nodes & nodes:
                    continue
                self.end_now(number, entry)
                record = self.records[number]
                if record.work_end < event.date - SAME_DATE:
                    # The host failed in the epilogue.
                    record.end, record.state = record.work_end, record.work_state
                    self.closed(entry.job, event.date)
                else:
                    self.keep_checkpoint(number, entry, event.date)
                    self.failed(number, event.date)
            self.booting &= ~nodes
        self.free &= ~self.down
        self.n_free = self.free.bit_count()

    def keep_checkpoint(self, number: int, entry: RunningJob, date: float) -> None:
        """Note what a job of known duration had saved when it failed."""
        every, record = self.conditions.checkpoint, self.records[number]
        work = entry.job.work_on(entry.size)
        duration = known_duration(work, entry.size)
        if every is None or duration is None or entry.job.kind == "malleable":
            return
        left = duration * (1 - record.saved)
        ran = date - entry.start - (self.conditions.restart_cost if record.saved else 0.0)
        written = math.floor(max(ran, 0.0) / (every + self.conditions.checkpoint_cost))
        if duration:
            record.saved += min(written * every, left) / duration

    def with_checkpoints(self, duration: float, saved: float) -> float:
        """Return the time of the rest of a job with its checkpoints and its restart [s]."""
        conditions = self.conditions
        left = duration * (1 - saved) + (conditions.restart_cost if saved else 0.0)
        if conditions.checkpoint is None:
            return left
        # None is written at the end.
        parts = duration * (1 - saved) / conditions.checkpoint
        count = max(math.ceil(parts * (1 - 1e-12)) - 1, 0)
        return left + count * conditions.checkpoint_cost

    def end_now(self, number: int, entry: RunningJob) -> None:
        """End the actor of a job, and free its nodes."""
        actor, ticket = self.actors[number]
        self.calendar.remove(ticket)
        actor.kill()
        self.records[number].end = self.me.now
        self.released(number, entry)

    def released(self, number: int, entry: RunningJob) -> None:
        """Free the nodes of a job."""
        self.free |= entry.nodes
        self.n_free += entry.size
        self.forget(entry)
        del self.entries[number]
        self.resizes.pop(number, None)
        if self.actors.pop(number)[1] < 0:
            self.n_working -= 1

    def forget(self, entry: RunningJob) -> None:
        """Take a job out of those that run."""
        del self.running[bisect_left(self.running, _by_end(entry), key=_by_end)]

    def closed(self, job: Job, date: float) -> None:
        """Submit the jobs that waited for the end of another one."""
        self.open -= 1
        for number in self.followers.get(job.id, ()):
            self.missing[number].discard(job.id)
            if not self.missing[number]:
                follower = self.jobs[number]
                due = max(date + follower.think_time, follower.submit)
                self.submit_at([(due, [number])])

    # ---- decisions ----

    async def decide(self) -> bool:
        """Ask the policy and do what it decides; return True if a chooser took another job."""
        state = QueueState(
            self.now,
            self.n_nodes,
            self.free,
            self.n_free,
            self.queue,
            self.running,
            self.memory,
            self.off,
            self.booting,
        )
        decisions: object = self.setup.policy(state)
        if not isinstance(decisions, Decisions):
            raise self.error(f"returns {shown(decisions)}; return Decisions")
        if self.setup.choices:
            own = {start.job.id for start in decisions.starts[:1]}
            others = [
                job
                for job in self.queue
                if job.size <= self.n_free
                and job.id not in own
                and not job.reserved
                and not job.nodes
            ]
            if others:
                options = [decisions, *(Decisions((Start(job),)) for job in others)]
                copied = replace(state, queue=tuple(self.queue), running=tuple(self.running))
                index = await self.me.choose(options, copied, label=f"date {self.now:g}")
                if index:
                    self.start_all(options[index].starts)
                    return True
        self.memory, self.wake = decisions.memory, decisions.wake
        if not self.wake > self.now:
            raise self.error(f"asks to be called at {self.wake!r} s, which has passed")
        for job in decisions.kills:
            self.kill(job)
        growing = []
        for resize in decisions.resizes:
            entry = self.entry_of(resize.job, "resizes")
            if resize.size > entry.size:
                growing.append(resize)
            else:
                self.resize(resize.job, resize.size)
        self.start_all(decisions.starts)
        for resize in growing:
            self.resize(resize.job, resize.size)
        if decisions.switch_off or decisions.boot:
            self.switch(decisions.switch_off, decisions.boot)
        return False

    def switch(self, off: NodeMask, boot: NodeMask) -> None:
        """Switch nodes off and on."""
        if min(off, boot) < 0:
            raise self.error(f"switches nodes {shown(min(off, boot))}, which is no set")
        if wrong := (off & ~self.free) | (boot & ~self.off):
            raise self.error(f"switches nodes {node_text(wrong)}, which are not free or not off")
        self.free &= ~off
        self.n_free = self.free.bit_count()
        self.off = (self.off | off) & ~boot
        self.booting |= boot
        for node in nodes_of(off | boot) if self.hosts else ():
            # The batch system is on the first host.
            if node and off >> node & 1:
                self.hosts[node].turn_off()
            elif node:
                self.hosts[node].turn_on()
        if boot:
            date = self.now + self.conditions.boot_time
            ticket = self.calendar.add(date)
            self.me.spawn(_boot, date, boot, ticket, self.inbox, name="boot")

    def start_all(self, starts: Iterable[Start]) -> None:
        """Start jobs."""
        started: set[str] = set()
        for start in starts:
            self.start(start)
            started.add(start.job.id)
        if len(started) > 8:
            self.queue = [job for job in self.queue if job.id not in started]
        else:
            for id_ in started:
                place = self.place(self.jobs[self.number[id_]])
                del self.queue[bisect_left(self.queue, place, key=self.place)]

    def start(self, start: Start) -> None:
        """Start a job."""
        job = start.job
        number = self.number.get(job.id)
        if number is None or self.jobs[number] is not job:
            raise self.error(f"starts job {shown(job.id)}, which is not in the log")
        record = self.records[number]
        if record.state != "waiting" or math.isnan(record.submit):
            raise self.error(f"starts job {job.id!r}, which is {record.state}; start waiting ones")
        if job.reserved is not None and job.reserved > self.now + SAME_DATE:
            raise self.error(f"starts job {job.id!r} before its reservation at {job.reserved:g} s")
        nodes = self.nodes_for(start)
        size = nodes.bit_count()
        conditions = self.conditions
        begin = self.now + conditions.latency + conditions.prologue
        walltime = math.inf if job.walltime is None else job.walltime
        record.state, record.nodes, record.start = "running", nodes, begin
        record.starts += 1
        record.work_end = math.inf
        if job.kind == "malleable":
            record.steps.append((begin, size))
        planned_end = begin + walltime + conditions.epilogue
        entry = RunningJob(job, begin, nodes, size, planned_end, self.n_starts)
        self.n_starts += 1
        self.free &= ~nodes
        self.n_free -= size
        insort(self.running, entry, key=_by_end)
        self.entries[number] = entry
        terms = JobTerms(
            number,
            record.starts,
            begin,
            walltime + conditions.grace,
            conditions.at_walltime == "killed",
            conditions.added,
            conditions.shortest,
            conditions.epilogue,
        )
        self.launch(terms, job, size, nodes)

    def launch(self, terms: JobTerms, job: Job, size: int, nodes: NodeMask) -> None:
        """Start the actor of a job."""
        work = job.work_on(size)
        name = f"job {job.id}"
        number = terms.number
        ticket = -1
        if job.kind == "malleable":
            if not isinstance(work, AmdahlWork):
                raise WorkloadError(
                    f"job {job.id!r} is malleable, but its work is no AmdahlWork; make it moldable"
                )
            self.resizes[number] = resizes = self.me.message_queue(f"{name}, {terms.starts}")
            ticket = 0
            actor = self.me.spawn(
                run_malleable,
                terms,
                work,
                size,
                self.calendar,
                self.inbox,
                resizes,
                self.records[number],
                name=name,
            )
        elif (duration := known_duration(work, size)) is not None:
            duration = self.with_checkpoints(duration, self.records[number].saved)
            time, state = terms.end(duration)
            self.records[number].ends(terms.start + time, state)
            ticket = self.calendar.add(terms.start + time + terms.epilogue)
            actor = self.me.spawn(run_delay, terms, duration, ticket, self.inbox, name=name)
        else:
            if not self.hosts:
                raise WorkloadError(
                    f"job {job.id!r} computes or communicates, but the machine is a number of"
                    " nodes; give a platform"
                )
            self.n_working += 1
            hosts = [self.hosts[node] for node in nodes_of(nodes)]
            actor = self.me.spawn(
                run_work,
                terms,
                job,
                work,
                hosts,
                self.disk,
                self.inbox,
                self.records[number],
                name=name,
            )
        self.actors[number] = (actor, ticket)

    def nodes_for(self, start: Start) -> NodeMask:
        """Return the nodes for a job, if they are free and suit it."""
        job, nodes = start.job, start.nodes
        if nodes is not None and nodes <= 0:
            raise self.error(f"starts job {job.id!r} on nodes {shown(nodes)}, which is no set")
        if nodes is None:
            size = job.size if start.size is None else start.size
            if not 0 < size <= self.n_free:
                raise self.error(
                    f"starts job {job.id!r} on {size} nodes, but {self.n_free} are free"
                )
            nodes = lowest(self.free, size)
        elif taken := nodes & ~self.free:
            raise self.error(
                f"starts job {job.id!r} on nodes {node_text(nodes)}, but {node_text(taken)} are not"
                " free"
            )
        if job.nodes and nodes != mask_of(job.nodes):
            wanted = node_text(mask_of(job.nodes))
            raise self.error(
                f"starts job {job.id!r} on nodes {node_text(nodes)}, but it wants {wanted}"
            )
        size = nodes.bit_count()
        if not job.smallest <= size <= job.largest:
            sizes = f"{job.smallest} to {job.largest}"
            raise self.error(f"starts job {job.id!r} on {size} nodes; it runs on {sizes}")
        return nodes

    def entry_of(self, job: Job, what: str) -> RunningJob:
        """Return the entry of a job that runs."""
        entry = self.entries.get(self.number.get(job.id, -1))
        if entry is None or entry.job is not job:
            raise self.error(f"{what} job {shown(job.id)}, which does not run")
        return entry

    def kill(self, job: Job) -> None:
        """End a running job."""
        entry = self.entry_of(job, "kills")
        number = self.number[job.id]
        self.end_now(number, entry)
        self.records[number].state = "killed"
        self.closed(job, self.now)

    def resize(self, job: Job, size: int) -> None:
        """Change the number of nodes of a malleable job."""
        entry = self.entry_of(job, "resizes")
        number = self.number[job.id]
        if job.kind != "malleable" or not job.smallest <= size <= job.largest:
            sizes = f"{job.smallest} to {job.largest}" if job.kind == "malleable" else entry.size
            raise self.error(f"resizes job {job.id!r} to {size} nodes; it runs on {sizes}")
        change = size - entry.size
        if not change:
            return
        if change > self.n_free:
            raise self.error(
                f"gives {change} nodes more to job {job.id!r}, but {self.n_free} are free"
            )
        nodes = entry.nodes | lowest(self.free, change) if change > 0 else lowest(entry.nodes, size)
        self.free ^= nodes ^ entry.nodes
        self.n_free -= change
        self.forget(entry)
        entry = replace(entry, nodes=nodes, size=size)
        insort(self.running, entry, key=_by_end)
        self.entries[number] = entry
        self.records[number].steps.append((self.now, size))
        self.records[number].nodes |= nodes
        work = job.work_on(size)
        data = work.data if isinstance(work, AmdahlWork) else 0.0
        pause = data / self.conditions.bandwidth
        self.resizes[number].put_detached((self.now, size, pause))

    def stuck(self) -> WorkloadError:
        """Return the error of jobs that never start."""
        return self.error(
            f"leaves {len(self.queue)} jobs waiting, such as {self.queue[0].id!r}, although nothing"
            " else will happen; start one, or give a date to wake"
        )

    def error(self, what: str) -> WorkloadError:
        """Return the error of a decision of the policy."""
        return WorkloadError(
            f"policy {policy_name(self.setup.policy)!r} {what} (date {self.now:g} s)"
        )
