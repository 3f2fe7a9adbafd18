"""Placements: an actor function, its host and its arguments."""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from simplugin.core.errors import DeploymentError, UnitError
from simplugin.core.name_suggestions import did_you_mean
from simplugin.core.units import parse_time
from simplugin.platforms.deployment import Deployment

Actors: TypeAlias = "Deployment | str | os.PathLike[str] | Sequence[Placement | tuple[Any, ...]]"


class NotAsyncError(DeploymentError, TypeError):
    """A function that is to be an actor is not an ``async def``."""


@dataclass(frozen=True)
class Placement:
    """An actor to be started on a host.

    Parameters
    ----------
    host : str
        The host on which it starts.
    function : callable
        An ``async def`` with the actor itself as first argument; lambdas and partial functions
        that return a coroutine or another awaitable will do.
    args : tuple
        Its further arguments.
    name : str, optional
        The actor's name; by default the function's.
    start_time : float
        Date of its start [s].
    kill_time : float, optional
        Date at which it is killed if still alive [s].
    restart : bool
        Start it again when its host comes back after a failure.
    daemon : bool
        The simulation does not wait for its end.
    properties : mapping of str to str
        Free-form properties, ``me.properties``.

    Raises
    ------
    DeploymentError
        A field is out of range; the message names the actor.
    """

    host: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    name: str | None = field(default=None, kw_only=True)
    start_time: float = field(default=0.0, kw_only=True)
    kill_time: float | None = field(default=None, kw_only=True)
    restart: bool = field(default=False, kw_only=True)
    daemon: bool = field(default=False, kw_only=True)
    properties: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        """Raise for what could not be started."""
        for name in ("host", "name"):
            text: object = getattr(self, name)
            if not isinstance(text, str) and not (name == "name" and text is None):
                raise DeploymentError(f"{name} is {text!r}; give the {name} as a text")
        if not callable(self.function):
            raise DeploymentError(
                f"actor on {self.host!r}: {self.function!r} is not a function; "
                "give an `async def f(me, ...)` and its arguments after it"
            )
        if _is_sure_not_to_be_async(self.function):
            raise not_async(self.actor_name, self.host, self.function)
        args: Any = self.args
        if isinstance(args, str) or not isinstance(args, Iterable):
            raise DeploymentError(f"actor {self.actor_name!r}: args is {args!r}; give a tuple")
        object.__setattr__(self, "args", tuple(args))
        properties: Any = self.properties
        if not isinstance(properties, Mapping):
            raise DeploymentError(
                f"actor {self.actor_name!r}: properties is {properties!r}; give a dict"
            )
        object.__setattr__(self, "properties", dict(properties))
        who = f"actor {self.actor_name!r} on {self.host!r}"
        for name in ("start_time", "kill_time"):
            if (date := getattr(self, name)) is not None:
                try:
                    object.__setattr__(self, name, parse_time(date))
                except UnitError as error:
                    raise DeploymentError(f"{who}: {name}: {error}") from None
        if not (self.start_time >= 0 and math.isfinite(self.start_time)):
            raise DeploymentError(f"{who}: start_time is {self.start_time!r}; give 0 or more")
        if self.kill_time is not None and not self.kill_time >= self.start_time:
            raise DeploymentError(
                f"{who}: kill_time {self.kill_time!r} is before start_time {self.start_time!r}"
            )

    @property
    def actor_name(self) -> str:
        """The name that the actor gets."""
        return self.name or function_name(self.function)


def function_name(function: Callable[..., Any]) -> str:
    """Return the name of a function, also through partial functions and callable objects."""
    function = _whole(function)
    return getattr(function, "__name__", type(function).__name__)


def not_async(actor: str, host: str, function: Callable[..., Any]) -> NotAsyncError:
    """Return the error for a function that cannot be an actor."""
    whole = _whole(function)
    code = getattr(whole, "__code__", None)
    what, remedy = "not an async function", "write `async def f(me, ...)`"
    if inspect.isasyncgenfunction(whole):
        what = "an async generator, since it has a `yield`"
        remedy = "use `await` instead, and send what it yields by `me.mailbox(...).put(...)`"
    return NotAsyncError(
        f"actor {actor!r} on {host!r}: {function_name(function)} is {what}",
        file=code and code.co_filename,
        line=code and code.co_firstlineno,
        remedy=remedy,
    )


def _is_sure_not_to_be_async(function: Callable[..., Any]) -> bool:
    """Return True for what never returns a coroutine; a plain function may still return one."""
    if inspect.iscoroutinefunction(function):
        return False
    whole = _whole(function)
    never = inspect.isclass, inspect.isbuiltin, inspect.isgeneratorfunction
    return any(is_kind(whole) for is_kind in (*never, inspect.isasyncgenfunction))


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a partial function."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def placements(
    actors: Actors, functions: Mapping[str, Callable[..., Any]] | None
) -> list[Placement]:
    """Return one placement per actor.

    Parameters
    ----------
    actors : sequence of Placement or of tuples, Deployment, or path
        Placements, tuples ``(host, function, *args)``, or a deployment (or its file).
    functions : mapping of str to callable, optional
        Functions by their names in a deployment.

    Raises
    ------
    DeploymentError
        Something else was given, or the deployment names a function that `functions` lacks.
    """
    if isinstance(actors, str | os.PathLike):
        from simplugin.formats.platform_xml import read_deployment

        return _deployed(read_deployment(actors), functions, Path(actors))
    if isinstance(actors, Deployment):
        return _deployed(actors, functions, None)
    if functions is not None:
        raise DeploymentError("`functions` goes with a deployment; the actors given are callables")
    given: Any = actors
    if not isinstance(given, Iterable):
        raise DeploymentError(
            f"actors is {given!r}; give Placements, tuples (host, function, *args), "
            "or a deployment file"
        )
    return [_placement(each) for each in given]


def _placement(actor: object) -> Placement:
    """Read one element of a sequence of actors."""
    if isinstance(actor, Placement):
        return actor
    if isinstance(actor, tuple) and len(actor) >= 2:
        host, function, *args = actor
        return Placement(host, function, tuple(args))
    raise DeploymentError(f"{actor!r} is no actor; give a Placement or (host, function, *args)")


def _deployed(
    deployment: Deployment,
    functions: Mapping[str, Callable[..., Any]] | None,
    file: Path | None,
) -> list[Placement]:
    """Join a deployment to the functions that it names."""
    known = functions or {}
    for actor in deployment.actors:
        if actor.function not in known:
            raise DeploymentError(
                f"actor on host {actor.host!r} runs function {actor.function!r}, "
                "which `functions` does not have",
                file=file,
                remedy=suggestion(actor.function, known),
            )
    return [
        Placement(
            actor.host,
            known[actor.function],
            tuple(actor.arguments),
            name=actor.function,
            start_time=actor.start_time or 0.0,
            kill_time=actor.kill_time,
            restart=str(actor.on_failure).upper() == "RESTART",
            properties=dict(actor.properties),
        )
        for actor in deployment.actors
    ]


def unknown_host(actor: str, host: str, hosts: Sequence[str]) -> DeploymentError:
    """Return the error for a missing host, with the names that may be meant."""
    return DeploymentError(
        f"actor {actor!r} is placed on host {host!r}, which the platform does not have",
        remedy=suggestion(host, hosts),
    )


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the names that may be meant, or the first names that there are."""
    names = list(known)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    listed = ", ".join(map(repr, names[:5])) or "none"
    return did_you_mean(name, names) or f"there is {listed}{more}"
