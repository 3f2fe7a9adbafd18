"""What ``simplugin platform grid5000`` and ``simplugin platform catalogue`` do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer

from simplugin.cli.platform.writing import put
from simplugin.errors import PlatformError
from simplugin.formats.grid5000.catalogue import (
    is_catalogue,
    read_facts,
    shipped_catalogue,
    write_catalogue,
)
from simplugin.formats.grid5000.latencies import latencies_text, read_latencies
from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms.grid5000.latencies import Latencies
from simplugin.platforms.grid5000.platform import FAST, grid5000_platform, is_fast
from simplugin.platforms.grid5000.selection import concerning, selected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from simplugin.platforms.grid5000.facts import Grid5000, Remark

# How remarks of each kind are headed, and counted.
_HEADS = {
    "left-out": "Left out",
    "contradiction": "Contradictory; one of the two was believed",
    "assumed": "Missing; assumed instead",
}
_COUNTED = {"left-out": "left out", "contradiction": "contradictory", "assumed": "assumed"}


def make(
    reference: Path | None,
    sites: Sequence[str],
    clusters: Sequence[str],
    latencies: Path | None,
    interconnect: str,
    output: Path | None,
    *,
    strict: bool,
    every: bool,
) -> bool:
    """Make a platform; return whether remarks stood against it."""
    everything, remarks = _facts(reference)
    # A table may say more than the selection needs.
    table = Latencies() if latencies is None else read_latencies(latencies, everything)
    facts = selected(everything, tuple(sites), tuple(clusters), remarks)
    told = concerning(remarks, facts, sites, clusters)
    if strict and told:
        for remark in told:
            typer.echo(f"simplugin: error: {remark}", err=True)
        typer.echo(f"simplugin: nothing is written: {_counts(told)}", err=True)
        return True
    platform = grid5000_platform(facts, table, interconnect)
    _tell(told, every=every)
    if interconnect == FAST:
        _tell_slow(facts)
    put(platform, output)
    if output is not None:
        typer.echo(f"{output}: {_totals(facts)}", err=True)
    return False


def show_latencies(reference: Path | None, latencies: Path | None, output: Path | None) -> None:
    """Print the table of latencies in force."""
    facts, _ = _facts(reference)
    table = Latencies() if latencies is None else read_latencies(latencies, facts)
    text = latencies_text(table.with_places(facts.places))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        remedy = "give a path that you may write"
        raise PlatformError(str(error.strerror), file=output, remedy=remedy) from None


def condense(reference: Path, output: Path, date: str | None, *, every: bool) -> None:
    """Write a catalogue of what a reference says."""
    if is_catalogue(reference):
        remedy = f"use it as it is: simplugin platform grid5000 --reference {reference}"
        raise PlatformError("this is a catalogue already", file=reference, remedy=remedy)
    facts, remarks = read_reference(reference, date=date)
    write_catalogue(facts, remarks, output)
    _tell(remarks, every=every)
    typer.echo(f"{output}: {_totals(facts)}", err=True)


def _facts(reference: Path | None) -> tuple[Grid5000, tuple[Remark, ...]]:
    """Read what is known."""
    return shipped_catalogue() if reference is None else read_facts(reference)


def _tell_slow(facts: Grid5000) -> None:
    """Say which clusters stay on Ethernet though some of their nodes have something faster."""
    for site in facts.sites:
        for cluster in site.clusters:
            kinds: Counter[str] = Counter()
            for group in cluster.groups:
                if group.fast_adapter is not None:
                    kinds[group.fast_adapter.interface] += group.count
            if kinds and not is_fast(cluster):
                told = ", ".join(f"{count} have {name}" for name, count in kinds.items())
                typer.echo(
                    f"simplugin: {cluster.uid} stays on Ethernet: "
                    f"of {cluster.node_count} nodes {told}",
                    err=True,
                )


def _tell(remarks: Sequence[Remark], *, every: bool) -> None:
    """Say on the standard error what was found missing or contradictory."""
    if not remarks:
        return
    if not every:
        typer.echo(f"simplugin: {_counts(remarks)}; --remarks tells them", err=True)
        return
    for kind in dict.fromkeys((*_HEADS, *(remark.kind for remark in remarks))):
        of_kind = [remark for remark in remarks if remark.kind == kind]
        if of_kind:
            typer.echo(f"{_HEADS.get(kind, kind)} ({len(of_kind)}):", err=True)
        for remark in of_kind:
            typer.echo(f"  {remark.place}: {remark.message}", err=True)


def _counts(remarks: Iterable[Remark]) -> str:
    """Say how many remarks there are of each kind."""
    counts = Counter(remark.kind for remark in remarks)
    total = counts.total()
    kinds = ", ".join(
        f"{counts[kind]} {_COUNTED.get(kind, kind)}"
        for kind in dict.fromkeys((*_COUNTED, *counts))
        if counts[kind]
    )
    return f"{total} remark{'' if total == 1 else 's'} on the reference ({kinds})"


def _totals(facts: Grid5000) -> str:
    """Say how much there is."""
    sites = len(facts.sites)
    return (
        f"{sites} site{'' if sites == 1 else 's'}, "
        f"{sum(site.node_count for site in facts.sites):,} hosts, "
        f"{sum(site.core_count for site in facts.sites):,} cores, "
        f"{sum(site.speed for site in facts.sites) / 1e12:,.1f} Tflop/s"
        + (f", facts of {facts.date}" if facts.date else "")
    )
