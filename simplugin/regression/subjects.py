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
# Larger campaigns belong in a store, not in files under version control.
MOST_RUNS = 100


# Texts that keep their quotation marks, as they would denote other values without.
_VALUES = {"True", "False", "None", "nan", "inf"}


@dataclass(frozen=True)
class Subject:
    """One run that has, or should have, a recorded result.

    Attributes
    ----------
    name : str
        Unique name: the file relative to the common directory of all, and the varied values of a
        run of a campaign.
    file : Path
        The scenario.
    snapshot : Path
        File of the recorded result.
    title : str
        `name` without directories, independent of the current directory.
    document : mapping
        The scenario of the run.
    of_campaign : bool
        True if the scenario differs from the file.
    problem : str, optional
        Reason why it cannot be run.
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
        """Name of the file without its suffix, the key of its tolerances."""
        return self.file.stem


@dataclass(frozen=True)
class Orphan:
    """A recorded result without a scenario.

    Attributes
    ----------
    name : str
        Unique name.
    file : Path
        File of the recorded result.
    """

    name: str
    file: Path


@dataclass(frozen=True)
class Found:
    """The contents of files and directories.

    Attributes
    ----------
    subjects : tuple of Subject
        The runs, in the order of the files.
    orphans : tuple of Orphan
        Recorded results of the directories without a scenario.
    directories : frozenset of Path
        The directories among the paths.
    """

    subjects: tuple[Subject, ...]
    orphans: tuple[Orphan, ...]
    directories: frozenset[Path]


def found_in(paths: Sequence[Path], trust: Iterable[str] = ()) -> Found:
    """Return the runs of scenario files and of directories of them.

    A directory's scenarios are its ``*.toml`` files with a ``[platform]`` or a ``[workload]``, and
    unreadable ones; subdirectories are not searched.

    Parameters
    ----------
    paths : sequence of Path
        Files and directories.
    trust : iterable of str
        As `load_campaign` takes it.

    Raises
    ------
    SimpluginError
        A path does not exist, or there is nothing to run and nothing recorded.
    """
    directories = {path.resolve(): path for path in paths if path.is_dir()}
    files = _files(paths)
    # Unique names are relative to the common directory.
    places = [*files, *(path / RECORDED for path in directories.values())]
    around = [os.path.dirname(os.path.abspath(each)) for each in places]
    common = os.path.commonpath(around or ["/"])
    named = {each: os.path.relpath(each, common) for each in places}
    subjects = [each for file in files for each in _subjects(file, named[file], trust)]
    known = {each.snapshot.resolve() for each in subjects}
    # The runs of an unreadable campaign are unknown.
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
    """Return the scenario files of paths, each once."""
    files: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise SimpluginError(f"{path}: there is no such file or directory")
        inside = filter(_is_scenario, sorted(path.glob("*.toml")))
        for file in inside if path.is_dir() else [path]:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _is_scenario(file: Path) -> bool:
    """Return True if a TOML file of a directory is a scenario."""
    try:
        document, _ = read_toml(file)
    except ScenarioError:
        return True  # reported as failed
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
    # Names consist of the varied values, not of positions.
    for job in jobs:
        # Numbers of variations without a name are left out.
        varied = dict(job.varied)
        if len(varied) > 1 and str(varied.get(VARIATION)).isdigit():
            del varied[VARIATION]
        words = [f"{key}={_value_text(value)}" for key, value in varied.items()]
        # The order of the varied keys does not matter.
        key = ", ".join(sorted(words)) or "run"
        twins[key] += 1
        twin = f" #{twins[key]}" if twins[key] > 1 else ""
        label = f"[{', '.join(words) or 'run'}{twin}]"
        place = snapshot.with_suffix("") / f"{safe_name(key + twin)}.json"
        document, title = job.arguments["document"], f"{file.name}{label}"
        yield Subject(f"{name}{label}", file, place, title, document, of_campaign=True)


def _value_text(value: Any) -> str:
    """Write a value unambiguously, texts without quotation marks if possible."""
    plain = isinstance(value, str) and value[:1].isalpha() and value not in _VALUES
    return str(value) if plain else repr(value)
