"""Where the sites and points of presence of Grid'5000 are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.formats.grid5000_remarks import quoted
from simplugin.platforms.grid5000.facts import Place
from simplugin.platforms.grid5000.latencies import town

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simplugin.formats.grid5000_entries import Entry
    from simplugin.formats.grid5000_remarks import Remarks
    from simplugin.platforms.grid5000.facts import BackboneLink

Places = dict[str, Place]


def site_places(grid: Entry, remarks: Remarks) -> Places:
    """Return where sites are.

    Parameters
    ----------
    grid : Entry
        The reference.
    remarks : Remarks
        Takes positions that are none; sites without one give no remark.

    Returns
    -------
    dict
        By the uid of the site, also of sites without nodes.
    """
    places = {}
    for site in grid.parts["sites"]:
        told = [site.content.get(key) for key in ("latitude", "longitude")]
        if told == [None, None]:
            continue
        numbers = [
            float(each)
            for each in told
            if isinstance(each, int | float) and not isinstance(each, bool) and abs(each) <= 180
        ]
        try:
            latitude, longitude = numbers
            places[site.uid] = Place(site.uid, latitude, longitude)
        except (ValueError, PlatformError):
            message = f"its position is {', '.join(map(quoted, told))}, no degrees"
            remarks.on("site", site.uid).left_out(site.place, message)
    return places


def all_places(sites: Places, links: Iterable[BackboneLink]) -> tuple[Place, ...]:
    """Return where sites and points of presence are.

    Parameters
    ----------
    sites : dict
        Where sites are.
    links : iterable of BackboneLink
        A point of presence that is not called after a site is where the first
        site is that it leads to.

    Returns
    -------
    tuple of Place
        In the order of names.
    """
    places = dict(sites)
    for link in links:
        site, point = link.ends
        if not link.assumed and site in sites and town(point) not in sites:
            here = sites[site]
            places.setdefault(point, Place(point, here.latitude, here.longitude))
    return tuple(places[name] for name in sorted(places))
