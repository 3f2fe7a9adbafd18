"""``simplugin campaign query``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print comma-separated values instead of a table.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Ask a store in SQL; nothing can be changed.

    The table results has a row for each run, with the columns of `campaign export`. Names with
    dots are quoted.
    """
    from simplugin.cli.campaign.reading import query_command

    with plain_errors():
        query_command(place, sql, as_csv=as_csv, as_json=as_json)
