"""The table of the kinds of workload that a scenario can have."""

from __future__ import annotations

import pkgutil

from simplugin.inputs.kinds import WorkloadKind

# Each is an instance of `WorkloadKind`; its module is loaded with the first scenario of the kind.
KINDS = {
    "actors": "simplugin.scenarios.actors:KIND",
    "bags": "simplugin.scenarios.bags:KIND",
    "bundles": "simplugin.market.scenario:KIND",
    "taskgraphs": "simplugin.taskgraphs.scenario:KIND",
}


def kind_called(name: str) -> WorkloadKind:
    """Return a kind by its name, a key of `KINDS`."""
    found: WorkloadKind = pkgutil.resolve_name(KINDS[name])
    return found
