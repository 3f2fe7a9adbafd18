"""``simplugin deploy``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simplugin.cli.ending import plain_errors


class Metric(StrEnum):
    """What makes a path short; see `simplugin.platforms.tree_shapes`."""

    latency = "latency"
    hops = "hops"
    transfer = "transfer"


class OnFailure(StrEnum):
    """What becomes of an actor whose host fails and comes back."""

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
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write it; else it is shown."),
    ] = None,
) -> None:
    """Deploy a master and workers, or a tree of actors for each of some applications.

    The deployment file begins with the command that made it.
    """
    from simplugin.cli.deploying import Asked, deploy_command

    asked = Asked(
        platform,
        master,
        workers,
        function,
        worker_function,
        tuple(argument or ()),
        None if worker_argument is None else tuple(worker_argument),
        per_host,
        spread,
        tree,
        tuple(application or ()),
        metric.value,
        start_time,
        kill_time,
        on_failure.value,
    )
    with plain_errors():
        deploy_command(asked, output)
