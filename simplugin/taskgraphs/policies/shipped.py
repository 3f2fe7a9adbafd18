"""Shipped policies for concurrent task graphs, by their names in scenarios."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from simplugin.core.errors import WorkloadError
from simplugin.inputs.references import named_policy
from simplugin.taskgraphs.policies.balanced import balanced
from simplugin.taskgraphs.policies.lists import merged, mheft
from simplugin.taskgraphs.policies.shares import (
    SharingPolicy,
    es,
    ps_cp,
    ps_width,
    ps_work,
    s,
    wps_cp,
    wps_width,
    wps_work,
)
from simplugin.taskgraphs.policies.single_processors import (
    cpop,
    heft,
    max_min,
    min_min,
    peft,
    sufferage,
)
from simplugin.taskgraphs.schedule import Schedule

POLICIES: Mapping[str, SharingPolicy] = {
    "balanced": balanced,
    "s": s,
    "es": es,
    "ps_cp": ps_cp,
    "ps_width": ps_width,
    "ps_work": ps_work,
    "wps_cp": wps_cp,
    "wps_width": wps_width,
    "wps_work": wps_work,
}
# Baselines, which return whole schedules.
SCHEDULERS: Mapping[str, Callable[..., Schedule]] = {
    each.__name__: each for each in (heft, cpop, peft, min_min, max_min, sufferage, mheft, merged)
}


def policy_called(name: str, **parameters: Any) -> SharingPolicy:
    """Return a policy, with parameters of its own.

    Parameters
    ----------
    name : str
        The name of a shipped policy, or ``module:function``.
    **parameters
        Keyword arguments of the policy.

    Raises
    ------
    WorkloadError
        The policy is unknown, or does not have a parameter.
    """
    policy = named_policy(name, POLICIES)
    # The first two are the graphs and the site.
    taken = list(inspect.signature(policy).parameters)[2:]
    for parameter in parameters:
        if parameter not in taken:
            has = ", ".join(map(repr, taken)) or "none"
            raise WorkloadError(f"policy {name!r} has no parameter {parameter!r}; it has {has}")
    return partial(policy, **parameters) if parameters else policy
