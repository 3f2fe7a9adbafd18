"""The elements and attributes that platform and deployment files are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import PlatformError

if TYPE_CHECKING:
    from simplugin.formats.xml_tree import Node

# Required attributes, then the others.
_ATTRIBUTES = {
    "platform": ("", "version"),
    "config": ("", "id"),
    "random": ("id min max mean std_deviation", "seed radical generator"),
    "zone": ("id routing", ""),
    "host": ("id speed", "core speed_file availability_file state_file coordinates pstate"),
    "disk": ("read_bw write_bw", "id"),
    "host_link": ("id up down", ""),
    "cluster": (
        "id prefix suffix radical speed bw lat",
        "core sharing_policy topology topo_parameters bb_bw bb_lat bb_sharing_policy router_id "
        "limiter_link loopback_bw loopback_lat",
    ),
    "cabinet": ("id prefix suffix radical speed bw lat", ""),
    "peer": (
        "id speed bw_in bw_out",
        "lat coordinates speed_file availability_file state_file",
    ),
    "router": ("id", "coordinates"),
    "backbone": ("id bandwidth latency", ""),
    # The DTD has a default latency, but SimGrid 4.1 refuses a link that leaves it out.
    "link": (
        "id bandwidth latency",
        "bandwidth_file latency_file state_file sharing_policy",
    ),
    "route": ("src dst", "symmetrical"),
    "zoneRoute": ("src dst gw_src gw_dst", "symmetrical"),
    "bypassRoute": ("src dst", ""),
    "bypassZoneRoute": ("src dst gw_src gw_dst", ""),
    "link_ctn": ("id", "direction"),
    "trace": ("id periodicity", "file"),
    "trace_connect": ("trace element", "kind"),
    "actor": ("host function", "start_time kill_time on_failure"),
    "argument": ("value", ""),
    "prop": ("id value", ""),
}
_SYNONYMS = {
    "AS": "zone",
    "ASroute": "zoneRoute",
    "bypassASroute": "bypassZoneRoute",
    "process": "actor",
}
_REMOVED = {
    "include": "paste the content of the other file here",
    "storage": "write a <disk> in the host",
    "storage_type": "write a <disk> in each host that has such a storage",
    "mount": "write a <disk> in the host",
    "model_prop": "remove it",
}
_ROUTES = {"route", "zoneRoute", "bypassRoute", "bypassZoneRoute"}
# What makes a zone a leaf, and what makes it an inner one.
_LEAF_ONLY = {"host", "router", "host_link", "cabinet", "route", "bypassRoute"}
_INNER_ONLY = {"zone", "cluster", "peer", "zoneRoute", "bypassZoneRoute"}
_CHILDREN = {
    "platform": {"config", "random", "cluster", "cabinet", "peer", "zone", "actor"}
    | {"trace", "trace_connect"},
    "zone": {"prop", "link", "backbone", "trace", "trace_connect"} | _LEAF_ONLY | _INNER_ONLY,
    "config": {"prop"},
    "host": {"disk", "prop"},
    "disk": {"prop"},
    "cluster": {"prop"},
    "link": {"prop"},
    "actor": {"argument", "prop"},
    **{route: {"link_ctn"} for route in _ROUTES},
}
_REQUIRED = {tag: frozenset(parts[0].split()) for tag, parts in _ATTRIBUTES.items()}
_ALLOWED = {tag: _REQUIRED[tag] | set(parts[1].split()) for tag, parts in _ATTRIBUTES.items()}


def standard_tag(tag: str) -> str:
    """Return today's name of an element: ``zone`` for ``AS``, ``actor`` for ``process``."""
    return _SYNONYMS.get(tag, tag)


def attribute_problems(node: Node) -> list[PlatformError]:
    """Say what is wrong with the attributes that an element has and lacks.

    Parameters
    ----------
    node : Node
        The element.

    Returns
    -------
    list of PlatformError
        An unknown element, unknown attributes and missing ones; without a place.
    """
    tag = standard_tag(node.tag)
    if node.tag in _REMOVED:
        message = f"<{node.tag}> was removed from SimGrid"
        return [PlatformError(message, remedy=_REMOVED[node.tag])]
    allowed = _ALLOWED.get(tag)
    if allowed is None:
        known = ", ".join(sorted(_ATTRIBUTES))
        message = f"there is no element <{node.tag}>"
        return [PlatformError(message, remedy=f"the elements are {known}")]
    given = node.attributes.keys()
    if _REQUIRED[tag] <= given <= allowed and (tag == "trace" or not node.text.strip()):
        return []
    name = named(node)
    if tag != "trace" and node.text.strip():
        message = f"there is text in {name}: {node.text.strip()[:40]!r}"
        return [PlatformError(message, remedy="remove it")]
    problems = [
        PlatformError(
            f"{name} has no attribute {key!r}",
            remedy='SimGrid 4.1 wants it written, e.g. latency="0s"'
            if (tag, key) == ("link", "latency")
            else f'add {key}="..."',
        )
        for key in sorted(_REQUIRED[tag] - given)
    ]
    for key in sorted(given - allowed):
        remedy = f"remove it or choose among {', '.join(sorted(allowed)) or 'no attribute at all'}"
        problems.append(PlatformError(f"{name} has an unknown attribute {key!r}", remedy=remedy))
    return problems


def order_problem(parent: Node, child: Node, seen: set[str]) -> PlatformError | None:
    """Say why an element may not stand where it stands.

    Parameters
    ----------
    parent, child : Node
        The element and the one around it.
    seen : set of str
        What came before in `parent`; completed by this call.

    Returns
    -------
    PlatformError or None
        What is wrong, without a place.
    """
    tag, outer = standard_tag(child.tag), standard_tag(parent.tag)
    if tag not in _ATTRIBUTES:
        return None  # told as an unknown or removed element
    if tag not in _CHILDREN.get(outer, ()):
        inside = f"in {named(parent)}"
        return PlatformError(
            f"<{child.tag}> is not allowed {inside}", remedy="move or remove the element"
        )
    message = _ORDER[outer](tag, seen) if outer in _ORDER else None
    seen.add(tag)
    if message is None:
        return None
    return PlatformError(f"<{child.tag}> {message} in {named(parent)}", remedy=_ORDER_REMEDY)


_ORDER_REMEDY = (
    "a zone holds properties, then either zones, clusters and links or hosts, routers and links, "
    "then routes; a platform holds configs, then zones, then actors"
)


def _zone_order(tag: str, seen: set[str]) -> str | None:
    """Say what is wrong with an element after others in a zone."""
    if tag == "prop":
        return "comes after other elements" if seen - {"prop"} else None
    if tag not in _ROUTES | {"trace", "trace_connect"} and seen & _ROUTES:
        return "comes after a route"
    excluded = _INNER_ONLY if tag in _LEAF_ONLY else _LEAF_ONLY if tag in _INNER_ONLY else set()
    if seen & excluded:
        return f"cannot stand beside <{min(seen & excluded)}>"
    return None


def _platform_order(tag: str, seen: set[str]) -> str | None:
    """Say what is wrong with an element after others at the top."""
    if tag in {"config", "random"} and seen - {"config", "random"}:
        return "comes after other elements"
    if tag != "actor" and "actor" in seen:
        return "comes after an actor"
    return None


_ORDER = {"zone": _zone_order, "platform": _platform_order}


def named(node: Node) -> str:
    """Return how a message names an element."""
    name = node.attributes.get("id") or node.attributes.get("src")
    return f"<{node.tag}>" if name is None else f"<{node.tag}> {name!r}"
