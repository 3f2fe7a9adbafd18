"""``simplugin platform``: make, look at and draw platform files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from simplugin.cli import terminal
from simplugin.cli.options import argument, flag, json_option, option, output_option, seed_option
from simplugin.cli.platform_availability import availability
from simplugin.cli.platform_grid5000 import catalogue, grid5000
from simplugin.core.errors import PlatformError
from simplugin.inputs.files import uncollected, write

platform_app = terminal.group("Make, look at and draw platform files.")


def multicluster(
    description: Annotated[
        Path, argument("DESCRIPTION.toml", "Sites, clusters, switches, backbone.")
    ],
    seed: Annotated[int | None, seed_option("Of the draws, instead of the file's.")] = None,
    output: Annotated[Path | None, output_option("FILE", "Write the platform there.")] = None,
) -> None:
    """Make a federation of clusters from a description."""
    from simplugin.formats.federations import read_federation_platform

    terminal.put(read_federation_platform(description, seed), output)


def generate(
    name: Annotated[
        str | None, argument("[NAME]", "Of a generator, see --list; or module:function.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        argument(
            "[KEY=VALUE]...", "Its parameters: TOML values, or texts such as 2Gf without quotes."
        ),
    ] = None,
    seed: Annotated[int | None, seed_option("Of its draws.")] = None,
    output: Annotated[Path | None, output_option("FILE", "Write there; without, print.")] = None,
    listed: Annotated[bool, flag("--list", "List all generators, or describe NAME.")] = False,
) -> None:
    """Generate a platform: a topology, a random graph, a site, anything that has a generator."""
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
            raise PlatformError("no generator is named", remedy="give one that --list shows")
        generator = generator_called(name)
        if listed:
            typer.echo(f"{name}: {generator.usage()}\n\n{generator.documentation}".rstrip())
            return
        parameters = _parameters(settings or [])
        if seed is not None:
            if "seed" in parameters:
                remedy = "give --seed or seed=, not both"
                raise PlatformError("the seed is given twice", remedy=remedy)
            if "seed" not in generator.signature.types and not generator.signature.takes_any:
                message = f"generator {name!r} draws nothing: it has no seed"
                raise PlatformError(message, remedy="leave out --seed")
            parameters["seed"] = seed
        with uncollected():
            terminal.put(generator.platform(parameters), output)


def _parameters(settings: list[str]) -> dict[str, Any]:
    """Read settings: values as TOML has them, bare words as texts."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not key.isidentifier():
            raise PlatformError(f"{setting!r} sets no parameter", remedy="write KEY=VALUE")
        if key in parameters:
            raise PlatformError(f"parameter {key!r} is given twice", remedy="give it once")
        parameters[key] = _value(key, text)
    return parameters


def _value(key: str, text: str) -> Any:
    """Read one value."""
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        # What starts as TOML does was meant as TOML.
        if text and text[0] not in "[{\"'":
            return text
        raise PlatformError(
            f"{key}={text} is not a TOML value: {error}",
            remedy='give e.g. 12, true, 2Gf, [4,4] or {law="uniform",low="1Gf",high="2Gf"}',
        ) from None
    # A line break in the text may begin another key.
    return document["value"] if len(document) == 1 else text


def show(
    file: Annotated[Path, argument("FILE", "A platform file.")],
    pair: Annotated[
        tuple[str, str] | None, option("Show the route between two hosts too.", "FROM TO")
    ] = None,
    as_json: Annotated[bool, json_option("tables")] = False,
) -> None:
    """Say what a platform consists of, and what SimGrid makes of it.

    Zones, clusters, hosts, cores, flop/s, links and routes; how SimGrid loads it, and whether all
    hosts reach each other. Exit status as that of check: 1 where there are errors, 2 where the
    file cannot be read; warnings are shown, and the status is 0.
    """
    from simplugin.cli.platform_show import show_command

    raise typer.Exit(show_command(file, pair, as_json=as_json))


def draw(
    platform: Annotated[Path, argument("FILE", "A platform file.")],
    output: Annotated[Path, output_option("IMAGE", "A PNG, SVG or PDF file to write.")],
    detail: Annotated[
        Literal["auto", "hosts", "clusters", "sites"],
        option("Show hosts, clusters, or a box for each site; auto: as much as fits on a sheet."),
    ] = "auto",
    title: Annotated[str, option("Above it, instead of the name of the zone.")] = "",
) -> None:
    """Draw a platform: hosts, clusters, sites, and the links between them."""
    from simplugin.formats.platform_xml import read_platform
    from simplugin.reports.image_files import image_file
    from simplugin.reports.platforms.drawing import draw_platform

    image_file(output)
    draw_platform(read_platform(platform), output, title=title, detail=detail)


def upgrade(
    file: Annotated[Path, argument("FILE", "A platform or deployment file of version 3 or 4.")],
    output: Annotated[Path | None, output_option("NEW", "Write there; without, print.")] = None,
) -> None:
    """Rewrite a platform or deployment file in the format of SimGrid 4.1.

    Tags and attributes get today's names, numbers their units; comments and layout stay. What has
    no equivalent is refused with its line. A file of version 4.1 stays as it is.
    """
    from simplugin.formats.platform_upgrade import upgraded

    text = upgraded(file)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write(text, output, PlatformError)


for command in (grid5000, catalogue, multicluster, generate, availability, show, draw, upgrade):
    platform_app.command()(command)
