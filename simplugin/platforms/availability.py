"""Platforms whose hosts and links fail, come back, and bear the load of others."""

from __future__ import annotations

import math
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import PlatformError
from simplugin.platforms.availability_followers import WRITTEN_OUT, Followers
from simplugin.platforms.host_choices import ALL
from simplugin.platforms.hosts import Host, Peer
from simplugin.platforms.links import Link
from simplugin.platforms.profiles import Profile, ProfileUse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from simplugin.platforms.availability_processes import Levels, Process
    from simplugin.platforms.platform import Platform

# What stands for the kind in the name of a profile.
_WORDS = {
    "HOST_AVAIL": "state",
    "SPEED": "speed",
    "LINK_AVAIL": "link_state",
    "BANDWIDTH": "bandwidth",
    "LATENCY": "latency",
}


def with_availability(
    platform: Platform,
    until: float,
    seed: int,
    *,
    hosts: str | Iterable[str] = ALL,
    states: Process | None = None,
    speeds: Levels | None = None,
    links: str | Iterable[str] = ALL,
    link_states: Process | None = None,
    bandwidths: Levels | None = None,
    latencies: Levels | None = None,
    spared: str | Iterable[str] = (),
) -> Platform:
    """Let hosts and links of a platform follow profiles drawn at random.

    Each profile has a stream of random numbers of its own, from the seed, the kind and the name
    of who follows it: other hosts, links and processes change none. A split-duplex link is on
    or off as a whole; its directions have cross-traffic of their own. What never changes gets
    no profile.

    Parameters
    ----------
    platform : Platform
        Its clusters stay clusters.
    until : float
        Nothing new happens from then on [s]: what is on stays on, and levels stay.
    seed : int
        At least 0.
    hosts : str or iterable of str
        Whom `states` and `speeds` are for, as `HostChoice.chosen` takes it as text: ``"all"``, a
        number, a zone, cluster or cabinet, a host, or a pattern of names, also with a count
        (``"chti:4"``), several with commas; or such choices one by one, where the name of a host
        comes first.
    states : Outages or Churn, optional
        When hosts are on.
    speeds : Levels, optional
        What background load leaves of their speed.
    links : str or iterable of str
        Whom the following are for: links and backbones, zones for those in them, patterns of
        names, several with commas or one by one; ``"all"`` for all that can follow a profile.
        Fat pipes without latency limit nothing, and are there only because SimGrid wants a link
        on each route: they follow a profile only where their very names are given.
    link_states : Outages or Churn, optional
        When links are on.
    bandwidths : Levels, optional
        What cross-traffic leaves of their bandwidth.
    latencies : Levels, optional
        The factor by which their latency grows; those without latency are passed over.
    spared : str or iterable of str
        What is left as it is, for instance a master's host: choices of hosts and of links.

    Returns
    -------
    Platform
        The same with a `Profile` and a `ProfileUse` for each follower and kind at its end.

    Raises
    ------
    PlatformError
        A name is unknown, also where nothing is for hosts or links; or it is of a link that
        SimGrid 4.1 lets follow no profile (those of clusters, cabinets and peers, and Wi-Fi);
        hosts or links are chosen, and nothing is for them; one has a profile of the kind
        already; nobody is left to follow; `until` or the seed is out of range; a profile gets
        too long.
    """
    if not 0 < until < math.inf:
        raise PlatformError(f"until is {until!r} s", remedy="give a date above 0")
    if seed < 0:
        raise PlatformError(f"the seed is {seed!r}", remedy="give 0 or more")
    found = Followers.of(platform)
    left_out = found.spared(spared)
    added: list[Profile | ProfileUse] = []
    if _wanted("hosts", hosts, found.hosts, {"states": states, "speeds": speeds}):
        chosen = _chosen(found.hosts(hosts), left_out, "host")
        for kind, process in (("HOST_AVAIL", states), ("SPEED", speeds)):
            plan = ((name, name, 1.0) for name in chosen)
            added += _profiles(plan, kind, process, until, seed)
    for_links = {"link_states": link_states, "bandwidths": bandwidths, "latencies": latencies}
    if _wanted("links", links, found.links, for_links):
        chosen = _chosen(found.links(links), left_out, "link")
        for kind, process in zip(
            ("LINK_AVAIL", "BANDWIDTH", "LATENCY"), for_links.values(), strict=True
        ):
            added += _profiles(found.plan(chosen, kind), kind, process, until, seed)
    _require_new(platform, added)
    return replace(platform, elements=(*platform.elements, *added))


def stream(seed: int, kind: str, name: str) -> np.random.Generator:
    """Return the random numbers of one profile.

    Parameters
    ----------
    seed : int
        Of all.
    kind : str
        ``HOST_AVAIL``, ``SPEED``, ``LINK_AVAIL``, ``BANDWIDTH`` or ``LATENCY``.
    name : str
        Of the host or link.
    """
    digest = sha256(f"{kind} {name}".encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def _wanted(
    what: str,
    names: str | Iterable[str],
    find: Callable[[str | Iterable[str]], object],
    processes: Mapping[str, Process | None],
) -> bool:
    """Whether something is for hosts or for links; refuse names where nothing is."""
    if any(process is not None for process in processes.values()):
        return True
    if names != ALL:
        find(names)
        remedy = f"leave {what} out, or give {' or '.join(processes)}"
        raise PlatformError(f"{what} are chosen, but nothing is for {what}", remedy=remedy)
    return False


def _chosen(found: dict[str, None], spared: set[tuple[str, str]], kind: str) -> list[str]:
    """Return who is to follow a process."""
    chosen = [name for name in found if (kind, name) not in spared]
    if not chosen:
        remedy = "name hosts"
        if kind == "link":
            remedy = (
                "name links (fat pipes without latency, which limit nothing, follow by name only);"
                f" for those of clusters, {WRITTEN_OUT}"
            )
        raise PlatformError(f"there is no {kind} that could follow a profile", remedy=remedy)
    return chosen


def _profiles(
    plan: Iterable[tuple[str, str, float]],
    kind: str,
    process: Process | None,
    until: float,
    seed: int,
) -> Iterator[Profile | ProfileUse]:
    """Yield the profiles of some followers; none without a process."""
    if process is None:
        return
    for source, name, nominal in plan:
        try:
            points = process.points(stream(seed, kind, source), until)
        except PlatformError as error:
            message = f"{_WORDS[kind]} of {name!r}: {error.message}"
            raise PlatformError(message, remedy=error.remedy) from None
        if points:
            title = f"{name}.{_WORDS[kind]}"
            scaled = [(date, value * nominal) for date, value in points]
            yield Profile.of_points(title, scaled)
            yield ProfileUse(title, name, kind)


def _require_new(platform: Platform, added: Collection[Profile | ProfileUse]) -> None:
    """Refuse a second profile of a kind, and a second profile of a name."""
    taken: set[tuple[str, str]] = set()
    titles: set[str] = set()
    for part, _ in platform.walk():
        if isinstance(part, Profile):
            titles.add(part.id)
        taken.update(_followed(part))
    for each in added:
        if isinstance(each, ProfileUse) and (each.element, each.kind) in taken:
            message = f"{each.element!r} follows a profile of its {_WORDS[each.kind]} already"
            raise PlatformError(message, remedy="spare it, or take the other profile away")
    for each in added:
        if isinstance(each, Profile) and each.id in titles:
            message = f"the platform has a profile {each.id!r} already"
            raise PlatformError(message, remedy="give that one another id")


def _followed(part: object) -> Iterator[tuple[str, str]]:
    """Yield who follows a profile of which kind, as an element says it."""
    if isinstance(part, ProfileUse):
        yield part.element, part.kind
        return
    given: dict[str, str] = {}
    if isinstance(part, Host | Peer):
        given = {"HOST_AVAIL": part.state_profile, "SPEED": part.speed_profile}
    elif isinstance(part, Link):
        given = {
            "LINK_AVAIL": part.state_profile,
            "BANDWIDTH": part.bandwidth_profile,
            "LATENCY": part.latency_profile,
        }
    if isinstance(part, Host | Peer | Link):
        names = part.simgrid_names if isinstance(part, Link) else (part.id,)
        yield from ((name, kind) for kind, file in given.items() if file for name in names)
