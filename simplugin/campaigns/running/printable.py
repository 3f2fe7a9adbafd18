"""Texts of users' programs, as they can be shown."""

from __future__ import annotations

_KEPT = "\n\t"


def printable(text: str) -> str:
    """Return a text without what would steer a terminal; escapes stand for it, as in `repr`."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in _KEPT else each.encode("unicode_escape").decode()
        for each in text
    )
