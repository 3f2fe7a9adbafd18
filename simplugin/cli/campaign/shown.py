"""Which campaign of which store the commands show."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from simplugin.campaigns.running.reporting import printable
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.errors import SimpluginError

_ALL = "all"


def store_of(place: Path, store: Path | None = None) -> Path:
    """Return a store that is named directly, or by the campaign file that it belongs to.

    Raises
    ------
    SimpluginError
        Two stores are named, or the campaign file cannot be read.
    """
    if not is_file(place):
        if store is not None:
            raise SimpluginError(
                f"{place} and {store} are two stores; --store goes with a campaign file"
            )
        return place
    if store is not None:
        return store
    from simplugin.campaigns.running.recorded_campaigns import store_named

    return store_named(place)


def is_file(place: Path) -> bool:
    """Whether a campaign file is meant, not a store."""
    return place.suffix.lower() == ".toml"


def shown_campaign(place: Path, store: Path | None, asked: str | None) -> tuple[Path, int | None]:
    """Return the store and the number of the campaign to show; None: all campaigns.

    Of a campaign file it is the campaign that the file describes now, of a store the latest.
    Standard error says which, if the store has several.

    Parameters
    ----------
    place : Path
        A store or a campaign file.
    store : Path, optional
        Instead of the store that the campaign file names.
    asked : str, optional
        The number of a campaign, or "all".

    Raises
    ------
    SimpluginError
        There is no such campaign.
    """
    path = store_of(place, store)
    number = _number(asked)
    with StoreReader(path) as reader:
        entries = reader.campaigns()
        every = asked == _ALL or (number is None and not entries)
        chosen = None if every else chosen_entry(reader, place, number)
    _tell(chosen, entries)
    return path, None if chosen is None else chosen.number


def chosen_entry(reader: StoreReader, place: Path, number: int | None) -> CampaignEntry:
    """Return a campaign by its number, else as its file describes it now, or a store's latest.

    Parameters
    ----------
    reader : StoreReader
        The store that `store_of` names.
    place : Path
        A store or a campaign file.
    number : int, optional
        Of the campaign.

    Raises
    ------
    SimpluginError
        There is no such campaign.
    """
    if number is not None:
        return reader.entry(number)
    if not is_file(place):
        return reader.latest()
    from simplugin.campaigns.campaign import load_campaign
    from simplugin.campaigns.running.recorded_campaigns import recorded_campaign

    return recorded_campaign(reader, place, load_campaign(place, check=False))


def _number(asked: str | None) -> int | None:
    """Return the number of the campaign that is asked for, if it is by number."""
    if asked is None or asked == _ALL:
        return None
    if not asked.isdecimal():
        message = f"--campaign is {asked!r}; give the number of a campaign, or {_ALL}"
        raise SimpluginError(message)
    return int(asked)


def _tell(chosen: CampaignEntry | None, entries: Sequence[CampaignEntry]) -> None:
    """Say which campaign is shown, where there are several."""
    if len(entries) < 2:
        return
    if chosen is None:
        line = f"all {len(entries)} campaigns; a run that is in two of them has two rows"
    else:
        title = printable(chosen.title or chosen.file)
        line = f"campaign {chosen.number} of {len(entries)}{title and f' ({title})'}"
        line += f"; --campaign N shows another one, --campaign {_ALL} all"
    sys.stderr.write(f"simplugin: {line}\n")
