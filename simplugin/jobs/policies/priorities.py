"""Orders of a queue by priorities that change with time and use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simplugin.core.elementary import log
from simplugin.jobs.policies.queues import QueueScheduler, requested
from simplugin.jobs.policy import Decisions, QueueState
from simplugin.workloads.batch_jobs import Job
from simplugin.workloads.parameter_ranges import at_least

_LN2, _LN10 = log(2.0), log(10.0)


def wfp3(job: Job, now: float) -> float:
    """Return the key of WFP3: long waits of wide jobs first, relative to requested times.

    References
    ----------
    .. [1] W. Tang, Z. Lan, N. Desai, D. Buettner (2009). Fault-aware, utility-based job scheduling
       on Blue Gene/P systems. CLUSTER.
    """
    return -(((now - job.submit) / max(requested(job), 1.0)) ** 3) * job.size


def unicef(job: Job, now: float) -> float:
    """Return the key of UNICEF: short narrow jobs that waited long first [1]_ of `wfp3`."""
    # The logarithm of one node would be 0.
    width = max(log(float(job.size)) / _LN2, 1.0)
    return -(now - job.submit) / (width * max(requested(job), 1.0))


def f1(job: Job, now: float) -> float:  # noqa: ARG001
    """Return the key of F1, which a regression on simulated schedules found.

    References
    ----------
    .. [1] D. Carastan-Santos, R. de Camargo (2017). Obtaining dynamic scheduling policies with
       simulation and machine learning. SC.
    """
    times = log(max(requested(job), 1.0)), log(max(job.submit, 1.0))
    return (times[0] * job.size + 870.0 * times[1]) / _LN10


@dataclass(frozen=True)
class Multifactor:
    """Queue scheduler with weighted priorities and fair sharing between users, as Slurm's.

    The priority is a weighted sum of numbers from 0 to 1: the wait relative to `longest`, the size
    relative to the machine, `Job.priority`, and 2^(-u / s), where s is the share of the user and u
    the part of all past use that was the user's; use counts half after `half_life`.

    Attributes
    ----------
    age, size, priority, fair : float
        Weights.
    longest : float
        Wait that counts as 1 [s].
    half_life : float
        Of past use [s].
    shares : mapping of str to float
        Relative share of each user; 1 for all others.
    queue : QueueScheduler
        Its rules apart from the order.
    name : str
        Name in messages.
    """

    age: float = 1.0
    size: float = 0.0
    priority: float = 1.0
    fair: float = 1.0
    longest: float = 604800.0
    half_life: float = 604800.0
    shares: Mapping[str, float] = field(default_factory=dict)
    queue: QueueScheduler = field(default_factory=lambda: QueueScheduler(backfill="easy"))
    name: str = "multifactor"

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        for name in ("age", "priority", "fair"):
            at_least(name, getattr(self, name), 0.0)
        # Negative weights of sizes prefer small jobs.
        at_least("size", abs(self.size), 0.0)
        for name in ("longest", "half_life"):
            at_least(name, getattr(self, name), 0.0, above=True)
        for user, share in self.shares.items():
            at_least(f"the share of {user!r}", share, 0.0, above=True)

    def __call__(self, state: QueueState) -> Decisions:
        """Return the jobs to start."""
        memory: Any = state.memory or (state.now, {}, None)
        last, used, inner = memory
        decay = 0.5 ** ((state.now - last) / self.half_life)
        use: dict[str, float] = {user: value * decay for user, value in used.items()}
        for each in state.running:
            spent = each.size * (state.now - max(last, each.start))
            use[each.job.user] = use.get(each.job.user, 0.0) + max(spent, 0.0)
        users = {*use, *(job.user for job in state.queue)}
        shares = {user: self.shares.get(user, 1.0) for user in users}
        of_all, of_use = sum(shares.values()), sum(use.values())
        fair = {
            user: 2.0 ** -((use.get(user, 0.0) / of_use) / (share / of_all)) if of_use else 1.0
            for user, share in shares.items()
        }

        def key(job: Job, now: float) -> float:
            return -(
                self.age * min((now - job.submit) / self.longest, 1.0)
                + self.size * job.size / state.n_nodes
                + self.priority * job.priority
                + self.fair * fair[job.user]
            )

        scheduler = replace(self.queue, order=key, name=self.name)
        decisions = scheduler(replace(state, memory=inner))
        return replace(decisions, memory=(state.now, use, decisions.memory))
