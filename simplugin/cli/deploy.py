"""``simplugin deploy``."""

from __future__ import annotations


def deploy() -> None:
    """Say which actors start where."""
