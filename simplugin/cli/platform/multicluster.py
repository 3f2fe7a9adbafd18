"""``simplugin platform multicluster``."""

from __future__ import annotations


def multicluster() -> None:
    """Make a federation of clusters from a description."""
