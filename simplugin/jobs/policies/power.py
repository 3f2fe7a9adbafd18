"""Policies that save power: a cap, and idle nodes that are switched off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from simplugin.core.errors import WorkloadError
from simplugin.jobs.nodes import NodeMask, lowest, nodes_of
from simplugin.jobs.policies.queues import QueueScheduler
from simplugin.jobs.policy import SAME_DATE, Decisions, JobPolicy, QueueState
from simplugin.workloads.parameter_ranges import at_least, whole


@dataclass(frozen=True)
class PowerCap:
    """A policy that sees only as many nodes as may be busy under a cap of power.

    Attributes
    ----------
    cap : float
        Most power of the machine [W].
    idle, busy : float
        Power of a node without and with a job [W].
    policy : JobPolicy
        The policy; it counts nodes and does not choose them.
    name : str
        Name in messages.

    Raises
    ------
    WorkloadError
        The policy chooses nodes, or `busy` is not above `idle`.
    """

    cap: float
    idle: float
    busy: float
    policy: JobPolicy = field(default_factory=lambda: QueueScheduler(backfill="easy"))
    name: str = "power_cap"

    def __post_init__(self) -> None:
        """Check the fields."""
        at_least("cap", self.cap, 0.0)
        if not 0 <= self.idle < self.busy:
            raise WorkloadError(f"busy is {self.busy!r} W; give more than idle, {self.idle!r} W")
        inner = self.policy
        if isinstance(inner, QueueScheduler) and (inner.reservation, inner.allocation) != (
            "count",
            "lowest",
        ):
            raise WorkloadError("a power cap counts nodes; leave out reservation and allocation")

    def __call__(self, state: QueueState) -> Decisions:
        """Return the jobs to start."""
        usable = math.floor((self.cap - state.n_nodes * self.idle) / (self.busy - self.idle))
        usable = min(max(usable, 0), state.n_nodes)
        n_free = min(max(usable - (state.n_nodes - state.n_free), 0), state.n_free)
        free = lowest(state.free, n_free) if n_free else 0
        return self.policy(replace(state, n_nodes=usable, free=free, n_free=n_free))


@dataclass(frozen=True)
class IdleShutdown:
    """A policy whose idle nodes are switched off, and on again for jobs that wait.

    Attributes
    ----------
    policy : JobPolicy
        Decides on jobs, and sees the nodes that are on.
    idle : float
        Time without a job after which a node is switched off [s].
    spare : int
        Number of free nodes that stay on.
    name : str
        Name in messages.
    """

    policy: JobPolicy = field(default_factory=lambda: QueueScheduler(backfill="easy"))
    idle: float = 300.0
    spare: int = 0
    name: str = "idle_shutdown"

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        at_least("idle", self.idle, 0.0)
        whole("spare", self.spare, 0)

    def __call__(self, state: QueueState) -> Decisions:
        """Return the jobs to start, and the nodes to switch."""
        memory: Any = state.memory or ({}, None)
        since, inner = memory
        decisions = self.policy(replace(state, memory=inner))
        left = state.free
        started = set()
        for start in decisions.starts:
            size = start.size or start.job.size
            nodes = lowest(left, size) if start.nodes is None else start.nodes
            left &= ~nodes
            started.add(start.job.id)
        free_since = {node: since.get(node, state.now) for node in nodes_of(left)}
        waiting = [job for job in state.queue if job.id not in started]
        boot: NodeMask = 0
        if waiting:
            missing = waiting[0].smallest - left.bit_count() - state.booting.bit_count()
            missing = min(missing, state.off.bit_count())
            boot = lowest(state.off, missing) if missing > 0 else 0
        idle = [
            node
            for node, date in free_since.items()
            if date + self.idle <= state.now + SAME_DATE and not waiting
        ]
        idle = idle[max(self.spare - (len(free_since) - len(idle)), 0) :]
        due = min(
            (date + self.idle for node, date in free_since.items() if node not in idle),
            default=math.inf,
        )
        wake = decisions.wake if due <= state.now + SAME_DATE else min(decisions.wake, due)
        off = sum(1 << node for node in idle)
        return replace(
            decisions, switch_off=off, boot=boot, wake=wake, memory=(free_since, decisions.memory)
        )
