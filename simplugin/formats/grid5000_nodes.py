"""The nodes of a cluster of Grid'5000 as groups of nodes that are alike."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from simplugin.formats.grid5000_adapters import (
    LeftOutError,
    ethernet_adapter,
    fast_adapter,
    mounted_adapters,
)
from simplugin.formats.grid5000_entries import is_retired, number, objects
from simplugin.formats.grid5000_remarks import (
    ASSUMED,
    CONTRADICTION,
    LEFT_OUT,
    NodeRemarks,
    Remarks,
    quoted,
)
from simplugin.platforms import radical
from simplugin.platforms.grid5000.facts import Adapter, ClusterFacts, NodeGroup

if TYPE_CHECKING:
    from simplugin.formats.grid5000_adapters import Notes
    from simplugin.formats.grid5000_entries import Entry
    from simplugin.formats.grid5000_switches import SiteNetwork

    Alike = tuple[int, float, Adapter, Adapter | None]

_LARGEST_NUMBER = 2**31 - 1
# Figures of the reference are whole flop/s; only a quotient of them can be off by a rounding.
_SAME = 1e-9


def cluster_facts(cluster: Entry, network: SiteNetwork, remarks: Remarks) -> ClusterFacts | None:
    """Return the groups of nodes of a cluster that are alike.

    A core computes ``node_flops / nb_cores``, so that the total of a node is kept; where that is
    not ``core_flops``, the total is believed; where there is no ``node_flops``, ``core_flops`` is
    taken. Retired nodes are left out, and those without cores, performance or network.

    Parameters
    ----------
    cluster : Entry
        The cluster.
    network : SiteNetwork
        The equipment of its site.
    remarks : Remarks
        Takes one remark for all nodes of which the same is said.

    Returns
    -------
    ClusterFacts or None
        Groups in the order of their smallest number; None if no node is left.
    """
    if is_retired(cluster.content):
        remarks.left_out(cluster.place, f"{cluster.uid} is retired")
        return None
    notes = NodeRemarks(cluster.uid)
    groups: dict[Alike, list[int]] = {}
    for node in cluster.parts["nodes"]:
        which = _number(cluster.uid, node.uid)
        if which is None:
            remarks.left_out(node.place, f"{node.uid!r} is not {cluster.uid!r} and a number")
            continue
        said: Notes = []
        try:
            groups.setdefault(_alike(node, network, said), []).append(which)
        except LeftOutError as problem:
            said.append((LEFT_OUT, str(problem)))
        for kind, message in said:
            notes.add(which, kind, message)
    notes.into(remarks, cluster.place)
    if not groups:
        remarks.left_out(cluster.place, f"{cluster.uid} has no node that can be described")
        return None
    numbered = sorted(
        ((sorted(numbers), alike) for alike, numbers in groups.items()), key=lambda each: each[0]
    )
    return ClusterFacts(
        cluster.uid,
        tuple(NodeGroup(radical.of_numbers(numbers), *alike) for numbers, alike in numbered),
    )


def _number(cluster: str, node: str) -> int | None:
    """Return the number of a node within its cluster, None if its uid has none."""
    match = re.fullmatch(re.escape(cluster) + r"-(0|[1-9]\d{0,9})", node, re.ASCII)
    return int(match[1]) if match and int(match[1]) <= _LARGEST_NUMBER else None


def _alike(node: Entry, network: SiteNetwork, notes: Notes) -> Alike:
    """Return all that makes a node like or unlike others."""
    if is_retired(node.content):
        raise LeftOutError("retired")
    architecture = node.content.get("architecture")
    cores = architecture.get("nb_cores") if isinstance(architecture, dict) else None
    if isinstance(cores, bool) or not isinstance(cores, int) or not 0 < cores <= _LARGEST_NUMBER:
        raise LeftOutError(f"the number of cores is {quoted(cores)}")
    speed = _core_speed(node.content.get("performance"), cores, notes)
    odd = Remarks()
    adapters = objects(node.content, "network_adapters", node.place, odd)
    notes += [(remark.kind, remark.message) for remark in odd.found]
    mounted = mounted_adapters([content for _, content in adapters])
    return (
        cores,
        speed,
        ethernet_adapter(node.uid, mounted, network, notes),
        fast_adapter(node.uid, mounted, network, notes),
    )


def _core_speed(performance: Any, cores: int, notes: Notes) -> float:
    """Return what a core computes [flop/s]."""
    figures = performance if isinstance(performance, dict) else {}
    total = number(figures, "node_flops")
    core = number(figures, "core_flops")
    if total is None and core is None:
        raise LeftOutError("no performance figure")
    if total is None:
        told = quoted(figures.get("node_flops"))
        notes.append((ASSUMED, f"node_flops is {told}; {cores} cores of core_flops are taken"))
        return core or 0.0
    if core is not None and not math.isclose(total / cores, core, rel_tol=_SAME):
        message = (
            f"node_flops {total:g} is not {cores} cores of core_flops {core:g}; node_flops is kept"
        )
        notes.append((CONTRADICTION, message))
    return total / cores
