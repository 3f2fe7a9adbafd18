"""Nodes of a cluster of Grid'5000 as groups that are alike, with their network adapters."""

from __future__ import annotations

import math
import re
from typing import Any

from simplugin.core.formatting import listed
from simplugin.formats.grid5000.entries import (
    DataWarnings,
    ReferenceEntry,
    is_retired,
    number,
    objects,
    quoted,
    rate_text,
    text,
)
from simplugin.formats.grid5000.switches import SiteNetwork
from simplugin.platforms import radical
from simplugin.platforms.grid5000.facts import (
    ETHERNET,
    Adapter,
    ClusterFacts,
    DataWarning,
    NodeGroup,
)

Content = dict[str, Any]

# The rate of a port at each switch [bit/s].
PortRates = dict[str, float | None]
Alike = tuple[int, float, Adapter, Adapter | None]


class LeftOutError(Exception):
    """A node that cannot be in the result; the message says why."""


def ethernet_adapter(
    node: str, mounted: list[Content], network: SiteNetwork, warnings: DataWarnings
) -> Adapter:
    """Return the adapter by which a node is on the site's network.

    It is the fastest Ethernet adapter in use. Its rate is its own or that of the switch's port,
    whichever is lower: a cable is as fast as its slower end. Of the switch, the node's own word is
    taken against those of switches; where it names no existing one, the only switch with a port
    that names the adapter is taken, else the router.

    Parameters
    ----------
    node : str
        Uid of the node.
    mounted : list of dict
        Its adapters in use.
    network : SiteNetwork
        The equipment of the site.
    warnings : DataWarnings
        Takes those about the adapter.

    Returns
    -------
    Adapter
        Its switch is one of the site's equipment.

    Raises
    ------
    LeftOutError
        There is no such adapter, or no rate of it is known.
    """
    candidates = []
    found = [each for each in mounted if each.get("interface") == ETHERNET]
    for content in found:
        said = DataWarnings()
        adapter = _plugged(node, content, network, said)
        if adapter is not None:
            candidates.append((adapter, _device(content), said))
    if not found:
        raise LeftOutError("no mounted Ethernet adapter")
    if not candidates:
        entry = quoted(found[0].get("rate"))
        raise LeftOutError(f"the rate of {_device(found[0])} is {entry}, and its port has none")
    adapter, device, said = max(candidates, key=lambda each: each[0].rate)
    if len(found) > 1:
        said.assumed(f"{listed(map(_device, found))} are mounted; {device} is taken")
    warnings.found += said.found
    return adapter


def fast_adapter(
    node: str, mounted: list[Content], network: SiteNetwork, warnings: DataWarnings
) -> Adapter | None:
    """Return the adapter by which a node is on a second, faster network, such as InfiniBand.

    It is the fastest adapter in use that is not for Ethernet. Its switch is the one of kind
    ``hpcswitch`` with a port that names the adapter, else the one that the node names, if any.

    Parameters
    ----------
    node : str
        Uid of the node.
    mounted : list of dict
        Its adapters in use.
    network : SiteNetwork
        The equipment of the site.
    warnings : DataWarnings
        Takes those about the adapter.

    Returns
    -------
    Adapter or None
        None if there is none.
    """
    rated = []
    for content in mounted:
        rate = number(content, "rate")
        interface = text(content, "interface")
        if ETHERNET in interface:
            continue
        if rate is None or not interface:
            entry = f"{quoted(content.get('interface'))} at rate {quoted(content.get('rate'))}"
            warnings.left_out(f"{_device(content)} is {entry}")
        else:
            rated.append((rate, content))
    if not rated:
        return None
    rate, content = max(rated, key=lambda each: each[0])
    if len(rated) > 1:
        every = listed(_device(each) for _, each in rated)
        warnings.assumed(f"{every} are mounted; {_device(content)} is taken")
    named = network.names.get(text(content, "switch"), "")
    switches = _ports(node, content, network, fast=True)
    return Adapter(text(content, "interface"), rate, next(iter(switches), named))


def _plugged(
    node: str, content: Content, network: SiteNetwork, warnings: DataWarnings
) -> Adapter | None:
    """Return an Ethernet adapter with its switch, None if no rate is known."""
    device = _device(content)
    ports = _ports(node, content, network, fast=False)
    switch = _switch(content, ports, network, warnings)
    rate = number(content, "rate")
    port_rate = ports.get(switch)
    if rate is None:
        if port_rate is None:
            return None
        entry = quoted(content.get("rate"))
        message = f"the rate of {device} is {entry}; that of its port at {switch} is taken"
        warnings.assumed(message)
        return Adapter(ETHERNET, port_rate, switch)
    if port_rate is not None and port_rate < rate:
        message = (
            f"{device} has {rate_text(rate)}, its port at {switch} {rate_text(port_rate)}; "
            "the lower is kept"
        )
        warnings.contradiction(message)
        rate = port_rate
    return Adapter(ETHERNET, rate, switch)


def _switch(
    content: Content, ports: PortRates, network: SiteNetwork, warnings: DataWarnings
) -> str:
    """Return the switch that an adapter is plugged into."""
    device = _device(content)
    switch = network.names.get(text(content, "switch"))
    if switch is None:
        entry = content.get("switch")
        what = "has no switch" if entry is None else f"names an unknown switch, {quoted(entry)}"
        taken, why = network.router, ""
        if len(ports) == 1:
            taken, why = next(iter(ports)), ", a port of which names it"
        warnings.assumed(f"{device} {what}; {taken} is taken{why}")
        return taken
    if ports and switch not in ports:
        others = listed(sorted(ports))
        message = (
            f"{device} is at {switch}, says the node, at {others}, say ports; {switch} is kept"
        )
        warnings.contradiction(message)
    elif not ports and any(port.kind == "node" for port in network.switches[switch].ports):
        message = f"{device} is at {switch}, says the node, but no port there names it; it is kept"
        warnings.contradiction(message)
    return switch


def _ports(node: str, content: Content, network: SiteNetwork, *, fast: bool) -> PortRates:
    """Return the switches with a port that names an adapter, and the port's rate."""
    device = text(content, "device")
    found: PortRates = {}
    for switch, port in network.ports_of(node, fast=fast):
        if not device or port.device in ("", device):
            found.setdefault(switch.uid, port.rate)
    return found


def _device(content: Content) -> str:
    """Return the name of an adapter within its node."""
    return text(content, "device") or "an adapter"


_LARGEST_NUMBER = 2**31 - 1
# Figures of the reference are whole flop/s; only a quotient of them can be off by a rounding.
_SAME = 1e-9


def cluster_facts(
    cluster: ReferenceEntry, network: SiteNetwork, warnings: DataWarnings
) -> ClusterFacts | None:
    """Return the groups of nodes of a cluster that are alike.

    A core computes ``node_flops / nb_cores``, so that the total of a node is kept; where that is
    not ``core_flops``, the total is believed; where there is no ``node_flops``, ``core_flops`` is
    taken. Retired nodes are left out, and those without cores, performance or network.

    Parameters
    ----------
    cluster : ReferenceEntry
        The cluster.
    network : SiteNetwork
        The equipment of its site.
    warnings : DataWarnings
        Receives one warning for all nodes with the same problem.

    Returns
    -------
    ClusterFacts or None
        Groups in the order of their smallest number; None if no node is left.
    """
    if is_retired(cluster.content):
        warnings.left_out(f"{cluster.uid} is retired")
        return None
    notes: dict[tuple[str, str], list[int]] = {}
    groups: dict[Alike, list[int]] = {}
    for node in cluster.parts["nodes"]:
        match = re.fullmatch(re.escape(cluster.uid) + r"-(0|[1-9]\d{0,9})", node.uid, re.ASCII)
        which = int(match[1]) if match else _LARGEST_NUMBER + 1
        if which > _LARGEST_NUMBER:
            about = warnings.on(node.place, *warnings.about)
            about.left_out(f"{node.uid!r} is not {cluster.uid!r} and a number")
            continue
        said = DataWarnings(place=cluster.place, about=warnings.about)
        try:
            groups.setdefault(_alike(node, network, said), []).append(which)
        except LeftOutError as problem:
            said.left_out(str(problem))
        for warning in said.found:
            notes.setdefault((warning.kind, warning.message), []).append(which)
    # One warning for all nodes with the same problem.
    for (kind, message), numbers in notes.items():
        nodes = f"{cluster.uid}-{radical.of_numbers(sorted(numbers))}"
        found = DataWarning(kind, cluster.place, f"{nodes}: {message}", warnings.about)
        warnings.found.append(found)
    if not groups:
        warnings.left_out(f"{cluster.uid} has no node that can be described")
        return None
    numbered = sorted(
        ((sorted(numbers), alike) for alike, numbers in groups.items()), key=lambda each: each[0]
    )
    return ClusterFacts(
        cluster.uid,
        tuple(NodeGroup(radical.of_numbers(numbers), *alike) for numbers, alike in numbered),
    )


def _alike(node: ReferenceEntry, network: SiteNetwork, warnings: DataWarnings) -> Alike:
    """Return all that makes a node like or unlike others."""
    if is_retired(node.content):
        raise LeftOutError("retired")
    architecture = node.content.get("architecture")
    given = architecture if isinstance(architecture, dict) else {}
    cores = given.get("nb_cores")
    if cores is None and (cores := given.get("smt_size")) is not None:
        warnings.assumed(f"there is no nb_cores, as before 2017; smt_size {quoted(cores)} is taken")
    if isinstance(cores, bool) or not isinstance(cores, int) or not 0 < cores <= _LARGEST_NUMBER:
        raise LeftOutError(f"the number of cores is {quoted(cores)}")
    speed = _core_speed(node.content.get("performance"), cores, warnings)
    adapters = objects(node.content, "network_adapters", warnings)
    # In use: mounted, not switched off, not for management.
    mounted = [
        each
        for _, each in adapters
        if each.get("mounted") is True
        and each.get("management") is not True
        and each.get("enabled") is not False
    ]
    return (
        cores,
        speed,
        ethernet_adapter(node.uid, mounted, network, warnings),
        fast_adapter(node.uid, mounted, network, warnings),
    )


def _core_speed(performance: Any, cores: int, warnings: DataWarnings) -> float:
    """Return the speed of a core [flop/s]."""
    figures = performance if isinstance(performance, dict) else {}
    total = number(figures, "node_flops")
    core = number(figures, "core_flops")
    if total is None and core is None:
        raise LeftOutError("no performance figure")
    if total is None:
        entry = quoted(figures.get("node_flops"))
        warnings.assumed(f"node_flops is {entry}; {cores} cores of core_flops are taken")
        return core or 0.0
    if core is not None and not math.isclose(total / cores, core, rel_tol=_SAME):
        message = (
            f"node_flops {total:g} is not {cores} cores of core_flops {core:g}; node_flops is kept"
        )
        warnings.contradiction(message)
    return total / cores
