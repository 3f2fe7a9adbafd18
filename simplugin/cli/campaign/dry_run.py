"""``simplugin campaign run --dry-run``: what would be run."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import Any

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.store import StoreReader
from simplugin.campaigns.store.documents import text_of
from simplugin.cli.campaign.run_summary import tell
from simplugin.cli.campaign.wording import runs, varied_text
from simplugin.cli.paths import short

# How many variations are shown.
_SHOWN = 3
# To look up more keys than these takes longer than anyone waits for a dry run.
_MOST_LOOKED_UP = 20_000


def tell_what_would_be_run(campaign: Campaign, store: Path, *, as_json: bool) -> None:
    """Tell what would be run; run nothing."""
    total = campaign.total
    first = [dict(job.varied) for job in islice(campaign.jobs(), _SHOWN)]
    looked_up = min(total, _MOST_LOOKED_UP)
    recorded = _recorded(campaign, store, looked_up)
    if as_json:
        document: dict[str, Any] = {
            "title": campaign.title,
            "store": str(store),
            "total": total,
            "looked_up": looked_up,
            "recorded": recorded,
            "first": first,
        }
        sys.stdout.write(text_of(document) + "\n")
        return
    of_how_many = "" if looked_up == total else f" of the first {looked_up}"
    where = short(store) if store.exists() else f"{short(store)}, which is not there yet"
    tell(f"{campaign.title or campaign.file}: {runs(total)}")
    tell(f"{recorded}{of_how_many} recorded in {where}")
    for position, varied in enumerate(first):
        tell(f"  run {position}: {varied_text(varied)}")
    if total > _SHOWN:
        tell(f"  ... and {total - _SHOWN} more")


def _recorded(campaign: Campaign, store: Path, looked_up: int) -> int:
    """Count which of the first runs need not be run."""
    if not store.exists():
        return 0
    with StoreReader(store) as reader:
        return sum(
            reader.state_of(job.key) is not None for job in islice(campaign.jobs(), looked_up)
        )
