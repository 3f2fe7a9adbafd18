"""Shipped policies for concurrent task graphs, by their names in scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
