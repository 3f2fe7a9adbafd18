"""The table of the kinds of workload that a scenario can have."""

from __future__ import annotations

import pkgutil

from simplugin.inputs.kinds import Kind

# Each is an instance of `Kind`; its module is loaded with the first scenario of the kind.
KINDS = {
    "actors": "simplugin.scenarios.actors:KIND",
    "bags": "simplugin.scenarios.bags:KIND",
    "bundles": "simplugin.market.scenario:KIND",
    "taskgraphs": "simplugin.taskgraphs.scenario:KIND",
}


def kind_called(name: str) -> Kind:
    """Return a kind by its name, a key of `KINDS`."""
    found: Kind = pkgutil.resolve_name(KINDS[name])
    return found
