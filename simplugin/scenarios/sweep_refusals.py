"""Sweeps that make no sense, whatever the scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simplugin.inputs.messages import Problem
from simplugin.scenarios.substitutions import IDLE, LIMITS, Path, canonical_json, dotted


class SweepError(ValueError):
    """A sweep that makes no sense.

    Parameters
    ----------
    complaint : Problem
        What is wrong; its path is one in the campaign file.
    """

    def __init__(self, complaint: Problem) -> None:
        super().__init__(complaint.message)
        self.complaint = complaint


def sweep_error(path: Path, message: str, remedy: str) -> SweepError:
    """Return an exception about a key of the campaign file."""
    return SweepError(Problem(path, message, remedy))


def refuse_idle(path: Path, source: Path, *, swept: bool) -> None:
    """Refuse to vary what changes nothing of what comes out.

    Parameters
    ----------
    path : tuple of str or int
        What is varied, as steps into the scenario.
    source : tuple of str or int
        Where that stands in the campaign file.
    swept : bool
        Whether it is for its own sake; limits may go with what else a variation sets.

    Raises
    ------
    SweepError
        No run depends on it.
    """
    written, key = dotted(source), dotted(path)
    if path[0] in IDLE:
        remedy = "remove it; one of [[variations]] may have a name to tell it by"
        raise sweep_error(source, f"{written}: no run of a campaign depends on {key}", remedy)
    if swept and path[0] == "simulation" and len(path) > 1 and path[1] in LIMITS:
        remedy = f"set it once, in [simulation], or give [campaign] a {path[1]}"
        raise sweep_error(source, f"{written}: what runs compute does not depend on it", remedy)


def refuse_equal(values: Sequence[Any], source: Path) -> None:
    """Refuse a list that has a value twice; 1 and 1.0 are two.

    Raises
    ------
    SweepError
        It has.
    """
    seen: dict[str, int] = {}
    for at, each in enumerate(values):
        before = seen.setdefault(canonical_json(each), at)
        if before != at:
            message = f"{dotted(source)} has the value {each!r} twice, as number {before} and {at}"
            raise sweep_error((*source, at), message, "remove one of the two")
