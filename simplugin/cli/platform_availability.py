"""``simplugin platform availability``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simplugin.cli import terminal
from simplugin.cli.options import output_option

if TYPE_CHECKING:
    from simplugin.platforms.availability.processes import Levels, Outages, Process
    from simplugin.platforms.laws import Law

_HOSTS = "Hosts"
_LINKS = "Links"


class Start(StrEnum):
    """States at time 0."""

    stationary = "stationary"
    up = "up"


def _show_models(wanted: bool) -> None:
    """Print the published models and end."""
    if wanted:
        typer.echo(_models_text())
        raise typer.Exit


def _law_option(text: str, panel: str) -> Any:
    """Return an option that takes a law."""
    return typer.Option(metavar="LAW", help=text, rich_help_panel=panel)


def availability(
    file: Annotated[
        Path | None, typer.Argument(metavar="PLATFORM.xml", help="Whose hosts and links.")
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="TIME", help="When changes end, with its unit: 7d.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of all draws.")] = 0,
    output: Annotated[Path | None, output_option("FILE", "Instead of printing.")] = None,
    files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write profiles to files there; needs --output."),
    ] = None,
    expand: Annotated[
        bool,
        typer.Option("--expand", help="Write clusters out: only so their links can change."),
    ] = False,
    spared: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="What is left as it is; see --hosts and --links."),
    ] = None,
    _models: Annotated[
        bool,
        typer.Option(
            "--models", callback=_show_models, is_eager=True, help="List the published models."
        ),
    ] = False,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="all, a number, hosts, clusters, zones, patterns; with counts: chti:4.",
            rich_help_panel=_HOSTS,
            show_default="all",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Published failures, see --models.", rich_help_panel=_HOSTS
        ),
    ] = "",
    up: Annotated[str, _law_option("How long up.", _HOSTS)] = "",
    down: Annotated[str, _law_option("How long down.", _HOSTS)] = "",
    start: Annotated[
        Start | None,
        typer.Option(
            help="All up at 0, or as at any date; also for links.", show_default="stationary"
        ),
    ] = None,
    stay: Annotated[str, _law_option("Churn: how long there.", _HOSTS)] = "",
    arrival: Annotated[str, _law_option("Churn: when first.", _HOSTS)] = "",
    away: Annotated[str, _law_option("Churn: how long away; else for good.", _HOSTS)] = "",
    speed: Annotated[str, _law_option("Fraction of the speed left.", _HOSTS)] = "",
    speed_for: Annotated[str, _law_option("How long each lasts.", _HOSTS)] = "",
    links: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="all, links, zones, patterns. Those that limit nothing (fat pipes without"
            " latency) only by name.",
            rich_help_panel=_LINKS,
            show_default="all",
        ),
    ] = None,
    link_up: Annotated[str, _law_option("How long up.", _LINKS)] = "",
    link_down: Annotated[str, _law_option("How long down.", _LINKS)] = "",
    bandwidth: Annotated[str, _law_option("Fraction of it left.", _LINKS)] = "",
    bandwidth_for: Annotated[str, _law_option("How long each lasts.", _LINKS)] = "",
    latency: Annotated[str, _law_option("Its growth, a factor.", _LINKS)] = "",
    latency_for: Annotated[str, _law_option("How long each lasts.", _LINKS)] = "",
) -> None:
    """Let hosts and links of a platform fail and come back, and bear the load of others.

    LAW is a number or constant(X), uniform(LOW,HIGH), log-uniform(LOW,HIGH), exponential(MEAN),
    weibull(SHAPE,SCALE), lognormal(MEAN,VARIATION) or gamma(MEAN,VARIATION), with times such as
    90s, 2h, 3d; variation is the standard deviation over the mean.
    """
    from simplugin.formats.platform_xml import expanded_platform, read_platform
    from simplugin.formats.profiles import write_profiles
    from simplugin.platforms.availability.followers import with_availability

    if file is None or not until:
        raise typer.BadParameter("give a platform file and --until, or --models")
    if files is not None and output is None:
        raise typer.BadParameter("--files needs --output: profiles are named relative to that file")
    start_as = (start or Start.stationary).value
    processes: dict[str, Process | Levels | None] = {
        "states": _states(model, up, down, start_as)
        or _churn(stay=stay, arrival=arrival, away=away),
        "speeds": _levels("speed", speed, speed_for),
        "link_states": _outages("link-up", link_up, "link-down", link_down, start_as),
        "bandwidths": _levels("bandwidth", bandwidth, bandwidth_for),
        "latencies": _levels("latency", latency, latency_for, most=float("inf")),
    }
    if not any(processes.values()):
        raise typer.BadParameter(
            "say what changes: --model, --up and --down, --stay, --speed, --link-up"
        )
    if stay and (model or up):
        raise typer.BadParameter("give outages or churn, not both")
    _require_use("start", start, model or up or link_up, "--model, --up or --link-up")
    of_hosts = processes["states"] or processes["speeds"]
    _require_use("hosts", hosts, of_hosts, "--model, --up, --stay or --speed")
    of_links = any(processes[name] for name in ("link_states", "bandwidths", "latencies"))
    _require_use("links", links, of_links, "--link-up, --bandwidth or --latency")
    read = read_platform(file)
    platform = with_availability(
        expanded_platform(read) if expand else read,
        _time("until", until),
        seed,
        hosts="all" if hosts is None else hosts,
        links="all" if links is None else links,
        spared=() if spared is None else spared,
        **processes,  # type: ignore[arg-type]
    )
    terminal.put(write_profiles(platform, files) if files is not None else platform, output)


def _require_use(option: str, given: object, used: object, users: str) -> None:
    """Refuse an option without those that use it."""
    if given is not None and not used:
        raise typer.BadParameter(f"--{option} means nothing without {users}")


def _time(option: str, text: str) -> float:
    """Read a time that has a unit."""
    from simplugin.errors import UnitError
    from simplugin.platforms.laws import read_duration

    try:
        return read_duration(text)
    except UnitError as error:
        raise typer.BadParameter(f"--{option}: {error}") from None


def _law(text: str) -> Law:
    """Read a law of durations."""
    from simplugin.platforms.laws import parse_law
    from simplugin.units import parse_time

    return parse_law(text, parse_time)


def _states(model: str, up: str, down: str, start: str) -> Outages | None:
    """Return when hosts are on, by a published model or by laws."""
    from simplugin.platforms.availability.processes import model_named

    if not model:
        return _outages("up", up, "down", down, start)
    if up or down:
        raise typer.BadParameter("give --model, or --up and --down")
    return model_named(model, start)


def _outages(first: str, up: str, second: str, down: str, start: str) -> Outages | None:
    """Return outages, None where neither law is given."""
    from simplugin.platforms.availability.processes import Outages

    if not up and not down:
        return None
    if not up or not down:
        raise typer.BadParameter(f"--{first} and --{second} go together")
    return Outages(_law(up), _law(down), start)


def _churn(*, stay: str, arrival: str, away: str) -> Process | None:
    """Return who joins and leaves, None where no law is given."""
    from simplugin.platforms.availability.processes import Churn

    if not stay:
        if arrival or away:
            raise typer.BadParameter("--arrival and --away need --stay")
        return None
    return Churn(_law(stay), _law(arrival) if arrival else None, _law(away) if away else None)


def _levels(option: str, level: str, duration: str, most: float = 1.0) -> Levels | None:
    """Return levels, None where neither law is given."""
    from simplugin.platforms.availability.processes import Levels
    from simplugin.platforms.laws import parse_law

    if not level and not duration:
        return None
    if not level or not duration:
        raise typer.BadParameter(f"--{option} and --{option}-for go together")
    return Levels(parse_law(level), _law(duration), most)


def _models_text() -> str:
    """Return a table of the published models."""
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
    return "\n".join(lines)
