"""``simplugin campaign export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.campaign.options import AsJson, Shown, Store
from simplugin.cli.ending import plain_errors


def export(
    place: Annotated[Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="What to export.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="What to write: .csv or .parquet."),
    ],
    store: Store = None,
    campaign: Shown = None,
    all_attempts: Annotated[
        bool,
        typer.Option("--all-attempts", help="Also attempts that failed before a later one."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a table of the runs of a campaign, a row each.

    Numbers are written so that nothing of them is lost.
    """
    with plain_errors():
        from simplugin.cli.campaign.reading import export_command

        export_command(place, output, store, campaign, every=all_attempts, as_json=as_json)
