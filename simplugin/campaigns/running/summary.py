"""How a campaign stands after a command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simplugin.campaigns.running.failure_groups import FailureGroup


@dataclass(frozen=True)
class Summary:
    """How a campaign stands after a command.

    Attributes
    ----------
    title : str
        The campaign's.
    store : Path
        Where its records are.
    campaign : int
        Its number there.
    total : int
        Runs that it consists of, or that were asked for.
    before : int
        Runs that needed nothing: they were recorded, or are the same as another.
    done, failed : int
        Runs with an outcome, and without, also those recorded by earlier commands.
    failures : tuple of FailureGroup
        The latter, by how and why they failed.
    interrupted : bool
        Whether it was asked to stop before the end.
    seconds : float
        How long the command took [s].
    gave_up : bool
        Whether it ended before the end since the first fifty runs all failed alike.
    changed : int
        How many results were given up since a file had changed during the run.
    """

    title: str
    store: Path
    campaign: int
    total: int
    before: int
    done: int
    failed: int
    failures: tuple[FailureGroup, ...]
    interrupted: bool
    seconds: float
    gave_up: bool = False
    changed: int = 0

    @property
    def missing(self) -> int:
        """Runs that are not recorded."""
        return self.total - self.done - self.failed

    def document(self) -> dict[str, Any]:
        """Return the summary as plain containers, for JSON."""
        return {
            "title": self.title,
            "store": str(self.store),
            "campaign": self.campaign,
            "total": self.total,
            "before": self.before,
            "done": self.done,
            "failed": self.failed,
            "missing": self.missing,
            "interrupted": self.interrupted,
            "gave_up": self.gave_up,
            "changed": self.changed,
            "seconds": self.seconds,
            "failures": [group.document() for group in self.failures],
        }
