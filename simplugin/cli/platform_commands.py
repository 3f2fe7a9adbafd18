"""``simplugin platform``: make, inspect and draw platform files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from simplugin.cli import terminal
from simplugin.cli.options import (
    add_command,
    argument,
    flag,
    json_option,
    option,
    output_option,
    seed_option,
)
from simplugin.cli.platform_availability import availability
from simplugin.cli.platform_grid5000 import catalogue, grid5000
from simplugin.cli.settings import read_settings
from simplugin.core.errors import PlatformError
from simplugin.inputs.files import uncollected, write

platform_app = terminal.group("Make, inspect and draw platform files.")


def multicluster(
    description: Annotated[
        Path, argument("DESCRIPTION.toml", "Sites, clusters, switches, backbone.")
    ],
    seed: Annotated[int | None, seed_option("Seed of the draws; overrides the file.")] = None,
    output: Annotated[
        Path | None, output_option("FILE", "The platform file; by default it is printed.")
    ] = None,
) -> None:
    """Make a federation of clusters from a description."""
    from simplugin.formats.federations import read_federation_platform

    terminal.write_or_print_platform(read_federation_platform(description, seed), output)


def generate(
    name: Annotated[
        str | None, argument("[NAME]", "Name of a generator, see --list; or module:function.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        argument("[KEY=VALUE]...", "Parameters: TOML values, or texts such as 2Gf without quotes."),
    ] = None,
    seed: Annotated[int | None, seed_option("Seed of the draws.")] = None,
    output: Annotated[
        Path | None, output_option("FILE", "The platform file; by default it is printed.")
    ] = None,
    listed: Annotated[bool, flag("--list", "List all generators, or describe NAME.")] = False,
) -> None:
    """Generate a platform: a topology, a random graph, a site, or that of a user's generator."""
    from simplugin.inputs.named_files import named_modules
    from simplugin.scenarios.generators import GENERATORS
    from simplugin.scenarios.generators.registry import generator_called
    from simplugin.scenarios.importing import importable

    with importable(Path.cwd(), named_modules(name)):
        if listed and name is None:
            for generator in map(generator_called, GENERATORS):
                first = generator.documentation.partition("\n")[0]
                typer.echo(f"{generator.name}: {first}\n    {generator.usage()}")
            return
        if name is None:
            raise PlatformError("no generator is named", remedy="give a name that --list shows")
        generator = generator_called(name)
        if listed:
            typer.echo(f"{name}: {generator.usage()}\n\n{generator.documentation}".rstrip())
            return
        parameters = read_settings(settings or [])
        if seed is not None:
            if "seed" in parameters:
                remedy = "give either --seed or seed="
                raise PlatformError("the seed is given twice", remedy=remedy)
            if "seed" not in generator.signature.types and not generator.signature.takes_any:
                message = f"generator {name!r} has no seed"
                raise PlatformError(message, remedy="remove --seed")
            parameters["seed"] = seed
        with uncollected():
            terminal.write_or_print_platform(generator.platform(parameters), output)


def show(
    file: Annotated[Path, argument("FILE", "A platform file.")],
    pair: Annotated[
        tuple[str, str] | None, option("Also show the route between two hosts.", "FROM TO")
    ] = None,
    as_json: Annotated[bool, json_option("tables")] = False,
) -> None:
    """Summarise a platform, as the file describes it and as SimGrid loads it.

    Prints the numbers of zones, clusters, hosts, cores, flop/s, links and routes, statistics of
    loading, and whether all hosts reach each other. Exit status: 0 no errors, also with warnings;
    1 errors; 2 the file is not readable.
    """
    from simplugin.cli.platform_show import show_command

    raise typer.Exit(show_command(file, pair, as_json=as_json))


def draw(
    platform: Annotated[Path, argument("FILE", "A platform file.")],
    output: Annotated[Path, output_option("IMAGE", "A PNG, SVG or PDF file to write.")],
    detail: Annotated[
        Literal["auto", "hosts", "clusters", "sites"],
        option("Show hosts, clusters, or a box for each site; auto: as much as fits on a page."),
    ] = "auto",
    title: Annotated[str, option("Title of the drawing; by default the name of the zone.")] = "",
) -> None:
    """Draw a platform: hosts, clusters, sites, and the links between them."""
    from simplugin.formats.platform_xml import read_platform
    from simplugin.reports.image_files import image_file
    from simplugin.reports.platforms.drawing import draw_platform

    image_file(output)
    draw_platform(read_platform(platform), output, title=title, detail=detail)


def upgrade(
    file: Annotated[Path, argument("FILE", "A platform or deployment file of version 3 or 4.")],
    output: Annotated[
        Path | None, output_option("NEW", "The new file; by default it is printed.")
    ] = None,
) -> None:
    """Rewrite a platform or deployment file in the format of SimGrid 4.1.

    Tags and attributes get their current names, numbers their units; comments and layout are kept.
    Elements without equivalent are errors with their line. A file of version 4.1 is not changed.
    """
    from simplugin.formats.platform_upgrade import upgraded

    text = upgraded(file)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write(text, output, PlatformError)


for command in (grid5000, catalogue, multicluster, generate, availability, show, draw, upgrade):
    add_command(platform_app)(command)
