"""``simplugin platform``: make, look at and draw platform files."""

from __future__ import annotations

import typer

from simplugin.cli.platform.availability import availability
from simplugin.cli.platform.draw import draw
from simplugin.cli.platform.generate import generate
from simplugin.cli.platform.grid5000 import catalogue, grid5000
from simplugin.cli.platform.multicluster import multicluster
from simplugin.cli.platform.show import show

platform_app = typer.Typer(
    help="Make, look at and draw platform files.", no_args_is_help=True, add_completion=False
)
for command in (grid5000, catalogue, multicluster, generate, availability, show, draw):
    platform_app.command()(command)
