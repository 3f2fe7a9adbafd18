"""Changes of capacities on a platform, and hosts that failing links cut off."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from simplugin.core.errors import PlatformError, WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.formats.profiles import read_profile
from simplugin.platforms import Cluster, Host, Link, Platform, Profile, ProfileUse
from simplugin.platforms.graphs import Graph
from simplugin.platforms.hosts import Peer
from simplugin.platforms.links import SPLITDUPLEX
from simplugin.platforms.profiles import timeline
from simplugin.simulation.resolve import resolve

if TYPE_CHECKING:
    from simplugin.workloads.shared_deployment import SharedDeployment

# A resource, and the kind of its change.
Use = tuple[str, str]
Lines = tuple[str, float]
_STATES = ("HOST_AVAIL", "LINK_AVAIL")
_VALUES = ("SPEED", "BANDWIDTH")


@dataclass(frozen=True, slots=True)
class CapacityChange:
    """Another capacity of a host or link from a date on.

    Attributes
    ----------
    date : float
        Date of the change [s].
    resource : str
        Name of the host or link.
    capacity : float
        Speed of all cores [flop/s] or bandwidth [byte/s]; 0: it fails, and comes back with the
        next change.
    on : bool, optional
        Whether it is on; by default if it has a capacity. A host of no speed still forwards.
    """

    date: float
    resource: str
    capacity: float
    on: bool | None = None

    @property
    def fails(self) -> bool:
        """True if the resource is off from then on."""
        return self.capacity <= 0 if self.on is None else not self.on


def profile_changes(
    platform: Graph | Platform | str | os.PathLike[str], sharing: SharedDeployment, until: float
) -> list[CapacityChange]:
    """Return the changes of capacities by the profiles of a platform.

    Parameters
    ----------
    platform : Graph, Platform or path
        A graph has none. Profiles of latency change no capacity.
    sharing : SharedDeployment
        Deployment with the nominal capacities, to which fractions apply.
    until : float
        End of the period considered [s]; periodic profiles are unrolled.

    Returns
    -------
    list of CapacityChange
        Effective changes by resource, then by date.

    Raises
    ------
    PlatformError
        A profile is random, changes too often, is not found, or is refused by SimGrid.
    """
    if isinstance(platform, Graph):
        return []
    described = platform if isinstance(platform, Platform) else read_platform(platform)
    by_resource: dict[str, dict[str, Lines]] = defaultdict(dict)
    for (resource, kind), lines in profiles(described).items():
        by_resource[resource][kind] = lines
    found: list[CapacityChange] = []
    for resource, given in by_resource.items():
        dated = []
        for kind, (text, period) in given.items():
            try:
                points = timeline(text, until, period)
            except PlatformError as error:
                remedy = error.remedy
                raise PlatformError(f"a profile of {resource!r}: {error}", remedy=remedy) from None
            dated += [(date, kind, value) for date, value in points]
        found += _changes(resource, sorted(dated, key=lambda point: point[0]), sharing)
    return found


def with_changes(
    platform: Platform, changes: Iterable[CapacityChange], speeds: Mapping[str, float]
) -> Platform:
    """Return a platform with profiles that make changes happen.

    Parameters
    ----------
    platform : Platform
        The platform; it may have profiles for other resources.
    changes : iterable of CapacityChange
        Of its hosts and links, in any order.
    speeds : mapping of str to float
        Of its hosts [flop/s], all cores together; SimGrid takes fractions of them.
    """
    lines: dict[Use, list[tuple[float, float]]] = {}
    for change in changes:
        name, of_host = change.resource, change.resource in speeds
        state, value = (kinds[0 if of_host else 1] for kinds in (_STATES, _VALUES))
        states, values = (lines.setdefault((name, kind), []) for kind in (state, value))
        states.append((change.date, float(not change.fails)))
        if not change.fails:
            unit = speeds[name] if of_host else 1.0
            values.append((change.date, change.capacity / unit if unit else 1.0))
    extra: list[Profile | ProfileUse] = []
    for (name, kind), points in lines.items():
        if points and not (kind in _STATES and all(on for _, on in points)):
            title = f"{kind} of {name}"
            points.sort(key=lambda point: point[0])
            extra += [Profile.of_points(title, points), ProfileUse(title, name, kind)]
    return replace(platform, elements=(*platform.elements, *extra))


def profiles(platform: Platform) -> dict[Use, Lines]:
    """Return which resources follow which lines, by resource and SimGrid's kind.

    Raises
    ------
    PlatformError
        A file is not found, or a split-duplex link has a profile of its state.
    """
    named: dict[str, Lines] = {}
    followers: set[tuple[str, str]] = set()
    split = set()
    found: dict[Use, Lines] = {}
    for part, _ in platform.walk():
        if isinstance(part, Link) and part.sharing_policy == SPLITDUPLEX:
            split.add(part.id)
        if isinstance(part, Profile):
            named[part.id] = (
                (read_profile(platform, part.file), -1.0) if part.file else (part.text, part.period)
            )
        elif isinstance(part, ProfileUse):
            # SimGrid keeps the first follower of each kind.
            if (part.profile, part.kind) not in followers and part.profile in named:
                found[part.element, part.kind] = named[part.profile]
            followers.add((part.profile, part.kind))
        # Hosts and links may name files themselves.
        files = {}
        if isinstance(part, Host | Peer):
            files = {"HOST_AVAIL": part.state_profile, "SPEED": part.speed_profile}
        elif isinstance(part, Link):
            files = {"LINK_AVAIL": part.state_profile, "BANDWIDTH": part.bandwidth_profile}
        for kind, file in files.items():
            if file:
                found[str(getattr(part, "id", "")), kind] = (read_profile(platform, file), -1.0)
    # SimGrid makes two links of a split-duplex link.
    result: dict[Use, Lines] = {}
    for (resource, kind), lines in found.items():
        if resource not in split or kind not in (*_STATES, *_VALUES):
            result[resource, kind] = lines
            continue
        if kind in _STATES:
            raise PlatformError(
                f"split-duplex link {resource!r} has a profile of its state, at whose first date"
                " SimGrid 4.1 aborts",
                remedy=f"let '{resource}_UP' and '{resource}_DOWN' follow one each",
            )
        result |= {(f"{resource}_{way}", kind): lines for way in ("UP", "DOWN")}
    return result


def _changes(
    resource: str, dated: list[tuple[float, str, float]], sharing: SharedDeployment
) -> Iterator[CapacityChange]:
    """Yield the changes of a resource for the dates, kinds and values of its profiles."""
    is_host = resource in sharing.hosts
    if is_host:
        nominal = float(sharing.speed[sharing.hosts.index(resource)])
    elif resource in sharing.links:
        nominal = float(sharing.bandwidth[sharing.links.index(resource)])
    else:
        nominal = 1.0  # No data come through it; only its failures matter.
    before = after = (nominal, True)
    dates = [date for date, _, _ in dated]
    for (date, kind, value), following in zip(dated, [*dates[1:], None], strict=True):
        if kind in _STATES:
            after = (after[0], value > 0)
        elif kind in _VALUES and (is_host or resource in sharing.links):
            after = (nominal * value if is_host else value, after[1])
        if following == date or after == before:
            continue
        before = after
        yield CapacityChange(date, resource, after[0] if after[1] else 0.0, on=after[1])


def failing_links_on_routes(
    platform: Graph | Platform | str | os.PathLike[str],
    sharing: SharedDeployment,
    failing: Collection[str],
) -> dict[tuple[int, int], frozenset[str]]:
    """Return the failing links on the routes between parents and children.

    Parameters
    ----------
    platform : Graph, Platform or path
        Where.
    sharing : SharedDeployment
        The deployment.
    failing : collection of str
        Links that fail at some time.

    Returns
    -------
    dict of (int, int) to frozenset of str
        For a parent's and a child's host, the links of the routes in both directions that may fail.
    """
    if not failing:
        return {}
    # The hosts of parents and of their children on other hosts.
    children = (sharing.parent >= 0).nonzero()[0]
    parents = sharing.host[sharing.parent[children]].tolist()
    hosts = dict.fromkeys(zip(parents, sharing.host[children].tolist(), strict=True))
    pairs = [(parent, child) for parent, child in hosts if parent != child]
    names = [(sharing.hosts[a], sharing.hosts[b]) for a, b in pairs]
    links: dict[tuple[str, str], tuple[str, ...]]
    if isinstance(platform, Graph):
        links = {(a, b): (f"{a}->{b}",) for pair in names for a, b in (pair, pair[::-1])}
    else:
        asked = dict.fromkeys(each for pair in names for each in (pair, pair[::-1]))
        routes = resolve(platform, list(asked)).routes
        links = {(route.source, route.destination): route.links for route in routes}
    found = {}
    for pair, (parent, child) in zip(pairs, names, strict=True):
        passed = {*links.get((parent, child), ()), *links.get((child, parent), ())}
        if passed.intersection(failing):
            found[pair] = frozenset(passed.intersection(failing))
    return found


class ChangeableResources(NamedTuple):
    """Names of resources, by whether they can change.

    Attributes
    ----------
    hosts, links : frozenset of str
        Those that can change.
    sealed : frozenset of str
        Links of clusters, which SimGrid lets follow no profile.
    owned : frozenset of str
        Those that follow profiles of the platform.
    """

    hosts: frozenset[str]
    links: frozenset[str]
    sealed: frozenset[str]
    owned: frozenset[str]

    def check(self, name: str) -> None:
        """Raise if a resource is missing, cannot change, or follows a profile.

        Raises
        ------
        WorkloadError
            The message names the resource.
        """
        what = f"there is a change of {name!r}, which"
        if name in self.sealed:
            raise WorkloadError(
                f"{what} is a link of a cluster, and SimGrid 4.1 changes none; write the cluster"
                " out, as write_platform(..., expand=True) does"
            )
        if name not in self.hosts and name not in self.links:
            raise WorkloadError(f"{what} is no host or link")
        if name in self.hosts and name in self.links:
            raise WorkloadError(f"{what} is a host and a link; name them apart")
        if name in self.owned:
            raise WorkloadError(f"{what} has a profile in the platform; leave out one")


def changeable(platform: Graph | Platform) -> ChangeableResources:
    """Return which resources of a platform can change."""
    none: frozenset[str] = frozenset()
    if isinstance(platform, Graph):
        return ChangeableResources(frozenset(platform.hosts), frozenset(platform.links), none, none)
    parts = [part for part, _ in platform.walk()]
    named = (part.simgrid_names for part in parts if isinstance(part, Link))
    links = frozenset(name for names in named for name in names)
    sealed = none
    if any(isinstance(part, Cluster) for part in parts):
        sealed = frozenset(link.name for link in resolve(platform).links) - links
    owned = frozenset(resource for resource, _ in profiles(platform))
    return ChangeableResources(frozenset(platform.host_names()), links, sealed, owned)
