"""Elements of a platform file into the data classes of a platform."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simplugin.errors import DeploymentError, FileError, PlatformError, UnitError
from simplugin.formats.attributes import TEXT
from simplugin.formats.elements import ELEMENTS, Element
from simplugin.formats.vocabulary import attribute_problems, named, order_problems, standard_tag
from simplugin.inputs.xml_tree import Node
from simplugin.platforms.deployment import DeployedActor
from simplugin.platforms.links import BypassRoute, BypassZoneRoute, Route, ZoneRoute
from simplugin.platforms.platform import Config, Opaque, Platform, Zone
from simplugin.platforms.validation import copier

_ROUTES = (Route, ZoneRoute, BypassRoute, BypassZoneRoute)


@dataclass(frozen=True, slots=True)
class _Form:
    """Elements of one kind and with the same attributes.

    Attributes
    ----------
    names, others : tuple of str
        Their attributes: names, and those that tell equal elements.
    copies : dict of tuple of str to callable
        From the texts of the others to what makes a part of names.
    """

    names: tuple[str, ...]
    others: tuple[str, ...]
    copies: dict[tuple[str | None, ...], Callable[[Sequence[Any]], Any]] = field(
        default_factory=dict
    )


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
        self.replaced: list[tuple[int, str]] = []
        self._forms: dict[tuple[str | bool, ...], _Form] = {}

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
        for child, problem in order_problems(parent):
            part: Any = None
            if problem is not None:
                self.broken.append(child)
                self._fail(child, problem)
            elif (part := self._like_another(child)) is None:
                part = self._build(child)
            if part is not None:
                self.lines[id(part)] = child.line
                parts.append(part)
        return parts

    def _like_another(self, node: Node) -> Any:
        """Build a part that differs from an earlier one in names and links; None if there is none.

        A large platform has many such parts, and values that were valid once are valid again.
        """
        given = node.attributes
        form = self._forms.get((node.tag, bool(node.children), *given))
        if form is None or node.pieces:
            return None
        copy = form.copies.get(tuple(map(given.get, form.others)))
        values: list[Any] = [given[key] for key in form.names]
        if copy is None or not all(values) or not "".join(values).isprintable():
            return None
        if node.children:
            links = tuple(self._children(node))
            if not links:
                return self._build(node, links)
            values.append(links)
        return copy(values)

    def _remember(self, node: Node, element: Element, part: Any) -> None:
        """Let later elements be built like a part."""
        given = node.attributes
        names = tuple(key for key in given if key in element.names)
        others = tuple(key for key in given if key not in element.names)
        form = self._forms.setdefault((node.tag, bool(node.children), *given), _Form(names, others))
        fields = [element.by_key[key].field for key in names]
        if node.children:
            fields.append(element.parts)
        form.copies[tuple(map(given.get, others))] = copier(part, fields)

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
                if element.names and (not node.children or element.parts == "links"):
                    self._remember(node, element, part)
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
