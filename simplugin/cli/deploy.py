"""``simplugin deploy``: a master and workers, or trees of actors, on a platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simplugin.cli.terminal import command_line, write_or_print
from simplugin.core.errors import DeploymentError
from simplugin.core.formatting import counted

if TYPE_CHECKING:
    from simplugin.platforms.deployment import DeployedActor, Deployment
    from simplugin.platforms.deployments import ActorLifetime, ApplicationTree
    from simplugin.platforms.platform import Platform

SHORTEST = "shortest"


@dataclass(frozen=True, kw_only=True)
class HostOptions:
    """Options for the hosts of actors.

    Attributes
    ----------
    master : HOST
        Host of the master, or root of the trees.
    workers : HOSTS
        Hosts of workers, or hosts that trees must reach: all, a number, a zone or cluster, hosts,
        patterns; several with commas, with counts: chuque:8,grelon:16.
    per_host : N
        Number of workers on each host.
    spread
        Choose counted hosts evenly instead of the first ones.
    """

    master: str | None = None
    workers: str = "all"
    per_host: Annotated[int, typer.Option(min=1)] = 1
    spread: bool = False


@dataclass(frozen=True, kw_only=True)
class ActorOptions:
    """Options for the functions, arguments and lifetime of actors.

    Attributes
    ----------
    function : NAME
        Function of the master, or of all actors in a tree.
    worker_function : NAME
        Function of workers, or of all actors in a tree except the root.
    argument : TEXT
        Argument of the master; in a tree of all actors, before their place in it. {host},
        {master}, {workers} and others are replaced; {hosts} becomes one argument for each worker.
    worker_argument : TEXT
        Argument of workers; also {number} and {index} are replaced.
    start_time : TIME
        Start of all actors.
    kill_time : TIME
        Date at which all actors are killed.
    on_failure
        Fate of actors other than a master when their host fails and comes back.
    """

    function: Annotated[str | None, typer.Option(show_default="master; in a tree, node")] = None
    worker_function: Annotated[
        str | None, typer.Option(show_default="worker; in a tree, that of --function")
    ] = None
    argument: list[str] | None = None
    worker_argument: list[str] | None = None
    start_time: str = "0s"
    kill_time: str | None = None
    on_failure: Literal["DIE", "RESTART"] = "DIE"

    def lifetime(self) -> ActorLifetime:
        """Return the lifetime of the actors."""
        from simplugin.core.units import parse_time
        from simplugin.platforms.deployments import ActorLifetime

        end = None if self.kill_time is None else parse_time(self.kill_time)
        return ActorLifetime(parse_time(self.start_time), end, self.on_failure)


@dataclass(frozen=True, kw_only=True)
class TreeOptions:
    """Options for trees of actors.

    Attributes
    ----------
    tree : SHAPE
        A tree of actors for each application instead of master and workers: shortest, zones, star,
        or a TOML or JSON file with the parent of each host.
    application : NAME[=HOST]
        Name of an application, and root of its tree.
    metric
        Length of a path in a tree of shortest paths.
    """

    tree: str | None = None
    application: list[str] | None = None
    metric: Literal["latency", "hops", "transfer"] = "latency"


def deploy(
    platform: Path,
    *,
    hosts: HostOptions,
    actors: ActorOptions,
    trees: TreeOptions,
    output: Path | None = None,
) -> None:
    """Deploy a master and workers, or a tree of actors for each of some applications.

    The deployment file begins with the command that made it.

    Parameters
    ----------
    platform : PLATFORM
        A platform file.
    output : FILE
        The deployment file; by default it is printed.
    """
    from simplugin.formats.platform_xml import deployment_text, read_platform

    if trees.tree is None:
        _refuse("without --tree", {"--application": trees.application})
    else:
        given = {"--worker-argument": actors.worker_argument, "--per-host": hosts.per_host > 1}
        _refuse("with --tree", given)
    if trees.tree != SHORTEST:
        _refuse("without --tree shortest", {"--metric": trees.metric != "latency"})
    read = read_platform(platform)
    if trees.tree is None:
        deployment = _workers(read, hosts, actors)
    else:
        deployment = _tree_actors(read, hosts, actors, trees)
    write_or_print(deployment_text(deployment, comment=command_line()), output, DeploymentError)


def _workers(platform: Platform, hosts: HostOptions, actors: ActorOptions) -> Deployment:
    """Deploy a master and workers."""
    from simplugin.platforms.deployments import ActorProgram, master_workers

    if hosts.master is None:
        raise DeploymentError("there is no master", remedy="add --master HOST")
    return master_workers(
        platform,
        hosts.master,
        hosts.workers,
        master_program=ActorProgram(actors.function or "master", actors.argument or ()),
        worker_program=ActorProgram(
            actors.worker_function or "worker", actors.worker_argument or ()
        ),
        per_host=hosts.per_host,
        spread=hosts.spread,
        lifetime=actors.lifetime(),
    )


def _tree_actors(
    platform: Platform, hosts: HostOptions, actors: ActorOptions, trees: TreeOptions
) -> Deployment:
    """Deploy the actors of each application's tree."""
    from simplugin.platforms.deployment import Deployment
    from simplugin.platforms.tree_shapes import require_routes

    deployed: list[DeployedActor] = []
    for each in _trees(platform, hosts, trees):
        require_routes(platform, each)
        deployed += each.deployment(
            actors.function or "node",
            actors.worker_function,
            actors.argument or (),
            lifetime=actors.lifetime(),
        ).actors
    return Deployment(tuple(deployed))


def _trees(platform: Platform, hosts: HostOptions, trees: TreeOptions) -> Iterable[ApplicationTree]:
    """Return the tree of each application, from a file or from the shape of the platform."""
    from simplugin.formats.deployment_trees import read_trees
    from simplugin.platforms.host_choices import ALL, HostChoice
    from simplugin.platforms.tree_shapes import shortest_path_tree, star_tree, zone_tree

    shapes = {"star": star_tree, "zones": zone_tree}
    shape, roots = str(trees.tree), _roots(trees.application or (), hosts.master)
    if shape not in (SHORTEST, *shapes):
        if Path(shape).suffix.lower() not in {".toml", ".json"}:
            remedy = f"choose {SHORTEST}, {', '.join(shapes)}, or a file *.toml or *.json"
            raise DeploymentError(f"there is no tree {shape!r}", remedy=remedy)
        _refuse("with a tree from a file", {"--workers": hosts.workers != ALL})
        return read_trees(shape, roots or None, hosts.master)
    if not roots:
        raise DeploymentError("there is no application", remedy="add --application NAME")
    choice = HostChoice(platform)
    made = []
    for application, root in roots.items():
        if root is None:
            remedy = f"write --application {application}=HOST, or add --master HOST"
            raise DeploymentError(f"application {application!r} has no root", remedy=remedy)
        choice.require(f"the root of application {application!r},", root)
        reached = None
        if hosts.workers != ALL:
            reached = choice.chosen(hosts.workers, master=root, spread=hosts.spread)
        if shape != SHORTEST:
            made.append(shapes[shape](platform, application, root, reached))
            continue
        tree = shortest_path_tree(platform, application, root, trees.metric, reached)
        left = platform.host_count - len(tree.hosts)
        if reached is None and left:
            lost = f"no path leads from {root!r} to {counted(left, 'host')}, left out"
            typer.echo(f"application {application!r}: {lost}", err=True)
        made.append(tree)
    return made


def _roots(applications: Sequence[str], master: str | None) -> dict[str, str | None]:
    """Return the applications, each with its root, by default the master."""
    roots: dict[str, str | None] = {}
    for text in applications:
        name, equals, host = text.partition("=")
        if name in roots:
            message = f"application {name!r} is given twice"
            raise DeploymentError(message, remedy="give each application its own name")
        roots[name] = host if equals else master
    if roots and all("=" in text for text in applications):
        _refuse("where each application has a root", {"--master": master})
    return roots


def _refuse(when: str, options: Mapping[str, object]) -> None:
    """Raise if an option is given that has no effect."""
    for name, value in options.items():
        if value:
            raise DeploymentError(f"{name} has no effect {when}", remedy="remove it")
