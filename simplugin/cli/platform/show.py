"""``simplugin platform show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.ending import plain_errors


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A platform file.")],
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option("--pair", metavar="FROM TO", help="Show the route between two hosts too."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of tables.")
    ] = False,
) -> None:
    """Say what a platform consists of, and what SimGrid makes of it.

    Zones, clusters, hosts, cores, flop/s, links and routes; how SimGrid loads it, and whether all
    hosts reach each other. Exit status as that of check: 1 where there are errors, 2 where the
    file cannot be read; warnings are shown, and the status is 0.
    """
    from simplugin.cli.platform.showing import show_command

    with plain_errors():
        raise typer.Exit(show_command(file, pair, as_json=as_json))
