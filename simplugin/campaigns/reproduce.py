"""Reproducing papers: the claims of each capability, measured in parallel."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from simplugin.claims import Claim
from simplugin.errors import SimpluginError
from simplugin.figures import Figure

# The module of each capability: its PARTS measure claims, its FIGURES give curves.
CAPABILITIES = {
    "pricing": "simplugin.pricing.claims",
    "bags": "simplugin.bags.claims",
    "taskgraphs": "simplugin.taskgraphs.claims",
    "market": "simplugin.market.claims",
}
ALL = "all"
_CORES = 2

# What a part or a figure is called, how many are done, and how many there are.
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Reproduction:
    """What a reproduction gave.

    Attributes
    ----------
    claims : dict of str to tuple of Claim
        For each capability, in the order of its module.
    figures : dict of str to tuple of Figure
        Likewise; empty unless asked for.
    together : bool
        Whether all capabilities were asked for, so that each claim says whose it is.
    """

    claims: Mapping[str, tuple[Claim, ...]]
    figures: Mapping[str, tuple[Figure, ...]]
    together: bool = False

    def document(self) -> dict[str, Any]:
        """Return the claims as plain containers, for JSON."""
        return {
            "claims": [
                ({"capability": name} if self.together else {}) | claim.document()
                for name, claims in self.claims.items()
                for claim in claims
            ]
        }


def reproduce(
    name: str,
    *,
    quick: bool = False,
    figures: bool = False,
    cores: int = _CORES,
    report: Report | None = None,
) -> Reproduction:
    """Measure the claims of a capability, or of all.

    Parameters
    ----------
    name : str
        A key of `CAPABILITIES`, or "all".
    quick : bool
        Whether to do less; claims that need all of it are left out.
    figures : bool
        Whether to compute the curves too.
    cores : int
        How many processes work.
    report : callable, optional
        Called with the name of each part that is done, how many are done, and of how many.

    Raises
    ------
    SimpluginError
        There is no such capability.
    """
    if name != ALL and name not in CAPABILITIES:
        known = ", ".join([*CAPABILITIES, ALL])
        raise SimpluginError(f"there is nothing called {name!r} to reproduce; there is {known}")
    names = list(CAPABILITIES) if name == ALL else [name]
    kinds = ("PARTS", "FIGURES") if figures else ("PARTS",)
    tasks = [
        _Task(each, CAPABILITIES[each], kind, part, quick)
        for kind in kinds
        for each in names
        for part in getattr(importlib.import_module(CAPABILITIES[each]), kind)
    ]
    found: dict[str, dict[str, list[Any]]] = {kind: {each: [] for each in names} for kind in kinds}
    for task, outcome in zip(tasks, _measured(tasks, cores, report), strict=True):
        found[task.kind][task.capability] += outcome
    return Reproduction(
        {each: tuple(claims) for each, claims in found["PARTS"].items()},
        {each: tuple(curves) for each, curves in found.get("FIGURES", {}).items()},
        name == ALL,
    )


@dataclass(frozen=True)
class _Task:
    """A part to be measured, or a figure's curves to be computed."""

    capability: str
    module: str
    kind: str
    part: str
    quick: bool


def _measured(tasks: Sequence[_Task], cores: int, report: Report | None) -> list[list[Any]]:
    """Return what each task gives, in their order."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped] # it has no types

    outcomes: list[list[Any]] = [[] for _ in tasks]
    jobs = (delayed(_numbered)(number, task) for number, task in enumerate(tasks))
    processes = min(cores, len(tasks))
    finished = Parallel(processes, return_as="generator_unordered", batch_size=1)(jobs)
    for count, (number, outcome) in enumerate(finished, 1):
        outcomes[number] = outcome
        if report is not None:
            report(tasks[number].part, count, len(tasks))
    return outcomes


def _numbered(number: int, task: _Task) -> tuple[int, list[Any]]:
    """Do a task in a process of its own, and say which one it was."""
    # What a solver or an actor prints must not get between the lines of the command's output.
    with redirect_stdout(sys.stderr):
        parts = getattr(importlib.import_module(task.module), task.kind)
        return number, list(parts[task.part](task.quick))
