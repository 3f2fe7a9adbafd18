"""``simplugin platform show``."""

from __future__ import annotations


def show() -> None:
    """Say what SimGrid makes of a platform."""
