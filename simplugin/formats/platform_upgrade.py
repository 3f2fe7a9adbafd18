"""Platform and deployment files of older formats, rewritten in that of SimGrid 4.1.

The rules are those of SimGrid's own script for it and of its DTD; numbers get units.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from simplugin.core.errors import FileError, PlatformError
from simplugin.formats import xml_text
from simplugin.formats.config_options import ALIASES, OPTIONS, option_problems
from simplugin.formats.elements import ELEMENTS
from simplugin.formats.platform_reading import (
    DOCTYPE,
    PLAIN,
    SYNONYMS,
    PlatformReader,
    options_of,
    version_of,
    without_doctype,
)
from simplugin.inputs import xml_tree
from simplugin.inputs.files import FilePath, read_bytes
from simplugin.platforms.consistency import find_problems
from simplugin.platforms.validation import ERROR

_TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE[^>]*>|"
    r"<(?P<end>/?)(?P<tag>[^\s/>]+)(?P<given>(?:[^>\"']|\"[^\"]*\"|'[^']*')*?)(?P<close>\s*/?)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"(\s+)([^\s=]+)(\s*=\s*)(?:\"([^\"]*)\"|'([^']*)')")
_DECLARED = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([\w.-]+)[\"']")
_OLD_OPTIONS = {"workstation/model": "host/model", **ALIASES}
# Attributes of version 3 that have no equivalent, the values without effect, and the remedy.
_LOST = {
    ("host", "availability"): (("1", "1.0"), "multiply its speed by it"),
    ("host", "state"): (("ON",), "let it follow a <trace> of its state"),
    ("link", "state"): (("ON",), "let it follow a <trace> of its state"),
    ("cluster", "availability_file"): (("",), "write its hosts one by one"),
    ("cluster", "state_file"): (("",), "write its hosts one by one"),
    ("peer", "lat"): (("0", "0.0", "0s"), "add it [ms] to the last of its coordinates"),
}


def upgraded(path: FilePath) -> str:
    """Return a platform or deployment file in the format of SimGrid 4.1.

    Comments and layout stay, each line where it was. A file of version 4.1 is returned unchanged.

    Parameters
    ----------
    path : path
        A file of version 3 or later.

    Raises
    ------
    PlatformError, DeploymentError
        It cannot be read, or says something for which SimGrid 4.1 has no equivalent, or that it
        refuses in any version; the message has the line and a remedy.
    """
    data = read_bytes(path, PlatformError)
    body = without_doctype(data, path, PlatformError)[0]
    root = xml_tree.parse(body, path, PlatformError, "platform", simgrid=True)
    version = version_of(root)
    if version < 300:
        message = "files before version 3 are not upgraded"
        remedy = "tools/simgrid_update_xml.pl of SimGrid's source makes one of version 3"
        raise PlatformError(message, file=path, line=root.line, remedy=remedy)
    data = xml_tree.with_declaration_first(data)[0] if version < 410 else data
    declared = _DECLARED.match(data)
    text = data.decode(declared[1].decode() if declared else "utf-8")
    if version >= 410:
        return text
    try:
        return _Upgrade(path, version, SYNONYMS).checked(text)
    except FileError as error:
        # SimGrid's parser takes elements of an <AS> in more orders than those of a <zone>.
        kept = {old: new for old, new in SYNONYMS.items() if old != "AS"}
        try:
            return _Upgrade(path, version, kept).checked(text)
        except FileError:
            raise error from None


class _Upgrade:
    """Rewrites the tags of a document."""

    def __init__(self, path: FilePath, version: int, renamed: dict[str, str]) -> None:
        self._path = path
        self._version = version
        self._renamed = renamed
        self._line = 1
        self._has_doctype = self._in_config = self._drops = False

    def checked(self, text: str) -> str:
        """Return the document rewritten; raise for what SimGrid 4.1 would refuse in it."""
        parts, end = [], 0
        for token in _TOKEN.finditer(text):
            self._line += text.count("\n", end, token.start())
            parts += [text[end : token.start()], self._token(token)]
            self._line += token[0].count("\n")
            end = token.end()
        text = "".join([*parts, text[end:]])
        body = without_doctype(text.encode(), self._path, PlatformError)[0]
        root = xml_tree.parse(body, self._path, PlatformError, "platform", simgrid=True)
        reader = PlatformReader(self._path)
        found = list(option_problems(options_of(root)))
        platform = reader.platform(root)
        found += [(reader.lines.get(id(each.part), 1), each) for each in find_problems(platform)]
        for line, problem in found:
            if problem.severity == ERROR:
                raise self._error(problem.message, problem.remedy, line)
        return text

    def _error(self, message: str, remedy: str, line: int | None = None) -> PlatformError:
        """Return an error at a line, by default that of the tag."""
        return PlatformError(message, file=self._path, line=line or self._line, remedy=remedy)

    def _token(self, token: re.Match[str]) -> str:
        """Return what stands instead of a tag, a declaration or a comment."""
        text = token[0]
        if text.startswith("<?xml "):
            return "<?xml version='1.0'?>"
        if text.startswith("<!DOCTYPE"):
            self._has_doctype = True
            return DOCTYPE + "\n" * text.count("\n")
        if token["tag"] is None:
            return text
        old = token["tag"]
        tag = self._renamed.get(old, old)
        if tag == "config":
            self._in_config = not token["end"] and not token["close"].strip()
        if tag == "prop" and self._drops:
            self._drops = False
            return ""
        if token["end"]:
            return f"</{tag}{token['given']}>"
        if tag == "random" and self._version < 400:
            raise self._error("<random> was removed from SimGrid", "write the values themselves")
        given = {each[2]: each for each in _ATTRIBUTE.finditer(token["given"])}
        attributes = [self._attribute(tag, each, given) for each in given.values()]
        before = "" if tag != "platform" or self._has_doctype else DOCTYPE
        if tag == "link" and "latency" not in given:
            attributes.append(' latency="0s"')
        if self._in_config and tag == "prop" and "network/coordinates" in token["given"]:
            self._drops = not token["close"].strip()
            return "\n" * text.count("\n")
        return f"{before}<{tag}{''.join(attributes)}{token['close']}>"

    def _attribute(self, tag: str, found: re.Match[str], given: Collection[str]) -> str:
        """Return what stands instead of an attribute."""
        space, key, sign = found[1], found[2], found[3]
        value = found[4] if found[4] is not None else found[5]
        if (tag, key) in _LOST and (self._version < 400 or tag == "peer"):
            nothing, remedy = _LOST[tag, key]
            # SimGrid 4.1 reads past the latency of a peer.
            if value in nothing or self._version >= 400:
                return "\n" * found[0].count("\n")
            message = f"<{tag}> has {key}={value!r}, for which SimGrid 4.1 has no equivalent"
            raise self._error(message, remedy)
        before = value
        if self._version < 400:
            key = {"power": "speed"}.get(key, key)
            value = "SPEED" if (tag, key, value) == ("trace_connect", "kind", "POWER") else value
        if key == "availability_file" and "speed_file" not in given:
            key = "speed_file"
        elif (tag, key) == ("platform", "version"):
            value = "4.1"
        elif (key, value) == ("sharing_policy", "FULLDUPLEX"):
            value = "SPLITDUPLEX"
        elif self._in_config and key == "id":
            kebab = value.replace("_", "-")
            value = _OLD_OPTIONS.get(value, kebab if kebab in OPTIONS else value)
        elif self._in_config and (key, value) == ("value", "compound"):
            value = "default"
        attribute = ELEMENTS[tag].by_key.get(key) if tag in ELEMENTS else None
        unit = attribute.codec.unit if attribute is not None else ""
        if unit:
            value = "".join(_with_unit(each, unit) for each in re.split("([,;])", value))
        quote = '"' if found[4] is not None else "'"
        if value != before and quote in value:
            quote, value = '"', xml_text.escape(value)
        return f"{space}{key}{sign}{quote}{value}{quote}"


def _with_unit(text: str, unit: str) -> str:
    """Return a quantity with its unit, if it has none and needs one."""
    return f"{text.strip()}{unit}" if PLAIN.fullmatch(text) and float(text) else text
