"""Runs, and how they failed, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.campaigns.running.reporting import FailureGroup


def runs(count: int) -> str:
    """Count runs."""
    return f"{count} run" if count == 1 else f"{count} runs"


def varied_text(varied: Mapping[str, Any]) -> str:
    """Write down in one line what tells a run from the others."""
    told = ", ".join(f"{name} = {value!r}" for name, value in varied.items())
    return told or "nothing varied"


def headline(group: FailureGroup) -> str:
    """Say how many runs failed alike, and in which way; a message or an instance follows."""
    others = ", in different ways, for instance" if group.mixed else ""
    return f"{runs(group.count)} failed ({group.kind.replace('_', ' ')}){others}:"
