"""``simplugin platform draw``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.ending import plain_errors


class Amount(StrEnum):
    """How much of a platform is shown."""

    auto = "auto"
    hosts = "hosts"
    clusters = "clusters"
    sites = "sites"


def draw(
    platform: Annotated[Path, typer.Argument(metavar="FILE", help="A platform file.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="IMAGE", help="A PNG, SVG or PDF file to write."),
    ],
    detail: Annotated[
        Amount,
        typer.Option(
            "--detail",
            help="Show hosts, clusters, or a box for each site; auto: as much as fits on a sheet.",
        ),
    ] = Amount.auto,
    title: Annotated[
        str, typer.Option("--title", help="Above it, instead of the name of the zone.")
    ] = "",
) -> None:
    """Draw a platform: hosts, clusters, sites, and the links between them."""
    from simplugin.formats.platform_xml import read_platform
    from simplugin.reports.image_files import image_file
    from simplugin.reports.platforms.drawing import draw_platform

    with plain_errors():
        image_file(output)
        draw_platform(read_platform(platform), output, title=title, detail=detail.value)
