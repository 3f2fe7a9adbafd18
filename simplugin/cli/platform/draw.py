"""``simplugin platform draw``."""

from __future__ import annotations


def draw() -> None:
    """Draw a platform."""
