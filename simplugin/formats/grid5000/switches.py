"""Switches and routers of a site of Grid'5000, and the way from each switch to the router."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from simplugin.core.formatting import listed
from simplugin.formats.grid5000.entries import (
    DataWarnings,
    ReferenceEntry,
    number,
    objects,
    quoted,
    rate_text,
    text,
)
from simplugin.platforms.grid5000.facts import Uplink

ROUTER = "gw"
_BETWEEN_SWITCHES = ("switch", "router")


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """A port, or several ports that are one channel.

    Attributes
    ----------
    kind : str
        ``node``, ``switch``, ``router``, ``backbone``, ``channel``, ``server``, ``other``; of the
        linecard where the port has none of its own.
    uid : str
        The connected device: a node, an equipment, or the name of the channel that it belongs to.
    device : str
        The adapter of the node; empty if unknown.
    rate : float or None
        Of the port, else of its linecard [bit/s].
    site : str
        Uid of the site that it leads to; only at points of presence of the backbone.
    """

    kind: str
    uid: str
    device: str
    rate: float | None
    site: str


@dataclass(frozen=True, slots=True)
class ReferenceSwitch:
    """A switch or router with its connected devices.

    Attributes
    ----------
    uid, place : str
        Its name, and where it is described.
    kind : str
        ``switch``, ``router``, ``hpcswitch`` or ``virtual``.
    ports : tuple of SwitchPort
        Those that are in use.
    channels : dict of str to SwitchPort
        Ports that act as one, by the name of the channel.
    """

    uid: str
    place: str
    kind: str
    ports: tuple[SwitchPort, ...]
    channels: dict[str, SwitchPort]

    def rate_towards(self, uids: Iterable[str]) -> float | None:
        """Return what leads to an equipment, by any of its names; None if nothing does [bit/s].

        Cables without a rate add nothing, so that the answer is 0 where no rate is known. A
        channel has its declared rate, else that of its ports together.
        """
        names = set(uids)
        rates = [
            port.rate or 0.0
            for port in self.ports
            if port.kind in _BETWEEN_SWITCHES and port.uid in names
        ]
        rates += [
            channel.rate or self.rate_of_ports(name)
            for name, channel in self.channels.items()
            if channel.kind in _BETWEEN_SWITCHES and channel.uid in names
        ]
        return sum(rates) if rates else None

    def rate_of_ports(self, channel: str) -> float:
        """Return the rate of all ports of a channel together [bit/s]."""
        return sum(
            port.rate or 0.0
            for port in self.ports
            if port.kind == "channel" and port.uid == channel
        )

    def odd_channels(self, uids: Iterable[str]) -> Iterator[str]:
        """Yield a message for each channel to an equipment that is unlike its ports."""
        names = set(uids)
        for name, channel in self.channels.items():
            ports = self.rate_of_ports(name)
            if channel.kind not in _BETWEEN_SWITCHES or channel.uid not in names or not ports:
                continue
            if channel.rate is not None and channel.rate != ports:
                yield (
                    f"channel {name!r} to {channel.uid} is declared as {rate_text(channel.rate)}, "
                    f"its ports make {rate_text(ports)}; the declared rate is kept"
                )


@dataclass(frozen=True, slots=True)
class SiteNetwork:
    """The equipment of a site.

    Attributes
    ----------
    site : str
        Uid of the site.
    switches : dict of str to ReferenceSwitch
        By uid.
    names : dict of str to str
        The uid for each uid and alias.
    router : str
        Uid of the router; `ROUTER` where the reference has none. It is one of `switches`.
    node_ports : dict
        For each node the ports that name it, each with the switch.
    """

    site: str
    switches: dict[str, ReferenceSwitch]
    names: dict[str, str]
    router: str
    node_ports: dict[str, tuple[tuple[ReferenceSwitch, SwitchPort], ...]]

    def names_of(self, uid: str) -> list[str]:
        """Return the uid and the aliases of an equipment."""
        return [name for name, owner in self.names.items() if owner == uid]

    def ports_of(self, node: str, *, fast: bool) -> list[tuple[ReferenceSwitch, SwitchPort]]:
        """Return the ports that name a node, of the fast network or of the others."""
        return [
            (switch, port)
            for switch, port in self.node_ports.get(node, ())
            if (switch.kind == "hpcswitch") == fast
        ]


def switch_of(entry: ReferenceEntry, warnings: DataWarnings) -> ReferenceSwitch:
    """Return an equipment of the reference as a switch.

    Parameters
    ----------
    entry : ReferenceEntry
        As the reference describes it.
    warnings : DataWarnings
        Takes ports and rates that make no sense; they are left out.

    Returns
    -------
    ReferenceSwitch
        With the ports that something is plugged into.
    """
    ports = []
    for at, card in objects(entry.content, "linecards", warnings):
        where = f"linecard {at}"
        default = _rate(card, where, warnings)
        for index, port in objects(card, "ports", warnings):
            if not port:
                continue
            own = _rate(port, f"port {index} of {where}", warnings)
            ports.append(_port(port, card, own or default))
    declared = entry.content.get("channels")
    channels = {}
    for name, channel in (declared if isinstance(declared, dict) else {}).items():
        if isinstance(channel, dict):
            rate = _rate(channel, f"channel {name!r}", warnings)
            channels[name] = _port(channel, {}, rate)
    return ReferenceSwitch(
        entry.uid, entry.place, text(entry.content, "kind"), tuple(ports), channels
    )


def site_network(site: ReferenceEntry, warnings: DataWarnings) -> SiteNetwork:
    """Return the equipment of a site.

    The router is the equipment of kind ``router``; of several that named ``gw``, else the first.

    Parameters
    ----------
    site : ReferenceEntry
        The site.
    warnings : DataWarnings
        Receives warnings about invalid entries.

    Returns
    -------
    SiteNetwork
        Its switches and routers.
    """
    switches = {}
    names: dict[str, str] = {}
    node_ports = defaultdict(list)
    nodes = {node.uid for cluster in site.parts["clusters"] for node in cluster.parts["nodes"]}
    entries = [entry for entry in site.parts["network_equipments"] if entry.uid not in nodes]
    for entry in site.parts["network_equipments"]:
        if entry.uid in nodes:
            about = warnings.on(entry.place, "switch", site.uid, entry.uid)
            about.left_out(f"a node has the name {entry.uid} too")
    for entry in entries:
        about = warnings.on(entry.place, "switch", site.uid, entry.uid)
        switch = switches[entry.uid] = switch_of(entry, about)
        for port in switch.ports:
            if port.kind == "node":
                node_ports[port.uid].append((switch, port))
    for entry in entries:
        aliases = entry.content.get("alias")
        for alias in aliases if isinstance(aliases, list) else [aliases]:
            # Some come with an address.
            name = alias.get("name") if isinstance(alias, dict) else alias
            if isinstance(name, str) and name:
                names.setdefault(name, entry.uid)
    router = _router(site, switches, warnings.on(site.place, "site", site.uid))
    names |= {uid: uid for uid in switches}
    every = {node: tuple(ports) for node, ports in node_ports.items()}
    return SiteNetwork(site.uid, switches, names, router, every)


def _router(
    site: ReferenceEntry, switches: dict[str, ReferenceSwitch], warnings: DataWarnings
) -> str:
    """Return the uid of a site's router, which is made where there is none."""
    routers = [uid for uid, switch in switches.items() if switch.kind == "router"]
    router = ROUTER if ROUTER in routers or not routers else routers[0]
    if not routers:
        warnings.assumed(f"there is no router; {ROUTER!r} is taken")
        switches.setdefault(ROUTER, ReferenceSwitch(ROUTER, site.place, "router", (), {}))
    if len(routers) > 1:
        warnings.contradiction(
            f"there are routers {listed(routers)}; {router} is taken, others as switches"
        )
    return router


def unknown_nodes(network: SiteNetwork, known: set[str], warnings: DataWarnings) -> None:
    """Record the nodes of each cluster that are plugged in somewhere, but not described."""
    for switch in network.switches.values():
        named = {port.uid for port in switch.ports if port.kind == "node" and port.uid}
        missing: defaultdict[str, list[str]] = defaultdict(list)
        for node in sorted(named - known):
            missing[node.rpartition("-")[0]].append(node)
        for cluster, nodes in missing.items():
            about = warnings.on(switch.place, "cluster", network.site, cluster)
            about.left_out(f"its ports name {listed(nodes)}, which no file describes")


def _port(port: dict[str, Any], card: dict[str, Any], rate: float | None) -> SwitchPort:
    """Return a port; its linecard gives the values that it lacks."""
    return SwitchPort(
        text(port, "kind") or text(card, "kind"),
        text(port, "uid"),
        text(port, "port") or text(card, "port"),
        rate,
        text(port, "site_uid"),
    )


def _rate(content: dict[str, Any], what: str, warnings: DataWarnings) -> float | None:
    """Return a rate; warn about a value that is not a rate."""
    rate = number(content, "rate")
    if rate is None and content.get("rate") is not None:
        entry = quoted(content["rate"])
        warnings.left_out(f"the rate of {what} is {entry}, no bit/s above 0")
    return rate


Towards = dict[str, str]


def uplinks(
    network: SiteNetwork, carried: dict[str, float], warnings: DataWarnings
) -> tuple[Uplink, ...]:
    """Return the uplinks of all switches that nodes hang from.

    The way to the router is the one of fewest cables; among these, the one with the fastest
    slowest cable fastest; then the one by the switch of the least name. Either end of a cable may
    name it; where both do and their rates differ, the lower counts, since a cable is as fast as
    its slower end. Where no rate is known, or no way, the switch has a cable (in the latter case
    to the router) that carries all adapters behind it at once, so that no assumption slows
    anything down.

    Parameters
    ----------
    network : SiteNetwork
        The site's equipment.
    carried : dict of str to float
        For each equipment that nodes hang from, the rates of their adapters together [bit/s].
    warnings : DataWarnings
        Takes contradictions and assumptions about the uplinks that are used.

    Returns
    -------
    tuple of Uplink
        In the order of switches.
    """
    cables = _cables(network)
    towards = _ways(network.router, cables)
    used: Towards = {}
    behind: dict[str, float] = {}
    for switch in sorted(carried):
        at = switch
        while at != network.router:
            behind[at] = behind.get(at, 0.0) + carried[switch]
            used[at] = towards.get(at, network.router)
            at = used[at]
    found = []
    for switch in sorted(used):
        rate = cables.get(switch, {}).get(used[switch])
        place = network.switches[switch].place
        about = warnings.on(place, "uplink", network.site, switch, used[switch])
        if rate:
            _compare_ends(network, switch, used[switch], rate, about)
        else:
            way = "no way to the router is known" if rate is None else "its uplink has no rate"
            rate = behind[switch]
            about.assumed(
                f"{way}; {switch} is joined to {used[switch]} at {rate_text(rate)}, "
                "as fast as all adapters behind it together",
            )
        found.append(Uplink(switch, used[switch], rate))
    return tuple(found)


def _cables(network: SiteNetwork) -> dict[str, dict[str, float]]:
    """Return the rate between any two equipments that are joined, 0 where it is unknown."""
    cables: dict[str, dict[str, float]] = {}
    for switch in network.switches.values():
        if switch.kind == "hpcswitch":
            continue
        ends = {port.uid for port in (*switch.ports, *switch.channels.values())}
        for other in {network.names[end] for end in ends if end in network.names} - {switch.uid}:
            rate = switch.rate_towards(network.names_of(other))
            if rate is None or network.switches[other].kind == "hpcswitch":
                continue
            # The end that was looked at before, if it has a rate.
            before = cables.get(switch.uid, {}).get(other, 0.0)
            both = min(filter(None, (rate, before)), default=0.0)
            cables.setdefault(switch.uid, {})[other] = both
            cables.setdefault(other, {})[switch.uid] = both
    return cables


def _ways(router: str, cables: dict[str, dict[str, float]]) -> Towards:
    """Return the next equipment towards the router for each that has a way."""
    towards: Towards = {}
    widths = {router: float("inf")}
    ring = [router]
    while ring:
        reached: dict[str, tuple[float, str]] = {}
        for near in sorted(ring):
            for far, rate in cables.get(near, {}).items():
                width = min(widths[near], rate)
                if far not in widths and (far not in reached or width > reached[far][0]):
                    reached[far] = (width, near)
        towards |= {far: near for far, (_, near) in reached.items()}
        widths |= {far: width for far, (width, _) in reached.items()}
        ring = list(reached)
    return towards


def _compare_ends(
    network: SiteNetwork, switch: str, other: str, rate: float, warnings: DataWarnings
) -> None:
    """Record where the two ends of a cable, or a channel and its ports, disagree."""
    ends = ((switch, other), (other, switch))
    for here, there in ends:
        for message in network.switches[here].odd_channels(network.names_of(there)):
            warnings.on(network.switches[here].place, *warnings.about).contradiction(message)
    rates = {
        here: network.switches[here].rate_towards(network.names_of(there)) for here, there in ends
    }
    if all(rates.values()) and len(set(rates.values())) > 1:
        warnings.contradiction(
            f"the cable between {switch} and {other} has "
            + " and ".join(f"{rate_text(each or 0)} at {here}" for here, each in rates.items())
            + f"; {rate_text(rate)} is kept",
        )
