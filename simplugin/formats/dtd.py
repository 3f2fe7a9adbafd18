"""SimGrid's own DTD: where the SimGrid that was built keeps it, and validating against it."""

from __future__ import annotations

import importlib.util
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree

import simplugin.formats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplugin.formats.xml_tree import Node

_NAME = "simgrid.dtd"


def find_dtd() -> Path | None:
    """Return the DTD of the SimGrid in use.

    Looked for in the installed package (a wheel carries it), then in the build that `simgrid` is
    imported from, then among the builds in the cache, the latest first.

    Returns
    -------
    Path or None
        The file; None where SimGrid was not built by this project.
    """
    return next((path for path in _candidates() if path.is_file()), None)


def _candidates() -> Iterator[Path]:
    """Yield the places at which a DTD may be."""
    for directory in simplugin.formats.__path__:
        yield Path(directory) / _NAME
    spec = importlib.util.find_spec("simgrid")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent.parent / "share" / _NAME
    base = os.environ.get("XDG_CACHE_HOME", "")
    cache = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "simplugin"
    builds = sorted(cache.glob("simgrid-*/share"), key=lambda path: path.stat().st_mtime)
    for build in reversed(builds):
        yield build / _NAME


@lru_cache(maxsize=4)
def _load(path: Path) -> etree.DTD:
    """Read the DTD."""
    with path.open("rb") as stream:
        return etree.DTD(stream)


def dtd_problems(text: bytes, root: Node, dtd: Path) -> list[tuple[int, str]]:
    """Say where a document breaks the DTD.

    Parameters
    ----------
    text : bytes
        The document, well-formed and without DOCTYPE.
    root : Node
        Its root element.
    dtd : Path
        The DTD.

    Returns
    -------
    list of (line, message)
        Line of the element concerned, and what is wrong with it.
    """
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
    )
    try:
        tree = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        return [(error.lineno or 1, f"this is not XML within bounds: {error.msg}")]
    rules = _load(dtd)
    if rules.validate(tree):
        return []
    # libxml2 gives the line on which a start tag ends; ours is the one on which it begins.
    elements = tree.iter(etree.Element)
    begins = {
        element.sourceline: node.line
        for element, node in zip(elements, _in_order(root), strict=True)
    }
    entries: list[Any] = list(rules.error_log)  # type: ignore[call-overload]  # stub lacks __iter__
    return [
        (begins.get(entry.line, entry.line), _shortened(entry.message))
        for entry in entries
        # libxml2 objects to the content model of zones itself, on no line, and goes on.
        if entry.line > 0
    ]


def _in_order(root: Node) -> Iterator[Node]:
    """Yield all elements in the order of their start tags."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def _shortened(message: str) -> str:
    """Leave out the content model, which fills a screen."""
    return re.sub(r",? expecting .*", "", message, flags=re.DOTALL)
