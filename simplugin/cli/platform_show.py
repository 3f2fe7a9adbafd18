"""``simplugin platform show``: a platform as its file has it, and as SimGrid loads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from simplugin.cli.displays import standard_output
from simplugin.core.errors import PlatformError
from simplugin.core.formatting import readable
from simplugin.core.name_suggestions import did_you_mean
from simplugin.formats.check import exit_status, read_checked
from simplugin.inputs.messages import folded
from simplugin.platforms import Platform
from simplugin.platforms.census import Census, HostPairs, census_of, telling_pairs
from simplugin.platforms.validation import WARNING
from simplugin.reports.tables import print_listings
from simplugin.results.row import Metric, Row
from simplugin.results.tables import ResultTable
from simplugin.simulation.resolve import LoadStatistics, load, resolve

# More lines than a screen has say less.
_MOST_PARTS = 40
_MOST_NAMES = 4
_WALL_LIMIT = 600.0


def show_command(file: Path, pair: tuple[str, str] | None, *, as_json: bool) -> int:
    """Print the summary of a platform; return the exit status."""
    findings, platform = read_checked(file)
    if status := exit_status([each for each in findings if each.severity != WARNING]):
        for line in folded(map(str, findings)):
            typer.echo(line, err=True)
        return status
    if not platform.host_count:
        raise PlatformError(
            "the file has no hosts", file=file, remedy="name a platform, not a deployment"
        )
    if pair is not None:
        _require_hosts(platform, pair, file)
    census, pairs = census_of(platform), telling_pairs(platform)
    loading = load(file, pairs.pairs, wall_limit=_WALL_LIMIT)
    row = _row(file, census, loading, pairs, len(findings))
    listings = [_parts(census)] if census.parts else []
    listings.append(_links(census, loading))
    if census.routes:
        columns = (("element", ""), ("in the file", ""))
        listings.append(ResultTable("Routes", columns, tuple(census.routes.items())))
    if pair is not None:
        listings.append(_route(file, pair))
    if as_json:
        document = {
            "file": str(file),
            **{metric.name: metric.value for metric in row},
            "pairs": loading.asked,
            "pairs_are_all": pairs.complete and loading.asked == len(pairs.pairs),
            "unreachable": [list(lost) for lost in loading.unreachable[:_MOST_PARTS]],
            "unreachable_count": len(loading.unreachable),
            "listings": [listing.document() for listing in listings],
            "findings": [finding.as_dict() for finding in findings],
        }
        typer.echo(json.dumps(document))
        return 0
    print_listings(row, listings, console=standard_output(), title=file.name)
    for line in folded(map(str, findings)):
        typer.echo(line, err=True)
    return 0


def _require_hosts(platform: Platform, pair: tuple[str, str], file: Path) -> None:
    """Refuse names that no host has."""
    names = list(platform.host_names())
    for name in pair:
        if name not in names:
            remedy = did_you_mean(name, names) or f"the hosts are {_shortened(names)}"
            raise PlatformError(f"there is no host {name!r}", file=file, remedy=remedy)
    if pair[0] == pair[1]:
        raise PlatformError(
            f"{pair[0]!r} is both ends of the pair", file=file, remedy="name two hosts"
        )


def _shortened(names: Sequence[str]) -> str:
    """List names, the first and the last if there are many."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(map(repr, names))
    return f"{', '.join(map(repr, names[: _MOST_NAMES - 1]))} ... {names[-1]!r}"


def _row(
    file: Path, census: Census, loading: LoadStatistics, pairs: HostPairs, warnings: int
) -> Row:
    """Return the numbers of a platform, those of its file first."""
    return Row(
        (
            Metric("file_size", file.stat().st_size, "byte"),
            Metric("zones", census.zones),
            Metric("clusters", census.clusters),
            Metric("hosts", census.computing.hosts),
            Metric("cores", census.computing.cores),
            Metric("speed", census.computing.speed, "flop/s"),
            Metric("routes", sum(census.routes.values())),
            Metric("warnings", warnings or None),
            Metric("simgrid_hosts", loading.hosts),
            Metric("simgrid_cores", loading.cores),
            Metric("simgrid_speed", loading.speed, "flop/s"),
            Metric("simgrid_links", sum(loading.links.values())),
            Metric("simgrid_load_time", loading.seconds, "s"),
            Metric("simgrid_load_memory", loading.memory, "byte"),
            Metric("all_hosts_reach_each_other", verdict(pairs, loading)),
        )
    )


def verdict(pairs: HostPairs, loading: LoadStatistics) -> str:
    """Return a sentence on whether all hosts reach each other, with the method of the check."""
    asked = loading.asked
    if loading.unreachable:
        source, destination, _ = loading.unreachable[0]
        lost = f"no: {readable(len(loading.unreachable))} of {readable(asked)} pairs lack a route"
        return f"{lost}, {source} to {destination} is one"
    if not pairs.pairs:
        return "yes: there is one host"
    is_all = pairs.complete and asked == len(pairs.pairs)
    return f"yes, by {readable(asked)} pairs" + ("" if is_all else ", a sample")


def _parts(census: Census) -> ResultTable:
    """Return the zones and clusters, as many as a screen has lines."""
    names = ("name", "kind", "routing", "clusters", "hosts", "cores")
    columns = (*((name, "") for name in names), ("speed", "flop/s"))
    lines = []
    for part in census.parts[:_MOST_PARTS]:
        own, about = part.computing, (part.name, part.kind, part.routing, part.clusters)
        lines.append((*about, own.hosts, own.cores, own.speed))
    more = len(census.parts) - len(lines)
    note = f"and {readable(more)} more" if more else ""
    return ResultTable("Zones and clusters", columns, tuple(lines), note)


def _links(census: Census, loading: LoadStatistics) -> ResultTable:
    """Return how many links there are of each sharing policy."""
    policies = sorted({*census.links, *loading.links})
    return ResultTable(
        "Links by sharing policy",
        (("policy", ""), ("in the file", ""), ("in SimGrid", "")),
        tuple((each, census.links.get(each), loading.links.get(each)) for each in policies),
        "SimGrid adds those of clusters, and has a split-duplex link as two shared ones",
    )


def _route(file: Path, pair: tuple[str, str]) -> ResultTable:
    """Return the links between two hosts, in the order in which they are passed."""
    resolved = resolve(file, [pair], wall_limit=_WALL_LIMIT)
    if resolved.unreachable:
        raise PlatformError(
            f"there is no route from {pair[0]!r} to {pair[1]!r}: {resolved.unreachable[0][2]}",
            file=file,
            remedy="simplugin check names the zone that lacks one",
        )
    [route] = resolved.routes
    links = {link.name: link for link in resolved.links}
    lines = [
        (name, links[name].sharing_policy, links[name].bandwidth, links[name].latency)
        for name in route.links
    ]
    narrowest = min(line[2] for line in lines)
    return ResultTable(
        f"Route from {pair[0]} to {pair[1]}",
        (("link", ""), ("policy", ""), ("bandwidth", "byte/s"), ("latency", "s")),
        tuple(lines),
        f"latency {readable(route.latency, 's')}, narrowest {readable(narrowest, 'byte/s')}",
    )
