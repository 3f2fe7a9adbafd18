"""What the tests of a session did with their recorded results."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simplugin.campaigns.regression.recorded_results import (
    DIRECTORY,
    UPDATE,
    RecordedTest,
    directory_of,
    safe_name,
)

_MOST_UNUSED = 20


@dataclass
class Ledger:
    """Gathers what tests tell, of this process and of others.

    Attributes
    ----------
    collected : dict of str to set of str
        For each file of tests the names of its tests, as recorded results have them.
    partial : set of str
        Files of which some tests were not asked for.
    passed : dict of str to set of str
        For each file the tests that passed.
    used : set of str
        Recorded results that were compared.
    updated : list of (str, list of str)
        Those that were recorded, and what moved.
    removed, unused : list of str
        Those that no test uses, deleted and not.
    """

    collected: dict[str, set[str]] = field(default_factory=dict)
    partial: set[str] = field(default_factory=set)
    passed: dict[str, set[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    updated: list[tuple[str, list[str]]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def collect(self, file: Path, name: str) -> None:
        """Take note of a test that will run."""
        self.collected.setdefault(str(file), set()).add(safe_name(name))

    def close(self, test: RecordedTest) -> None:
        """Take note of what a test did that ended."""
        self.used |= {str(path) for path in test.used}
        self.updated += test.updated

    def succeed(self, file: Path, name: str) -> None:
        """Take note of a test that passed: what it did not use, it does not need."""
        self.passed.setdefault(str(file), set()).add(safe_name(name))

    def document(self) -> dict[str, Any]:
        """Return it as plain containers, for another process."""
        return {
            "collected": {file: sorted(names) for file, names in self.collected.items()},
            "partial": sorted(self.partial),
            "passed": {file: sorted(names) for file, names in self.passed.items()},
            "used": sorted(self.used),
            "updated": [[name, lines] for name, lines in self.updated],
        }

    def add(self, document: Mapping[str, Any]) -> None:
        """Add what another process gathered."""
        for mine, name in ((self.collected, "collected"), (self.passed, "passed")):
            for file, names in document[name].items():
                mine.setdefault(file, set()).update(names)
        self.partial |= set(document["partial"])
        self.used |= set(document["used"])
        self.updated += [(name, lines) for name, lines in document["updated"]]

    def settle(self, *, remove: bool) -> None:
        """Find the recorded results that no test uses; delete them if that is wanted."""
        for path in self._orphans():
            (self.removed if remove else self.unused).append(str(path))
            if remove and path.is_dir():
                shutil.rmtree(path)
            elif remove:
                path.unlink()
                path.with_name(f"{path.name.removesuffix('.json')}.trace.csv.gz").unlink(
                    missing_ok=True
                )

    def summary(self) -> list[str]:
        """Return lines for the end of the session; none if there is nothing to be told."""
        lines = []
        for name, told in sorted(self.updated):
            lines += [f"{name}: {told[0]}", *(f"  {line}" for line in told[1:])]
        for path in sorted(self.removed):
            lines.append(f"{path}: deleted, as no test uses it")
        unused = sorted(self.unused)
        lines += [f"{path}: no test uses it" for path in unused[:_MOST_UNUSED]]
        if unused:
            more = len(unused) - _MOST_UNUSED
            lines += [f"... and {more} more"] if more > 0 else []
            lines.append(f"{len(unused)} unused; {UPDATE} deletes them")
        return lines

    def _orphans(self) -> list[Path]:
        """Return the results of tests that ran without them, or that are no more."""
        found: list[Path] = []
        places = set()
        for name, tests in self.collected.items():
            file = Path(name)
            places.add(file.parent / DIRECTORY)
            if name in self.partial:
                continue
            for path in sorted(directory_of(file).glob("*.json")):
                test = path.name.partition(".")[0]
                idle = test in self.passed.get(name, ()) and str(path) not in self.used
                if test not in tests or idle:
                    found.append(path)
        found += [
            directory
            for place in sorted(places)
            for directory in sorted(place.glob("*/"))
            if not (place.parent / f"{directory.name}.py").exists()
        ]
        return found
