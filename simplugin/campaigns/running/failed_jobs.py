"""What failed of a campaign, as jobs to be done again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from simplugin.campaigns.campaign import TARGET, Campaign, load_campaign
from simplugin.campaigns.jobs import Job
from simplugin.campaigns.keys import Keys
from simplugin.campaigns.running.recorded_campaigns import command_that_goes_on, recorded_campaign
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.errors import SimpluginError, StoreError


@dataclass(frozen=True)
class FailedJobs:
    """The jobs of a campaign that are recorded as failed, as the store has them.

    Attributes
    ----------
    store : Path
        Where they are recorded.
    entry : CampaignEntry
        What is recorded of the campaign as a whole.
    campaign : Campaign, optional
        The campaign as its file has it now, whose limits hold.
    """

    store: Path
    entry: CampaignEntry
    campaign: Campaign | None = None
    _keys: dict[str, Keys] = field(default_factory=dict, compare=False)

    @property
    def title(self) -> str:
        """That of the campaign."""
        return self.entry.title

    @property
    def identity(self) -> str:
        """That of the campaign: what is run again belongs to it."""
        return self.entry.identity

    @property
    def file(self) -> str:
        """That of the campaign."""
        return self.entry.file

    @property
    def text(self) -> str:
        """That of the campaign."""
        return self.entry.text

    @property
    def total(self) -> int:
        """How many jobs the whole campaign has."""
        return self.entry.total

    @property
    def count(self) -> int:
        """How many of them failed."""
        return self.entry.failed

    def jobs(self) -> Iterator[Job]:
        """Make the jobs that failed, in the order of their positions.

        Raises
        ------
        StoreError
            They would be others now.
        """
        with StoreReader(self.store) as reader:
            for record in reader.failures(self.entry.number):
                job = record.job
                self._require_same(job)
                if self.campaign is not None:
                    settings = self.campaign.settings
                    job = replace(
                        job, wall_limit=settings.wall_limit, memory_limit=settings.memory_limit
                    )
                yield job

    def again(self, job: Job) -> Job:
        """Return the same job as things stand now: with another key if a file has changed."""
        directory = job.arguments["directory"]
        known = self._keys.setdefault(directory, Keys(directory))
        return replace(job, key=known.key_of_run(job.arguments))

    def _require_same(self, job: Job) -> None:
        """Refuse a job that other code or other files would do under the same key."""
        if job.target != TARGET:
            raise StoreError(
                f"the runs of campaign {self.entry.number} were made by a program",
                file=self.store,
                remedy="give the command or program that began it again",
            )
        if self.again(job).key != job.key:
            again = "its program again"
            if self.file:
                again = f"`{command_that_goes_on(Path(self.file), self.store)}`"
            raise StoreError(
                f"run {job.position} of campaign {self.entry.number} would be another one now: "
                "simplugin, or a file that it names, was changed",
                file=self.store,
                remedy=f"run {again}, which records what it is now",
            )


def failed_jobs(place: Path, number: int | None = None, store: Path | None = None) -> FailedJobs:
    """Find what failed of a campaign.

    Where the campaign's file describes it still, limits and retries are what the file says now.

    Parameters
    ----------
    place : Path
        The campaign's file or its store.
    number : int, optional
        Of the campaign in the store; without, the one that the file describes now, or the latest
        of the store.
    store : Path, optional
        Instead of the store that the campaign's file names.

    Raises
    ------
    StoreError
        There is no such store or campaign.
    ScenarioError
        The campaign's file says something wrong.
    """
    if place.suffix.lower() != ".toml":
        with StoreReader(place) as reader:
            entry = reader.latest() if number is None else reader.entry(number)
        return FailedJobs(place, entry, _still(entry))
    campaign = load_campaign(place)
    where = campaign.settings.store if store is None else store
    with StoreReader(where) as reader:
        if number is not None:
            return FailedJobs(where, reader.entry(number), campaign)
        return FailedJobs(where, recorded_campaign(reader, place, campaign), campaign)


def _still(entry: CampaignEntry) -> Campaign | None:
    """Return a campaign as its file has it, if that is still the one that was recorded."""
    if not entry.file or not Path(entry.file).is_file():
        return None
    try:
        campaign = load_campaign(entry.file, check=False)
        return campaign if campaign.identity == entry.identity else None
    except SimpluginError:
        return None  # another one, that is wrong
