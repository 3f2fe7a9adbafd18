"""``simplugin platform grid5000`` and ``simplugin platform catalogue``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.ending import plain_errors


class Interconnect(StrEnum):
    """What hosts of a cluster talk over."""

    ethernet = "ethernet"
    fast = "fast"


def grid5000(
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            metavar="PATH",
            help="The reference: a directory, a tar, a dump of the API, or a catalogue; "
            "the catalogue that comes with simplugin without.",
        ),
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option("--site", metavar="SITE", help="Only this site; may be repeated."),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option("--cluster", metavar="CLUSTER", help="Only this cluster; may be repeated."),
    ] = None,
    latencies: Annotated[
        Path | None,
        typer.Option(
            "--latencies", metavar="FILE.toml", help="Instead of the table that is built in."
        ),
    ] = None,
    interconnect: Annotated[
        Interconnect,
        typer.Option("--interconnect", help="Over InfiniBand or Omni-Path where there is, or not."),
    ] = Interconnect.ethernet,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Write nothing if anything is missing or contradictory."),
    ] = False,
    remarks: Annotated[
        bool, typer.Option("--remarks", help="Tell each remark, not only how many there are.")
    ] = False,
    print_latencies: Annotated[
        bool,
        typer.Option(
            "--print-latencies", help="Print the table of latencies, to be edited and given back."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write it there, not to the terminal."),
    ] = None,
) -> None:
    """Make a platform of Grid'5000, from its reference.

    What the reference lacks or contradicts is told on the standard error. With --strict that is
    an error: exit status 1, and no platform.
    """
    from simplugin.cli.platform.grid5000_making import make, show_latencies

    with plain_errors():
        if print_latencies:
            show_latencies(reference, latencies, output)
            return
        refused = make(
            reference,
            _split("site", site),
            _split("cluster", cluster),
            latencies,
            interconnect.value,
            output,
            strict=strict,
            every=remarks,
        )
        if refused:
            raise typer.Exit(1)


def catalogue(
    reference: Annotated[
        Path, typer.Argument(metavar="REFERENCE", help="A directory, a tar, or a dump of the API.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.json", help="Write it there.")
    ],
    date: Annotated[
        str | None,
        typer.Option("--date", metavar="YYYY-MM", help="Of the reference, if its name lacks it."),
    ] = None,
    remarks: Annotated[
        bool, typer.Option("--remarks", help="Tell each remark, not only how many there are.")
    ] = False,
) -> None:
    """Condense the reference of Grid'5000 to what platforms are made from."""
    from simplugin.cli.platform.grid5000_making import condense

    with plain_errors():
        condense(reference, output, date, every=remarks)


def _split(option: str, names: list[str] | None) -> list[str]:
    """Return names that may stand together, with commas between them."""
    parts = [part.strip() for name in names or () for part in name.split(",")]
    if not all(parts):
        raise typer.BadParameter(f"--{option} has an empty name; leave it out for all")
    return parts
