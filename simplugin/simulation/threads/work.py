"""Activities that occupy hosts and links: executions, parallel tasks, transfers; and sleeping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import simgrid
from simplugin.errors import NetworkFailureException, SimpluginError
from simplugin.simulation import _driver
from simplugin.simulation.threads.activity import NAN, Activity, watch
from simplugin.simulation.threads.platform import Host, host_of, require_route
from simplugin.simulation.threads.world import ActorRecord, Blocking, World, a_number, done

if TYPE_CHECKING:
    from simplugin.simulation.api.actor import Matrix, Vector


def unbound(what: str) -> SimpluginError:
    """Return the error for an operation that SimGrid's Python bindings do not have."""
    return SimpluginError(
        f"SimGrid's Python bindings have no {what}; run it with back_end='coroutines'"
    )


class Work(Activity):
    """Something that SimGrid computes or transfers."""

    def begin(self) -> None:
        """Start it."""
        raise NotImplementedError

    def perform(self) -> None:
        """Start it and block until it ends."""
        self.begin()
        self.perform_wait(-1.0)

    def blocking(self) -> Blocking[None]:
        """Return an operation that starts when awaited."""
        return Blocking(self.world, self.describe, self.perform)

    def begun(self) -> Work:
        """Start it now."""
        self.begin()
        watch(self)
        return self


class Execution(Work):
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

    def __init__(
        self, owner: ActorRecord, flops: float, host: Host, priority: float, label: str | None
    ) -> None:
        super().__init__(owner, label, a_number(flops, "flops"))
        self.host = host
        self.priority = priority
        self._here_since = 0.0

    def describe(self) -> str:
        """Return its description for messages."""
        return f"execution on {self.host.name}"

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

    def perform(self) -> None:
        """Start it and block until it ends."""
        if self.priority == 1.0:
            super().perform()
            return
        # A priority is bound for this call only, which gives no handle.
        self._here_since = self.world.now
        self.started(None)
        self.ends_as(lambda: simgrid.this_actor.execute(self.amount, self.priority))
        self.outcome()

    def suspend(self) -> None:
        """Stop its progress; without a handle, SimGrid does it for the actor."""
        if self.native is None and not self.over:
            self.world.call(self.owner.native.suspend)
        super().suspend()

    def resume(self) -> None:
        """Let it progress again."""
        if self.native is None and not self.over:
            self.world.call(self.owner.native.resume)
        super().resume()

    def migrate(self, host: Host) -> None:
        """Take note that it goes on elsewhere: the rest is the new host's."""
        left = self._remaining()
        now = self.world.now
        self.world.record.computed(self.host.name, self._here_since, now, self.amount - left)
        self.host, self.amount, self._here_since = host, left, now

    def _account(self, amount: float) -> None:
        """Record what was computed."""
        self.world.record.computed(self.host.name, self._here_since, self.world.now, amount)
        self._row(self.host.name, "exec", amount)


class ParallelTask(Work):
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


class DirectTransfer(Work):
    """Bytes from a host to another, without actors there.

    SimGrid does not count it among its actor's activities: it goes on when the actor ends.
    """

    kind = "transfer"

    ends_with_owner = False

    def __init__(
        self, owner: ActorRecord, source: Host, destination: Host, size: float, label: str | None
    ) -> None:
        # SimGrid counts whole bytes.
        super().__init__(owner, label, float(int(a_number(size, "size"))))
        self.source = source
        self.destination = destination

    def describe(self) -> str:
        """Return its description for messages."""
        return f"transfer from {self.source.name} to {self.destination.name}"

    def begin(self) -> None:
        """Start it."""
        if not (self.source.is_on and self.destination.is_on):
            # SimGrid aborts.
            self.started(None)
            self.ends(NetworkFailureException, 0.0)
            return
        native = self.world.call(
            simgrid.Comm.sendto_init, self.source.native, self.destination.native
        )
        self.world.call(native.set_payload_size, int(self.amount))
        self.started(native)
        self.world.call(native.start)
        self.world.transfers.append(self)

    def begun(self) -> Work:
        """Start it now; nobody watches, since SimGrid cancels what a killed watcher waits for."""
        self.begin()
        return self

    def settle(self) -> bool:
        """Note the end of a transfer that nobody waited for; return True if it is over."""
        if not self.over and self.native.finish_time >= 0:
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


def parallel_task(
    world: World,
    hosts: Sequence[Host | str],
    flops: Vector | None,
    sizes: Matrix | None,
    label: str | None,
) -> ParallelTask:
    """Return a parallel task of the running actor; raise if the host model has none."""
    owner = world.running("parallel_execute")
    if not world.takes_parallel_tasks:
        raise SimpluginError(
            "parallel tasks need the host model ptask_L07: SimGridOptions(host_model='ptask_L07')"
        )
    task = ParallelTask(owner, [host_of(world, host) for host in hosts], flops, sizes, label)
    for source, row in zip(task.hosts, task.sizes, strict=bool(task.sizes)):
        for destination, size in zip(task.hosts, row, strict=True):
            if size > 0:
                require_route(source.name, destination.name)
    return task


def direct_transfer(
    world: World,
    source: Host | str,
    destination: Host | str,
    size: float,
    rate: float | None,
    label: str | None,
) -> DirectTransfer:
    """Return a transfer of the running actor; raise if the bindings cannot do it."""
    owner = world.running("sendto")
    ends = host_of(world, source), host_of(world, destination)
    if rate is not None:
        raise unbound("rate of a direct transfer")
    transfer = DirectTransfer(owner, *ends, size, label)
    require_route(*(end.name for end in ends))
    return transfer
