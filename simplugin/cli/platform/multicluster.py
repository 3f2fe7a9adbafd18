"""``simplugin platform multicluster``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.ending import plain_errors


def multicluster(
    description: Annotated[
        Path,
        typer.Argument(metavar="DESCRIPTION.toml", help="Sites, clusters, switches, backbone."),
    ],
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of the draws, instead of the file's.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the platform there."),
    ] = None,
) -> None:
    """Make a federation of clusters from a description."""
    with plain_errors():
        from simplugin.cli.platform.writing import put
        from simplugin.formats.federations import read_federation_platform

        put(read_federation_platform(description, seed), output)
