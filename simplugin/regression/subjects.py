"""Scenarios and runs of small campaigns that have, or should have, recorded results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simplugin.campaigns.campaign import load_campaign
from simplugin.core.errors import ScenarioError, SimpluginError
from simplugin.regression.fixtures import safe_name
from simplugin.regression.snapshots import is_snapshot
from simplugin.scenarios.loading import CAMPAIGN_TABLES, read_toml
from simplugin.scenarios.sweeps import VARIATION

RECORDED = "recorded"
TOLERANCES = "tolerances.toml"
# More runs than these are for a store, not for files under version control.
MOST_RUNS = 100


# Texts that would be read as another value if they had no quotation marks.
_VALUES = {"True", "False", "None", "nan", "inf"}


@dataclass(frozen=True)
class Subject:
    """One run that has, or should have, a recorded result.

    Attributes
    ----------
    name : str
        For humans, different for each: the file, seen from the directory that it shares with the
        others, and what distinguishes a run of a campaign.
    file : Path
        The scenario.
    snapshot : Path
        Where its result is recorded.
    title : str
        As `name`, without a directory: the same wherever the command is called.
    document : mapping
        What the run consists of.
    of_campaign : bool
        True if it differs from the file.
    problem : str, optional
        Why it cannot be run.
    """

    name: str
    file: Path
    snapshot: Path
    title: str
    document: Mapping[str, Any] = field(default_factory=dict)
    of_campaign: bool = False
    problem: str | None = None

    @property
    def scenario(self) -> str:
        """Name of the file without its suffix, under which tolerances are found."""
        return self.file.stem


@dataclass(frozen=True)
class Orphan:
    """A recorded result of no scenario.

    Attributes
    ----------
    name : str
        For humans, different for each.
    file : Path
        Of the recorded result.
    """

    name: str
    file: Path


@dataclass(frozen=True)
class Found:
    """The contents of files and directories.

    Attributes
    ----------
    subjects : tuple of Subject
        What is to be run, in the order of the files.
    orphans : tuple of Orphan
        What is recorded in the directories and belongs to no scenario any more.
    directories : frozenset of Path
        Those that were named as a whole.
    """

    subjects: tuple[Subject, ...]
    orphans: tuple[Orphan, ...]
    directories: frozenset[Path]


def found_in(paths: Sequence[Path], trust: Iterable[str] = ()) -> Found:
    """Return what files, and the scenario files of directories, consist of.

    Of a directory every ``*.toml`` is taken that has a ``[platform]`` or a ``[workload]``, or
    that cannot be read; its subdirectories are not searched.

    Parameters
    ----------
    paths : sequence of Path
        Files and directories.
    trust : iterable of str
        As `load_campaign` takes it.

    Raises
    ------
    SimpluginError
        A path is not there, or there is nothing to run and nothing recorded.
    """
    directories = {path.resolve(): path for path in paths if path.is_dir()}
    files = _files(paths)
    # Distinct names: seen from the directory that all are in.
    places = [*files, *(path / RECORDED for path in directories.values())]
    around = [os.path.dirname(os.path.abspath(each)) for each in places]
    common = os.path.commonpath(around or ["/"])
    named = {each: os.path.relpath(each, common) for each in places}
    subjects = [each for file in files for each in _subjects(file, named[file], trust)]
    known = {each.snapshot.resolve() for each in subjects}
    # Of a campaign that cannot be read the runs are not known.
    unknown = {each.snapshot.with_suffix("").resolve() for each in subjects if each.problem}
    orphans = []
    for recorded in (path / RECORDED for path in directories.values()):
        for path in sorted(recorded.glob("**/*.json")):
            place = path.resolve()
            if place not in known and place.parent not in unknown and is_snapshot(path):
                inside = Path(named[recorded]).parent / path.relative_to(recorded)
                orphans.append(Orphan(str(inside), path))
    if not subjects and not orphans:
        names = ", ".join(str(path) for path in paths)
        raise SimpluginError(f"{names}: there is no scenario; name a directory with *.toml files")
    return Found(tuple(subjects), tuple(orphans), frozenset(directories))


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the scenario files that paths stand for, each once."""
    files: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise SimpluginError(f"{path}: there is no such file or directory")
        inside = filter(_is_scenario, sorted(path.glob("*.toml")))
        for file in inside if path.is_dir() else [path]:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _is_scenario(file: Path) -> bool:
    """Return True if a TOML file of a directory is meant to be run."""
    try:
        document, _ = read_toml(file)
    except ScenarioError:
        return True  # reported as one that failed
    return "platform" in document or "workload" in document


def _subjects(file: Path, name: str, trust: Iterable[str]) -> Iterator[Subject]:
    """Return a scenario, or the runs of a campaign."""
    snapshot = file.parent / RECORDED / f"{file.stem}.json"
    try:
        document, _ = read_toml(file)
        if not any(key in document for key in CAMPAIGN_TABLES):
            yield Subject(name, file, snapshot, file.name, document)
            return
        campaign = load_campaign(file, trust=trust)
        if campaign.total > MOST_RUNS:
            message = f"has {campaign.total} runs; at most {MOST_RUNS} of a campaign are compared"
            remedy = "vary less, or use 'simplugin campaign run'"
            raise ScenarioError(message, file=file, remedy=remedy)
        jobs = list(campaign.jobs())
    except SimpluginError as error:
        yield Subject(name, file, snapshot, file.name, problem=str(error))
        return
    twins: Counter[str] = Counter()
    # Named by what varies and not by their positions.
    for job in jobs:
        # Without the number of a variation that has no name.
        varied = dict(job.varied)
        if len(varied) > 1 and str(varied.get(VARIATION)).isdigit():
            del varied[VARIATION]
        words = [f"{key}={_value_text(value)}" for key, value in varied.items()]
        # Of what varies, the order does not matter.
        key = ", ".join(sorted(words)) or "run"
        twins[key] += 1
        twin = f" #{twins[key]}" if twins[key] > 1 else ""
        label = f"[{', '.join(words) or 'run'}{twin}]"
        place = snapshot.with_suffix("") / f"{safe_name(key + twin)}.json"
        document, title = job.arguments["document"], f"{file.name}{label}"
        yield Subject(f"{name}{label}", file, place, title, document, of_campaign=True)


def _value_text(value: Any) -> str:
    """Write a value so that others are written differently; texts as they are where they can be."""
    plain = isinstance(value, str) and value[:1].isalpha() and value not in _VALUES
    return str(value) if plain else repr(value)
