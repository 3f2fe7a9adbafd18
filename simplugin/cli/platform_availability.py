"""``simplugin platform availability``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from simplugin.cli import terminal
from simplugin.cli.options import argument, flag, option, output_option

if TYPE_CHECKING:
    from simplugin.platforms.availability.processes import Levels, Process
    from simplugin.platforms.laws import Law

_HOSTS = "Hosts"
_LINKS = "Links"


def _show_models(wanted: bool) -> None:
    """Print a table of the published models and end."""
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


def _law_option(text: str, panel: str) -> Any:
    """Return an option that takes a law."""
    return typer.Option(metavar="LAW", help=text, rich_help_panel=panel)


def availability(
    file: Annotated[Path | None, argument("PLATFORM.xml", "Whose hosts and links.")] = None,
    until: Annotated[str, option("When changes end, with its unit: 7d.", "TIME")] = "",
    seed: Annotated[int, option("Of all draws.", min=0)] = 0,
    output: Annotated[Path | None, output_option("FILE", "Instead of printing.")] = None,
    files: Annotated[
        Path | None, option("Write profiles to files there; needs --output.", "DIR")
    ] = None,
    expand: Annotated[
        bool, flag("--expand", "Write clusters out: only so their links can change.")
    ] = False,
    spared: Annotated[
        str | None, option("What is left as it is; see --hosts and --links.", "A,B,...")
    ] = None,
    _models: Annotated[
        bool,
        option(
            "List the published models.", None, "--models", callback=_show_models, is_eager=True
        ),
    ] = False,
    hosts: Annotated[
        str | None,
        option(
            "all, a number, hosts, clusters, zones, patterns; with counts: chti:4.",
            "A,B,...",
            rich_help_panel=_HOSTS,
            show_default="all",
        ),
    ] = None,
    model: Annotated[
        str, option("Published failures, see --models.", "NAME", rich_help_panel=_HOSTS)
    ] = "",
    up: Annotated[str, _law_option("How long up.", _HOSTS)] = "",
    down: Annotated[str, _law_option("How long down.", _HOSTS)] = "",
    start: Annotated[
        Literal["stationary", "up"] | None,
        option("All up at 0, or as at any date; also for links.", show_default="stationary"),
    ] = None,
    stay: Annotated[str, _law_option("Churn: how long there.", _HOSTS)] = "",
    arrival: Annotated[str, _law_option("Churn: when first.", _HOSTS)] = "",
    away: Annotated[str, _law_option("Churn: how long away; else for good.", _HOSTS)] = "",
    speed: Annotated[str, _law_option("Fraction of the speed left.", _HOSTS)] = "",
    speed_for: Annotated[str, _law_option("How long each lasts.", _HOSTS)] = "",
    links: Annotated[
        str | None,
        option(
            "all, links, zones, patterns. Those that limit nothing (fat pipes without"
            " latency) only by name.",
            "A,B,...",
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
    from simplugin.core.errors import UnitError
    from simplugin.core.units import parse_time
    from simplugin.formats.platform_xml import expanded_platform, read_platform
    from simplugin.formats.profiles import write_profiles
    from simplugin.platforms.availability import processes
    from simplugin.platforms.availability.followers import Availability, with_availability
    from simplugin.platforms.laws import parse_law, read_duration

    if file is None or not until:
        raise typer.BadParameter("give a platform file and --until, or --models")
    if files is not None and output is None:
        raise typer.BadParameter("--files needs --output: profiles are named relative to that file")

    def law(text: str) -> Law:
        return parse_law(text, parse_time)

    def levels(most: float = 1.0, **given: str) -> Levels | None:
        level, duration = given.values()
        return processes.Levels(parse_law(level), law(duration), most) if _both(**given) else None

    start_as = start or "stationary"
    states: Process | None = None
    link_states = None
    if model and (up or down):
        raise typer.BadParameter("give --model, or --up and --down")
    if model:
        states = processes.model_named(model, start_as)
    elif _both(up=up, down=down):
        states = processes.Outages(law(up), law(down), start_as)
    elif stay:
        others = (law(each) if each else None for each in (arrival, away))
        states = processes.Churn(law(stay), *others)
    elif arrival or away:
        raise typer.BadParameter("--arrival and --away need --stay")
    speeds = levels(speed=speed, speed_for=speed_for)
    if _both(link_up=link_up, link_down=link_down):
        link_states = processes.Outages(law(link_up), law(link_down), start_as)
    bandwidths = levels(bandwidth=bandwidth, bandwidth_for=bandwidth_for)
    latencies = levels(float("inf"), latency=latency, latency_for=latency_for)
    of_links = link_states or bandwidths or latencies
    if not (states or speeds or of_links):
        raise typer.BadParameter(
            "say what changes: --model, --up and --down, --stay, --speed, --link-up"
        )
    if stay and (model or up):
        raise typer.BadParameter("give outages or churn, not both")
    _require_use("start", start, model or up or link_up, "--model, --up or --link-up")
    _require_use("hosts", hosts, states or speeds, "--model, --up, --stay or --speed")
    _require_use("links", links, of_links, "--link-up, --bandwidth or --latency")
    read = read_platform(file)
    try:
        end = read_duration(until)
    except UnitError as error:
        raise typer.BadParameter(f"--until: {error}") from None
    platform = with_availability(
        expanded_platform(read) if expand else read,
        end,
        seed,
        Availability(
            hosts="all" if hosts is None else hosts,
            states=states,
            speeds=speeds,
            links="all" if links is None else links,
            link_states=link_states,
            bandwidths=bandwidths,
            latencies=latencies,
            spared=() if spared is None else spared,
        ),
    )
    terminal.put(write_profiles(platform, files) if files is not None else platform, output)


def _require_use(option: str, given: object, used: object, users: str) -> None:
    """Refuse an option without those that use it."""
    if given is not None and not used:
        raise typer.BadParameter(f"--{option} means nothing without {users}")


def _both(**options: str) -> bool:
    """Return True if two options are given, False if neither is; raise if one is."""
    if any(options.values()) and not all(options.values()):
        names = " and ".join(f"--{name.replace('_', '-')}" for name in options)
        raise typer.BadParameter(f"{names} go together")
    return all(options.values())
