"""Platforms and deployments as lines of SimGrid 4.1 XML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simplugin.formats import xml_text
from simplugin.formats.attributes import FILE, TEXT
from simplugin.formats.elements import ELEMENTS, TAGS
from simplugin.formats.expansion import expanded
from simplugin.platforms.hosts import Cluster
from simplugin.platforms.platform import Opaque, Platform, Zone
from simplugin.platforms.profiles import Profile, ProfileUse


class PlatformLines:
    """Turns parts of a platform into lines.

    Parameters
    ----------
    locate : callable
        From the name of a profile file as the platform has it to the name to write.
    expand : bool
        True if each host of a cluster is to have an element of its own.
    """

    def __init__(self, locate: Callable[[str], str] = str, *, expand: bool = False) -> None:
        self._locate = locate
        self._expand = expand

    def platform(self, platform: Platform) -> list[str]:
        """Return the lines of the root element."""
        lines = ['<platform version="4.1">']
        for part in (*platform.config, *platform.elements, *platform.actors):
            lines += self._lines(part, "  ")
        return [*lines, "</platform>"]

    def _lines(self, part: Any, indent: str) -> list[str]:
        """Return the lines of a part and what is in it."""
        if isinstance(part, Opaque):
            return [indent + xml_text.empty(part.tag, part.attributes.items())]
        if self._expand and isinstance(part, Cluster):
            part = expanded(part)
        tag = TAGS[type(part)]
        element = ELEMENTS[tag]
        attributes = []
        for attribute, getter, default in element.getters:
            value = getter(part)
            if value == default or (attribute.beside and getattr(part, attribute.beside) is None):
                continue
            text = value if attribute.codec is TEXT else attribute.codec.write(value)
            if attribute.codec is FILE:
                text = self._locate(text)
            attributes.append((attribute.key, text))
        if element.text and part.text:
            # The text of a profile is written exactly as it is.
            text = xml_text.escape_content(part.text)
            return [f"{indent}{xml_text.start(tag, attributes)}>{text}</{tag}>"]
        if not element.content:
            return [indent + xml_text.empty(tag, attributes)]
        content = self._content(part, element.content, indent + "  ")
        return xml_text.block(indent, tag, attributes, content)

    def _content(self, part: Any, fields: tuple[str, ...], indent: str) -> list[str]:
        """Return the lines of what is in a part."""
        if isinstance(part, Zone):
            # SimGrid's parser takes neither zones nor links after the profiles of a zone of zones.
            profiles = [each for each in part.elements if isinstance(each, Profile | ProfileUse)]
            others = [each for each in part.elements if not isinstance(each, Profile | ProfileUse)]
            lines = xml_text.properties(indent, part.properties)
            for inner in (*others, *part.routes, *profiles):
                lines += self._lines(inner, indent)
            return lines
        lines = []
        for name in fields:
            values = getattr(part, name)
            if name in ("properties", "options"):
                lines += xml_text.properties(indent, values)
            elif name == "arguments":
                lines += [indent + xml_text.empty("argument", [("value", each)]) for each in values]
            else:
                for inner in values:
                    lines += self._lines(inner, indent)
        return lines
