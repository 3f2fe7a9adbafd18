"""What is compared with recorded results: scenarios, and the runs of small campaigns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simplugin.campaigns.campaign import load_campaign
from simplugin.campaigns.scenario import CAMPAIGN_TABLES, read_toml
from simplugin.errors import ScenarioError, SimpluginError

RECORDED = "recorded"
TOLERANCES = "tolerances.toml"
# More runs than these are for a store, not for files under version control.
MOST_RUNS = 100


@dataclass(frozen=True)
class Subject:
    """One run that has, or should have, a recorded result.

    Attributes
    ----------
    name : str
        For humans: the file, and what tells a run of a campaign from the others.
    file : Path
        The scenario.
    snapshot : Path
        Where its result is recorded.
    document : mapping, optional
        What the run consists of, where that is not what stands in the file.
    problem : str, optional
        Why it cannot be run.
    """

    name: str
    file: Path
    snapshot: Path
    document: Mapping[str, Any] | None = None
    problem: str | None = None

    @property
    def scenario(self) -> str:
        """Name of the file without its suffix, under which tolerances are found."""
        return self.file.stem


def subjects_of(paths: Sequence[Path]) -> list[Subject]:
    """Return what files, and the scenario files of directories, consist of.

    Of a directory every ``*.toml`` is taken that has a ``[platform]`` or a ``[workload]``, or
    that cannot be read; its subdirectories are not searched.

    Raises
    ------
    SimpluginError
        A path is not there, or there is nothing to run.
    """
    found: list[Subject] = []
    for file in _files(paths):
        found += _subjects(file)
    if not found:
        named = ", ".join(str(path) for path in paths)
        raise SimpluginError(f"{named}: there is no scenario; name a directory with *.toml files")
    return found


def orphans(directories: Sequence[Path], subjects: Sequence[Subject]) -> list[Path]:
    """Return recorded results of directories that belong to no scenario any more."""
    known = {subject.snapshot.resolve() for subject in subjects}
    # Of a campaign that cannot be read the runs are not known.
    unknown = {each.snapshot.with_suffix("").resolve() for each in subjects if each.problem}
    return [
        path
        for directory in directories
        for path in sorted((directory / RECORDED).glob("**/*.json"))
        if path.resolve() not in known and path.parent.resolve() not in unknown
    ]


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the scenario files that paths stand for, each once."""
    files: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise SimpluginError(f"{path}: there is no such file or directory")
        for file in sorted(path.glob("*.toml")) if path.is_dir() else [path]:
            if not path.is_dir() or _is_scenario(file):
                files.setdefault(file.resolve(), file)
    return list(files.values())


def _is_scenario(file: Path) -> bool:
    """Whether a TOML file of a directory is meant to be run."""
    try:
        document, _ = read_toml(file)
    except ScenarioError:
        return True  # told as one that failed
    return "platform" in document or "workload" in document


def _subjects(file: Path) -> Iterator[Subject]:
    """Return a scenario, or the runs of a campaign."""
    snapshot = file.parent / RECORDED / f"{file.stem}.json"
    try:
        document, _ = read_toml(file)
        if not any(key in document for key in CAMPAIGN_TABLES):
            yield Subject(file.name, file, snapshot)
            return
        campaign = load_campaign(file)
        if campaign.total > MOST_RUNS:
            raise ScenarioError(
                f"has {campaign.total} runs; at most {MOST_RUNS} of a campaign are compared",
                file=file,
                remedy="vary less, or use 'simplugin campaign run'",
            )
        jobs = list(campaign.jobs())
    except SimpluginError as error:
        yield Subject(file.name, file, snapshot, problem=str(error))
        return
    for job in jobs:
        varied = ", ".join(f"{key}={value}" for key, value in job.varied.items())
        yield Subject(
            f"{file.name}[{varied or job.position}]",
            file,
            snapshot.with_suffix("") / f"{job.position:02}.json",
            job.arguments["document"],
        )
