"""``simplugin campaign query``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.campaign.options import AsJson, Shown, Store
from simplugin.cli.ending import plain_errors


def query(
    place: Annotated[Path, typer.Argument(metavar="STORE|CAMPAIGN.toml", help="What to ask.")],
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help='For instance: SELECT "scheduler.name", avg(makespan) FROM results GROUP BY 1',
        ),
    ],
    store: Store = None,
    campaign: Shown = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print comma-separated values instead of a table.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a store in SQL; nothing can be changed.

    The table results has a row for each run of a campaign, with the columns of `campaign export`;
    units has the unit of each metric. Names with dots are quoted.
    """
    with plain_errors():
        from simplugin.cli.campaign.reading import query_command

        query_command(place, sql, store, campaign, as_csv=as_csv, as_json=as_json)
