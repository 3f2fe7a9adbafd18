"""The reference back end: it starts SimGrid, places actors, runs and collects."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from simplugin.simulation import _driver
from simplugin.simulation.api.callbacks import Callbacks
from simplugin.simulation.back_end import CalledBack, collected, prepare_plugins
from simplugin.simulation.logs import Speaker
from simplugin.simulation.protocol import ActorJob
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.actor import Life
from simplugin.simulation.threads.work import Host, Link, require_on
from simplugin.simulation.threads.world import Record, World


class ThreadsBackEnd:
    """SimGrid through its own Python bindings; see :class:`simplugin.simulation.back_end.BackEnd`.

    Parameters
    ----------
    arguments : sequence of str
        SimGrid's command-line options.
    trace_limit : int
        Memory that the trace may occupy [byte]; 0 to keep none.
    energy : bool
        Measure the energy of hosts and links.
    seed : int
        Seed of the actors' random generators.
    """

    def __init__(
        self, arguments: Sequence[str], *, trace_limit: int, energy: bool, seed: int
    ) -> None:
        self._arguments, self._energy = list(arguments), energy
        self._engine = simgrid.Engine(["simplugin", *arguments])
        self._record = Record(trace_limit)
        self._world = World(self._record, seed=seed)
        self._world.takes_parallel_tasks = _driver.option("host/model", "s") == "ptask_L07"
        self._world.precision = float(_driver.option("precision/timing", "d"))
        if energy:
            _driver.init_energy()

    def load_platform(self, path: str) -> None:
        """Read a platform file."""
        self._engine.load_platform(path)
        world = self._world
        native = {host.name: host for host in self._engine.all_hosts}
        world.hosts = {host.name: Host(world, host, native[host.name]) for host in _driver.hosts()}
        world.links = {link.name: Link(world, link) for link in _driver.links()}
        _driver.set_wifi_rates()
        world.plugins = prepare_plugins(self._arguments, path, energy=self._energy)

    def speaker(self) -> Speaker | None:
        """Return the actor that runs in this thread, None if none does."""
        actor = self._world.actor
        return None if actor is None else (actor.host.name, actor.name, actor.pid)

    clock = staticmethod(_driver.clock)

    def log_with(self, level: int, write: Callable[[str, object], None]) -> None:
        """Have what actors log from this level on written: `write(level, message)`."""
        self._world.log_level, self._world.write_log = level, write

    def call_back(self, callbacks: Callbacks) -> None:
        """Let SimGrid call a user's functions; once the platform is loaded."""
        world = self._world
        called = CalledBack(callbacks, world.stop)
        if heard := called.on_activity_completion:
            self._record.monitor = lambda pid, *row: heard(world.actors[pid - 1].name, *row)

    def spawn(self, actor: ActorJob) -> None:
        """Place an actor."""
        life = Life(self._world, actor)
        if actor.start_time <= self._world.now and not actor.restart:
            require_on(life.host, actor.name)
        life.actor()
        # SimGrid remembers who is to start with a host only if they were there while it was on.
        off = not life.host.is_on
        if off:
            life.host.native.turn_on()
        life.start()
        if off:
            life.host.native.turn_off()
        if actor.kill_time is not None:
            life.start_killer(actor.kill_time)

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate until the end, an error or the simulated date `until` [s]."""
        world = self._world
        world.progress = progress
        world.limit = until
        self._engine.run()
        for transfer in world.transfers:
            transfer.settle()
        world.check_trace()
        if world.expected_awaits and world.error is None:
            # Some may be in reference cycles.
            gc.collect()
        if world.error is not None:
            raise world.error

    def collect(self) -> dict[str, Any]:
        """Hand over totals, trace and returned values."""
        world, record = self._world, self._record
        error, hosts, links = world.error, list(world.hosts), list(world.links)
        return collected(
            world.now if error is None or error.clock is None else error.clock,
            returned=[
                (actor.name, actor.host.name, actor.value, actor.state) for actor in world.actors
            ],
            hosts=record.host_totals(hosts, [_driver.energy_of_host(host) for host in hosts]),
            links=record.link_totals(links, [_driver.energy_of_link(link) for link in links]),
            trace=record.trace([actor.name for actor in world.actors]),
        )
