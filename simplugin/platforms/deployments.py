"""Deployments of a master and its workers over any platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import DeploymentError
from simplugin.platforms.actor_arguments import filled
from simplugin.platforms.deployment import DIE, DeployedActor, Deployment
from simplugin.platforms.host_choices import ALL, HostChoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simplugin.platforms.platform import Platform


def master_workers(
    platform: Platform,
    master: str,
    workers: str | int | Iterable[str] = ALL,
    *,
    function: str = "master",
    worker_function: str = "worker",
    arguments: Sequence[str] = (),
    worker_arguments: Sequence[str] = (),
    per_host: int = 1,
    spread: bool = False,
    start_time: float = 0.0,
    kill_time: float | None = None,
    on_failure: str = DIE,
) -> Deployment:
    """Deploy a master and workers.

    Arguments may hold placeholders: ``{host}``, where the actor is; ``{master}``, the master's
    host; ``{workers}``, how many workers there are; for workers also ``{number}``, counted from 1,
    and ``{index}``, counted from 0. An argument ``{hosts}`` becomes the names of all workers'
    hosts, an argument each. See `actor_arguments.filled`.

    Parameters
    ----------
    platform : Platform
        Where.
    master : str
        The host of the master.
    workers : str, int, or iterable of str
        The hosts of the workers, as `HostChoice.chosen` takes them: ``"all"``, a number, a zone or
        cluster, hosts, patterns, or several of these with commas: ``"chuque:8,grelon:16"``. The
        master's host has a worker only where its own name is given.
    function, worker_function : str
        What the master and the workers run.
    arguments, worker_arguments : sequence of str
        What they are given.
    per_host : int
        How many workers each of these hosts has.
    spread : bool
        Where a number of hosts is asked for, take them evenly over those to choose from instead
        of the first ones.
    start_time : float
        When all start [s].
    kill_time : float, optional
        When those that still run are killed [s]; None for never.
    on_failure : str
        What becomes of a worker whose host fails and comes back, ``DIE`` or ``RESTART``. A master
        dies: what it knew is lost.

    Returns
    -------
    Deployment
        The master, then the workers in the order in which they were chosen.

    Raises
    ------
    DeploymentError
        A host, zone or cluster is unknown, there are fewer hosts than asked for, a placeholder
        means nothing, or a date is out of range.
    """
    choice = HostChoice(platform)
    choice.require("the master", master)
    if per_host < 1:
        raise DeploymentError(f"{per_host} workers a host are asked for", remedy="give at least 1")
    chosen = choice.chosen(workers, master=master, spread=spread)
    hosts = [host for host in chosen for _ in range(per_host)]
    known: dict[str, str | int] = {"host": master, "master": master, "workers": len(hosts)}
    given = filled(arguments, known, hosts)
    actors = [DeployedActor(master, function, given, start_time, kill_time)]
    for index, host in enumerate(hosts):
        values = {**known, "host": host, "number": index + 1, "index": index}
        given = filled(worker_arguments, values, hosts)
        actors.append(
            DeployedActor(host, worker_function, given, start_time, kill_time, on_failure)
        )
    return Deployment(tuple(actors))
