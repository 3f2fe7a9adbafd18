"""Renater, the backbone that joins the sites of Grid'5000, and where the sites are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simplugin.core.errors import PlatformError
from simplugin.formats.grid5000.entries import DataWarnings, ReferenceEntry, quoted, rate_text
from simplugin.formats.grid5000.switches import ReferenceSwitch, SiteNetwork, switch_of
from simplugin.platforms.grid5000.facts import BackboneLink, SitePosition
from simplugin.platforms.grid5000.latencies import distance, town

Sites = dict[str, tuple[ReferenceEntry, SiteNetwork]]

Places = dict[str, SitePosition]
Ends = tuple[str, str]


def site_places(grid: ReferenceEntry, warnings: DataWarnings) -> Places:
    """Return where sites are.

    Parameters
    ----------
    grid : ReferenceEntry
        The reference.
    warnings : DataWarnings
        Takes positions that are none; sites without one give no warning.

    Returns
    -------
    dict
        By the uid of the site, also of sites without nodes.
    """
    places = {}
    for site in grid.parts["sites"]:
        position = [site.content.get(key) for key in ("latitude", "longitude")]
        if position == [None, None]:
            continue
        numbers = [
            float(each)
            for each in position
            if isinstance(each, int | float) and not isinstance(each, bool) and abs(each) <= 180
        ]
        try:
            latitude, longitude = numbers
            places[site.uid] = SitePosition(site.uid, latitude, longitude)
        except (ValueError, PlatformError):
            message = f"its position is {', '.join(map(quoted, position))}, no degrees"
            warnings.on(site.place, "site", site.uid).left_out(message)
    return places


def all_places(sites: Places, links: Iterable[BackboneLink]) -> tuple[SitePosition, ...]:
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
    tuple of SitePosition
        In the order of names.
    """
    places = dict(sites)
    for link in links:
        site, point = link.ends
        if not link.assumed and site in sites and town(point) not in sites:
            here = sites[site]
            places.setdefault(point, SitePosition(point, here.latitude, here.longitude))
    return tuple(places[name] for name in sorted(places))


# The rate where none is known. An assumption: that of every link which the reference of 2026 has.
ASSUMED_RATE = 10e9
HUB = "renater-paris"


def backbone(
    grid: ReferenceEntry, sites: Sites, places: Places, warnings: DataWarnings
) -> tuple[BackboneLink, ...]:
    """Return the links between points of presence, and from these to sites.

    A link has the lower of the rates that its two ends give, and exists if only one end gives it;
    both give a warning. A site to which no point of presence leads is joined to the nearest one by
    the way of the crow (a point of presence is at the site that it leads to), to
    `HUB` or the first where positions are missing; the rate is the one of the router's port to
    Renater, else `ASSUMED_RATE`. Points of presence that are not joined to the others are joined
    to `HUB` at `ASSUMED_RATE`.

    Parameters
    ----------
    grid : ReferenceEntry
        The reference.
    sites : dict
        The sites with nodes, each with its equipment.
    places : dict
        Where sites are.
    warnings : DataWarnings
        Takes contradictions and assumptions.

    Returns
    -------
    tuple of BackboneLink
        In the order of their ends; of a site and a point of presence, the site comes first.
    """
    pops = {
        entry.uid: switch_of(entry, warnings.on(entry.place, "point", entry.uid))
        for entry in grid.parts["network_equipments"]
        if entry.uid not in sites
    }
    between, to_sites = _given_rates(grid, pops, sites, warnings)
    links = []
    for ends, rates in sorted(between.items()):
        for uid, other in (ends, ends[::-1]):
            if uid not in rates:
                message = f"it does not list {other}, which lists {uid}; the link is kept"
                warnings.on(pops[uid].place, "link", *ends).contradiction(message)
        about = warnings.on(pops[ends[0]].place, "link", *ends)
        links.append(BackboneLink(ends, _rate(ends, rates, about)))
    hub = HUB if HUB in pops or not pops else min(pops)
    # A single site needs no backbone, and gets none that the reference has not.
    alone = not pops and len(sites) < 2
    for uid, (entry, network) in sites.items():
        for pop, rate in sorted(to_sites.get(uid, {}).items()):
            ends = (uid, pop)
            rates = {pop: rate}
            own = router_rate(network, pop)
            if own is None:
                place = network.switches[network.router].place
                message = f"no port leads to {pop}, which lists the site; the link is kept"
                warnings.on(place, "link", *ends).contradiction(message)
            else:
                rates[f"the router of {uid}"] = own
            about = warnings.on(pops[pop].place, "link", *ends)
            links.append(BackboneLink(ends, _rate(ends, rates, about)))
        if uid in to_sites or alone:
            continue
        nearest = _nearest(uid, places, to_sites)
        why = "the nearest one" if nearest else "since positions are missing"
        if not pops:
            why = "since none is described"
        ends = (uid, nearest or hub)
        port_rate = router_rate(network)
        source = "as its router's port to Renater has" if port_rate else "which is assumed too"
        rate = port_rate or ASSUMED_RATE
        message = f"no point of presence leads to {uid}; {ends[1]} is taken, {why}, at "
        warnings.on(entry.place, "link", *ends).assumed(f"{message}{rate_text(rate)}, {source}")
        links.append(BackboneLink(ends, rate, assumed=True))
    links += _joined(pops, links, hub, warnings)
    return tuple(sorted(links, key=lambda link: link.ends))


def _given_rates(
    grid: ReferenceEntry, pops: dict[str, ReferenceSwitch], sites: Sites, warnings: DataWarnings
) -> tuple[dict[Ends, dict[str, float]], dict[str, dict[str, float]]]:
    """Return what each point of presence says of the way to others, and to sites [bit/s]."""
    between: dict[Ends, dict[str, float]] = {}
    to_sites: dict[str, dict[str, float]] = {}
    described = {site.uid for site in grid.parts["sites"]}
    # Aliases such as gw-lyon; the uid itself, gw, is the same at every site.
    routers = {
        name: uid
        for uid, (_, network) in sites.items()
        for name in network.names_of(network.router)
        if name != network.router
    }
    for pop in pops.values():
        for port in pop.ports:
            site = port.site or routers.get(port.uid, "")
            if site in sites:
                rates = to_sites.setdefault(site, {})
                rates[pop.uid] = rates.get(pop.uid, 0.0) + (port.rate or 0.0)
            elif port.uid in pops and port.uid != pop.uid:
                low, high = sorted((pop.uid, port.uid))
                rates = between.setdefault((low, high), {})
                rates[pop.uid] = rates.get(pop.uid, 0.0) + (port.rate or 0.0)
            elif site not in described:
                about = warnings.on(pop.place, "point", pop.uid)
                about.left_out(f"it leads to {site or port.uid!r}, which is unknown")
    return between, to_sites


def router_rate(network: SiteNetwork, pop: str = "") -> float | None:
    """Return the rate of the router's ports to the backbone; None if there are none [bit/s].

    Parameters
    ----------
    network : SiteNetwork
        The equipment of a site.
    pop : str, optional
        A point of presence, to count only ports that lead there.

    Returns
    -------
    float or None
        0 where ports have no rate.
    """
    router = network.switches[network.router]
    ports = (*router.ports, *router.channels.values())
    rates = [
        port.rate or 0.0
        for port in ports
        if (port.uid == pop if pop else port.kind == "backbone" or "renater" in port.uid.lower())
    ]
    return sum(rates) if rates else None


def _rate(ends: Ends, rates: dict[str, float], warnings: DataWarnings) -> float:
    """Return the lowest rate that is known."""
    known = {teller: rate for teller, rate in rates.items() if rate}
    link = " - ".join(ends)
    if not known:
        warnings.assumed(f"{link} has no rate; {rate_text(ASSUMED_RATE)} is taken")
        return ASSUMED_RATE
    rate = min(known.values())
    if len(set(known.values())) > 1:
        rates_text = " and ".join(
            f"{rate_text(each)} says {teller}" for teller, each in known.items()
        )
        warnings.contradiction(f"{link} has {rates_text}; {rate_text(rate)} is kept")
    return rate


def _nearest(site: str, places: Places, to_sites: dict[str, dict[str, float]]) -> str | None:
    """Return the nearest point of presence, each being where the site is that it leads to."""
    here = places.get(site)
    near = [
        (distance((here.latitude, here.longitude), (there.latitude, there.longitude)), pop)
        for other, pops in to_sites.items()
        if here is not None and (there := places.get(other)) is not None
        for pop in pops
    ]
    return min(near)[1] if near else None


def _joined(
    pops: dict[str, ReferenceSwitch], links: list[BackboneLink], hub: str, warnings: DataWarnings
) -> Iterator[BackboneLink]:
    """Yield a link to the hub for each set of points of presence that has no way there."""
    near: dict[str, set[str]] = {pop: set() for pop in pops}
    for link in links:
        for end, other in (link.ends, link.ends[::-1]):
            near.setdefault(end, set()).add(other)
    reached = [hub]
    for pop in sorted(pops):
        while reached:
            reached += near.pop(reached.pop(), set())
        if pop in near:
            low, high = sorted((pop, hub))
            message = f"{pop} has no way to {hub}; a link at {rate_text(ASSUMED_RATE)} is taken"
            warnings.on(pops[pop].place, "link", low, high).assumed(message)
            yield BackboneLink((low, high), ASSUMED_RATE, assumed=True)
            reached = [pop]
