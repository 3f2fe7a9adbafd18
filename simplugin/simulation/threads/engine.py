"""The back end itself: it starts SimGrid, places actors, runs and collects."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import simgrid
from simplugin.simulation import _driver
from simplugin.simulation.back_end import OPTIONS_IN_FORCE, Collected
from simplugin.simulation.plugins import plugin_figures, prepare_plugins
from simplugin.simulation.threads.actor import Actor
from simplugin.simulation.threads.life import Life
from simplugin.simulation.threads.platform import Host, Link, host_of, require_on
from simplugin.simulation.threads.record import Record
from simplugin.simulation.threads.work import sleep_until
from simplugin.simulation.threads.world import World


class ThreadsBackEnd:
    """SimGrid through its own Python bindings; see :class:`simplugin.simulation.back_end.BackEnd`.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    trace : bool
        Keep a row for each activity.
    energy : bool
        Measure the energy of hosts and links.
    seed : int
        Seed of the actors' random generators.
    """

    def __init__(self, arguments: Sequence[str], *, trace: bool, energy: bool, seed: int) -> None:
        self._arguments, self._energy_asked = list(arguments), energy
        self._engine = simgrid.Engine(["simplugin", *arguments])
        self._record = Record(trace)
        self._world = World(self._record, seed=seed)
        self._world.takes_parallel_tasks = _driver.option("host/model", "s") == "ptask_L07"
        self._world.precision = float(_driver.option("precision/timing", "d"))
        if energy:
            _driver.init_energy()

    def load_platform(self, path: str) -> None:
        """Read a platform file."""
        self._engine.load_platform(path)
        world = self._world
        world.hosts = {host.name: Host(world, host) for host in self._engine.all_hosts}
        world.links = {link.name: Link(world, link) for link in self._engine.all_links}
        _driver.set_wifi_rates()
        world.plugins = prepare_plugins(self._arguments, path, energy=self._energy_asked)

    def spawn(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        *,
        host: str,
        name: str,
        start_time: float,
        kill_time: float | None,
        restart: bool,
        daemon: bool,
        properties: dict[str, str],
    ) -> None:
        """Place an actor."""
        place = host_of(self._world, host)
        life = Life(self._world, function, args, place, name, daemon, restart, properties)
        life.start_time = start_time
        if start_time <= self._world.now and not restart:
            require_on(place, name)
        life.actor()
        # SimGrid remembers who is to start with a host only if they were there while it was on.
        off = not place.is_on
        if off:
            place.native.turn_on()
        life.start()
        if off:
            place.native.turn_off()
        if kill_time is None:
            return

        def kill() -> None:
            life.killer = simgrid.Actor.by_pid(simgrid.this_actor.get_pid())
            if kill_time <= simgrid.Engine.clock:
                return
            sleep_until(self._world, kill_time, kill_time - self._world.now)
            actor = life.current
            if actor is not None and actor.is_alive:
                actor.dying = True
                abandoned = actor.abandon()
                actor.native.kill()
                for waited in [waited for each in abandoned for waited in each.signals]:
                    waited.cancel()
                simgrid.this_actor.yield_()  # the killed one ends first
                for function in self._world.take_deferred():
                    function()

        killer = place.native.add_actor("killer", kill).daemonize()
        killer.set_auto_restart(True)

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate until the end, an error or the simulated date `until` [s]."""
        world = self._world
        world.progress = progress
        world.limit = until
        self._engine.run()
        for transfer in world.transfers:
            transfer.settle()
        if world.expected_awaits and world.error is None:
            # Some may be in reference cycles.
            gc.collect()
        if world.error is not None:
            raise world.error

    def collect(self) -> Collected:
        """Hand over totals, trace and returned values."""
        world, record = self._world, self._record
        hosts, links = list(world.hosts), list(world.links)
        returned = [
            (
                actor.name,
                actor.host.name,
                actor.value,
                _state_of(actor),
            )
            for actor in world.actors
        ]
        return Collected(
            clock=self._clock(),
            returned=returned,
            host_names=hosts,
            host_flops=record.flops(hosts),
            host_busy=record.busy(hosts),
            host_energy=np.array([_driver.energy_of_host(host) for host in hosts], np.float64),
            link_names=links,
            link_bytes=record.bytes_of(links),
            link_energy=np.array([_driver.energy_of_link(link) for link in links], np.float64),
            trace=record.columns([actor.name for actor in world.actors]),
            options={
                name: str(_driver.option(name, kind)) for name, kind in OPTIONS_IN_FORCE.items()
            },
            plugins=plugin_figures(),
        )

    def _clock(self) -> float:
        """Return the date of the end."""
        world = self._world
        if world.error is not None and world.error.clock is not None:
            return world.error.clock
        return world.now


def _state_of(actor: Actor) -> str:
    """Say how an actor ended."""
    if not actor.ended:
        return "killed" if actor.missed_its_start else "running"
    return "killed" if actor.was_killed else "ended"
