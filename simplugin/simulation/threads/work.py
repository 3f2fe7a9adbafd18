"""Hosts, disks, links and routes, and what occupies them.

Executions, parallel tasks, reads and writes, direct transfers, and sleep.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from simplugin.errors import (
    CancelException,
    HostFailureException,
    NetworkFailureException,
    NoRouteError,
    SimpluginError,
    SimulationError,
    StorageFailureException,
)
from simplugin.simulation import _driver
from simplugin.simulation.api.actor import Matrix, Vector
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.activity import NAN, Activity, launched, watch
from simplugin.simulation.threads.world import (
    ActorRecord,
    Blocking,
    World,
    a_number,
    done,
    positive,
)

# SimGrid counts the bytes of a read or write in integers.
_MOST_BYTES = 2**53


class _Resource:
    """A host, a link or a disk.

    What it knows and how it changes is the compiled driver's; a change is a request of the actor
    that runs. Its native object is the bindings'.
    """

    def __init__(self, world: World, shared: Any, native: Any = None) -> None:
        self.__dict__.update(_world=world, shared=shared, native=native)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shared, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._world.call(setattr, self.shared, name, value)

    def __repr__(self) -> str:
        return repr(self.shared)

    def turn_on(self) -> None:
        """Turn it on; the restartable actors of a host start again."""
        self._world.call(self.shared.turn_on)

    def turn_off(self) -> None:
        """Turn it off: what uses it fails."""
        self._world.call(self.shared.turn_off)


class Host(_Resource):
    """A host; see :class:`simplugin.simulation.api.Host`."""

    @functools.cached_property
    def _disks(self) -> tuple[Disk, ...]:
        """Its disks."""
        pairs = zip(self.shared.disks, self.native.get_disks(), strict=True)
        return tuple(Disk(self._world, self, *pair) for pair in pairs)

    @property
    def disks(self) -> list[Disk]:
        """Its disks, in the order of their names."""
        return list(self._disks)

    def turn_off(self) -> None:
        """Turn it off: its actors are killed."""
        if not self.is_on:
            return
        here = [actor for actor in self._world.actors if actor.host is self and actor.is_alive]
        abandoned = [activity for actor in here for activity in actor.abandon()]
        abandoned += [operation for disk in self._disks for operation in disk.fail_operations()]
        try:
            super().turn_off()
        finally:
            for activity in abandoned:
                activity.wake_waiters()
        self._world.do_deferred()


class Link(_Resource):
    """A link; see :class:`simplugin.simulation.api.Link`."""

    def set_host_wifi_rate(self, host: Host | str, level: int, /) -> None:
        """Choose the rate of a host on this Wi-Fi link."""
        self.shared.set_host_wifi_rate(host_of(self._world, host).shared, level)


class Route(NamedTuple):
    """The route between two hosts."""

    links: tuple[Link, ...]
    latency: float


def host_of(world: World, host: Host | str | None) -> Host:
    """Return a host by its name, or itself."""
    if isinstance(host, Host):
        return host
    if not isinstance(host, str):
        raise TypeError(f"expected a host or its name, not {host!r}")
    if host not in world.hosts:
        raise SimpluginError(f"the platform has no host {host!r}")
    found: Host = world.hosts[host]
    return found


def require_on(host: Host, actor: str) -> None:
    """Raise unless an actor can start on a host now."""
    if not host.is_on:
        raise HostFailureException(
            f"cannot start actor {actor!r}: host {host.name!r} is off; "
            "with restart=True it starts when the host comes back"
        )


def require_route(source: str, destination: str) -> None:
    """Raise unless SimGrid can transfer between two hosts."""
    problem = _driver.route_problem(source, destination, True)
    if problem:
        raise NoRouteError(problem)


def route_between(world: World, source: Host, destination: Host) -> Route:
    """Ask SimGrid for the route between two hosts."""
    links, latency = _driver.route(source.shared, destination.shared)
    # Loopbacks are not in the platform's list.
    return Route(tuple(world.links.get(link.name) or Link(world, link) for link in links), latency)


# ---- work -----------------------------------------------------------------------------------


def unbound(what: str) -> SimpluginError:
    """Return the error for an operation that SimGrid's Python bindings do not have."""
    return SimpluginError(
        f"SimGrid's Python bindings have no {what}; run it with back_end='coroutines'"
    )


def _assignable(name: str, read: Callable[[World, Any], Any], doc: str) -> Any:
    """Return a property that can be set until the activity starts, also to None."""

    def assign(self: Activity, value: Any) -> None:
        self.require_planned(name)
        setattr(self, f"_{name}", None if value is None else read(self.world, value))
        self.start_if_ready()

    return property(lambda self: getattr(self, f"_{name}"), assign, doc=doc)


class _Prioritised(Activity):
    """Something that shares a resource by priorities.

    The bindings take a priority for calls that block and give no handle.
    """

    called = ""

    def __init__(
        self, owner: ActorRecord, amount: float, priority: float, label: str | None
    ) -> None:
        super().__init__(owner, label, amount)
        self._priority = positive(priority, "priority")

    @property
    def priority(self) -> float:
        """Its share of the resource."""
        return self._priority

    @priority.setter
    def priority(self, value: float) -> None:
        if self.look():
            raise self.unchangeable("priority")
        positive(value, "priority")
        raise unbound(f"change of the priority of {self.called}")

    def begun(self) -> Activity:
        """Start it now, and have its end noted."""
        self._require_no_priority()
        return super().begun()

    def later(self) -> Activity:
        """Make it one that is to be started later."""
        self._require_no_priority()
        return super().later()

    def _require_no_priority(self) -> None:
        """Raise if it has one and needs a handle."""
        if self.priority != 1.0:
            raise unbound(f"priority of asynchronous {self.called}")

    def _block_with_priority(self, wait: Callable[[], object]) -> None:
        """Start it and block until it ends, by a function of SimGrid's."""
        self.started(None)
        self.ends_as(wait)
        self.outcome()


class Execution(_Prioritised):
    """Flops on one host.

    Parameters
    ----------
    flops : float
        How many.
    host : Host
        Where.
    priority : float
        Its share of the host, relative to others'.
    """

    kind = "execution"
    called = "executions"
    places = ("_host",)

    def __init__(
        self, owner: ActorRecord, flops: float, host: Host, priority: float, label: str | None
    ) -> None:
        super().__init__(owner, a_number(flops, "flops"), priority, label)
        self._host: Host | None = host
        self._here_since = 0.0

    @property
    def host(self) -> Any:
        """Host of the execution."""
        return self._host

    @host.setter
    def host(self, value: Host | str | None) -> None:
        if self.look():
            raise self.unchangeable("host")
        place = None if value is None and not self.has_started else host_of(self.world, value)
        if place is None or not self.has_started:
            self._host = place
            self.start_if_ready()
            return
        self.migrate(place)
        self.settle_suspension()

    @property
    def daemons_host(self) -> Any:
        """Host of the execution if it outlives its owner."""
        return self.host if self.detached else self.owner.host

    def blocking(self, timeout: float | None = None) -> Blocking[Any]:
        """Return an operation that starts when awaited."""
        if self.priority != 1.0 and self.host is not self.owner.host:
            raise unbound("priority of an execution on another host")
        return super().blocking(timeout)

    def describe(self) -> str:
        """Return its description for messages."""
        return f"execution on {self.host.name}" if self.is_assigned else "execution"

    def watched(self) -> None:
        """Wait, in a watcher, for its end."""
        super().watched()
        # SimGrid keeps it for its owner, and crashes when that one moves.
        self.native.cancel()

    def begin(self) -> None:
        """Start it."""
        native = self.world.call(simgrid.this_actor.exec_init, self.amount)
        if self.host is not self.owner.host:
            self.world.call(setattr, native, "host", self.host.native)
        self._here_since = self.world.now
        self.started(native)
        if "host_load" in self.world.plugins:
            # The plug-in does not forget an execution that did not finish.
            self.world.kept.append(native)
        self.world.call(native.start)

    def perform(self, limit: float) -> None:
        """Start it and block until it ends."""
        if self.priority == 1.0:
            super().perform(limit)
            return
        self._here_since = self.world.now
        self._block_with_priority(lambda: simgrid.this_actor.execute(self.amount, self.priority))

    @property
    def _stoppable(self) -> Any:
        """SimGrid's execution; without a handle, its actor."""
        return self.owner.native if self.native is None else self.native

    def migrate(self, host: Host) -> None:
        """Let it go on elsewhere: the rest is the new host's."""
        left = self._remaining()
        now = self.world.now
        self.world.record.computed(self.host.name, self._here_since, now, self.amount - left)
        self._host, self.amount, self._here_since = host, left, now
        if self.native is not None:
            # Not only moved with its actor, it does not fail with the host that it has left.
            self.world.call(setattr, self.native, "host", host.native)

    def settle_suspension(self) -> None:
        """Suspend it again if it was: SimGrid starts it on the new host."""
        if self.is_suspended:
            self.resume()
            self.suspend()

    def _account(self, amount: float) -> None:
        """Record what was computed."""
        self.world.record.computed(self.host.name, self._here_since, self.world.now, amount)
        self._row(self.host.name, "exec", amount)


class ParallelTask(Activity):
    """Flops on several hosts, bytes between them, all at the same pace.

    Parameters
    ----------
    hosts : list of Host
        Where.
    flops : array_like of float, shape (n_hosts,), or None
        Work of each host [flop].
    sizes : array_like of float, shape (n_hosts, n_hosts), or None
        Bytes from each host (row) to each host (column).
    """

    kind = "parallel task"

    def __init__(
        self,
        owner: ActorRecord,
        hosts: list[Host],
        flops: Vector | None,
        sizes: Matrix | None,
        label: str | None,
    ) -> None:
        count = len(hosts)
        if count == 0:
            raise ValueError("a parallel task needs at least one host")
        work = [0.0] * count if flops is None else flops
        rows = [] if sizes is None else sizes
        if len(work) != count:
            raise ValueError(f"flops must have one entry a host: {count}, not {len(work)}")
        if sizes is not None and (len(rows) != count or any(len(row) != count for row in rows)):
            raise ValueError(f"sizes must have a row and a column for each of the {count} hosts")
        self.hosts = hosts
        self.flops = [a_number(amount, "flops") for amount in work]
        self.sizes = [[a_number(size, "sizes") for size in row] for row in rows]
        super().__init__(owner, label, sum(self.flops))
        for source, row in zip(hosts, self.sizes, strict=bool(self.sizes)):
            for destination, size in zip(hosts, row, strict=True):
                if size > 0:
                    require_route(source.name, destination.name)

    def begin(self) -> None:
        """Start it."""
        native = self.world.call(
            simgrid.this_actor.exec_init,
            [host.native for host in self.hosts],
            self.flops,
            [size for row in self.sizes for size in row],
        )
        for host in self.hosts:
            # SimGrid's plug-in does not notice the start, and would take the host for busy before.
            self.world.call(_driver.energy_of_host, host.name)
        self.started(native)
        self.world.call(native.start)

    @property
    def remaining(self) -> float:
        """The part that is left, from 1 to 0."""
        return super().remaining if self.has_started or self.over else 1.0

    def _remaining(self) -> float:
        """Return the part that is left, from 1 to 0."""
        return float(self.world.call(getattr, self.native, "remaining_ratio"))

    def _account(self, amount: float) -> None:
        """Record what was computed and transferred; unknown if it did not finish."""
        part = 1.0 if amount == self.amount else NAN
        record = self.world.record
        for host, flops in zip(self.hosts, self.flops, strict=True):
            record.computed(host.name, self.start_time or 0.0, self.world.now, part * flops)
        for i, row in enumerate(self.sizes):
            for j, size in enumerate(row):
                if i != j and size > 0:
                    record.carried(self.hosts[i].name, self.hosts[j].name, part * size)
        self._row(",".join(host.name for host in self.hosts), "ptask", part * self.amount)


class DirectTransfer(Activity):
    """Bytes from a host to another, without actors there.

    SimGrid does not count it among its actor's activities: it goes on when the actor ends.
    """

    kind = "transfer"
    places = ("_source", "_destination")
    ends_with_owner = False

    def __init__(
        self,
        owner: ActorRecord,
        source: Host | None,
        destination: Host | None,
        size: float,
        label: str | None,
    ) -> None:
        # SimGrid counts whole bytes.
        super().__init__(owner, label, float(int(a_number(size, "size"))))
        self._source = source
        self._destination = destination
        if source is not None and destination is not None:
            require_route(source.name, destination.name)

    source = _assignable("source", host_of, "Source of the transfer.")
    destination = _assignable("destination", host_of, "Destination of the transfer.")

    def describe(self) -> str:
        """Return its description for messages."""
        if not self.is_assigned:
            return "transfer"
        return f"transfer from {self.source.name} to {self.destination.name}"

    def begin(self) -> None:
        """Start it."""
        are_on = self.source.is_on and self.destination.is_on
        if not are_on or _driver.route_problem(self.source.name, self.destination.name, True):
            # SimGrid aborts.
            self.started(None)
            self.ends(NoRouteError if are_on else NetworkFailureException, 0.0)
            return
        native = self.world.call(
            simgrid.Comm.sendto_init, self.source.native, self.destination.native
        )
        self.world.call(native.set_payload_size, int(self.amount))
        self.started(native)
        self.world.call(native.start)
        self.world.transfers.append(self)

    def blocking(self, timeout: float | None = None) -> Blocking[Any]:
        """Return an operation that starts when awaited."""
        self._require_ends()
        return super().blocking(timeout)

    def _require_ends(self) -> None:
        """Raise if one of its hosts is missing."""
        for end in (self._source, self._destination):
            host_of(self.world, end)

    def begun(self) -> Activity:
        """Start it now; nobody watches, since SimGrid cancels what a killed watcher waits for."""
        self._require_ends()
        self.begin_as_planned()
        if self._successors:
            self.watch_for_successors()
        return self

    def begun_elsewhere(self) -> None:
        """Start it now: it is nobody's."""
        self.begun()

    def watch_for_successors(self) -> None:
        """Watch it from its source, which does not end before it."""
        if self.watcher is None and not self.over:
            watch(self)

    @property
    def daemons_host(self) -> Any:
        """Its source."""
        return self.source

    def error(self, kind: type[SimpluginError]) -> SimpluginError:
        """Make an exception about this activity."""
        if kind is NoRouteError:
            return NoRouteError(
                _driver.route_problem(self.source.name, self.destination.name, True)
            )
        return super().error(kind)

    def settle(self) -> bool:
        """Note the end of a transfer that nobody waited for; return True if it is over."""
        if not self.over and self.native is not None and self.native.finish_time >= 0:
            self.ends(None, self.amount)
        return self.over

    def poll(self) -> bool:
        """Ask SimGrid whether it is over."""
        # Asked about the outcome, SimGrid looks whether the hosts are on now.
        return self.settle() or super().poll()

    def _account(self, amount: float) -> None:
        """Record what was transferred."""
        if self._state == "FINISHED" and self.native.finish_time >= 0:
            self.finish_time = float(self.native.finish_time)
        self.world.record.carried(self.source.name, self.destination.name, amount)
        self._row(f"{self.source.name}->{self.destination.name}", "comm", amount)


class DiskOperation(_Prioritised):
    """Bytes read from a disk or written to it.

    Only a watcher waits for SimGrid's activity: whoever waits for one whose disk fails is killed.
    Others wait for a signal of the watcher, as they do where SimGrid has no activity.

    Parameters
    ----------
    disk : Disk
        Where.
    kind : str
        ``"read"`` or ``"write"``.
    size : float
        How much [byte].
    priority : float
        Its share of the disk, relative to others'.
    """

    called = "reads and writes"
    places = ("_disk",)

    def __init__(
        self,
        owner: ActorRecord,
        disk: Disk,
        kind: str,
        size: float,
        priority: float,
        label: str | None,
    ) -> None:
        # SimGrid counts whole bytes.
        super().__init__(owner, float(int(a_number(size, "size"))), priority, label)
        if self.amount > _MOST_BYTES:
            raise ValueError(f"size must be <= 2**53, not {size!r}")
        self.kind = kind
        self._disk: Disk | None = disk
        self._io: Any = None

    disk = _assignable("disk", lambda _, value: _a_disk(value), "Disk of the read or write.")

    @property
    def daemons_host(self) -> Any:
        """The disk's host, if it outlives its owner."""
        return self.disk.host if self.detached else self.owner.host

    def describe(self) -> str:
        """Return its description for messages."""
        return (
            f"{self.kind} {self.disk.name!r} of {self.disk.host.name}" if self.disk else self.kind
        )

    def begin(self) -> None:
        """Start it."""
        self.started(None)
        if not self.disk.is_on:
            self.ends(StorageFailureException, 0.0)
            return
        self._io = self.world.call(
            getattr(self.disk.native, f"{self.kind}_async"), int(self.amount)
        )
        self.disk.operations.append(self)

    def watched(self) -> None:
        """Wait, in a watcher, for its end."""
        self.ends_as(self._io.wait)

    def watcher_killed(self) -> None:
        """Take note that its watcher ends."""
        if not (self.over or self.disk.is_on):
            self.world.stop(
                SimulationError(str(unbound("failure of a disk by its host's profile")))
            )

    def perform(self, limit: float) -> None:
        """Start it and block until it ends."""
        if not self.disk.is_on:
            super().perform(limit)
            return
        if self.priority == 1.0:
            self.begun()
            self.perform_wait(limit)
            return
        function = getattr(self.disk.native, self.kind)
        self._block_with_priority(lambda: function(int(self.amount), self.priority))

    def poll(self) -> bool:
        """Ask SimGrid whether it is over."""
        if not self.over and self._io is not None and self._io.test():
            self.ends(None, self.amount)
        return self.over

    def cancel(self) -> None:
        """End it now: SimGrid cancels what a killed actor, the watcher, waits for."""
        if self.look():
            return
        self.ends(CancelException, NAN)
        self.wake_waiters()

    def wake_waiters(self) -> None:
        """Do what SimGrid would not: wake the actors that wait, and end it if it is cancelled."""

        def kill() -> None:
            simgrid.this_actor.yield_()  # the watcher waits by then
            self.watcher.kill()

        if self._io is not None and self._failure is CancelException:
            here = self.owner.host.native
            self.world.call_even_dying(lambda: here.add_actor("killer", kill).daemonize())
        super().wake_waiters()

    @property
    def _stoppable(self) -> Any:
        raise unbound("suspension of a read or write")

    def _remaining(self) -> float:
        raise unbound("remaining work of a read or write")

    def _account(self, amount: float) -> None:
        """Record what was read or written."""
        if self in self.disk.operations:
            self.disk.operations.remove(self)
        self._row(f"{self.disk.host.name}:{self.disk.name}", self.kind, amount)


class Disk(_Resource):
    """A disk of a host; see :class:`simplugin.simulation.api.Disk`."""

    operations: list[DiskOperation]

    def __init__(self, world: World, host: Host, shared: Any, native: Any) -> None:
        super().__init__(world, shared, native)
        # Operations are those that go on.
        self.__dict__.update(host=host, operations=[])

    def _read(self, size: float, *, priority: float = 1.0, label: str | None = None) -> Activity:
        """Read some bytes."""
        return DiskOperation(self._world.running("read"), self, "read", size, priority, label)

    read, read_async, read_init = launched(_read, "blocking", "begun", "later")

    def _write(self, size: float, *, priority: float = 1.0, label: str | None = None) -> Activity:
        """Write some bytes."""
        return DiskOperation(self._world.running("write"), self, "write", size, priority, label)

    write, write_async, write_init = launched(_write, "blocking", "begun", "later")

    def turn_off(self) -> None:
        """Turn it off: what it reads and writes fails."""
        failed = self.fail_operations()
        super().turn_off()
        for operation in failed:
            operation.wake_waiters()

    def fail_operations(self) -> list[DiskOperation]:
        """Note the failure of all that goes on, and return it."""
        failed = [each for each in self.operations if not each.look()]
        for operation in failed:
            operation.ends(StorageFailureException, NAN)
        return failed


def _a_disk(value: object) -> Disk:
    """Return a disk; raise if it is something else."""
    if not isinstance(value, Disk):
        raise TypeError(f"expected a disk, not {value!r}")
    return value


def sleep_until(world: World, date: float, duration: float) -> None:
    """Sleep, also if the actor moves and the host where the sleep began fails, which ends it."""
    simgrid.this_actor.sleep_for(duration)
    while date - world.now > world.precision:
        simgrid.this_actor.sleep_for(date - world.now)


def sleep(owner: ActorRecord, duration: float) -> Blocking[None]:
    """Return an operation that sleeps for a duration [s]."""
    world = owner.world
    if duration <= 0:
        return done(world, "sleep")

    def perform() -> None:
        start, state, host = world.now, "CANCELED", owner.host.name
        try:
            sleep_until(world, start + duration, duration)
            state = "FINISHED"
        finally:
            # A suspended actor sees the end of its sleep late.
            end = min(world.now, start + max(duration, world.precision))
            world.record.add(owner.pid, host, "sleep", None, start, end, end - start, state)

    return Blocking(world, lambda: "sleep", perform)
