"""Deployments of a master and its workers, and arguments of actors with placeholders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Formatter

from simplugin.errors import DeploymentError
from simplugin.platforms.deployment import DIE, DeployedActor, Deployment
from simplugin.platforms.host_choices import ALL, HostChoice
from simplugin.platforms.platform import Platform

HOSTS = "{hosts}"


def filled(
    arguments: Iterable[str], values: Mapping[str, str | int], hosts: Sequence[str]
) -> tuple[str, ...]:
    """Return arguments with values in the place of placeholders.

    Parameters
    ----------
    arguments : iterable of str
        Texts with placeholders as `str.format` has them, for instance ``{host}`` or
        ``{number:03}``; ``{{`` and ``}}`` for braces. An argument that is ``{hosts}`` and nothing
        else becomes as many as there are hosts.
    values : mapping of str to str or int
        The value of each placeholder.
    hosts : sequence of str
        The value of ``{hosts}``.

    Returns
    -------
    tuple of str
        The arguments.

    Raises
    ------
    DeploymentError
        A placeholder is unknown or a brace is unpaired; the message shows the argument.
    """
    result: list[str] = []
    for argument in arguments:
        if argument == HOSTS:
            result += hosts
        else:
            result.append(_filled(argument, values))
    return tuple(result)


def _filled(argument: str, values: Mapping[str, str | int]) -> str:
    """Return one argument with values in the place of placeholders."""
    if "{" not in argument and "}" not in argument:
        return argument
    parts = []
    try:
        for literal, name, form, conversion in Formatter().parse(argument):
            parts.append(literal)
            if name is None:
                continue
            if name not in values or conversion is not None:
                raise _unknown(argument, name, values)
            parts.append(format(values[name], form or ""))
    except ValueError as error:
        raise DeploymentError(
            f"argument {argument!r} cannot be filled in: {error}",
            remedy="write {{ and }} for braces that are no placeholders",
        ) from None
    return "".join(parts)


def _unknown(argument: str, name: str, values: Mapping[str, str | int]) -> DeploymentError:
    """Return the error for an unknown placeholder."""
    if "{" + name + "}" == HOSTS:
        return DeploymentError(
            f"argument {argument!r} has {HOSTS} within other text",
            remedy=f"give {HOSTS} as an argument of its own; it becomes one for each host",
        )
    known = ", ".join(f"{{{each}}}" for each in (*values, "hosts"))
    return DeploymentError(
        f"argument {argument!r} has an unknown placeholder {{{name}}}",
        remedy=f"here are {known}; write {{{{ and }}}} for braces",
    )


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
        Functions of the master and of the workers.
    arguments, worker_arguments : sequence of str
        Arguments of their functions.
    per_host : int
        Number of workers of each of these hosts.
    spread : bool
        Where a number of hosts is asked for, take them evenly over those to choose from instead
        of the first ones.
    start_time : float
        When all start [s].
    kill_time : float, optional
        When those that still run are killed [s]; None for never.
    on_failure : str
        Fate of a worker whose host fails and comes back, ``DIE`` or ``RESTART``. A master
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
