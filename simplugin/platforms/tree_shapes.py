"""Trees of hosts from the shape of a platform: star, zones, shortest paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import DeploymentError
from simplugin.platforms.application_trees import ApplicationTree
from simplugin.platforms.cluster import Cluster
from simplugin.platforms.host_choices import HostChoice
from simplugin.platforms.hosts import Cabinet, Host, Peer
from simplugin.platforms.neighbours import neighbours
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.shortest_paths import LATENCY, neighbour_routes, shortest_parents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from simplugin.platforms.graphs import Graph
    from simplugin.platforms.platform import PlatformElement, ZoneElement


def star_tree(
    platform: Platform, application: str, root: str, hosts: Collection[str] | None = None
) -> ApplicationTree:
    """Return the tree whose root is the parent of all other hosts.

    Parameters
    ----------
    platform : Platform
        Where.
    application : str
        Name of the application.
    root : str
        The host of the root.
    hosts : collection of str, optional
        The others; None for all of the platform.

    Returns
    -------
    ApplicationTree
        The children are in the order of the platform.

    Raises
    ------
    DeploymentError
        A host is not there.
    """
    members = _members(platform, application, root, hosts)
    parent = {host: root for host in platform.host_names() if host in members and host != root}
    return ApplicationTree(application, root, parent)


def zone_tree(
    platform: Platform, application: str, root: str, hosts: Collection[str] | None = None
) -> ApplicationTree:
    """Return the tree that follows the zones of a platform: heads of zones, then their hosts.

    Each zone and cluster has a head: the root if it is in there, else its first host. It is the
    parent of the hosts that are directly in the zone, and of the heads of the zones and clusters
    directly in it. So data enter each zone once.

    Parameters
    ----------
    platform, application, root, hosts
        As those of `star_tree`; heads are chosen among the hosts.

    Returns
    -------
    ApplicationTree
        Children are in the order of the platform.

    Raises
    ------
    DeploymentError
        A host is not there.
    """
    members = _members(platform, application, root, hosts)
    heads: dict[int, str] = {}
    for element in reversed([element for element, _ in platform.walk()]):
        _find_head(element, root, members, heads)
    parent: dict[str, str] = {}
    tops = [heads[id(top)] for top in platform.elements if id(top) in heads]
    parent |= {head: root for head in tops if head != root}
    for element, _ in platform.walk():
        if id(element) not in heads or not isinstance(element, Zone | Cluster):
            continue
        head = heads[id(element)]
        below = _directly_in(element, members, heads)
        parent |= {host: head for host in below if host != head}
    return ApplicationTree(application, root, parent)


def shortest_path_tree(
    platform: Platform | Graph,
    application: str,
    root: str,
    metric: str = LATENCY,
    hosts: Collection[str] | None = None,
) -> ApplicationTree:
    """Return the tree of shortest paths over the routes between neighbours.

    For platforms that say which hosts are neighbours: a `Graph`, or one zone of hosts and routes
    between them, as `Graph.platform` and `Tree.platform` make.

    Parameters
    ----------
    platform : Platform or Graph
        Where.
    application : str
        Name of the application.
    root : str
        Where the paths begin.
    metric : str
        ``latency``, ``hops`` or ``transfer``; see `shortest_paths.shortest_parents`, also for
        what is done about ties.
    hosts : collection of str, optional
        The hosts to be reached; those on the way to them are in the tree too. None for all.

    Returns
    -------
    ApplicationTree
        Children are ordered by their distance from the root, then by name. Hosts that no path
        leads to are not in it.

    Raises
    ------
    DeploymentError
        The root is not there, one of `hosts` cannot be reached, there is no such metric, or the
        platform does not say which hosts are neighbours.
    """
    described = platform if isinstance(platform, Platform) else None
    known = set(platform.host_names() if isinstance(platform, Platform) else platform.hosts)
    if described is not None:
        _members(described, application, root, hosts)
    elif root not in known:
        raise DeploymentError(
            f"the root {root!r} of application {application!r} is no host of the graph",
            remedy="name one of its hosts",
        )
    routes = neighbour_routes(platform)
    if routes is None:
        raise DeploymentError(
            "the platform does not say which hosts are neighbours: its zones join them all",
            remedy="choose the tree 'zones' or 'star', or give one in a file",
        )
    tree = ApplicationTree(application, root, shortest_parents(routes, root, metric))
    return tree if hosts is None else tree.pruned(hosts)


def require_routes(platform: Platform, tree: ApplicationTree) -> None:
    """Refuse a tree whose hosts are not there, or not reached by their parents.

    Only on platforms that lack routes between some hosts by intention, see `neighbours`, are
    routes looked at; elsewhere the platform is taken to join all, as `simplugin check` checks.

    Parameters
    ----------
    platform : Platform
        Where.
    tree : ApplicationTree
        Over its hosts.

    Raises
    ------
    DeploymentError
        A host is not there, or a parent has no route to a child; the message names it.
    """
    choice = HostChoice(platform)
    for host in tree.hosts:
        choice.require(f"application {tree.application!r}: host", host)
    pairs = neighbours(platform, choice.hosts)
    if pairs is None:
        return
    joined = set(pairs)
    for host, parent in tree.parent.items():
        if (parent, host) not in joined:
            raise DeploymentError(
                f"application {tree.application!r}: there is no route from {parent!r} to its child"
                f" {host!r}",
                remedy="choose a neighbour as parent, or the tree 'shortest'",
            )


def _members(
    platform: Platform, application: str, root: str, hosts: Collection[str] | None
) -> set[str]:
    """Return the hosts of a tree, which the platform must have."""
    choice = HostChoice(platform)
    choice.require(f"the root of application {application!r},", root)
    if hosts is None:
        return set(choice.hosts)
    for host in hosts:
        choice.require(f"application {application!r}: host", host)
    return {root, *hosts}


def _own_hosts(element: PlatformElement | ZoneElement) -> Iterator[str]:
    """Yield the hosts that an element is or holds without zones between."""
    if isinstance(element, Host | Peer):
        yield element.id
    elif isinstance(element, Cluster | Cabinet):
        yield from element.host_names()


def _find_head(
    element: PlatformElement | ZoneElement,
    root: str,
    members: Collection[str],
    heads: dict[int, str],
) -> None:
    """Note the head of an element, after those of all that is in it."""
    if isinstance(element, Zone):
        hosts = [heads[id(part)] for part in element.elements if id(part) in heads]
    else:
        hosts = [host for host in _own_hosts(element) if host in members]
    if hosts:
        heads[id(element)] = root if root in hosts else hosts[0]


def _directly_in(
    element: Zone | Cluster, members: Collection[str], heads: dict[int, str]
) -> Iterator[str]:
    """Yield the hosts directly in a zone and the heads of the zones directly in it."""
    if isinstance(element, Cluster):
        yield from (host for host in element.host_names() if host in members)
        return
    for part in element.elements:
        if isinstance(part, Zone | Cluster):
            if id(part) in heads:
                yield heads[id(part)]
        else:
            yield from (host for host in _own_hosts(part) if host in members)
