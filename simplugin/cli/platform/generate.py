"""``simplugin platform generate``."""

from __future__ import annotations


def generate() -> None:
    """Generate a platform."""
