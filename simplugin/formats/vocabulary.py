"""The elements and attributes that platform and deployment files are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simplugin.errors import PlatformError
from simplugin.formats.elements import ELEMENTS
from simplugin.inputs.xml_tree import Node
from simplugin.near_names import did_you_mean

# Of elements without a data class: required attributes, then the others.
_OTHERS = {
    "platform": ("", "version"),
    "random": ("id min max mean std_deviation", "seed radical generator"),
    "prop": ("id value", ""),
}
# Attributes that SimGrid reads, but that are written in another way.
_OLD_ATTRIBUTES = {"host": ["availability_file"], "peer": ["lat", "availability_file"]}
_SYNONYMS = {
    "AS": "zone",
    "ASroute": "zoneRoute",
    "bypassASroute": "bypassZoneRoute",
    "process": "actor",
}
_OLD_TAGS = {
    tag: [old for old, new in _SYNONYMS.items() if new == tag] for tag in _SYNONYMS.values()
}
_REMOVED = {
    "include": "paste the content of the other file here",
    "storage": "write a <disk> in the host",
    "storage_type": "write a <disk> in each host that has such a storage",
    "mount": "write a <disk> in the host",
    "model_prop": "remove it",
}
_UNORDERED = {
    "config": "prop",
    "host": "disk prop",
    "disk": "prop",
    "cluster": "prop",
    "link": "prop",
    "actor": "argument prop",
    **dict.fromkeys(("route", "zoneRoute", "bypassRoute", "bypassZoneRoute"), "link_ctn"),
}
# What came before in a zone: SimGrid's parser knows its kind by its first elements.
_ZONES, _HOSTS = "zones", "hosts or links"
_BETWEEN_ZONES, _BETWEEN_HOSTS = "zone routes or traces", "routes or traces"
_INNER = "zone cluster peer"
_LEAF = "host router host_link"
_LINK = "link backbone"
_TRACE = "trace trace_connect"
_ROUTE = "route bypassRoute"
_ZONE_ROUTE = "zoneRoute bypassZoneRoute"
_HARDWARE = f"{_INNER} {_TRACE} cabinet"
_FIRST = {
    "prop": "properties",
    _INNER: _ZONES,
    _LEAF: _HOSTS,
    _ZONE_ROUTE: _BETWEEN_ZONES,
    _ROUTE: _BETWEEN_HOSTS,
}
_ZONE_FIRST = _FIRST | {f"{_LINK} cabinet": _HOSTS}
_AS_FIRST = _FIRST | {f"{_LINK} {_TRACE} cabinet": _ZONES}
_THEN = {
    _ZONES: {f"{_INNER} {_LINK}": _ZONES, _ZONE_ROUTE: _BETWEEN_ZONES, _TRACE: "traces"},
    _HOSTS: {f"{_LEAF} {_LINK} {_TRACE} cabinet": _HOSTS, _ROUTE: _BETWEEN_HOSTS},
    _BETWEEN_ZONES: {_ZONE_ROUTE: _BETWEEN_ZONES, _TRACE: "traces"},
    _BETWEEN_HOSTS: {f"{_ROUTE} {_TRACE}": _BETWEEN_HOSTS},
    "traces": {_TRACE: "traces"},
}
# The content of each element as SimGrid's parser takes it: from what came before to what may
# follow, and what has then come. The DTD's content models of <zone> and <AS> are ambiguous, and the
# parser resolves the two differently.
_CONTENT = {
    "platform": {
        "": {"config random": "", _HARDWARE: _ZONES, "actor": "actors"},
        _ZONES: {_HARDWARE: _ZONES, "actor": "actors"},
        "actors": {"actor": "actors"},
    },
    "zone": {
        "": _ZONE_FIRST | {_TRACE: _BETWEEN_HOSTS},
        "properties": _ZONE_FIRST | {_TRACE: _BETWEEN_ZONES},
        **_THEN,
    },
    "AS": {
        "": _AS_FIRST,
        "properties": _AS_FIRST,
        **_THEN,
        _ZONES: _THEN[_ZONES] | {"cabinet": _ZONES},
    },
    **{tag: {"": {children: ""}} for tag, children in _UNORDERED.items()},
}
# From an element, what came before in it and a tag to what has come then.
ORDER: dict[str, dict[str, dict[str, str]]] = {
    parent: {
        before: {
            tag: after
            for tags, after in rules.items()
            for standard in tags.split()
            for tag in (standard, *_OLD_TAGS.get(standard, ()))
        }
        for before, rules in content.items()
    }
    for parent, content in _CONTENT.items()
}
for _old, _tag in _SYNONYMS.items():
    ORDER.setdefault(_old, ORDER.get(_tag, {}))
REQUIRED = {
    **{tag: frozenset(parts[0].split()) for tag, parts in _OTHERS.items()},
    **{
        tag: frozenset(each.key for each in element.attributes if each.required)
        for tag, element in ELEMENTS.items()
    },
}
ALLOWED = {
    **{tag: REQUIRED[tag] | set(parts[1].split()) for tag, parts in _OTHERS.items()},
    **{tag: {*element.by_key, *_OLD_ATTRIBUTES.get(tag, ())} for tag, element in ELEMENTS.items()},
}
# Far below and above what there is: old modems, satellites, nodes full of accelerators.
_PLAUSIBLE = {
    "f": (1e3, 1e18, "speeds are between 1kf and 1Ef"),
    "Bps": (10.0, 1e15, "bandwidths are between 10Bps and 1PBps"),
    "s": (1e-10, 10.0, "latencies are 0 or between 0.1ns and 10s"),
}
_PLAIN = re.compile(r"\s*[+]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def standard_tag(tag: str) -> str:
    """Return today's name of an element: ``zone`` for ``AS``, ``actor`` for ``process``."""
    return _SYNONYMS.get(tag, tag)


def attribute_problems(node: Node) -> list[PlatformError]:
    """Return the errors about unknown and missing attributes of an element.

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
    allowed = ALLOWED.get(tag)
    if allowed is None:
        known = ", ".join(sorted(ALLOWED))
        message = f"there is no element <{node.tag}>"
        return [PlatformError(message, remedy=f"the elements are {known}")]
    given = node.attributes.keys()
    text = tag != "trace" and bool(node.text.strip())
    if REQUIRED[tag] <= given <= allowed and not text:
        return []
    name = named(node)
    if text:
        message = f"there is text in {name}: {node.text.strip()[:40]!r}"
        return [PlatformError(message, remedy="remove it")]
    problems = [
        PlatformError(
            f"{name} has no attribute {key!r}",
            remedy='SimGrid 4.1 wants it written, e.g. latency="0s"'
            if (tag, key) == ("link", "latency")
            else f'add {key}="..."',
        )
        for key in sorted(REQUIRED[tag] - given)
    ]
    for key in sorted(given - allowed):
        known = sorted(allowed)
        remedy = f"remove it or choose among {', '.join(known) or 'no attribute at all'}"
        remedy = did_you_mean(key, known) or remedy
        problems.append(PlatformError(f"{name} has an unknown attribute {key!r}", remedy=remedy))
    return problems


def order_problem(parent: Node, child: Node, before: str) -> PlatformError | None:
    """Return what is wrong with an element after what came before in another; without a place.

    None for unknown and removed elements, which are reported as such.
    """
    if standard_tag(child.tag) not in ALLOWED:
        return None
    if any(child.tag in rules for rules in ORDER.get(parent.tag, {}).values()):
        message = f"<{child.tag}> cannot follow {before} in {named(parent)}"
        return PlatformError(message, remedy=_ORDER_REMEDY)
    message = f"<{child.tag}> is not allowed in {named(parent)}"
    return PlatformError(message, remedy="move or remove the element")


_ORDER_REMEDY = (
    "properties come first; a zone of zones begins with a zone, cluster or peer, before links and "
    "further zones, then zone routes, then traces; a zone of hosts begins with a host or link, and "
    "routes come after all of these; a platform holds configs, then zones, then actors"
)


def named(node: Node) -> str:
    """Return how a message names an element."""
    name = node.attributes.get("id") or node.attributes.get("src")
    return f"<{node.tag}>" if name is None else f"<{node.tag}> {name!r}"


def odd_quantities(text: str, value: Any, unit: str) -> Iterator[tuple[str, str]]:
    """Yield what is said of the quantities in an attribute, and the remedies.

    Parameters
    ----------
    text : str
        The attribute, quantities with commas or semicolons between.
    value : float, list of float or None
        Their values.
    unit : str
        The SI unit.
    """
    least, most, range_text = _PLAUSIBLE[unit]
    values = value if isinstance(value, list) else [value]
    if len(values) == 1 and text[-1:].isalpha() and least <= (values[0] or 0) <= most:
        return  # like nearly all
    for each, number in zip(re.split("[;,]", text), values, strict=True):
        if _PLAIN.fullmatch(each) and number:
            example = each.strip() + ("Gf" if unit == "f" and number < least else unit)
            yield f"{each!r}, without a unit", f"write the unit, e.g. {example!r}"
        elif number and number > 0 and not least <= number <= most:
            yield f"{each!r}, which no hardware has", f"check the unit: {range_text}"
