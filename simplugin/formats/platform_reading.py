"""Platform and deployment files as SimGrid 4.1 reads them, into data classes."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from simplugin.core.errors import DeploymentError, FileError, PlatformError, UnitError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.core.units import parse_bandwidth, parse_speed, parse_time
from simplugin.formats.elements import ELEMENTS, TEXT, Element
from simplugin.inputs import xml_tree
from simplugin.inputs.files import LARGEST_FILE, FilePath, opened, read_bytes
from simplugin.inputs.locations import shown
from simplugin.inputs.xml_tree import XmlElement
from simplugin.platforms.deployment import DeployedActor
from simplugin.platforms.links import BypassRoute, BypassZoneRoute, Route, ZoneRoute
from simplugin.platforms.platform import Config, Opaque, Platform, Zone
from simplugin.platforms.validation import WARNING, PlatformProblem, copies

# Of elements without a data class: required attributes, then the others.
_OTHERS = {
    "platform": ("", "version"),
    "random": ("id min max mean std_deviation", "seed radical generator"),
    "prop": ("id value", ""),
}
_HEAD = frozenset({"config", "prop", "random"})
# Attributes that SimGrid reads, but that are written in another way.
_OLD_ATTRIBUTES = {"host": ["availability_file"], "peer": ["lat", "availability_file"]}
SYNONYMS = {
    "AS": "zone",
    "ASroute": "zoneRoute",
    "bypassASroute": "bypassZoneRoute",
    "process": "actor",
}
_OLD_TAGS = {tag: [old for old, new in SYNONYMS.items() if new == tag] for tag in SYNONYMS.values()}
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
# State of the elements so far in a zone: SimGrid's parser knows its kind by its first elements.
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
# The content of each element as SimGrid's parser takes it: from the state before to the tags that
# may follow, and the state after each. The DTD's content models of <zone> and <AS> are ambiguous,
# and the parser resolves the two differently.
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
# From an element, the state before and a tag to the state after.
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
for _old, _tag in SYNONYMS.items():
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
# Far below and above all real values: old modems, satellites, nodes full of accelerators.
_PLAUSIBLE = {
    "f": (1e3, 1e18, "speeds are between 1kf and 1Ef"),
    "Bps": (10.0, 1e15, "bandwidths are between 10Bps and 1PBps"),
    "s": (1e-10, 10.0, "latencies are 0 or between 0.1ns and 10s"),
}
PLAIN = re.compile(r"\s*[+]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def standard_tag(tag: str) -> str:
    """Return today's name of an element: ``zone`` for ``AS``, ``actor`` for ``process``."""
    return SYNONYMS.get(tag, tag)


def attribute_problems(node: XmlElement) -> list[PlatformError]:
    """Return the errors about unknown and missing attributes of an element.

    Parameters
    ----------
    node : XmlElement
        The element.

    Returns
    -------
    list of PlatformError
        An unknown element, unknown attributes and missing ones; they have no place yet.
    """
    tag = standard_tag(node.tag)
    if node.tag in _REMOVED:
        message = f"<{node.tag}> was removed from SimGrid"
        return [PlatformError(message, remedy=_REMOVED[node.tag])]
    allowed = ALLOWED.get(tag)
    if allowed is None:
        message = f"there is no element <{node.tag}>"
        return [PlatformError(message, remedy=f"the elements are {', '.join(sorted(ALLOWED))}")]
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
        names = sorted(allowed)
        remedy = f"remove it or choose among {', '.join(names) or 'no attribute at all'}"
        remedy = did_you_mean(key, names) or remedy
        problems.append(PlatformError(f"{name} has an unknown attribute {key!r}", remedy=remedy))
    return problems


def order_problem(parent: XmlElement, child: XmlElement, before: str) -> PlatformError | None:
    """Return the error of an element that must not follow others in its parent, without a place.

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


def named(node: XmlElement) -> str:
    """Return how a message names an element."""
    name = node.attributes.get("id") or node.attributes.get("src")
    return f"<{node.tag}>" if name is None else f"<{node.tag}> {name!r}"


def odd_quantities(text: str, value: Any, unit: str) -> list[tuple[str, str]]:
    """Return warnings about the quantities in an attribute, and their remedies.

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
    found: list[tuple[str, str]] = []
    for each, number in zip(re.split("[;,]", text), values, strict=True):
        if PLAIN.fullmatch(each) and number:
            example = each.strip() + ("Gf" if unit == "f" and number < least else unit)
            remedy = f"write the unit, e.g. {example!r}"
            found.append((f"{each!r}, without a unit", remedy))
        elif number and number > 0 and not least <= number <= most:
            found.append((f"{each!r}, which no hardware has", f"check the unit: {range_text}"))
    return found


DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'

# The only two system identifiers that SimGrid's own parser lets pass.
_SYSTEM = (
    rb"(?:https://simgrid\.org/simgrid\.dtd|http://simgrid\.gforge\.inria\.fr/simgrid/simgrid\.dtd)"
)
_SIMGRID_DOCTYPE = re.compile(
    rb"<!DOCTYPE\s+platform\s+SYSTEM\s+(?:\"" + _SYSTEM + rb"\"|'" + _SYSTEM + rb"')\s*>"
)


def read_document(
    path: FilePath,
    kind: type[FileError],
    report: Callable[[FileError], None] | None = None,
    warn: Callable[[FileError], None] | None = None,
    *,
    head: bool = False,
) -> XmlElement:
    """Read a platform or deployment file.

    Parameters
    ----------
    path : path
        The file.
    kind : type of FileError
        Of all errors.
    report : callable, optional
        Given the error of a DOCTYPE that SimGrid's parser would refuse, upon which the content is
        read nevertheless; None to raise it.
    warn : callable, optional
        Called with each warning; by default it goes to Python's `warnings`.
    head : bool
        True to read no more than the options that precede the hardware.

    Returns
    -------
    XmlElement
        The element ``<platform>``.

    Raises
    ------
    FileError
        Of the given kind: without a line if the file cannot be read or is no text; with the line
        if it is not well-formed, declares entities, nests too deeply, or if its root element or
        its version is none that SimGrid 4.1 reads.
    """
    remedy = "give the path of a platform or deployment file"
    if head:
        with opened(path, kind, remedy) as stream:
            pieces = iter(lambda: stream.read(1 << 20), b"")
            data = b"".join(islice(pieces, LARGEST_FILE >> 20))
    else:
        data = read_bytes(path, kind, remedy)
    if b"\0" in data:
        raise kind("this is no UTF-8 text", file=path, remedy="save the file as XML in UTF-8")
    text, doctype_error = without_doctype(data, path, kind)
    first = _HEAD if head else ()
    root = xml_tree.parse(text, path, kind, "platform", simgrid=True, warn=warn, head=first)
    problem = _version_problem(root, path)
    if problem is not None:
        raise kind(problem[0], file=path, line=root.line, remedy=problem[1])
    if doctype_error is not None:
        if report is None:
            raise doctype_error
        report(doctype_error)
    return root


def options_of(root: XmlElement) -> list[tuple[int, str, str]]:
    """Return line, name and value of each option that a document sets, in its order."""
    props = [prop for each in root.children if each.tag == "config" for prop in each.children]
    given = [(each.line, each.attributes) for each in props]
    return [(line, each.get("id", ""), each.get("value", "")) for line, each in given]


def without_doctype(
    data: bytes, file: FilePath, kind: type[FileError]
) -> tuple[bytes, FileError | None]:
    """Check the DOCTYPE and blank it, so that no reference can use an external subset."""
    match = xml_tree.PROLOG.match(data)
    start = match.end() if match else 0
    line = data.count(b"\n", 0, start) + 1
    end = data.find(b">", start)
    if not data.startswith(b"<!DOCTYPE", start) or end < 0:
        message = "there is no DOCTYPE before the first element, and SimGrid asks for one"
        return data, kind(message, file=file, line=line, remedy=f"insert {DOCTYPE}")
    if data.find(b"[", start, end) >= 0:
        message = "the DOCTYPE declares entities or rules of its own, which is refused"
        raise kind(message, file=file, line=line, remedy=f"write {DOCTYPE}")
    blanked = data[:start] + re.sub(rb"[^\n]", b" ", data[start : end + 1]) + data[end + 1 :]
    if _SIMGRID_DOCTYPE.fullmatch(data, start, end + 1):
        return blanked, None
    message = "SimGrid does not take this DOCTYPE"
    return blanked, kind(message, file=file, line=line, remedy=f"write {DOCTYPE}")


_OLD_ROOTS = ("platform_description", "PLATFORM_DESCRIPTION")


def version_of(root: XmlElement) -> int:
    """Return a hundred times the version of a document; -1 if it is no number."""
    if root.tag in _OLD_ROOTS:
        return 0
    try:
        return round(100 * float(root.attributes.get("version", "0.0")))
    except (ValueError, OverflowError):
        return -1


def _version_problem(root: XmlElement, path: FilePath) -> tuple[str, str] | None:
    """Return the message and remedy for another root element or version than SimGrid 4.1 reads."""
    text = root.attributes.get("version", "before 2")
    version = version_of(root)
    if root.tag != "platform" and root.tag not in _OLD_ROOTS:
        remedy = 'a platform or deployment file has <platform version="4.1"> as its root'
        return f"the root element is <{root.tag}>", remedy
    if version < 0:
        return f"the version is {shown(text)}", 'write version="4.1"'
    if version < 400:
        message = f"this is a file of version {text}, which SimGrid 4.1 no longer reads"
        return message, f"simplugin platform upgrade {os.fspath(path)} -o NEW.xml rewrites it"
    if version > 410:
        return (
            f"this is a file of version {text}, and SimGrid 4.1 reads none above 4.1",
            'write version="4.1" if it uses nothing newer, or use a later SimGrid',
        )
    return None


_ROUTES = (Route, ZoneRoute, BypassRoute, BypassZoneRoute)
_PARSERS = {"f": parse_speed, "Bps": parse_bandwidth, "s": parse_time}


@lru_cache(maxsize=4096)
def _usual(unit: str, text: str) -> float | None:
    """Return the value of a quantity; None where there may be something to say of the text."""
    try:
        value = _PARSERS[unit](text)
    except UnitError:
        return None
    least, most, _ = _PLAUSIBLE[unit]
    return value if value == 0 or (least <= value <= most and text[-1:].isalpha()) else None


def _column(unit: str | None, texts: list[str]) -> tuple[list[Any], Iterable[Any]]:
    """Return the values of an attribute, and its share in the kind of the elements.

    The unit is None for attributes in which alike elements agree, and empty for names. The share
    is None where elements have to be checked one by one.
    """
    if unit is None:
        return texts, [text or None for text in texts]
    if unit:
        values = [_usual(unit, text) for text in texts]
        # Not every element may have a 0.
        return values, [value and 1 for value in values]
    return texts, [1 if text and text.isprintable() else None for text in texts]


class PlatformReader:
    """Builds the parts of a platform, and keeps the place of each.

    Parameters
    ----------
    file : path
        Named in errors.
    report : callable, optional
        Called with each error, and reading continues after the element; by default the first
        error is raised.

    Attributes
    ----------
    lines : dict of int to int
        Line of each part built, by the `id` of the part.
    broken : list of XmlElement
        Elements that could not be built.
    odd : list of (int, PlatformProblem)
        Line and warning for each quantity without a unit, or beyond all hardware.
    replaced : list of (int, str)
        Line and name of each ``availability_file`` of an element with a ``speed_file``, which
        SimGrid loads although nothing follows it.
    """

    def __init__(
        self,
        file: FilePath,
        report: Callable[[FileError], None] | None = None,
    ) -> None:
        self._file = file
        self._report = report
        self.lines: dict[int, int] = {}
        self.broken: list[XmlElement] = []
        self.odd: list[tuple[int, PlatformProblem]] = []
        self.replaced: list[tuple[int, str]] = []
        # By what alike elements have in common: a part; None if they are not valid.
        self._models: dict[tuple[Any, ...], Any] = {}

    def platform(self, root: XmlElement) -> Platform:
        """Build the platform of a root element, in the directory of the file."""
        directory = Path(self._file).absolute().parent
        self._check_attributes(root)
        parts = self._children(root)
        config: list[Config | Opaque] = [
            part for part in parts if isinstance(part, Config | Opaque)
        ]
        actors = [part for part in parts if isinstance(part, DeployedActor)]
        elements = [part for part in parts if not isinstance(part, Config | Opaque | DeployedActor)]
        try:
            return Platform(tuple(elements), tuple(config), tuple(actors), directory)
        except PlatformError as error:
            self._fail(root, error)
            self.broken.append(root)
            return Platform(config=tuple(config), actors=tuple(actors), directory=directory)

    def _children(self, parent: XmlElement) -> list[Any]:
        """Build the children of an element except its properties."""
        parts = []
        order, before = ORDER.get(parent.tag, {}), ""
        rules = order.get(before, {})
        for child, part in zip(parent.children, self._alike(parent.children), strict=True):
            after = rules.get(child.tag)
            if after is None:
                if (problem := order_problem(parent, child, before)) is not None:
                    self.broken.append(child)
                    self._fail(child, problem)
                    continue
            elif after != before:
                before, rules = after, order.get(after, {})
            if part is None and (part := self._build(child)) is not None:
                self.lines[id(part)] = child.line
            if part is not None:
                parts.append(part)
        return parts

    def _alike(self, nodes: Sequence[XmlElement]) -> list[Any]:
        """Return a part for each element that is valid like another, and None for the others.

        Elements are alike if they differ in names, quantities and links only. A large platform has
        many of them, which need only one check and are built column by column.
        """
        parts: list[Any] = [None] * len(nodes)
        groups: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
        for place, node in enumerate(nodes):
            groups[node.tag, not node.children, not node.pieces, *node.attributes].append(place)
        for signature, places in groups.items():
            tag, empty, blank, *keys = signature
            element = ELEMENTS.get(tag) if len(places) > 1 and blank else None
            if not (element and element.names and (empty or element.content == (element.parts,))):
                continue
            group = [nodes[place] for place in places]
            columns: dict[str, Sequence[Any]] = {}
            # What alike elements have in common; None where an element is not plain.
            common = []
            for key in keys:
                unit = element.free.get(key)
                values, kinds = _column(unit, [node.attributes[key] for node in group])
                common.append(kinds)
                if unit is not None:
                    columns[element.by_key[key].field] = values
            if not empty:
                columns[element.parts] = contents = self._contents(group)
                common.append([each and 1 for each in contents])
            members: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
            for member, kind in enumerate(zip(*common, strict=True)):
                members[kind].append(member)
            for kind, chosen in members.items():
                plain = len(chosen) > 1 and None not in kind
                model = plain and self._model((*signature, *kind), group[chosen[0]])
                if not model:
                    continue
                rows = {
                    field: [values[each] for each in chosen] for field, values in columns.items()
                }
                for each, part in zip(chosen, copies(model, rows, len(chosen)), strict=True):
                    parts[places[each]] = part
                    self.lines[id(part)] = group[each].line
        return parts

    def _contents(self, nodes: Sequence[XmlElement]) -> list[tuple[Any, ...] | None]:
        """Return the parts in each of some elements with one tag; None unless all are alike."""
        inner = [child for node in nodes for child in node.children]
        allowed = ORDER[nodes[0].tag][""]
        parts = zip(self._alike(inner), inner, strict=True)
        made = iter([part if child.tag in allowed else None for part, child in parts])
        found = [tuple(islice(made, len(node.children))) for node in nodes]
        return [each if all(each) else None for each in found]

    def _model(self, kind: tuple[Any, ...], node: XmlElement) -> Any:
        """Return the part that elements of a kind are like, made of one of them; None for none."""
        if kind not in self._models:
            trial = PlatformReader(self._file, lambda _: None)
            part = trial._build(node)
            self._models[kind] = None if trial.replaced else part
        return self._models[kind]

    def _build(self, node: XmlElement) -> object | None:
        """Build an element; None where it cannot be, or is a property."""
        if not self._check_attributes(node):
            self.broken.append(node)
            return None
        tag = standard_tag(node.tag)
        element = ELEMENTS.get(tag)
        part: object
        try:
            if element is not None:
                values = self._values(node, element)
                part = self._zone(node, values) if tag == "zone" else element.make(**values)
                return part
            return Opaque(node.tag, node.attributes) if tag == "random" else None
        except (PlatformError, DeploymentError, UnitError) as error:
            self.broken.append(node)
            self._fail(node, error)
            return None

    def _values(self, node: XmlElement, element: Element) -> dict[str, Any]:
        """Return the values of the fields of an element."""
        values: dict[str, Any] = {}
        given = node.attributes
        old = given.get("availability_file")
        if old:
            if given.get("speed_file"):
                self.replaced.append((node.line, old))
            given = {**given, "speed_file": given.get("speed_file") or old}
        for key, text in given.items():
            attribute = element.by_key.get(key)
            if attribute is None or not (text or attribute.required or not attribute.codec.empty):
                continue
            if attribute.codec is TEXT:
                values[attribute.field] = text
                continue
            try:
                value = attribute.codec.parse(text)
            except UnitError as error:
                message = f"{key} of {named(node)}: {error.message}"
                raise PlatformError(message, remedy=error.remedy) from None
            except ValueError:
                verb = "are" if key == "coordinates" else "is"
                message = f"{key} of {named(node)} {verb} {text!r}"
                raise PlatformError(message, remedy=attribute.codec.remedy) from None
            unit = attribute.codec.unit
            for said, remedy in odd_quantities(text, value, unit) if unit else ():
                message = f"{key} of {named(node)} is {said}"
                self.odd.append((node.line, PlatformProblem(message, remedy, None, WARNING)))
            if attribute.further:
                values[attribute.further] = tuple(value[1:])
                value = value[0]
            values[attribute.field] = value
        if element.text:
            values[element.text] = node.text
        parts = tuple(self._children(node)) if node.children else ()
        if element.parts:
            values[element.parts] = parts
        if node.children and element.properties:
            properties: dict[str, str] = {}
            for child in node.children:
                if child.tag == "prop" and "value" in child.attributes:
                    properties.setdefault(child.attributes.get("id", ""), child.attributes["value"])
            properties.pop("", None)
            values[element.properties] = properties
        return values

    def _zone(self, node: XmlElement, values: dict[str, Any]) -> Zone:
        """Build a zone; report an invalid name or routing, so that its parts are checked too."""
        parts = values["elements"]
        values["routes"] = tuple(part for part in parts if isinstance(part, _ROUTES))
        values["elements"] = tuple(part for part in parts if not isinstance(part, _ROUTES))
        try:
            return Zone(**values)
        except PlatformError as error:
            if self._report is None:
                raise
            self._fail(node, error)
            name = values["id"] or f"(line {node.line})"
            return Zone(**{**values, "id": name, "routing": "Full"})

    def _check_attributes(self, node: XmlElement) -> bool:
        """Report unknown and missing attributes; return True if there are none."""
        problems = attribute_problems(node)
        for problem in problems:
            self._fail(node, problem)
        return not problems

    def _fail(self, node: XmlElement, error: PlatformError | DeploymentError | UnitError) -> None:
        """Report or raise an error with its place."""
        kind = DeploymentError if isinstance(error, DeploymentError) else PlatformError
        if isinstance(error, FileError):
            if error.line is not None:  # of an element in this one
                raise error
            message, remedy = error.message, error.remedy
        else:
            message, remedy = f"{named(node)}: {error}", None
        located = kind(message, file=self._file, line=node.line, remedy=remedy)
        if self._report is None:
            raise located from None
        self._report(located)
