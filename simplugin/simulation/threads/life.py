"""The life of an actor, in the thread that SimGrid gives it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import simgrid
from simplugin.errors import ForcefulKillException
from simplugin.simulation.threads.actor import Actor
from simplugin.simulation.threads.blocking import Blocking
from simplugin.simulation.threads.meeting import Message
from simplugin.simulation.threads.platform import Host
from simplugin.simulation.threads.work import sleep_until
from simplugin.simulation.threads.world import AbandonedError, World


class Life:
    """What an actor runs; lived again each time that the host of a restartable actor comes back.

    Parameters
    ----------
    world : World
        The simulation.
    function, args
        The coroutine function, and what it gets after `me`.
    host : Host
        Where.
    name : str
        Its name.
    daemon, restart : bool
        Whether it ends with the others; whether it starts again.
    properties : mapping of str to str
        Its properties.
    """

    def __init__(
        self,
        world: World,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        host: Host,
        name: str,
        daemon: bool,
        restart: bool,
        properties: Mapping[str, str],
    ) -> None:
        self.world = world
        self.function = function
        self.args = args
        self.host = host
        self.name = name
        self.daemon = daemon
        self.restart = restart
        self.properties = properties
        self.start_time = 0.0
        self.current: Actor | None = None
        # SimGrid's actor that kills it at a date.
        self.killer: Any = None
        self._next: Actor | None = None

    def wait_for_boot(self, actor: Actor) -> None:
        """Let the actor wait for its start time again when its host is back."""
        self._next = actor
        actor.waits_for_boot = True

    def actor(self) -> Actor:
        """Make the actor that will live this next."""
        self.current = self._next = Actor(self.world, self)
        return self._next

    def start(self) -> None:
        """Give it a thread of SimGrid's."""
        actor = self._next
        assert actor is not None
        actor.native = self.host.native.add_actor(self.name, self._live)
        if self.daemon:
            actor.native.daemonize()
        if self.restart or self.start_time > 0:
            actor.native.set_auto_restart(True)

    def _live(self) -> None:
        """Live once; SimGrid calls it."""
        actor, self._next = self._next, None
        if actor is None and not self.restart:
            return  # SimGrid restarts those that waited for their start time, too
        start_time = self.start_time
        if actor is None:
            actor = self.current = Actor(self.world, self)
            start_time = 0.0
        actor.native = simgrid.Actor.by_pid(simgrid.this_actor.get_pid())
        self.world.enter(actor)
        try:
            _live(actor, start_time)
        except AbandonedError:
            pass
        except BaseException as error:
            self.world.failed(actor, error)
            if not actor.dying:
                simgrid.Actor.kill_all()


def _live(actor: Actor, start_time: float) -> None:
    """Run the actor's coroutine and its on-exit callbacks."""
    try:
        _await_start(actor, start_time)
        coroutine = actor.life.function(actor, *actor.life.args)
        if not inspect.iscoroutine(coroutine):
            raise TypeError(
                f"an actor is an 'async def' function, but {actor.life.function!r} "
                f"returned {coroutine!r}"
            )
        actor.coroutine = coroutine
        value = _drive(actor)
        actor.value = None if actor.dying else value
        actor.was_killed = actor.dying
    except ForcefulKillException:
        actor.was_killed = True
    for callback in reversed(actor.on_exit_callbacks):
        callback(actor.was_killed)
    actor.ended, actor.ended_at = True, actor.now
    _let_children_start(actor)
    _abandon_activities(actor)
    actor.coroutine = None


def _abandon_activities(actor: Actor) -> None:
    """End what the actor started, as SimGrid is about to do."""
    for activity in list(actor.activities):
        activity.test()  # it may be over since this very date
    waited_for = [each for each in actor.activities if each.signals or isinstance(each, Message)]
    for activity in waited_for:
        if activity.ends_with_owner:
            activity.abandoned()
            activity.wake_waiters()
    # From here to the end of the thread no call of SimGrid: others must find us and SimGrid agree.
    actor.abandon()


def _await_start(actor: Actor, start_time: float) -> None:
    """Wait for the start time, and for the parent to let it start."""
    world = actor.world
    world.check_limit()
    if world.stopping:
        simgrid.Actor.kill_all()
        raise AbandonedError
    if start_time > world.now and not (actor.dying or actor.host.is_on):
        actor.life.wait_for_boot(actor)
        raise AbandonedError
    if actor.dying or actor.missed_its_start or not actor.host.is_on:
        actor.dying = True
        raise ForcefulKillException("exited")
    actor.waits_for_boot = False
    if start_time > world.now:
        actor.waits_for = lambda: "its start"
        _sleep_until_start(actor, start_time)
    while actor.is_held:
        world.call(simgrid.this_actor.yield_)
    world.call(actor.suspension.wait)
    world.resumed()


def _sleep_until_start(actor: Actor, date: float) -> None:
    """Sleep; if the host fails meanwhile, the actor is not there yet, and waits for it to boot."""
    try:
        sleep_until(actor.world, date, date - actor.world.now)
    except simgrid.ActorKilled:
        actor.world.killed(actor)
        if actor.host.is_on:
            raise ForcefulKillException("exited") from None
        actor.dying = False
        actor.life.wait_for_boot(actor)
        raise AbandonedError from None


def _let_children_start(actor: Actor) -> None:
    """Let the actors that it spawned run."""
    for child in actor.held:
        child.is_held = False
    actor.held.clear()


def _drive(actor: Actor) -> Any:
    """Do what the coroutine asks for until it returns; return its value."""
    step: Callable[[], Any] = functools.partial(actor.coroutine.send, None)
    while True:
        try:
            request = step()
        except StopIteration as end:
            return end.value
        if not isinstance(request, Blocking):
            raise RuntimeError("an actor awaited something that is not simplugin's")
        step = _performed(actor, request)


def _performed(actor: Actor, request: Blocking[Any]) -> Callable[[], Any]:
    """Perform a request; return how to go on with the coroutine."""
    world = actor.world
    actor.waits_for, actor.since = request.waits_for, world.now
    _let_children_start(actor)
    try:
        go_on = _outcome(actor, request)
        actor.suspension.wait()
    except simgrid.ActorKilled:
        world.killed(actor)
        return functools.partial(actor.coroutine.throw, ForcefulKillException("exited"))
    if not actor.dying:
        world.resumed()
    return go_on


def _outcome(actor: Actor, request: Blocking[Any]) -> Callable[[], Any]:
    """Perform a request; return how to hand over its result or its exception."""
    try:
        return functools.partial(actor.coroutine.send, request.perform())
    except (AbandonedError, AssertionError, simgrid.ActorKilled):
        raise
    except (Exception, ForcefulKillException) as error:
        return functools.partial(actor.coroutine.throw, error)
