"""``simplugin campaign status``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.campaign.options import AsJson, Store
from simplugin.cli.ending import plain_errors


def status(
    place: Annotated[Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="What to look at.")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Say how far the campaigns of a store are, and what failed.

    Also while one is running.
    """
    with plain_errors():
        from simplugin.cli.campaign.reading import status_command

        status_command(place, store, as_json=as_json)
