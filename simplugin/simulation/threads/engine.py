"""The reference back end: it starts SimGrid, places actors, runs and collects."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from simplugin.simulation import _driver
from simplugin.simulation.api.callbacks import Callbacks
from simplugin.simulation.back_end import collected, prepare_plugins
from simplugin.simulation.choices import ChoiceRecorder, Chooser
from simplugin.simulation.logs import RunningActor
from simplugin.simulation.protocol import ActorJob
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.actor import ThreadsActor, host_switched, require_on
from simplugin.simulation.threads.record import ThreadsRecorder
from simplugin.simulation.threads.refused import refuse
from simplugin.simulation.threads.work import ThreadsHost, ThreadsLink
from simplugin.simulation.threads.world import SimulationState

# SimGrid loads those of energy at the end.
_PLUGINS = {"host_energy", "link_energy"}


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
        self._record = ThreadsRecorder(trace_limit)
        self._world = SimulationState(self._record, seed=seed)
        self._world.takes_parallel_tasks = _driver.option("host/model", "s") == "ptask_L07"
        _driver.step_with(self._world.step)
        if energy:
            _driver.init_energy()

    def load_platform(self, path: str) -> None:
        """Read a platform file."""
        self._engine.load_platform(path)
        world = self._world
        native = {host.name: host for host in self._engine.all_hosts}
        world.hosts = {
            host.name: ThreadsHost(world, host, native[host.name]) for host in _driver.hosts()
        }
        world.links = {link.name: ThreadsLink(world, link) for link in _driver.links()}
        _driver.set_wifi_rates()
        if prepare_plugins(self._arguments, path, energy=self._energy) - _PLUGINS:
            refuse("SimGrid's plug-ins")
        if _driver.option("tracing/categorized", "b"):
            refuse("tracing/categorized")  # the names of actions are their categories
        _driver.monitor_hosts(self._host_switched)

    def _host_switched(self, _date: float, name: str, is_on: bool) -> None:
        """Record that a host has been switched off or on."""
        try:
            host_switched(self._world, name, is_on)
        except BaseException as error:
            self._world.stop(error)

    def speaker(self) -> RunningActor | None:
        """Return the actor that runs, None if none does."""
        actor = self._world.current
        return None if actor is None else (actor.host.name, actor.name, actor.pid)

    clock = staticmethod(_driver.clock)

    def log_with(self, level: int, write: Callable[[str, object], None]) -> None:
        """Write log messages of at least this level by `write(level, message)`."""
        self._world.log_level, self._world.write_log = level, write

    def call_back(self, _callbacks: Callbacks) -> None:
        """Refuse a user's functions."""
        refuse("simulate(callbacks=...)")

    def order_by(self, _seed: int) -> None:
        """Refuse another order."""
        refuse("simulate(order=...)")

    def choose_with(self, chooser: Chooser) -> None:
        """Leave the actors' decisions to a chooser."""
        self._world.choices = ChoiceRecorder(chooser, self.clock, self._world.stop)

    def spawn(self, job: ActorJob) -> None:
        """Place an actor."""
        if job.start_time <= self._world.now and not job.restart:
            require_on(self._world, job)
        ThreadsActor(self._world, job).place(job.start_time)

    def run(self, until: float | None, progress: Callable[[float, int], None] | None) -> None:
        """Simulate until the end, an error or the simulated date `until` [s]."""
        world = self._world
        world.progress = progress
        world.limit = until
        world.do_requests()  # so that actors run before the profiles' first events
        self._engine.run()
        world.check()
        gc.collect()  # operations that are not awaited may be in reference cycles
        if world.error is not None:
            raise world.error

    def collect(self) -> dict[str, Any]:
        """Return totals, trace and returned values."""
        world, record = self._world, self._record
        hosts, links = list(world.hosts), list(world.links)
        return collected(
            world.now,
            returned=[
                (actor.name, actor.host.name, actor.value, actor.outcome) for actor in world.actors
            ],
            hosts=record.host_totals(hosts, [_driver.energy_of_host(host) for host in hosts]),
            links=record.link_totals(links, [_driver.energy_of_link(link) for link in links]),
            trace=record.trace([actor.name for actor in world.actors]),
            choices=world.choices.taken,
            ties=None,
        )
