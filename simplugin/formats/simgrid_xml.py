"""XML documents as SimGrid 4.1 reads them: encoding, DOCTYPE and version."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from simplugin.errors import FileError
from simplugin.inputs import xml_tree
from simplugin.inputs.files import read_bytes
from simplugin.inputs.xml_tree import Node

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
