"""``simplugin deploy``: a master and workers, or trees of actors, on a platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simplugin.cli.options import argument, flag, option, output_option
from simplugin.cli.terminal import document_stream, own_command
from simplugin.core.errors import DeploymentError

if TYPE_CHECKING:
    from simplugin.platforms.deployment import DeployedActor
    from simplugin.platforms.deployments import ApplicationTree
    from simplugin.platforms.platform import Platform

SHORTEST = "shortest"


# Measures of the length of a path; see `simplugin.platforms.tree_shapes`.
Metric = Literal["latency", "hops", "transfer"]


def deploy(
    platform: Annotated[Path, argument("PLATFORM", "A platform file.")],
    master: Annotated[
        str | None, option("The master, or the root of trees.", "HOST", "-m --master")
    ] = None,
    workers: Annotated[
        str,
        option(
            "all, a number, a zone or cluster, hosts, patterns; several with commas, with"
            " counts: chuque:8,grelon:16. Of a tree: the hosts to be reached.",
            "HOSTS",
            "-w --workers",
        ),
    ] = "all",
    function: Annotated[
        str | None,
        option(
            "Of the master, or of all in a tree.",
            "NAME",
            "-f --function",
            show_default="master; in a tree, node",
        ),
    ] = None,
    worker_function: Annotated[
        str | None,
        option(
            "Of workers, or of all in a tree but its root.",
            "NAME",
            "-F --worker-function",
            show_default="worker; in a tree, that of --function",
        ),
    ] = None,
    argument: Annotated[
        list[str] | None,
        option(
            "Of the master; in a tree of all, before their place in it. {host}, {master},"
            " {workers} and others are filled in; {hosts} becomes an argument a worker.",
            "TEXT",
            "-a --argument",
        ),
    ] = None,
    worker_argument: Annotated[
        list[str] | None,
        option("Likewise; also {number}, {index}.", "TEXT", "-A --worker-argument"),
    ] = None,
    per_host: Annotated[int, option("Workers on each host.", "N", min=1)] = 1,
    spread: Annotated[
        bool, flag("--spread", "Where HOSTS has numbers: evenly, not the first.")
    ] = False,
    tree: Annotated[
        str | None,
        option(
            "Instead of master and workers, a tree of actors for each application: shortest,"
            " zones, star, or a TOML or JSON file with the parent of each host.",
            "SHAPE",
            "-t --tree",
        ),
    ] = None,
    application: Annotated[
        list[str] | None, option("Of a tree, with its root.", "NAME[=HOST]", "-n --application")
    ] = None,
    metric: Annotated[Metric, option("Of the tree of shortest paths.")] = "latency",
    start_time: Annotated[str, option("Of all actors.", "TIME")] = "0s",
    kill_time: Annotated[str | None, option("Of all actors.", "TIME")] = None,
    on_failure: Annotated[
        Literal["DIE", "RESTART"], option("Of all actors but a master: they may start again.")
    ] = "DIE",
    output: Annotated[
        Path | None, output_option("FILE", "Where to write it; else it is shown.")
    ] = None,
) -> None:
    """Deploy a master and workers, or a tree of actors for each of some applications.

    The deployment file begins with the command that made it.
    """
    from simplugin.core.units import parse_time
    from simplugin.formats.platform_xml import deployment_text, read_platform, write_deployment
    from simplugin.platforms.deployment import Deployment
    from simplugin.platforms.deployments import ActorLifetime, ActorProgram, master_workers
    from simplugin.platforms.tree_shapes import require_routes

    read = read_platform(platform)
    if tree is None:
        _refuse("without --tree", {"--application": application})
    else:
        _refuse("with --tree", {"--worker-argument": worker_argument, "--per-host": per_host > 1})
    if tree != SHORTEST:
        _refuse("without --tree shortest", {"--metric": metric != "latency"})
    if tree is None and master is None:
        raise DeploymentError("there is no master", remedy="add --master HOST")
    arguments = argument or ()
    end = None if kill_time is None else parse_time(kill_time)
    lifetime = ActorLifetime(parse_time(start_time), end, on_failure)
    if tree is None:
        deployment = master_workers(
            read,
            str(master),
            workers,
            master_program=ActorProgram(function or "master", arguments),
            worker_program=ActorProgram(worker_function or "worker", worker_argument or ()),
            per_host=per_host,
            spread=spread,
            lifetime=lifetime,
        )
    else:
        actors: list[DeployedActor] = []
        roots = _roots(application or (), master)
        for each in _trees(read, tree, roots, master, workers, metric, spread=spread):
            require_routes(read, each)
            function_of_root = function or "node"
            actors += each.deployment(
                function_of_root, worker_function, arguments, lifetime=lifetime
            ).actors
        deployment = Deployment(tuple(actors))
    if output is not None:
        write_deployment(deployment, output, comment=own_command())
    else:
        document_stream().write(deployment_text(deployment, comment=own_command()))


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
            remedy = f"choose {SHORTEST}, {', '.join(shapes)}, or a file *.toml or *.json"
            raise DeploymentError(f"there is no tree {shape!r}", remedy=remedy)
        _refuse("with a tree from a file", {"--workers": workers != ALL})
        return read_trees(shape, roots or None, master)
    if not roots:
        raise DeploymentError("there is no application", remedy="add --application NAME")
    choice = HostChoice(platform)
    trees = []
    for application, root in roots.items():
        if root is None:
            remedy = f"write --application {application}=HOST, or add --master HOST"
            raise DeploymentError(f"application {application!r} has no root", remedy=remedy)
        choice.require(f"the root of application {application!r},", root)
        hosts = None
        if workers != ALL:
            hosts = choice.chosen(workers, master=root, spread=spread)
        if shape != SHORTEST:
            trees.append(shapes[shape](platform, application, root, hosts))
            continue
        tree = shortest_path_tree(platform, application, root, metric, hosts)
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
            message = f"application {name!r} is there twice"
            raise DeploymentError(message, remedy="name applications apart")
        roots[name] = host if equals else master
    if roots and all("=" in text for text in applications):
        _refuse("where each application has a root", {"--master": master})
    return roots


def _refuse(when: str, options: Mapping[str, object]) -> None:
    """Raise if an option is given that has no effect."""
    for name, value in options.items():
        if value:
            raise DeploymentError(f"{name} means nothing {when}", remedy="leave it out")
