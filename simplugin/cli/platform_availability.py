"""``simplugin platform availability``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simplugin.cli import terminal
from simplugin.cli.options import argument, flag, option, output_option
from simplugin.cli.settings import read_settings
from simplugin.core.errors import PlatformError

if TYPE_CHECKING:
    from simplugin.inputs.documents import Document


def _show_models(wanted: bool) -> None:
    """Print a table of the published models and exit."""
    if not wanted:
        return
    from simplugin.platforms.availability.processes import (
        ARCHIVE,
        SCHROEDER_GIBSON,
        SYSTEMS,
        archive_model,
    )

    lines = [f"{'model':<24}{'mean up':>10}{'mean down':>12}{'up':>7}  of"]
    for system, fits in ARCHIVE.items():
        for law in fits:
            model = archive_model(system, law)
            hours = (model.up.mean / 3600, model.down.mean / 3600)
            lines.append(
                f"{system + '-' + law:<24}{hours[0]:>8.1f} h{hours[1]:>10.2f} h"
                f"{model.availability:>7.1%}  {SYSTEMS[system]}"
            )
    lines.append(f"{SCHROEDER_GIBSON + '(T)':<24}{'T':>10}{5.92:>10.2f} h{'':>7}  as lanl05")
    typer.echo("\n".join(lines))
    raise typer.Exit


def availability(
    file: Annotated[Path, argument("PLATFORM.xml", "A platform file.")],
    changes: Annotated[
        list[str],
        argument(
            "TABLE.toml|KEY=VALUE...",
            "The changes: files, and keys that override them, such as until=7d, seed=1,"
            " hosts.model=g5k06-weibull, hosts.choice=chti:4, links.up='exponential(2d)',"
            " links.down=10m.",
        ),
    ],
    output: Annotated[
        Path | None, output_option("FILE", "The platform file; by default it is printed.")
    ] = None,
    files: Annotated[
        Path | None, option("Directory for profiles as files; needs --output.", "DIR")
    ] = None,
    expand: Annotated[
        bool, flag("--expand", "Write clusters host by host, so that their links can change.")
    ] = False,
    _models: Annotated[bool, flag("--models", "List the published models.", _show_models)] = False,
) -> None:
    """Add failures and background load to the hosts and links of a platform.

    Keys: until, seed, spared; hosts.choice, .model, .up, .down, .start, .stay, .arrival, .away,
    .speed, .speed_for; links.choice, .up, .down, .start, .bandwidth, .bandwidth_for, .latency,
    .latency_for. Laws: a number or constant(X), uniform(LOW,HIGH), log-uniform(LOW,HIGH),
    exponential(MEAN), weibull(SHAPE,SCALE), lognormal(MEAN,VARIATION), gamma(MEAN,VARIATION).
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
