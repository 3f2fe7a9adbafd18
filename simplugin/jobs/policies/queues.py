"""Queue schedulers: jobs start in an order, and others may fill the gaps."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, TypeAlias, get_args

from simplugin.core.errors import WorkloadError
from simplugin.jobs.nodes import NodeMask, mask_of
from simplugin.jobs.policies.allocations import ALLOCATIONS, Allocation, AllocationName
from simplugin.jobs.policies.profiles import CountProfile, FreeProfile, NodeProfile
from simplugin.jobs.policy import SAME_DATE, Decisions, QueueState, RunningJob, Start
from simplugin.workloads.batch_jobs import Job
from simplugin.workloads.parameter_ranges import at_least, one_of, whole

# Time after which a job is planned to end that has not ended when it should have [s].
_OVERDUE = 1.0
Backfill = Literal["none", "greedy", "easy", "conservative"]
OrderName = Literal["fcfs", "sjf", "largest", "id", "id_text", "priority"]
# Key of a waiting job at a date: the job with the smallest one comes first.
JobKey: TypeAlias = Callable[[Job, float], float | tuple[float, ...]]


def requested(job: Job) -> float:
    """Return the requested time of a job, infinite if it has none [s]."""
    return math.inf if job.walltime is None else job.walltime


def _id_key(job: Job) -> tuple[float, int, str]:
    """Return a key by submission and id, ids as numbers where they are."""
    return job.submit, int(job.id) if job.id.isdecimal() else 0, job.id


ORDERS: dict[OrderName, Callable[[Job], Any]] = {
    "fcfs": attrgetter("submit"),
    "sjf": requested,
    "largest": lambda job: -job.size,
    "id": _id_key,
    "id_text": lambda job: (job.submit, job.id),
    "priority": lambda job: -job.priority,
}


@dataclass(frozen=True)
class QueueScheduler:
    """Scheduler of one queue, with the readings of its rules that published systems have.

    Jobs with an advance reservation need conservative backfilling: they start at their date, or
    at the first one after it at which nodes are free, before other jobs are planned.

    Attributes
    ----------
    order : {"fcfs", "sjf", "largest", "id", "id_text", "priority"} or function
        Order of the queue: by submission; by requested time; by size, the largest first; by
        submission and id, as number or as text; by `Job.priority`, the highest first. Or the key
        of a job at a date, the smallest first. Equal ones: by submission, then as in the log.
    backfill : {"none", "greedy", "easy", "conservative"}
        Jobs behind the first one that does not fit: wait; start if they fit; start if that does not
        delay the first one, as EASY; or each has a reservation that later ones do not delay.
    reservation : {"count", "nodes"}
        Whether a number of nodes is reserved, or a set of nodes.
    extra_at_shadow : {"all", "first"}
        EASY's nodes beyond those of the first job at its reserved date: of all jobs that are
        planned to end until then, or of the earliest ones that suffice.
    compress : {"forward", "rebuild"}
        What conservative backfilling does when a job ends early: moves each reservation forward in
        the order of the queue, or plans all of them again.
    timer : bool
        True to be called at reserved dates; otherwise jobs may wait for the next event.
    allocation : {"lowest", "contiguous"} or function
        Choice of nodes: the lowest free ones, the lowest that follow each other, or a function of
        the set of free nodes and a number that returns a set or None, such as `SwitchAllocation`
        and `RandomAllocation`.
    margin : float
        Added to requested times in plans [s].
    depth : int, optional
        Number of jobs behind the first that backfilling looks at; all by default.
    name : str
        Name in messages.
    """

    order: OrderName | JobKey = "fcfs"
    backfill: Backfill = "none"
    reservation: Literal["count", "nodes"] = "count"
    extra_at_shadow: Literal["all", "first"] = "all"
    compress: Literal["forward", "rebuild"] = "forward"
    timer: bool = True
    allocation: AllocationName | Allocation = "lowest"
    margin: float = 0.0
    depth: int | None = None
    name: str = "queue"

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        if not callable(self.order):
            one_of("order", self.order, ORDERS)
        if not callable(self.allocation):
            one_of("allocation", self.allocation, ALLOCATIONS)
        at_least("margin", self.margin, 0.0)
        if self.depth is not None:
            whole("depth", self.depth, 0)
        one_of("backfill", self.backfill, get_args(Backfill))
        one_of("reservation", self.reservation, ("count", "nodes"))
        one_of("extra_at_shadow", self.extra_at_shadow, ("all", "first"))
        one_of("compress", self.compress, ("forward", "rebuild"))
        if self.plans and self.reservation == "count" and self.allocation != "lowest":
            raise WorkloadError(
                f"allocation is {self.allocation!r}, but only a number of nodes is reserved;"
                ' give reservation="nodes"'
            )

    @property
    def plans(self) -> bool:
        """True if it reserves nodes for the future."""
        return self.backfill in ("easy", "conservative")

    @property
    def allocate(self) -> Allocation:
        """The choice of nodes."""
        return self.allocation if callable(self.allocation) else ALLOCATIONS[self.allocation]

    def __call__(self, state: QueueState) -> Decisions:
        """Return the jobs to start."""
        queue = self._ordered(state)
        if self.backfill == "conservative":
            return self._conservative(state, queue)
        if not queue or not state.n_free:
            if self.plans:
                self._check(queue)
            return Decisions()
        run = _Pass(state, self)
        position, count = 0, len(queue)
        greedy = self.backfill == "greedy"
        while position < count and run.n_free:
            if not run.start(queue[position]) and not greedy:
                break
            position += 1
        if self.backfill == "easy":
            self._check(queue)
            if position < count and run.n_free:
                last = count if self.depth is None else position + 1 + self.depth
                run.backfill(queue[position], queue[position + 1 : last])
        return Decisions(run.starts)

    def _ordered(self, state: QueueState) -> Sequence[Job]:
        """Return the queue in order."""
        order, now = self.order, state.now
        if order == "fcfs" or len(state.queue) < 2:
            return state.queue
        if callable(order):
            by = order
            return sorted(state.queue, key=lambda job: by(job, now))
        return sorted(state.queue, key=ORDERS[order])

    def _check(self, jobs: Sequence[Job]) -> None:
        """Raise WorkloadError for a job without walltime, or with nodes that plans do not know."""
        for job in jobs:
            if job.nodes and self.backfill == "conservative":
                raise WorkloadError(
                    f"policy {self.name!r}: job {job.id!r} wants nodes of its own, which plans of"
                    " conservative backfilling do not know; use easy or fcfs"
                )
            if job.walltime is None:
                raise WorkloadError(
                    f"policy {self.name!r}: job {job.id!r} has no walltime, which backfilling"
                    " needs; give it one, take perfect_estimates, or use fcfs"
                )

    def _conservative(self, state: QueueState, queue: Sequence[Job]) -> Decisions:
        """Return the jobs whose reservations are due."""
        now = state.now
        # Nodes that failed or are off are planned to come back at any time.
        unusable = state.n_nodes - state.n_free - sum(each.size for each in state.running) > 0
        plan = state.memory.copy() if isinstance(state.memory, Plan) else None
        # Advance reservations come first.
        booked = [job for job in queue if job.reserved is not None]
        if booked:
            queue = booked + [job for job in queue if job.reserved is None]
        if (
            plan is None
            or self.compress == "rebuild"
            or any(job.id not in plan.reserved for job in booked)
            or any(each.job.id not in plan.running for each in state.running)
            or plan.unusable
            or unusable
        ):
            plan = Plan(self._profile(state), {}, {}, unusable)
            places = True
            for each in state.running:
                plan.take(each, now, self.margin)
        else:
            places = plan.follow(state, self.margin)
        starts = []
        wake = math.inf
        n_free, free = state.n_free, state.free
        by_nodes = self.reservation == "nodes"
        for job in queue:
            known = plan.reserved.get(job.id)
            if known is None or places or known[0] < now - SAME_DATE:
                self._check((job,))
                known = plan.place(job, requested(job) + self.margin)
            date, nodes = known
            usable = not nodes & ~free if by_nodes else job.size <= n_free
            if date <= now + SAME_DATE and usable:
                starts.append(plan.profile.start(job, nodes))
                n_free -= job.size
                free &= ~nodes if by_nodes else -1
                plan.running[job.id] = (date + requested(job) + self.margin, nodes)
                del plan.reserved[job.id]
            elif date > now + SAME_DATE:
                wake = min(wake, date)
        return Decisions(starts, wake=wake if self.timer else math.inf, memory=plan)

    def _profile(self, state: QueueState) -> FreeProfile:
        """Return the profile of an empty machine."""
        if self.reservation == "nodes":
            everything = (1 << state.n_nodes) - 1
            usable = state.free | sum(each.nodes for each in state.running)
            return NodeProfile(state.now, everything, self.allocate, usable)
        return CountProfile(state.now, state.n_nodes)


class _Pass:
    """Jobs that start at one date."""

    def __init__(self, state: QueueState, scheduler: QueueScheduler) -> None:
        self.state, self.scheduler = state, scheduler
        self.starts: list[Start] = []
        self.n_free, self.free = state.n_free, state.free
        self.allocates = (
            scheduler.allocation != "lowest"
            or (scheduler.reservation == "nodes" and scheduler.backfill == "easy")
            or any(job.nodes for job in state.queue)
        )

    def start(self, job: Job, among: NodeMask = -1) -> bool:
        """Start a job if it fits, and return True if so."""
        if job.reserved is not None:
            raise WorkloadError(
                f"policy {self.scheduler.name!r}: job {job.id!r} has an advance reservation, which"
                " needs conservative backfilling"
            )
        if job.size > self.n_free:
            return False
        nodes = None
        if job.nodes:
            nodes = mask_of(job.nodes)
            if nodes & ~(self.free & among):
                return False
            self.free &= ~nodes
        elif self.allocates:
            free = self.free & among
            if free.bit_count() < job.size:
                return False
            nodes = self.scheduler.allocate(free, job.size)
            if nodes is None:
                return False
            self.free &= ~nodes
        self.n_free -= job.size
        self.starts.append(Start(job, nodes))
        return True

    def planned(self) -> list[tuple[float, int, NodeMask]]:
        """Return planned end, size and nodes of all running jobs, by their ends."""
        now, margin = self.state.now, self.scheduler.margin
        ends = [
            (max(each.planned_end + margin, now), each.size, each.nodes)
            for each in self.state.running
        ]
        for each in self.starts:
            end = now + requested(each.job) + margin
            insort(ends, (end, each.job.size, each.nodes or 0), key=lambda entry: entry[0])
        return ends

    def backfill(self, head: Job, others: Sequence[Job]) -> None:
        """Start jobs that do not delay the first one in the queue."""
        if self.scheduler.reservation == "nodes":
            self._backfill_nodes(head, others)
            return
        now, margin = self.state.now, self.scheduler.margin
        free, shadow = self.n_free, math.inf
        everything = self.scheduler.extra_at_shadow == "all"
        for end, size, _ in self.planned():
            if free >= head.size and (not everything or end > shadow + SAME_DATE):
                break
            free += size
            if free >= head.size and shadow == math.inf:
                shadow = end
        extra = free - head.size
        latest = shadow + SAME_DATE - margin - now
        for job in others:
            size = job.size
            if size > self.n_free:
                continue
            in_time = job.walltime is not None and job.walltime <= latest
            if in_time or size <= extra:
                self.start(job)
                if not in_time:
                    extra -= size
                if not self.n_free:
                    return

    def _backfill_nodes(self, head: Job, others: Sequence[Job]) -> None:
        """Start jobs that do not use the nodes that are reserved for the first one."""
        now, margin = self.state.now, self.scheduler.margin
        free, shadow = self.free, now
        reserved: NodeMask | None = None
        ends = self.planned()
        for position, (end, _, nodes) in enumerate(ends):
            free |= nodes
            last = position + 1 == len(ends) or ends[position + 1][0] > end + SAME_DATE
            if last and free.bit_count() >= head.size:
                shadow, reserved = end, self.scheduler.allocate(free, head.size)
                if reserved is not None:
                    break
        latest = shadow + SAME_DATE - margin - now
        for job in others:
            in_time = job.walltime is not None and job.walltime <= latest
            self.start(job, -1 if in_time else ~(reserved or 0))
            if not self.n_free:
                return


@dataclass(slots=True)
class Plan:
    """Reservations of conservative backfilling.

    Attributes
    ----------
    profile : FreeProfile
        Free nodes over time.
    reserved : dict
        Date and nodes of each waiting job; nodes as in the profile.
    running : dict
        Planned end and nodes of each running job.
    unusable : bool
        True if nodes had failed or were off when it was made: the next one is made anew.
    """

    profile: FreeProfile
    reserved: dict[str, tuple[float, int]]
    running: dict[str, tuple[float, int]]
    unusable: bool

    def copy(self) -> Plan:
        """Return a copy."""
        return Plan(self.profile.copy(), self.reserved.copy(), self.running.copy(), self.unusable)

    def take(self, each: RunningJob, now: float, margin: float) -> None:
        """Add a job that runs; one that should have ended is planned to end soon."""
        end = each.planned_end + margin
        if end <= now + SAME_DATE:
            end = now + _OVERDUE
        nodes = self.profile.held(each)
        self.profile.reserve(now, end, nodes)
        self.running[each.job.id] = (end, nodes)

    def follow(self, state: QueueState, margin: float) -> bool:
        """Bring the plan to the present, and return True if nodes became free early."""
        now = state.now
        early = False
        self.profile.advance(now)
        runs = {each.job.id for each in state.running}
        for id_ in [id_ for id_ in self.running if id_ not in runs]:
            end, nodes = self.running.pop(id_)
            if end > now + SAME_DATE:
                self.profile.release(now, end, nodes)
                early = True
        for each in state.running:
            known = self.running[each.job.id]
            if known[0] <= now + SAME_DATE:
                self.take(each, now, margin)
            elif (later := each.planned_end + margin) > known[0] + SAME_DATE:
                # It started after the decision.
                self.profile.reserve(known[0], later, known[1])
                self.running[each.job.id] = (later, known[1])
        return early

    def place(self, job: Job, duration: float) -> tuple[float, int]:
        """Reserve nodes for a job, anew if it has a reservation, and return date and nodes."""
        if job.id in self.reserved:
            start, nodes = self.reserved[job.id]
            if self.profile.is_first(start, job.size):
                return start, nodes
            self.profile.release(start, start + duration, nodes)
        start, nodes = self.profile.find(job.size, duration, job.reserved or 0.0)
        self.profile.reserve(start, start + duration, nodes)
        self.reserved[job.id] = (start, nodes)
        return start, nodes
