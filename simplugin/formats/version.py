"""The version of the format that a file is written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.formats.xml_tree import MalformedError

if TYPE_CHECKING:
    import os

    from simplugin.formats.xml_tree import Document


# SimGrid's script renames, but adds no units; its converter of units is for Python 2.
_UPGRADE = (
    'write version="4.1" and <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">, rename '
    'the attribute power to speed and kind="POWER" to kind="SPEED", and add units to '
    "numbers (1e9f, 1e6Bps, 1e-3s); before version 3, also put everything but actors into one "
    '<zone id="world" routing="Full"> and write symmetrical="NO" in routes. Of this, '
    "tools/simgrid_update_xml.pl in SimGrid's source distribution (simgrid-4.1.tar.gz on PyPI) "
    "does all but the units"
)


def version_error(document: Document, file: str | os.PathLike[str]) -> MalformedError | None:
    """Say why SimGrid 4.1 would refuse the root element or the DOCTYPE.

    Parameters
    ----------
    document : Document
        The parsed file.
    file : path
        Named in the error and its remedy.

    Returns
    -------
    MalformedError or None
        Another root element than ``<platform>``, another version than 4 and 4.1, or another
        DOCTYPE than SimGrid's, in this order.
    """
    root = document.root
    if root.tag in {"platform_description", "PLATFORM_DESCRIPTION"}:
        return _old("before 2", root.line, file)
    if root.tag != "platform":
        return MalformedError(
            f"the root element is <{root.tag}>",
            file=file,
            line=root.line,
            remedy='a platform or deployment file has <platform version="4.1"> as its root',
        )
    text = root.attributes.get("version", "0.0")
    try:
        version = round(100 * float(text))
    except (ValueError, OverflowError):
        return MalformedError(
            f"the version is {text!r}", file=file, line=root.line, remedy='write version="4.1"'
        )
    if version < 400:
        return _old(text, root.line, file)
    if version > 410:
        return MalformedError(
            f"this is a file of version {text}, and SimGrid 4.1 reads none above 4.1",
            file=file,
            line=root.line,
            remedy='write version="4.1" if it uses nothing newer, or use a later SimGrid',
        )
    return document.doctype_error


def _old(version: str, line: int, file: str | os.PathLike[str]) -> MalformedError:
    """Return the error of a file to be upgraded."""
    return MalformedError(
        f"this is a file of version {version}, which SimGrid 4.1 no longer reads",
        file=file,
        line=line,
        remedy=_UPGRADE,
    )
