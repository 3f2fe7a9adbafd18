"""``simplugin platform``: make, inspect and draw platform files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from simplugin.cli import terminal
from simplugin.cli.options import Seed, add_command
from simplugin.cli.platform_grid5000 import catalogue, grid5000
from simplugin.core.errors import PlatformError
from simplugin.inputs.files import uncollected

if TYPE_CHECKING:
    from simplugin.inputs.documents import Document

platform_app = terminal.group("Make, inspect and draw platform files.")


def multicluster(description: Path, *, seed: Seed = None, output: Path | None = None) -> None:
    """Make a federation of clusters from a description.

    Parameters
    ----------
    description : DESCRIPTION.toml
        Sites, clusters, switches, backbone.
    seed
        Seed of the draws; overrides the file.
    """
    from simplugin.formats.federations import read_federation_platform

    terminal.write_or_print_platform(read_federation_platform(description, seed), output)


def generate(
    name: str | None = None,
    settings: list[str] | None = None,
    *,
    seed: Seed = None,
    output: Path | None = None,
    listed: bool = False,
) -> None:
    """Generate a platform: a topology, a random graph, a site, or that of a user's generator.

    Parameters
    ----------
    name : [NAME]
        Name of a generator, see --list; or module:function.
    settings : [KEY=VALUE]...
        Parameters: TOML values, or texts such as 2Gf without quotes.
    listed
        List all generators, or describe NAME.
    """
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


def _show_models(wanted: bool) -> None:
    """Print a table of the published models and exit."""
    if not wanted:
        return
    from simplugin.platforms.availability.processes import (
        ARCHIVE,
        SCHROEDER_GIBSON,
        SYSTEMS,
        model_named,
    )

    lines = [f"{'model':<24}{'mean up':>10}{'mean down':>12}{'up':>7}  of"]
    for system, fits in ARCHIVE.items():
        for law in fits:
            name = f"{system}-{law}"
            model = model_named(name)
            hours = (model.up.mean / 3600, model.down.mean / 3600)
            lines.append(
                f"{name:<24}{hours[0]:>8.1f} h{hours[1]:>10.2f} h"
                f"{model.availability:>7.1%}  {SYSTEMS[system]}"
            )
    lines.append(f"{SCHROEDER_GIBSON + '(T)':<24}{'T':>10}{5.92:>10.2f} h{'':>7}  as lanl05")
    typer.echo("\n".join(lines))
    raise typer.Exit


def availability(
    file: Path,
    changes: list[str],
    *,
    output: Path | None = None,
    files: Path | None = None,
    expand: bool = False,
    _models: Annotated[bool, typer.Option(callback=_show_models, is_eager=True)] = False,
) -> None:
    """Add failures and background load to the hosts and links of a platform.

    Keys: until, seed, spared; hosts.choice, .model, .up, .down, .start, .stay, .arrival, .away,
    .speed, .speed_for; links.choice, .up, .down, .start, .bandwidth, .bandwidth_for, .latency,
    .latency_for. Laws: a number or constant(X), uniform(LOW,HIGH), log-uniform(LOW,HIGH),
    exponential(MEAN), weibull(SHAPE,SCALE), lognormal(MEAN,VARIATION), gamma(MEAN,VARIATION).

    Parameters
    ----------
    file : PLATFORM.xml
        A platform file.
    changes : TABLE.toml|KEY=VALUE...
        The changes: files, and keys that override them, such as until=7d, seed=1,
        hosts.model=g5k06-weibull, hosts.choice=chti:4, links.up='exponential(2d)', links.down=10m.
    files : DIR
        Directory for profiles as files; needs --output.
    expand
        Write clusters host by host, so that their links can change.
    _models
        List the published models.
    """
    from simplugin.cli.availability_table import AvailabilityTable
    from simplugin.formats.platform_xml import expanded_platform, read_platform
    from simplugin.formats.profiles import write_profiles
    from simplugin.inputs.validation import validated
    from simplugin.platforms.availability.followers import with_availability

    if files is not None and output is None:
        raise typer.BadParameter("--files needs --output: profiles are named relative to that file")
    table: AvailabilityTable = validated(AvailabilityTable, _document(changes))
    read = read_platform(file)
    platform = with_availability(
        expanded_platform(read) if expand else read, table.until, table.seed, table.availability()
    )
    platform = platform if files is None else write_profiles(platform, files)
    terminal.write_or_print_platform(platform, output)


def _document(changes: list[str]) -> Document:
    """Return the document of files and settings; later ones override earlier ones."""
    from simplugin.inputs.documents import Document, read_toml

    found = [read_toml(each, PlatformError) for each in changes if "=" not in each]
    tables = [
        *(each.content for each in found),
        read_settings(each for each in changes if "=" in each),
    ]
    merged: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            both = isinstance(value, dict) and isinstance(merged.get(key), dict)
            merged[key] = {**merged[key], **value} if both else value
    if len(found) == 1:
        return Document(merged, PlatformError, found[0].file, found[0].text)
    return Document(merged, PlatformError)


def show(file: Path, *, pair: tuple[str, str] | None = None, as_json: bool = False) -> None:
    """Summarise a platform, as the file describes it and as SimGrid loads it.

    Prints the numbers of zones, clusters, hosts, cores, flop/s, links and routes, statistics of
    loading, and whether all hosts reach each other. Exit status: 0 no errors, also with warnings;
    1 errors; 2 the file is not readable.

    Parameters
    ----------
    file : FILE
        A platform file.
    pair : FROM TO
        Also show the route between two hosts.
    as_json
        Print one JSON object instead of tables.
    """
    from simplugin.cli.platform_show import show_command

    raise typer.Exit(show_command(file, pair, as_json=as_json))


def draw(
    platform: Path,
    *,
    output: Path,
    detail: Literal["auto", "hosts", "clusters", "sites"] = "auto",
    title: str = "",
) -> None:
    """Draw a platform: hosts, clusters, sites, and the links between them.

    Parameters
    ----------
    platform : FILE
        A platform file.
    output : IMAGE
        A PNG, SVG or PDF file to write.
    detail
        Show hosts, clusters, or a box for each site; auto: as much as fits on a page.
    title
        Title of the drawing; by default the name of the zone.
    """
    from simplugin.formats.platform_xml import read_platform
    from simplugin.reports.image_files import image_file
    from simplugin.reports.platforms.drawing import draw_platform

    image_file(output)
    draw_platform(read_platform(platform), output, title=title, detail=detail)


def upgrade(file: Path, *, output: Path | None = None) -> None:
    """Rewrite a platform or deployment file in the format of SimGrid 4.1.

    Tags and attributes get their current names, numbers their units; comments and layout are kept.
    Elements without equivalent are errors with their line. A file of version 4.1 is not changed.

    Parameters
    ----------
    file : FILE
        A platform or deployment file of version 3 or 4.
    output : NEW
        The new file; by default it is printed.
    """
    from simplugin.formats.platform_upgrade import upgraded

    terminal.write_or_print(upgraded(file), output, PlatformError)


def read_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Read settings: TOML values, or texts without quotes.

    Parameters
    ----------
    settings : iterable of str
        ``KEY=VALUE`` each; dots in a key lead into tables.

    Raises
    ------
    PlatformError
        A setting is invalid or given twice.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        *above, last = key.split(".")
        if not equals or not all(step.isidentifier() for step in (*above, last)):
            raise PlatformError(f"{setting!r} sets no parameter", remedy="write KEY=VALUE")
        table: Any = values
        for step in above:
            table = table.setdefault(step, {}) if isinstance(table, dict) else None
        if not isinstance(table, dict) or last in table:
            raise PlatformError(f"parameter {key!r} is given twice", remedy="give it once")
        table[last] = _value(key, text)
    return values


def _value(key: str, text: str) -> Any:
    """Read one value."""
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        # A text that starts as a TOML value was meant as one.
        if text and text[0] not in "[{\"'":
            return text
        raise PlatformError(
            f"{key}={text} is not a TOML value: {error}",
            remedy='give e.g. 12, true, 2Gf, [4,4] or {law="uniform",low="1Gf",high="2Gf"}',
        ) from None
    # After a line break the text could set other keys.
    return document["value"] if len(document) == 1 else text


for command in (grid5000, catalogue, multicluster, generate, availability, show, draw, upgrade):
    add_command(platform_app, command)
