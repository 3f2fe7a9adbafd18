"""Paths as the command shows them."""

from __future__ import annotations

from pathlib import Path


def short(path: Path) -> str:
    """Return a path as seen from here, if it is below."""
    resolved = path.resolve()
    here = Path.cwd()
    return str(resolved.relative_to(here) if resolved.is_relative_to(here) else resolved)
