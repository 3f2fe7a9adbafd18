"""Which hosts of a platform are neighbours, where routes join some pairs of hosts only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.platforms.platform import Zone
from simplugin.platforms.routes import Route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.platforms.platform import Platform

    Pair = tuple[str, str]


def neighbours(platform: Platform, hosts: Sequence[str]) -> list[Pair] | None:
    """Return the pairs of hosts with a route of their own; None if the routing joins all.

    Only one flat zone of routing ``Full`` can lack routes between some of its hosts, as that of
    `Graph.platform` does.

    Parameters
    ----------
    platform : Platform
        Where.
    hosts : sequence of str
        All of its hosts.

    Returns
    -------
    list of (str, str), or None
        Source and destination, in the order of the routes.
    """
    zones = [element for element in platform.elements if isinstance(element, Zone)]
    if len(zones) != 1 or zones[0].routing != "Full" or zones[0].zones or zones[0].clusters:
        return None
    known = set(hosts)
    pairs: dict[Pair, None] = {}
    for route in zones[0].routes:
        ends = (route.source, route.destination)
        if not known.issuperset(ends) or ends[0] == ends[1]:
            continue
        pairs[ends] = None
        if isinstance(route, Route) and route.symmetrical:
            pairs[ends[::-1]] = None
    return None if len(pairs) == len(hosts) * (len(hosts) - 1) else list(pairs)
