"""Which campaign of a store is meant: the one that a file describes, and what is there instead."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.campaign_checks import checked_section
from simplugin.campaigns.campaign_settings import CampaignSection
from simplugin.campaigns.running.versions import versions
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.errors import SimpluginError, StoreError
from simplugin.scenarios.scenario import read_toml

# How many campaigns are named in a message.
_MOST_NAMED = 5


def store_named(file: Path) -> Path:
    """Return the store that a campaign file names; the rest of the file may say anything.

    Raises
    ------
    ScenarioError
        It cannot be read, or ``campaign.store`` is wrong.
    """
    document, text = read_toml(file)
    table = document.get("campaign")
    given = {"store": table["store"]} if isinstance(table, dict) and "store" in table else {}
    section = checked_section(CampaignSection, {"campaign": given}, "campaign", file, text)
    return section.settings(file.with_suffix(".sqlite"), 0).store


def command_that_goes_on(file: Path, store: Path, *options: str) -> str:
    """Return the command that does, into the same store, what a campaign still lacks.

    Parameters
    ----------
    file : Path
        The campaign file.
    store : Path
        Where its runs are; the command names it if the file does not.
    *options : str
        Of the command, besides.

    Returns
    -------
    str
        As a shell takes it.
    """
    words = ["simplugin", "campaign", "run", str(file), *options]
    try:
        named = store_named(file).resolve() == store.resolve()
    except SimpluginError:
        named = False  # the file is gone, or wrong
    return shlex.join(words if named else [*words, "--store", str(store)])


def recorded_campaign(reader: StoreReader, place: Path, campaign: Campaign) -> CampaignEntry:
    """Return what is recorded of a campaign as its file describes it now.

    Raises
    ------
    StoreError
        Nothing is; the message names what there is instead.
    """
    entries = reader.campaigns()
    for entry in entries:
        if entry.identity == campaign.identity:
            return entry
    message = f"there is no campaign as {place} describes it now"
    remedy = f"`{command_that_goes_on(place, reader.path)}` does its runs"
    earlier = earlier_versions(entries, campaign)
    if earlier:
        message += (
            "; it was run before the file, a file that it names, or simplugin changed:"
            f" {_listed(earlier)}"
        )
    elif entries:
        message += f"; there is {_listed(entries)}"
    if entries:
        remedy += f"; --campaign {(earlier or entries)[-1].number} takes that one"
    raise StoreError(message, file=reader.path, remedy=remedy)


def earlier_versions(entries: Sequence[CampaignEntry], campaign: Campaign) -> list[CampaignEntry]:
    """Return the campaigns that were another one under the same file or title."""
    file = os.path.abspath(campaign.file) if campaign.file else None
    return [
        each
        for each in entries
        if each.identity != campaign.identity
        and ((each.file and each.file == file) or (campaign.title and each.title == campaign.title))
    ]


def what_changed(reader: StoreReader, entry: CampaignEntry, campaign: Campaign) -> list[str]:
    """Say what changed since a campaign was run, as far as the store knows."""
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
    """Name campaigns, the latest ones if there are many."""
    names = [
        f"campaign {each.number} ({each.title or each.file}, {each.done} of {each.total} runs"
        f" done, begun {each.begun[:10]})"
        for each in entries[-_MOST_NAMED:]
    ]
    some = "the latest are " if len(entries) > _MOST_NAMED else ""
    return some + ", ".join(names)
