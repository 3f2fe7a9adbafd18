"""The ways between sites of Grid'5000 over its backbone."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.platforms.links import SPLITDUPLEX, Link, LinkUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simplugin.platforms.grid5000 import BackboneLink
    from simplugin.platforms.grid5000_latencies import Latencies


@dataclass(frozen=True, slots=True)
class Crossing:
    """A link of the backbone in one direction.

    Attributes
    ----------
    towards : str
        The point of presence or site at its end.
    latency : float
        Of the link [s].
    use : LinkUse
        The link as a route names it.
    """

    towards: str
    latency: float
    use: LinkUse


class Backbone:
    """Links between sites and points of presence.

    Parameters
    ----------
    links : iterable of BackboneLink
        At most one between any two.
    latencies : Latencies
        How long data take.

    Raises
    ------
    PlatformError
        Two links have the same ends, or it is unknown where an end is.
    """

    def __init__(self, links: Iterable[BackboneLink], latencies: Latencies) -> None:
        self._links: dict[str, Link] = {}
        self._crossings: defaultdict[str, list[Crossing]] = defaultdict(list)
        joined: set[frozenset[str]] = set()
        for link in links:
            one, other = link.ends
            if one == other or frozenset(link.ends) in joined:
                raise PlatformError(
                    f"the backbone joins {one!r} and {other!r} twice, or an end with itself",
                    remedy="leave one link between two ends, of the sum of the rates",
                )
            joined.add(frozenset(link.ends))
            name = f"{one}_{other}"
            latency = latencies.of_backbone(link)
            self._links[name] = Link(name, link.rate / 8, latency, sharing_policy=SPLITDUPLEX)
            self._crossings[one].append(Crossing(other, latency, LinkUse(name, "UP")))
            self._crossings[other].append(Crossing(one, latency, LinkUse(name, "DOWN")))

    def ways(
        self, sites: Sequence[str]
    ) -> tuple[dict[tuple[str, str], tuple[LinkUse, ...]], tuple[Link, ...]]:
        """Return the ways of least latency between any two sites.

        The way back is the same. Ties go to the way whose names come first in the alphabet, as
        seen from the site that stands first.

        Parameters
        ----------
        sites : sequence of str
            Uids of sites.

        Returns
        -------
        ways : dict
            From two sites to the links from the first to the second; both directions.
        links : tuple of Link
            Those that a way passes, in the order in which the backbone has them.

        Raises
        ------
        PlatformError
            There is no way between two sites; it names them.
        """
        ways: dict[tuple[str, str], tuple[LinkUse, ...]] = {}
        for at, site in enumerate(sites):
            found = self._from(site)
            for other in sites[at + 1 :]:
                if other not in found:
                    raise PlatformError(
                        f"the backbone has no way from {site!r} to {other!r}",
                        remedy="add the missing link to the reference, or take one of the sites",
                    )
                ways[site, other] = found[other]
                ways[other, site] = tuple(map(_back, reversed(found[other])))
        used = {use.link for way in ways.values() for use in way}
        return ways, tuple(link for name, link in self._links.items() if name in used)

    def _from(self, start: str) -> Mapping[str, tuple[LinkUse, ...]]:
        """Return the way of least latency to each place (Dijkstra's algorithm)."""
        found: dict[str, tuple[LinkUse, ...]] = {}
        heap: list[tuple[float, tuple[str, ...], tuple[LinkUse, ...]]] = [(0.0, (start,), ())]
        while heap:
            latency, places, uses = heapq.heappop(heap)
            at = places[-1]
            if at in found:
                continue
            found[at] = uses
            for crossing in self._crossings[at]:
                if crossing.towards not in found:
                    further = (*places, crossing.towards)
                    total = latency + crossing.latency
                    heapq.heappush(heap, (total, further, (*uses, crossing.use)))
        return found


def _back(use: LinkUse) -> LinkUse:
    """Return a link in the other direction."""
    return LinkUse(use.link, "DOWN" if use.direction == "UP" else "UP")
