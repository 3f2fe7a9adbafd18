"""``simplugin platform availability``."""

from __future__ import annotations


def availability() -> None:
    """Let hosts and links of a platform fail and come back."""
