"""``simplugin deploy``: a master and workers, or trees of actors, on a platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simplugin.cli.options import output_option
from simplugin.cli.terminal import own_command
from simplugin.errors import DeploymentError

if TYPE_CHECKING:
    from simplugin.platforms.deployment import DeployedActor
    from simplugin.platforms.deployments import ApplicationTree
    from simplugin.platforms.platform import Platform

SHORTEST = "shortest"


class Metric(StrEnum):
    """Measures of the length of a path; see `simplugin.platforms.tree_shapes`."""

    latency = "latency"
    hops = "hops"
    transfer = "transfer"


class OnFailure(StrEnum):
    """Fates of an actor whose host fails and comes back."""

    DIE = "DIE"
    RESTART = "RESTART"


def deploy(
    platform: Annotated[Path, typer.Argument(metavar="PLATFORM", help="A platform file.")],
    master: Annotated[
        str | None,
        typer.Option("-m", "--master", metavar="HOST", help="The master, or the root of trees."),
    ] = None,
    workers: Annotated[
        str,
        typer.Option(
            "-w",
            "--workers",
            metavar="HOSTS",
            help="all, a number, a zone or cluster, hosts, patterns; several with commas, with"
            " counts: chuque:8,grelon:16. Of a tree: the hosts to be reached.",
        ),
    ] = "all",
    function: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--function",
            metavar="NAME",
            help="Of the master, or of all in a tree.",
            show_default="master; in a tree, node",
        ),
    ] = None,
    worker_function: Annotated[
        str | None,
        typer.Option(
            "-F",
            "--worker-function",
            metavar="NAME",
            help="Of workers, or of all in a tree but its root.",
            show_default="worker; in a tree, that of --function",
        ),
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--argument",
            metavar="TEXT",
            help="Of the master; in a tree of all, before their place in it. {host}, {master},"
            " {workers} and others are filled in; {hosts} becomes an argument a worker.",
        ),
    ] = None,
    worker_argument: Annotated[
        list[str] | None,
        typer.Option(
            "-A", "--worker-argument", metavar="TEXT", help="Likewise; also {number}, {index}."
        ),
    ] = None,
    per_host: Annotated[
        int, typer.Option("--per-host", metavar="N", min=1, help="Workers on each host.")
    ] = 1,
    spread: Annotated[
        bool, typer.Option("--spread", help="Where HOSTS has numbers: evenly, not the first.")
    ] = False,
    tree: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--tree",
            metavar="SHAPE",
            help="Instead of master and workers, a tree of actors for each application: shortest,"
            " zones, star, or a TOML or JSON file with the parent of each host.",
        ),
    ] = None,
    application: Annotated[
        list[str] | None,
        typer.Option(
            "-n", "--application", metavar="NAME[=HOST]", help="Of a tree, with its root."
        ),
    ] = None,
    metric: Annotated[
        Metric, typer.Option("--metric", help="Of the tree of shortest paths.")
    ] = Metric.latency,
    start_time: Annotated[
        str, typer.Option("--start-time", metavar="TIME", help="Of all actors.")
    ] = "0s",
    kill_time: Annotated[
        str | None, typer.Option("--kill-time", metavar="TIME", help="Of all actors.")
    ] = None,
    on_failure: Annotated[
        OnFailure,
        typer.Option("--on-failure", help="Of all actors but a master: they may start again."),
    ] = OnFailure.DIE,
    output: Annotated[
        Path | None, output_option("FILE", "Where to write it; else it is shown.")
    ] = None,
) -> None:
    """Deploy a master and workers, or a tree of actors for each of some applications.

    The deployment file begins with the command that made it.
    """
    from simplugin.formats.platform_xml import deployment_text, read_platform, write_deployment
    from simplugin.platforms.deployment import Deployment
    from simplugin.platforms.deployments import master_workers
    from simplugin.platforms.tree_shapes import require_routes
    from simplugin.units import parse_time

    read = read_platform(platform)
    if tree is None:
        _refuse("without --tree", {"--application": application})
    else:
        several = {"--worker-argument": worker_argument, "--per-host": per_host > 1}
        _refuse("with --tree", several)
    if tree != SHORTEST:
        _refuse("without --tree shortest", {"--metric": metric != Metric.latency})
    if tree is None and master is None:
        raise DeploymentError("there is no master", remedy="add --master HOST")
    start = parse_time(start_time)
    kill = None if kill_time is None else parse_time(kill_time)
    arguments = argument or ()
    if tree is None:
        deployment = master_workers(
            read,
            str(master),
            workers,
            function=function or "master",
            worker_function=worker_function or "worker",
            arguments=arguments,
            worker_arguments=worker_argument or (),
            per_host=per_host,
            spread=spread,
            start_time=start,
            kill_time=kill,
            on_failure=on_failure.value,
        )
    else:
        actors: list[DeployedActor] = []
        roots = _roots(application or (), master)
        for each in _trees(read, tree, roots, master, workers, metric, spread=spread):
            require_routes(read, each)
            actors += each.deployment(
                function or "node",
                worker_function,
                arguments,
                start_time=start,
                kill_time=kill,
                on_failure=on_failure.value,
            ).actors
        deployment = Deployment(tuple(actors))
    if output is not None:
        write_deployment(deployment, output, comment=own_command())
    else:
        typer.echo(deployment_text(deployment, comment=own_command()), nl=False)


def _trees(
    platform: Platform,
    shape: str,
    roots: dict[str, str | None],
    master: str | None,
    workers: str,
    metric: Metric,
    *,
    spread: bool,
) -> Iterable[ApplicationTree]:
    """Return the tree of each application, from a file or from the shape of the platform."""
    from simplugin.formats.deployment_trees import read_trees
    from simplugin.platforms.host_choices import ALL, HostChoice
    from simplugin.platforms.tree_shapes import shortest_path_tree, star_tree, zone_tree

    shapes = {"star": star_tree, "zones": zone_tree}
    if shape not in (SHORTEST, *shapes):
        if Path(shape).suffix.lower() not in {".toml", ".json"}:
            raise DeploymentError(
                f"there is no tree {shape!r}",
                remedy=f"choose {SHORTEST}, {', '.join(shapes)}, or a file *.toml or *.json",
            )
        _refuse("with a tree from a file", {"--workers": workers != ALL})
        return read_trees(shape, roots or None, master)
    if not roots:
        raise DeploymentError("there is no application", remedy="add --application NAME")
    choice = HostChoice(platform)
    trees = []
    for application, root in roots.items():
        if root is None:
            raise DeploymentError(
                f"application {application!r} has no root",
                remedy=f"write --application {application}=HOST, or add --master HOST",
            )
        choice.require(f"the root of application {application!r},", root)
        hosts = None
        if workers != ALL:
            hosts = choice.chosen(workers, master=root, spread=spread)
        if shape != SHORTEST:
            trees.append(shapes[shape](platform, application, root, hosts))
            continue
        tree = shortest_path_tree(platform, application, root, metric.value, hosts)
        left = platform.host_count - len(tree.hosts)
        if hosts is None and left:
            lost = f"no path leads from {root!r} to {left} host{'s' * (left > 1)}, left out"
            typer.echo(f"application {application!r}: {lost}", err=True)
        trees.append(tree)
    return trees


def _roots(applications: Sequence[str], master: str | None) -> dict[str, str | None]:
    """Return the applications, each with its root, by default the master."""
    roots: dict[str, str | None] = {}
    for text in applications:
        name, equals, host = text.partition("=")
        if name in roots:
            raise DeploymentError(
                f"application {name!r} is there twice", remedy="name applications apart"
            )
        roots[name] = host if equals else master
    if roots and all("=" in text for text in applications):
        _refuse("where each application has a root", {"--master": master})
    return roots


def _refuse(when: str, options: Mapping[str, object]) -> None:
    """Raise if an option is given that has no effect."""
    for option, value in options.items():
        if value:
            raise DeploymentError(f"{option} means nothing {when}", remedy="leave it out")
