"""The way from each switch of a site to the router."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.formats.grid5000_remarks import rate_text
from simplugin.platforms.grid5000.facts import Uplink

if TYPE_CHECKING:
    from simplugin.formats.grid5000_remarks import Remarks
    from simplugin.formats.grid5000_switches import SiteNetwork

Towards = dict[str, str]


def uplinks(
    network: SiteNetwork, carried: dict[str, float], remarks: Remarks
) -> tuple[Uplink, ...]:
    """Return the uplinks of all switches that nodes hang from.

    The way to the router is the one of fewest cables; among these, the one whose slowest cable is
    fastest; then the one by the switch of the least name. Either end of a cable may tell it; where
    both do and their rates differ, the lower counts, since a cable is as fast as its slower end.
    Where no rate is known, or no way, the switch has a cable (in the latter case to the router)
    that carries all adapters behind it at once: what is assumed makes nothing slow.

    Parameters
    ----------
    network : SiteNetwork
        The site's equipment.
    carried : dict of str to float
        For each equipment that nodes hang from, the rates of their adapters together [bit/s].
    remarks : Remarks
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
        about = remarks.on("uplink", network.site, switch, used[switch])
        if rate:
            _compare_ends(network, switch, used[switch], rate, about)
        else:
            way = "no way to the router is told" if rate is None else "its uplink has no rate"
            rate = behind[switch]
            about.assumed(
                network.switches[switch].place,
                f"{way}; {switch} is joined to {used[switch]} at {rate_text(rate)}, "
                "as fast as all adapters behind it together",
            )
        found.append(Uplink(switch, used[switch], rate))
    return tuple(found)


def _cables(network: SiteNetwork) -> dict[str, dict[str, float]]:
    """Return the rate between any two equipments that are joined, 0 where none is told."""
    cables: dict[str, dict[str, float]] = {}
    for switch in network.switches.values():
        if switch.kind == "hpcswitch":
            continue
        ends = {port.uid for port in (*switch.ports, *switch.channels.values())}
        for other in {network.names[end] for end in ends if end in network.names} - {switch.uid}:
            rate = switch.rate_towards(network.names_of(other))
            if rate is None or network.switches[other].kind == "hpcswitch":
                continue
            # The end that was looked at before, if it tells a rate.
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
    network: SiteNetwork, switch: str, other: str, rate: float, remarks: Remarks
) -> None:
    """Say where the two ends of a cable, or a channel and its ports, disagree."""
    ends = ((switch, other), (other, switch))
    for here, there in ends:
        for message in network.switches[here].odd_channels(network.names_of(there)):
            remarks.contradiction(network.switches[here].place, message)
    told = {
        here: network.switches[here].rate_towards(network.names_of(there)) for here, there in ends
    }
    if all(told.values()) and len(set(told.values())) > 1:
        remarks.contradiction(
            network.switches[switch].place,
            f"the cable between {switch} and {other} has "
            + " and ".join(f"{rate_text(each or 0)} at {here}" for here, each in told.items())
            + f"; {rate_text(rate)} is kept",
        )
