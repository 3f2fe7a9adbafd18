"""Campaigns recorded in a store: that of a campaign file, earlier versions, and failed jobs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from simplugin.campaigns.campaign import Campaign, Tables, load_campaign
from simplugin.campaigns.jobs import RunJob
from simplugin.campaigns.keys import versions
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.campaigns.store.documents import value_of
from simplugin.core.errors import SimpluginError, StoreError
from simplugin.scenarios.loading import read_toml

# Maximum number of campaigns that a message names.
_MOST_NAMED = 5


def store_named(file: Path) -> Path:
    """Return the store that a campaign file names; the rest of the file is not checked.

    Raises
    ------
    ScenarioError
        It cannot be read, or ``campaign.store`` is invalid.
    """
    document, text = read_toml(file)
    table = document.get("campaign")
    given = {"store": table["store"]} if isinstance(table, dict) and "store" in table else {}
    section = Tables.of({"campaign": given}, file, text).campaign
    return section.store or file.with_suffix(".sqlite")


def command_that_goes_on(file: Path, store: Path, *options: str) -> str:
    """Return the shell command that does the missing runs of a campaign.

    Parameters
    ----------
    file : Path
        The campaign file.
    store : Path
        Its store; the command names it if the file does not.
    *options : str
        Further options of the command.
    """
    words = ["simplugin", "campaign", "run", str(file), *options]
    try:
        named = os.path.realpath(store_named(file)) == os.path.realpath(store)
    except SimpluginError:
        named = False  # the file is missing or invalid
    return shlex.join(words if named else [*words, "--store", str(store)])


def recorded_campaign(reader: StoreReader, place: Path, campaign: Campaign) -> CampaignEntry:
    """Return the entry of a campaign in its present version.

    Raises
    ------
    StoreError
        This version has no entry; the message names other ones.
    """
    if (entry := reader.described(campaign.identity)) is not None:
        return entry
    entries = reader.campaigns()
    message = f"the store has no runs of the present version of {place}"
    remedy = f"`{command_that_goes_on(place, reader.path)}` does them"
    if earlier := earlier_versions(entries, campaign):
        before = "the file, a file that it names, or simplugin has changed since"
        message += f"; {before} {_listed(earlier)}"
    elif entries:
        message += f"; it has {_listed(entries)}"
    if entries:
        remedy += f"; --campaign {(earlier or entries)[-1].number} takes that one"
    raise StoreError(message, file=reader.path, remedy=remedy)


def earlier_versions(entries: Sequence[CampaignEntry], campaign: Campaign) -> list[CampaignEntry]:
    """Return the campaigns with the same file or title and another identity."""
    file = os.path.abspath(campaign.file) if campaign.file else None
    return [
        each
        for each in entries
        if each.identity != campaign.identity
        and ((each.file and each.file == file) or (campaign.title and each.title == campaign.title))
    ]


def what_changed(reader: StoreReader, entry: CampaignEntry, campaign: Campaign) -> list[str]:
    """Return the known changes since a campaign was run."""
    found = []
    if campaign.text and entry.text != campaign.text:
        found.append(campaign.place.name)
    before = reader.versions(entry.number)
    now = versions()
    found += [
        f"{name} ({before[name]} then, {now[name]} now)"
        for name in now
        if name in before and before[name] != now[name]
    ]
    return found or ["a file that it depends on, or the code of simplugin"]


def _listed(entries: Sequence[CampaignEntry]) -> str:
    """Return a text that names campaigns, the latest ones if they are many."""
    names = [
        f"campaign {each.number} ({each.title or each.file}, {each.done} of {each.total} runs"
        f" done, begun {each.begun[:10]})"
        for each in entries[-_MOST_NAMED:]
    ]
    some = "the latest are " if len(entries) > _MOST_NAMED else ""
    return some + ", ".join(names)


@dataclass(frozen=True)
class FailedJobs:
    """The failed jobs of a recorded campaign; a source of jobs.

    Attributes
    ----------
    store : Path
        The store.
    entry : CampaignEntry
        The entry of the campaign.
    campaign : Campaign, optional
        The present version of the campaign, which has the limits of the runs.
    trust : tuple of str
        As in `load_campaign`.
    """

    store: Path
    entry: CampaignEntry
    campaign: Campaign | None = None
    trust: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        """Return `title`, `identity`, `file` and `text` of the entry."""
        return getattr(self.entry, name)

    @property
    def total(self) -> int:
        """Number of failed jobs."""
        return self.entry.failed

    @cached_property
    def recorded(self) -> Campaign:
        """The campaign as it was recorded.

        Raises
        ------
        StoreError
            Its jobs were made by a program.
        """
        if self.entry.recipe is None:
            message = f"the runs of campaign {self.entry.number} were made by a program"
            remedy = "give the command or program that began it again"
            raise StoreError(message, file=self.store, remedy=remedy)
        return Campaign.from_recipe(value_of(self.entry.recipe), self.entry.text, self.trust)

    def jobs(self) -> Iterator[RunJob]:
        """Return the failed jobs in the order of their positions.

        Raises
        ------
        StoreError
            Their keys have changed.
        """
        settings = (self.campaign or self.recorded).settings
        with StoreReader(self.store) as reader:
            for record in reader.failures(self.entry.number):
                job = self.recorded.job(record.job.position)
                if job.key != record.job.key:
                    again = "its program again"
                    if self.file:
                        again = f"`{command_that_goes_on(Path(self.file), self.store)}`"
                    message = f"run {job.position} of campaign {self.entry.number} has another key"
                    message += " now: simplugin, or a file that it names, was changed"
                    remedy = f"run {again}, which does the run in its present version"
                    raise StoreError(message, file=self.store, remedy=remedy)
                yield replace(
                    job, wall_limit=settings.wall_limit, memory_limit=settings.memory_limit
                )

    def again(self, job: RunJob) -> RunJob:
        """Return the job with its key recomputed from the current files."""
        return self.recorded.again(job)


def failed_jobs(
    place: Path,
    number: int | None = None,
    store: Path | None = None,
    trust: Iterable[str] = (),
) -> FailedJobs:
    """Return the failed jobs of a recorded campaign.

    If the campaign's file still has the same identity, limits and retries are those of the file.

    Parameters
    ----------
    place : Path
        The campaign's file or its store.
    number : int, optional
        Number of the campaign in the store; by default the present version of the file, or the
        latest campaign of the store.
    store : Path, optional
        The store, if it is not the one that the campaign's file names.
    trust : iterable of str
        As in `load_campaign`; the store does not record it.

    Raises
    ------
    StoreError
        The store or the campaign does not exist.
    ScenarioError
        The campaign's file is invalid.
    """
    is_file, trust = place.suffix.lower() == ".toml", tuple(trust)
    campaign = load_campaign(place, trust=trust) if is_file else None
    where = place if campaign is None else campaign.results(store)
    with StoreReader(where) as reader:
        if number is not None:
            entry = reader.entry(number)
        elif campaign is not None:
            entry = recorded_campaign(reader, place, campaign)
        else:
            entry = reader.latest()
    return FailedJobs(where, entry, campaign or _unchanged(entry), trust)


def _unchanged(entry: CampaignEntry) -> Campaign | None:
    """Return the campaign of a file if it has still the recorded identity."""
    if not entry.file or not Path(entry.file).is_file():
        return None
    try:
        campaign = load_campaign(entry.file, check=False)
        return campaign if campaign.identity == entry.identity else None
    except SimpluginError:
        return None  # The file is another campaign now, and invalid.
