"""Platform and deployment files as SimGrid 4.1 reads them, into data classes."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simplugin.errors import DeploymentError, FileError, PlatformError, UnitError
from simplugin.formats.elements import ELEMENTS, TEXT, Element
from simplugin.formats.vocabulary import (
    ORDER,
    attribute_problems,
    named,
    odd_quantities,
    order_problem,
    standard_tag,
)
from simplugin.inputs import xml_tree
from simplugin.inputs.files import read_bytes
from simplugin.inputs.xml_tree import Node
from simplugin.platforms.deployment import DeployedActor
from simplugin.platforms.links import BypassRoute, BypassZoneRoute, Route, ZoneRoute
from simplugin.platforms.platform import Config, Opaque, Platform, Zone
from simplugin.platforms.validation import copier

DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'

# The only two system identifiers that SimGrid's own parser lets pass.
_SYSTEM = (
    rb"(?:https://simgrid\.org/simgrid\.dtd|http://simgrid\.gforge\.inria\.fr/simgrid/simgrid\.dtd)"
)
_SIMGRID_DOCTYPE = re.compile(
    rb"<!DOCTYPE\s+platform\s+SYSTEM\s+(?:\"" + _SYSTEM + rb"\"|'" + _SYSTEM + rb"')\s*>"
)
_PROLOG = re.compile(rb"(?:\s+|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
# SimGrid's script renames, but adds no units; its converter of units is for Python 2.
_UPGRADE = (
    'write version="4.1" and <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">, rename '
    'the attribute power to speed and kind="POWER" to kind="SPEED", and add units to '
    "numbers (1e9f, 1e6Bps, 1e-3s); before version 3, also put everything but actors into one "
    '<zone id="world" routing="Full"> and write symmetrical="NO" in routes. Of this, '
    "tools/simgrid_update_xml.pl in SimGrid's source distribution (simgrid-4.1.tar.gz on PyPI) "
    "does all but the units"
)


@dataclass(frozen=True, slots=True)
class SimGridDocument:
    """A document of version 4 or 4.1.

    Attributes
    ----------
    root : Node
        The element ``<platform>``.
    doctype_error : FileError or None
        What SimGrid's parser would refuse in the DOCTYPE; the content is readable all the same.
    """

    root: Node
    doctype_error: FileError | None


@contextmanager
def collections_postponed() -> Iterator[None]:
    """Let no garbage be searched for while a file becomes millions of objects that all stay."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def read_document(path: str | os.PathLike[str], kind: type[FileError]) -> SimGridDocument:
    """Read a platform or deployment file.

    Parameters
    ----------
    path : path
        The file.
    kind : type of FileError
        Of all errors.

    Raises
    ------
    FileError
        Of the given kind: without a line if the file cannot be read or is no text; with the line
        if it is not well-formed, declares entities, nests too deeply, or if its root element or
        its version is none that SimGrid 4.1 reads.
    """
    data = read_bytes(path, kind, "give the path of a platform or deployment file")
    if b"\0" in data:
        raise kind("this is no UTF-8 text", file=path, remedy="save the file as XML in UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        message = "the file begins with a byte order mark, which SimGrid does not take"
        raise kind(message, file=path, line=1, remedy="save it as UTF-8 without BOM")
    text, doctype_error = _without_doctype(data, path, kind)
    root = xml_tree.parse(text, path, kind, "platform", simgrid=True)
    problem = _version_problem(root)
    if problem is not None:
        raise kind(problem[0], file=path, line=root.line, remedy=problem[1])
    return SimGridDocument(root, doctype_error)


def _without_doctype(
    data: bytes, file: str | os.PathLike[str], kind: type[FileError]
) -> tuple[bytes, FileError | None]:
    """Check the DOCTYPE and blank it, so that no reference can use an external subset."""
    match = _PROLOG.match(data)
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


def _version_problem(root: Node) -> tuple[str, str] | None:
    """Return the message and remedy for another root element or version than SimGrid 4.1 reads."""
    if root.tag in {"platform_description", "PLATFORM_DESCRIPTION"}:
        text, version = "before 2", 0
    elif root.tag != "platform":
        remedy = 'a platform or deployment file has <platform version="4.1"> as its root'
        return f"the root element is <{root.tag}>", remedy
    else:
        text = root.attributes.get("version", "0.0")
        try:
            version = round(100 * float(text))
        except (ValueError, OverflowError):
            return f"the version is {text!r}", 'write version="4.1"'
    if version < 400:
        return f"this is a file of version {text}, which SimGrid 4.1 no longer reads", _UPGRADE
    if version > 410:
        return (
            f"this is a file of version {text}, and SimGrid 4.1 reads none above 4.1",
            'write version="4.1" if it uses nothing newer, or use a later SimGrid',
        )
    return None


_ROUTES = (Route, ZoneRoute, BypassRoute, BypassZoneRoute)


class PlatformReader:
    """Builds the parts of a platform, and keeps the place of each.

    Parameters
    ----------
    file : path
        Named in errors.
    report : callable, optional
        Given each error, upon which reading goes on without the element; without it, the first
        error is raised.

    Attributes
    ----------
    lines : dict of int to int
        Line of each part built, by the `id` of the part.
    broken : list of Node
        Elements that could not be built.
    odd : list of (int, str, str)
        Line, message and remedy for each quantity without a unit, or beyond all hardware.
    replaced : list of (int, str)
        Line and name of each ``availability_file`` beside a ``speed_file``, which SimGrid loads
        although nothing follows it.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        report: Callable[[FileError], None] | None = None,
    ) -> None:
        self._file = file
        self._report = report
        self.lines: dict[int, int] = {}
        self.broken: list[Node] = []
        self.odd: list[tuple[int, str, str]] = []
        self.replaced: list[tuple[int, str]] = []
        # By what elements have in common but for names and links: a part, then what copies it.
        self._models: dict[tuple[Any, ...], Any] = {}

    def platform(self, root: Node) -> Platform:
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

    def _children(self, parent: Node) -> list[Any]:
        """Build what is in an element, but its properties."""
        parts = []
        order, before = ORDER.get(parent.tag, {}), ""
        for child in parent.children:
            after = order.get(before, {}).get(child.tag)
            if after is not None:
                before = after
            elif (problem := order_problem(parent, child, before)) is not None:
                self.broken.append(child)
                self._fail(child, problem)
                continue
            part = self._part(child)
            if part is not None:
                self.lines[id(part)] = child.line
                parts.append(part)
        return parts

    def _part(self, node: Node) -> Any:
        """Build an element, if possible from an earlier one that differs in names and links only.

        A large platform has many such elements, and values that were valid once are valid again.
        """
        element = ELEMENTS.get(node.tag)
        if element is None or not element.names or node.pieces:
            return self._build(node)
        names, given, has_links = element.names, node.attributes, bool(node.children)
        common = [key if key in names else (key, text) for key, text in given.items()]
        key = (node.tag, has_links, *common)
        model = self._models.get(key)
        if model is None:
            odd = len(self.odd)
            part = self._build(node)
            # What is said of a part is said of each that is like it.
            if part is not None and len(self.odd) == odd and not (has_links and element.properties):
                self._models[key] = part
            return part
        keys = [each for each in given if each in names]
        values: list[Any] = [given[each] for each in keys]
        if not all(values) or not "".join(values).isprintable():
            return self._build(node)
        if has_links:
            links = tuple(self._children(node))
            if not links:
                return self._build(node, links)
            values.append(links)
        if not callable(model):
            fields = [element.by_key[each].field for each in keys] + ["links"] * has_links
            model = self._models[key] = copier(model, fields)
        return model(values)

    def _build(self, node: Node, parts: tuple[Any, ...] | None = None) -> object | None:
        """Build an element, perhaps of parts; None where it cannot be, or is a property."""
        if not self._check_attributes(node):
            self.broken.append(node)
            return None
        tag = standard_tag(node.tag)
        element = ELEMENTS.get(tag)
        part: object
        try:
            if element is not None:
                values = self._values(node, element, parts)
                part = self._zone(node, values) if tag == "zone" else element.make(**values)
                return part
            return Opaque(node.tag, node.attributes) if tag == "random" else None
        except (PlatformError, DeploymentError, UnitError) as error:
            self.broken.append(node)
            self._fail(node, error)
            return None

    def _values(
        self, node: Node, element: Element, parts: tuple[Any, ...] | None
    ) -> dict[str, Any]:
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
                self.odd.append((node.line, f"{key} of {named(node)} is {said}", remedy))
            if attribute.further:
                values[attribute.further] = tuple(value[1:])
                value = value[0]
            values[attribute.field] = value
        if element.text:
            values[element.text] = node.text
        if parts is None:
            parts = tuple(self._children(node)) if node.children else ()
        if element.parts:
            values[element.parts] = parts
        if node.children and element.properties:
            values[element.properties] = self._properties(node)
        return values

    def _zone(self, node: Node, values: dict[str, Any]) -> Zone:
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

    def _check_attributes(self, node: Node) -> bool:
        """Report unknown and missing attributes; return True if there are none."""
        problems = attribute_problems(node)
        for problem in problems:
            self._fail(node, problem)
        return not problems

    def _fail(self, node: Node, error: PlatformError | DeploymentError | UnitError) -> None:
        """Report or raise an error with its place."""
        kind = DeploymentError if isinstance(error, DeploymentError) else PlatformError
        if isinstance(error, FileError):
            message, remedy = error.message, error.remedy
        else:
            message, remedy = f"{named(node)}: {error}", None
        located = kind(message, file=self._file, line=node.line, remedy=remedy)
        if self._report is None:
            raise located from None
        self._report(located)

    def _properties(self, node: Node) -> dict[str, str]:
        """Return the properties of an element; SimGrid keeps the first of equal names."""
        properties: dict[str, str] = {}
        for child in node.children:
            if child.tag == "prop" and "value" in child.attributes:
                properties.setdefault(child.attributes.get("id", ""), child.attributes["value"])
        properties.pop("", None)
        return properties
