"""The shipped policies for batch jobs, by their names in scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from simplugin.jobs.policies.malleable import (
    earliest_completion,
    equipartition,
    fcfs_max,
    shrink_to_start,
)
from simplugin.jobs.policies.power import IdleShutdown, PowerCap
from simplugin.jobs.policies.priorities import Multifactor, f1, unicef, wfp3
from simplugin.jobs.policies.queues import QueueScheduler
from simplugin.jobs.policy import JobPolicy

# Makes a policy; scenarios give its parameters as keywords.
JobPolicyMaker = Callable[..., JobPolicy]

POLICIES: Mapping[str, JobPolicyMaker] = {
    "fcfs": partial(QueueScheduler, name="fcfs"),
    "sjf": partial(QueueScheduler, order="sjf", name="sjf"),
    "largest": partial(QueueScheduler, order="largest", name="largest"),
    "greedy": partial(QueueScheduler, backfill="greedy", name="greedy"),
    "easy": partial(QueueScheduler, backfill="easy", name="easy"),
    "conservative": partial(QueueScheduler, backfill="conservative", name="conservative"),
    "wfp3": partial(QueueScheduler, order=wfp3, backfill="easy", name="wfp3"),
    "unicef": partial(QueueScheduler, order=unicef, backfill="easy", name="unicef"),
    "f1": partial(QueueScheduler, order=f1, backfill="easy", name="f1"),
    "multifactor": Multifactor,
    "earliest_completion": lambda: earliest_completion,
    "fcfs_max": lambda: fcfs_max,
    "equipartition": lambda: equipartition,
    "shrink_to_start": lambda: shrink_to_start,
    "power_cap": PowerCap,
    "idle_shutdown": IdleShutdown,
}
