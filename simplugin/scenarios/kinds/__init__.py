"""Kinds of workload that a scenario can have, one module a kind."""

from __future__ import annotations

import pkgutil

from simplugin.scenarios.scenario import WorkloadKind

# Each is an instance of `WorkloadKind`; its module is loaded with the first scenario of the kind.
KINDS = {
    "actors": "simplugin.scenarios.kinds.actors:KIND",
    "bags": "simplugin.scenarios.kinds.bags:KIND",
    "bundles": "simplugin.scenarios.kinds.market:KIND",
    "jobs": "simplugin.scenarios.kinds.jobs:KIND",
    "fair_sharing": "simplugin.scenarios.kinds.pricing:KIND",
    "taskgraphs": "simplugin.scenarios.kinds.taskgraphs:KIND",
}


def kind_called(name: str) -> WorkloadKind:
    """Return a kind of workload by its name, a key of `KINDS`."""
    kind: WorkloadKind = pkgutil.resolve_name(KINDS[name])
    return kind
