"""The shipped policies for batch jobs, by their names in scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from simplugin.jobs.policies.malleable import equipartition, fcfs_max
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
    "fcfs_max": lambda: fcfs_max,
    "equipartition": lambda: equipartition,
}
