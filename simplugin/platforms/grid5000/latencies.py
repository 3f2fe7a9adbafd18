"""Latencies of Grid'5000, which its reference lacks: a table with the sources of each.

All are one way. They are estimates: no published round-trip times of today's backbone were found to
hold them against.

References
----------
.. [1] SimGrid 4.1, examples/platforms/griffon.xml: a cluster of Grid'5000 in Nancy.
.. [2] Cisco. Cut-Through and Store-and-Forward Ethernet Switching for Low-Latency Environments.
   White paper C11-465436.
.. [3] D. K. Panda (2018). The MVAPICH2 Project: Latest Developments and Plans Towards Exascale
   Computing. Presentation at SC '18.
.. [4] Dell HPC Engineering (2016). Dell HPC Omni-Path Fabric: Supported Architecture and
   Application Study. White paper.
.. [5] I. N. Bozkurt, W. Aqeel, D. Bhattacherjee, B. Chandrasekaran, P. B. Godfrey, G. Laughlin,
   B. M. Maggs, A. Singla (2018). Dissecting Latency in the Internet's Fiber Infrastructure.
   arXiv:1811.10737.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from simplugin.core.errors import PlatformError
from simplugin.platforms.grid5000.facts import Adapter, BackboneLink, SitePosition, require_place
from simplugin.platforms.validation import require_not_negative, require_positive

_TABLE = resources.files("simplugin.platforms.grid5000") / "latencies.toml"
_CONTENT: dict[str, dict[str, Any]] = tomllib.loads(_TABLE.read_text("utf-8"))
# From a host to the middle of the switch that it hangs from [s], by interface and rate [bit/s].
ADAPTERS: dict[str, dict[float, float]] = {
    interface: {float(rate): latency for rate, latency in rates.items()}
    for interface, rates in _CONTENT["adapters"].items()
}
# Latitude and longitude [degrees] of the towns.
CITIES: dict[str, tuple[float, float]] = {
    name: (latitude, longitude) for name, (latitude, longitude) in _CONTENT["cities"].items()
}
# Between two switches, or a switch and the router [s]. Assumption: about twice the 1.2 us in which
# a frame of 1500 bytes is stored at 10 Gbit/s. [1] has 24 us between its cabinets.
SWITCH = 2e-6
# Of each backbone link, whatever its length [s]. Assumption: forwarding, and the city's own fibres.
ROUTER = 50e-6
# Length of a fibre over the distance of its ends. Assumption, between the 1.3 of the shortest ways
# along existing fibres and the 2.1 that the Internet comes to, both in the United States [5].
DETOUR = 1.5
FIBRE_SPEED = 299_792_458.0 * 2 / 3  # [m/s], refractive index 1.5
EARTH_RADIUS = 6_371_009.0  # [m], mean radius of the WGS 84 ellipsoid
_PREFIX = "renater-"


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies of each part of the network.

    Attributes
    ----------
    adapters : mapping of str to mapping of float to float
        From a host to the switch that it hangs from [s], by interface and rate [bit/s]. An
        interface that is given replaces all rates of that interface; the others stay as they are
        in `ADAPTERS`.
    switch : float
        Between two switches, or a switch and the site's router [s].
    router : float
        Of each backbone link, in addition to the fibre [s].
    detour : float
        Length of a fibre over the distance of its ends, at least 1.
    links : mapping of (str, str) to float
        Of the backbone links whose latency is known [s], by their ends in any order; nothing is
        computed for them.
    cities : mapping of str to (float, float)
        Latitude and longitude of points of presence and sites [degrees], beside those in `CITIES`
        or in their stead.

    Raises
    ------
    PlatformError
        A number is out of its range; the message names it.
    """

    adapters: Mapping[str, Mapping[float, float]] = field(default_factory=dict, hash=False)
    switch: float = SWITCH
    router: float = ROUTER
    detour: float = DETOUR
    links: Mapping[tuple[str, str], float] = field(default_factory=dict, hash=False)
    cities: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Fill in missing fields, and check all."""
        given = {**ADAPTERS, **self.adapters}
        adapters = {name: dict(sorted(rates.items())) for name, rates in given.items()}
        links = {_ends(ends): value for ends, value in self.links.items()}
        object.__setattr__(self, "adapters", adapters)
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "cities", {**CITIES, **self.cities})
        for name, rates in adapters.items():
            if not rates:
                raise PlatformError(
                    f"the table has no latency of {name} adapters", remedy="give one for a rate"
                )
            for rate, value in rates.items():
                require_positive(f"a rate of {name} adapters", rate, "bit/s")
                require_not_negative(f"the latency of {name} adapters", value, "s")
        require_not_negative("the latency of a switch", self.switch, "s")
        require_not_negative("the latency of a router", self.router, "s")
        for pair, value in links.items():
            require_not_negative(f"the latency of the link {' - '.join(pair)}", value, "s")
        if not 1 <= self.detour < math.inf:
            raise PlatformError(
                f"the detour of fibres is {self.detour!r}", remedy="give a finite number from 1"
            )
        for name, (latitude, longitude) in self.cities.items():
            require_place(name, latitude, longitude)

    def with_places(self, places: Iterable[SitePosition]) -> Latencies:
        """Return the table with further cities.

        Parameters
        ----------
        places : iterable of SitePosition
            Where sites and points of presence are. Those of which the table knows it stay there,
            also where it knows their town only.
        """
        further = {each.name: (each.latitude, each.longitude) for each in places}
        unknown = {name: at for name, at in further.items() if self._known_place(name) is None}
        return replace(self, cities={**unknown, **self.cities}) if unknown else self

    def of_adapter(self, adapter: Adapter) -> float:
        """Return the latency between a host and the switch that it hangs from [s].

        That of the highest rate in the table that is not above the adapter's; of the lowest rate
        if all are.

        Raises
        ------
        PlatformError
            The table lacks the interface.
        """
        rates = self.adapters.get(adapter.interface)
        if rates is None:
            raise PlatformError(
                f"the table has no latency of {adapter.interface} adapters",
                remedy=f"add a table adapters.{adapter.interface}",
            )
        return rates[max((rate for rate in rates if rate <= adapter.rate), default=min(rates))]

    def of_backbone(self, link: BackboneLink) -> float:
        """Return the latency of a backbone link [s].

        Raises
        ------
        PlatformError
            It is unknown where an end of the link is.
        """
        known = self.links.get(_ends(link.ends))
        if known is not None:
            return known
        places = []
        for end in link.ends:
            place = self._known_place(end)
            if place is None:
                raise PlatformError(
                    f"it is unknown where {end!r} is, an end of the link {' - '.join(link.ends)}",
                    remedy=f"add {town(end)!r} to the cities, or the link to the links",
                )
            places.append(place)
        # In whole microseconds, as files have them: places are known to 1 km, 8 us of fibre, and
        # the last bits of a sine depend on the CPU.
        seconds = distance(*places) * self.detour / FIBRE_SPEED + self.router
        return round(1e3 * seconds, 3) * 1e-3

    def _known_place(self, name: str) -> tuple[float, float] | None:
        """Return where a site or point of presence is, None if unknown."""
        return self.cities.get(name, self.cities.get(town(name)))


def town(name: str) -> str:
    """Return the name of a site or point of presence in the table of cities."""
    return name.removeprefix(_PREFIX)


def distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the length of the great circle between two places [m].

    Parameters
    ----------
    one, other : (float, float)
        Latitude and longitude [degrees].
    """
    (south, west), (north, east) = (tuple(map(math.radians, place)) for place in (one, other))
    # The haversine formula, exact also for places close to each other.
    half = (
        math.sin((north - south) / 2) ** 2
        + math.cos(south) * math.cos(north) * math.sin((east - west) / 2) ** 2
    )
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, half)))


def _ends(pair: tuple[str, str]) -> tuple[str, str]:
    """Return the ends of a link in one order."""
    one, other = sorted(pair)
    return one, other
