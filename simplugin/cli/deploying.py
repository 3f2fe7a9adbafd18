"""What ``simplugin deploy`` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from simplugin.cli.platform.writing import own_command
from simplugin.errors import DeploymentError
from simplugin.formats.deployment_trees import read_trees
from simplugin.formats.deployment_xml import deployment_text, write_deployment
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.deployment import Deployment
from simplugin.platforms.deployments import master_workers
from simplugin.platforms.host_choices import ALL, HostChoice
from simplugin.platforms.tree_shapes import (
    LATENCY,
    require_routes,
    shortest_path_tree,
    star_tree,
    zone_tree,
)
from simplugin.units import parse_time

if TYPE_CHECKING:
    from simplugin.platforms.application_trees import ApplicationTree
    from simplugin.platforms.deployment import DeployedActor
    from simplugin.platforms.platform import Platform

SHORTEST = "shortest"
SHAPES = {"star": star_tree, "zones": zone_tree}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asks for; see the options of the command."""

    platform: Path
    master: str | None
    workers: str
    function: str | None
    worker_function: str | None
    arguments: tuple[str, ...]
    worker_arguments: tuple[str, ...] | None
    per_host: int
    spread: bool
    tree: str | None
    applications: tuple[str, ...]
    metric: str
    start_time: str
    kill_time: str | None
    on_failure: str

    @property
    def times(self) -> tuple[float, float | None]:
        """When the actors start and when they are killed [s]."""
        kill_time = None if self.kill_time is None else parse_time(self.kill_time)
        return parse_time(self.start_time), kill_time


def deploy_command(asked: Asked, output: Path | None) -> None:
    """Write or print the deployment."""
    platform = read_platform(asked.platform)
    if asked.tree is None:
        deployment = _master_workers(platform, asked)
    else:
        deployment = _over_trees(platform, asked, asked.tree)
    if output is not None:
        write_deployment(deployment, output, comment=own_command())
    else:
        typer.echo(deployment_text(deployment, comment=own_command()), nl=False)


def _master_workers(platform: Platform, asked: Asked) -> Deployment:
    """Deploy a master and workers."""
    _refuse("without --tree", {"--application": asked.applications})
    _refuse("without --tree shortest", {"--metric": asked.metric != LATENCY})
    if asked.master is None:
        raise DeploymentError("there is no master", remedy="add --master HOST")
    start_time, kill_time = asked.times
    return master_workers(
        platform,
        asked.master,
        asked.workers,
        function=asked.function or "master",
        worker_function=asked.worker_function or "worker",
        arguments=asked.arguments,
        worker_arguments=asked.worker_arguments or (),
        per_host=asked.per_host,
        spread=asked.spread,
        start_time=start_time,
        kill_time=kill_time,
        on_failure=asked.on_failure,
    )


def _over_trees(platform: Platform, asked: Asked, shape: str) -> Deployment:
    """Deploy an actor on each host of each application's tree."""
    _refuse(
        "with --tree",
        {"--worker-argument": asked.worker_arguments, "--per-host": asked.per_host > 1},
    )
    if shape != SHORTEST:
        _refuse("without --tree shortest", {"--metric": asked.metric != LATENCY})
    start_time, kill_time = asked.times
    actors: list[DeployedActor] = []
    for tree in _trees(platform, asked, shape):
        require_routes(platform, tree)
        actors += tree.deployment(
            asked.function or "node",
            asked.worker_function,
            asked.arguments,
            start_time=start_time,
            kill_time=kill_time,
            on_failure=asked.on_failure,
        ).actors
    return Deployment(tuple(actors))


def _trees(platform: Platform, asked: Asked, shape: str) -> tuple[ApplicationTree, ...]:
    """Return the tree of each application."""
    roots = _roots(asked)
    if shape not in (SHORTEST, *SHAPES):
        if Path(shape).suffix.lower() not in {".toml", ".json"}:
            raise DeploymentError(
                f"there is no tree {shape!r}",
                remedy=f"choose {SHORTEST}, {', '.join(SHAPES)}, or a file *.toml or *.json",
            )
        _refuse("with a tree from a file", {"--workers": asked.workers != ALL})
        return read_trees(shape, roots or None, asked.master)
    if not roots:
        raise DeploymentError("there is no application", remedy="add --application NAME")
    return tuple(
        _shaped(platform, asked, shape, application, root) for application, root in roots.items()
    )


def _shaped(
    platform: Platform, asked: Asked, shape: str, application: str, root: str | None
) -> ApplicationTree:
    """Return a tree from the shape of the platform."""
    if root is None:
        raise DeploymentError(
            f"application {application!r} has no root",
            remedy=f"write --application {application}=HOST, or add --master HOST",
        )
    choice = HostChoice(platform)
    choice.require(f"the root of application {application!r},", root)
    hosts = None
    if asked.workers != ALL:
        hosts = choice.chosen(asked.workers, master=root, spread=asked.spread)
    if shape != SHORTEST:
        return SHAPES[shape](platform, application, root, hosts)
    tree = shortest_path_tree(platform, application, root, asked.metric, hosts)
    left = platform.host_count - len(tree.hosts)
    if hosts is None and left:
        told = f"no path leads from {root!r} to {left} host{'s' * (left > 1)}, left out"
        typer.echo(f"application {application!r}: {told}", err=True)
    return tree


def _roots(asked: Asked) -> dict[str, str | None]:
    """Return the applications, each with its root if that is told."""
    roots: dict[str, str | None] = {}
    for told in asked.applications:
        name, equals, host = told.partition("=")
        if name in roots:
            raise DeploymentError(
                f"application {name!r} is there twice", remedy="name applications apart"
            )
        roots[name] = host if equals else asked.master
    if roots and all("=" in told for told in asked.applications):
        _refuse("where each application has a root", {"--master": asked.master})
    return roots


def _refuse(when: str, options: dict[str, object]) -> None:
    """Refuse options that would mean nothing."""
    for option, value in options.items():
        if value:
            raise DeploymentError(f"{option} means nothing {when}", remedy="leave it out")
