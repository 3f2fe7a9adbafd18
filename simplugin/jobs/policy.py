"""Policies for batch jobs: what a policy sees, and what it decides.

A policy is a function from a `QueueState` to `Decisions`. It is called once for each date at which
jobs ended or were submitted, and at dates for which it asked. It keeps nothing itself: what it
wants to remember it returns as `Decisions.memory`, and finds in the next state. A policy of one
line, first come first served without a look behind the first job:

>>> def head_first(state: QueueState) -> Decisions:
...     head = state.queue[0]
...     return Decisions(starts=(Start(head),) if head.size <= state.n_free else ())
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from simplugin.jobs.nodes import NodeMask, nodes_of
from simplugin.simulation.placement import function_name
from simplugin.workloads.batch_jobs import Job

# Dates that differ by at most this belong to the same instant [s].
SAME_DATE = 1e-7


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that has started.

    Attributes
    ----------
    job : Job
        The job.
    start : float
        Date of its start [s].
    nodes : int
        Its nodes; bit i stands for node i, see `simplugin.jobs.nodes`.
    size : int
        Number of its nodes.
    planned_end : float
        Date at which its nodes are free at the latest, by its walltime; infinite without [s].
    rank : int
        Number of jobs that started before it.
    """

    job: Job
    start: float
    nodes: NodeMask
    size: int
    planned_end: float
    rank: int


@dataclass(frozen=True, slots=True)
class QueueState:
    """State of a batch system when a policy decides.

    The sequences are the system's own and change after the decision: a policy that wants to
    remember them copies them.

    Attributes
    ----------
    now : float
        Date [s].
    n_nodes : int
        Nodes of the machine.
    free : int
        Free nodes; bit i stands for node i.
    n_free : int
        Number of free nodes.
    queue : sequence of Job
        Waiting jobs in the order of their submissions, at equal dates in that of the log.
    running : sequence of RunningJob
        Jobs that run, by their planned ends, at equal ones by their starts.
    memory : object
        What the policy returned last; None at first.
    off, booting : int
        Nodes that are switched off, and those that are being switched on.
    """

    now: float
    n_nodes: int
    free: NodeMask
    n_free: int
    queue: Sequence[Job]
    running: Sequence[RunningJob]
    memory: object = None
    off: NodeMask = 0
    booting: NodeMask = 0

    @property
    def free_nodes(self) -> tuple[int, ...]:
        """Numbers of the free nodes, in order."""
        return nodes_of(self.free)


@dataclass(frozen=True, slots=True)
class Start:
    """Start of a waiting job.

    Attributes
    ----------
    job : Job
        The job.
    nodes : int, optional
        Its nodes, bit i for node i; by default the lowest free ones.
    size : int, optional
        Their number if it is not that of the job; not needed beside `nodes`.
    """

    job: Job
    nodes: NodeMask | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Resize:
    """New number of nodes of a running malleable job.

    Attributes
    ----------
    job : Job
        The job.
    size : int
        Number of nodes: it gives back its highest ones, or gets the lowest free ones.
    """

    job: Job
    size: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of a policy; kills come first, then shrinking, starts and growing.

    Attributes
    ----------
    starts : sequence of Start
        Jobs to start, in order.
    resizes : sequence of Resize
        Malleable jobs whose number of nodes changes.
    kills : sequence of Job
        Running jobs to end.
    wake : float
        Date at which to call the policy even if nothing happens [s].
    memory : object
        Passed to the policy with the next state.
    switch_off, boot : int
        Free nodes to switch off, and nodes that are off to switch on.
    """

    starts: Sequence[Start] = ()
    resizes: Sequence[Resize] = ()
    kills: Sequence[Job] = ()
    wake: float = math.inf
    memory: object = field(default=None, compare=False)
    switch_off: NodeMask = 0
    boot: NodeMask = 0


class JobPolicy(Protocol):
    """A pure function from the state of a batch system to decisions.

    Called with a queue that may be empty. Decisions that cannot be carried out (a job that does
    not wait, nodes that are not free) end the simulation with an error that names the policy.
    """

    def __call__(self, state: QueueState, /) -> Decisions:
        """Return what to do now."""


def policy_name(policy: JobPolicy) -> str:
    """Return the name of a policy for messages."""
    return str(getattr(policy, "name", "") or function_name(policy))
