"""``simplugin platform grid5000`` and ``simplugin platform catalogue``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from simplugin.cli import terminal
from simplugin.core.errors import PlatformError

if TYPE_CHECKING:
    from simplugin.platforms.grid5000.facts import DataWarning, Grid5000

# How warnings of each kind are headed, and counted.
_HEADS = {
    "left-out": "Left out",
    "contradiction": "Contradictory; one of the two is used",
    "assumed": "Missing; assumed",
}
_COUNTED = {"left-out": "left out", "contradiction": "contradictory", "assumed": "assumed"}


@dataclass(frozen=True, kw_only=True)
class SelectionOptions:
    """Options for a part of Grid'5000.

    Attributes
    ----------
    site : SITE
        Only this site; repeatable.
    cluster : CLUSTER
        Only this cluster; repeatable.
    """

    site: list[str] | None = None
    cluster: list[str] | None = None


def grid5000(
    *,
    selection: SelectionOptions,
    reference: Path | None = None,
    latencies: Path | None = None,
    interconnect: Literal["ethernet", "fast"] = "ethernet",
    strict: bool = False,
    warnings: bool = False,
    print_latencies: bool = False,
    output: Path | None = None,
) -> None:
    """Make a platform of Grid'5000 from its reference.

    Missing and contradictory facts are reported on standard error; with --strict they are errors:
    exit status 1, and no platform.

    Parameters
    ----------
    reference : PATH
        The reference: a directory, a tar, a dump of the API, or a catalogue; by default the
        catalogue of this package.
    latencies : FILE.toml
        Table of latencies instead of the built-in one.
    interconnect
        Network of the hosts; fast: InfiniBand or Omni-Path where available.
    strict
        Write nothing if facts are missing or contradictory.
    print_latencies
        Print the table of latencies, as --latencies reads it.
    """
    from simplugin.formats.grid5000.latencies import latencies_text, read_latencies
    from simplugin.platforms.grid5000.facts import concerning, selected
    from simplugin.platforms.grid5000.latencies import Latencies
    from simplugin.platforms.grid5000.platform import FAST, grid5000_platform

    everything, of_all = _facts(reference)
    # The table may cover more than the selection.
    table = Latencies() if latencies is None else read_latencies(latencies, everything)
    if print_latencies:
        text = latencies_text(table.with_places(everything.places))
        terminal.write_or_print(text, output, PlatformError)
        return
    sites, clusters = _split("site", selection.site), _split("cluster", selection.cluster)
    facts = selected(everything, tuple(sites), tuple(clusters), of_all)
    found = concerning(of_all, facts, sites, clusters)
    if strict and found:
        for warning in found:
            typer.echo(f"simplugin: error: {warning}", err=True)
        typer.echo(f"simplugin: nothing is written: {_counts(found)}", err=True)
        raise typer.Exit(1)
    platform = grid5000_platform(facts, table, interconnect)
    _print_warnings(found, every=warnings)
    if interconnect == FAST:
        _print_slow(facts)
    terminal.write_or_print_platform(platform, output)
    if output is not None:
        typer.echo(f"{output}: {_totals(facts)}", err=True)


def catalogue(
    reference: Path, *, output: Path, date: str | None = None, warnings: bool = False
) -> None:
    """Condense the reference of Grid'5000 to the facts that platforms need.

    Parameters
    ----------
    reference : REFERENCE
        A directory, a tar, or a dump of the API.
    output : FILE.json
        The catalogue to write.
    date : YYYY-MM
        Date of the reference, if its name has none.
    """
    from simplugin.formats.grid5000.catalogue import is_catalogue, write_catalogue
    from simplugin.formats.grid5000.reference import read_reference

    if is_catalogue(reference):
        remedy = f"use it directly: simplugin platform grid5000 --reference {reference}"
        raise PlatformError("this is a catalogue already", file=reference, remedy=remedy)
    facts, found = read_reference(reference, date=date)
    write_catalogue(facts, found, output)
    _print_warnings(found, every=warnings)
    typer.echo(f"{output}: {_totals(facts)}", err=True)


def _split(option: str, names: list[str] | None) -> list[str]:
    """Split names at commas."""
    parts = [part.strip() for name in names or () for part in name.split(",")]
    if not all(parts):
        raise typer.BadParameter(f"--{option} has an empty name; remove it to choose all")
    return parts


def _facts(reference: Path | None) -> tuple[Grid5000, tuple[DataWarning, ...]]:
    """Read the facts of a reference, by default of the shipped catalogue."""
    from simplugin.formats.grid5000.catalogue import read_facts, shipped_catalogue

    return shipped_catalogue() if reference is None else read_facts(reference)


def _print_slow(facts: Grid5000) -> None:
    """Print the clusters on Ethernet that also contain nodes with a faster network."""
    from simplugin.platforms.grid5000.platform import is_fast

    for site in facts.sites:
        for cluster in site.clusters:
            kinds: Counter[str] = Counter()
            for group in cluster.groups:
                if group.fast_adapter is not None:
                    kinds[group.fast_adapter.interface] += group.count
            if kinds and not is_fast(cluster):
                counted = ", ".join(f"{count} have {name}" for name, count in kinds.items())
                typer.echo(
                    f"simplugin: {cluster.uid} stays on Ethernet: "
                    f"of {cluster.node_count} nodes {counted}",
                    err=True,
                )


def _print_warnings(warnings: Sequence[DataWarning], *, every: bool) -> None:
    """Print missing and contradictory facts on standard error."""
    if not warnings:
        return
    if not every:
        typer.echo(f"simplugin: {_counts(warnings)}; --warnings lists them", err=True)
        return
    for kind in dict.fromkeys((*_HEADS, *(warning.kind for warning in warnings))):
        if of_kind := [warning for warning in warnings if warning.kind == kind]:
            typer.echo(f"{_HEADS.get(kind, kind)} ({len(of_kind)}):", err=True)
        for warning in of_kind:
            typer.echo(f"  {warning.place}: {warning.message}", err=True)


def _counts(warnings: Iterable[DataWarning]) -> str:
    """Return the number of warnings of each kind."""
    counts = Counter(warning.kind for warning in warnings)
    total = counts.total()
    kinds = ", ".join(
        f"{counts[kind]} {_COUNTED.get(kind, kind)}"
        for kind in dict.fromkeys((*_COUNTED, *counts))
        if counts[kind]
    )
    return f"{total} warning{'' if total == 1 else 's'} about the reference ({kinds})"


def _totals(facts: Grid5000) -> str:
    """Return the numbers of sites, hosts and cores, and the speed."""
    sites = len(facts.sites)
    return (
        f"{sites} site{'' if sites == 1 else 's'}, "
        f"{sum(site.node_count for site in facts.sites):,} hosts, "
        f"{sum(site.core_count for site in facts.sites):,} cores, "
        f"{sum(site.speed for site in facts.sites) / 1e12:,.1f} Tflop/s"
        + (f", facts of {facts.date}" if facts.date else "")
    )
