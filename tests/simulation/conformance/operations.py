"""The table of ``docs/semantics.md``: what the back end `threads` does, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "semantics.md"
_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", re.M)
_PARTS = re.compile(r"^- refused: `(.*)`$", re.M)


def table() -> dict[str, tuple[list[str], list[str]]]:
    """Return the operations of each class that are the same, and those that are refused."""
    return {
        name: (re.findall(r"`(.*?)`", same), re.findall(r"`(.*?)`", refused))
        for name, same, refused in _ROW.findall(PAGE.read_text())
    }


def parts() -> list[str]:
    """Return what is refused of operations that are otherwise the same."""
    return _PARTS.findall(PAGE.read_text())


def state_of(operation: str) -> str:
    """Return "same" or "refused"."""
    name, _, member = operation.partition(".")
    is_refused = operation in parts() or member in table().get(name, ([], []))[1]
    return "refused" if is_refused else "same"
