"""``simplugin campaign status``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.ending import plain_errors


def status(
    place: Annotated[Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="What to look at.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of tables.")
    ] = False,
) -> None:
    """Say how far the campaigns of a store are, and what failed.

    Also while one is running.
    """
    from simplugin.cli.campaign.reading import status_command

    with plain_errors():
        status_command(place, as_json=as_json)
