"""Reproductions as jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar

from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.keys import software
from simplugin.core.errors import SimpluginError
from simplugin.papers.reproduction_runs import TARGET, chosen_statements, table
from simplugin.scenarios.substitutions import canonical_json

# The package of the paper of each capability.
CAPABILITIES = {
    "pricing": "simplugin.papers.bertin",
    "bags": "simplugin.papers.beaumont",
    "taskgraphs": "simplugin.papers.ntakpe",
    "market": "simplugin.papers.zheng",
}
ALL = "all"


@dataclass(frozen=True)
class ReproductionJobs:
    """The parts of reproductions; a `JobSource`.

    Attributes
    ----------
    names : tuple of str
        Capabilities.
    quick : bool
        True for a reduced run.
    figures : bool
        True to compute curves as well.
    """

    names: tuple[str, ...]
    quick: bool
    figures: bool
    file: str = ""
    text: str = ""
    target: ClassVar[str] = TARGET
    # Each part is stored with its arguments.
    recipe: ClassVar[None] = None

    @classmethod
    def of(cls, name: str, *, quick: bool, figures: bool) -> ReproductionJobs:
        """Return the parts of a capability, or of all.

        Raises
        ------
        SimpluginError
            There is no such capability.
        """
        if name != ALL and name not in CAPABILITIES:
            known = ", ".join([*CAPABILITIES, ALL, "jobs"])
            raise SimpluginError(f"there is nothing called {name!r} to reproduce; there is {known}")
        return cls(tuple(CAPABILITIES) if name == ALL else (name,), quick, figures)

    @property
    def title(self) -> str:
        """Title of the reproduction."""
        return f"reproduction of {', '.join(self.names)}{', quick' if self.quick else ''}"

    @property
    def identity(self) -> str:
        """SHA-256 of its parts."""
        return _digest([TARGET, *(job.arguments for job in self.jobs())])

    @property
    def total(self) -> int:
        """Number of parts."""
        return sum(1 for _ in self._parts())

    def jobs(self) -> Iterator[RunJob]:
        """Make the jobs: claims first, then figures."""
        for position, (name, kind, part) in enumerate(self._parts()):
            module = CAPABILITIES[name]
            varied = {"capability": name, "kind": kind, "part": part, "quick": self.quick}
            arguments = varied | {"module": module}
            key = _digest([*software(), TARGET, arguments])
            yield RunJob(key, position, TARGET, arguments, varied)

    def again(self, job: RunJob) -> RunJob:
        """Return the job itself: its result depends on no file."""
        return job

    def _parts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the capability, the kind and the name of each part."""
        for name in self.names:
            paper = CAPABILITIES[name]
            measured = {each.experiment for each in chosen_statements(paper, quick=self.quick)}
            parts = [part for part in table(paper, "EXPERIMENTS") if part in measured]
            yield from ((name, "EXPERIMENTS", part) for part in parts)
        for name in self.names if self.figures else ():
            yield from ((name, "FIGURES", part) for part in table(CAPABILITIES[name], "FIGURES"))


def _digest(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    return sha256(canonical_json(value).encode()).hexdigest()
