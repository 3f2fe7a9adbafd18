"""``simplugin platform grid5000`` and ``simplugin platform catalogue``."""

from __future__ import annotations


def grid5000() -> None:
    """Make a platform of Grid'5000."""


def catalogue() -> None:
    """Condense the reference of Grid'5000 to what platforms are made from."""
