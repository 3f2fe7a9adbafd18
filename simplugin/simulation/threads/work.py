"""Hosts, links and routes, and activities on them: executions, parallel tasks, transfers, sleep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.core import errors
from simplugin.simulation import _driver, api
from simplugin.simulation.threads import simgrid
from simplugin.simulation.threads.activity import Failure, ThreadsActivity, a_number
from simplugin.simulation.threads.refused import complete, refuse
from simplugin.simulation.threads.world import SimulationState, Timer, nothing

# Largest fraction of a size that may be lost silently.
_NO_FRACTION = 1e-10


def _read(name: str) -> Any:
    """Return an attribute or method that is the compiled driver's."""
    return property(lambda self: getattr(self.shared, name))


def _changed(name: str) -> Any:
    """Return an attribute of the compiled driver that actors change by requests."""

    def write(self: Any, value: object) -> None:
        self.world.request(lambda: setattr(self.shared, name, value))

    return property(lambda self: getattr(self.shared, name), write)


class _Resource:
    """A host or a link; `shared` is the compiled driver's object."""

    def __init__(self, world: SimulationState, shared: Any) -> None:
        self.world, self.shared = world, shared

    def __repr__(self) -> str:
        return repr(self.shared)

    name, is_on, properties = _read("name"), _read("is_on"), _read("properties")

    def turn_on(self) -> None:
        """Turn it on; the restartable actors of a host start again."""
        self.world.request(self.shared.turn_on)

    def turn_off(self) -> None:
        """Turn it off: what uses it fails, and the actors of a host are killed."""
        self.world.request(self.shared.turn_off)


@complete(api.SimulatedHost)
class ThreadsHost(_Resource):
    """A host; see :class:`simplugin.simulation.api.SimulatedHost`."""

    speed, cores = _read("speed"), _read("cores")
    pstate_count, pstate_speed = _read("pstate_count"), _read("pstate_speed")
    pstate, available_speed = _changed("pstate"), _changed("available_speed")

    def __init__(self, world: SimulationState, shared: Any, native: Any) -> None:
        super().__init__(world, shared)
        self.native = native


@complete(api.SimulatedLink)
class ThreadsLink(_Resource):
    """A link; see :class:`simplugin.simulation.api.SimulatedLink`."""

    sharing_policy = _read("sharing_policy")
    bandwidth, latency = _changed("bandwidth"), _changed("latency")


class ThreadsRoute(NamedTuple):
    """The route between two hosts."""

    links: tuple[ThreadsLink, ...]
    latency: float


def host_of(world: SimulationState, host: ThreadsHost | str | None) -> ThreadsHost:
    """Return a host by its name, or itself."""
    if isinstance(host, ThreadsHost):
        return host
    if not isinstance(host, str):
        raise TypeError(f"expected a host or its name, not {host!r}")
    if host not in world.hosts:
        raise errors.SimpluginError(f"the platform has no host {host!r}")
    found: ThreadsHost = world.hosts[host]
    return found


def require_route(source: ThreadsHost, destination: ThreadsHost) -> None:
    """Raise unless SimGrid can transfer between two hosts."""
    problem = _driver.route_problem(source.name, destination.name, True)
    if problem:
        raise errors.NoRouteError(problem)


class Work(ThreadsActivity):
    """An activity of SimGrid: its action runs from the start to the end.

    SimGrid is asked between events. The end may be known before SimGrid hears of it, and only
    SimGrid says how much was left.
    """

    hosts: Sequence[ThreadsHost]
    # Why it fails with one of its hosts, and why SimGrid has ended it early otherwise.
    host_failure: Failure = errors.HostFailureException
    other_failure: Failure = errors.CancelException
    # Total amount in SimGrid, where that differs from its amount.
    whole: float | None = None
    _name = ""
    _native: Any = None
    # Times in which it was not suspended [s], and the beginning of the current one.
    _since: float | None = None
    # How it ended, in the trace.
    _end = ""

    def begin(self) -> None:
        """Start it in SimGrid at this date."""
        self._name = str(next(self.world.numbers))
        self.spans: list[tuple[float, float]] = []
        self._since = self.world.now
        self.world.later(self._start)
        self._end_unless_possible()

    def off(self) -> Failure | None:
        """Return the failure of its hosts, None if they are on."""
        return None if all(host.is_on for host in self.hosts) else self.host_failure

    def _end_unless_possible(self) -> None:
        """End it if something that it needs is off."""
        failure = self.off() or self.obstacle()
        if failure is not None:
            self.end(failure)

    def _start(self) -> None:
        """Start its action in SimGrid."""
        if not self._end:
            self._end_unless_possible()
        if self._end:
            return
        self.world.running[self._name] = self
        self._native = self.native()
        self._native.set_tracing_category(self._name)
        self._native.start()
        self.shape(self._name)
        if self._since is None:
            self._native.suspend()

    def hold_action(self, *, is_held: bool) -> None:
        """Suspend or resume its action in SimGrid."""
        if self._name:
            self.end_span()
            self._since = None if is_held else self.world.now
            self.world.later(lambda: self.call("suspend" if is_held else "resume"))

    def end_span(self) -> None:
        """Record that it is suspended, or over."""
        if self._since is not None:
            self.spans.append((self._since, self.world.now))

    def leave(self) -> None:
        """End the action."""
        self.stop(self.state)

    def stop(self, state: str) -> None:
        """Cancel its action in SimGrid; `state` is its final state."""
        if self._name and not self._end:
            self._end = state
            self.end_span()
            if self._native is None:
                self.account(0.0, state)
            self.world.later(lambda: self.call("cancel"))

    def call(self, method: str) -> None:
        """Call SimGrid, unless it has ended the action."""
        if self._name in self.world.running:
            getattr(self._native, method)()

    def ended(self, left: float, *, has_failed: bool) -> None:
        """Record that SimGrid has ended the action with the remaining amount `left`."""
        whole = self.amount if self.whole is None else self.whole
        if self.world.takes_parallel_tasks:  # SimGrid counts the fraction
            left *= whole
        self.end(self.off() or (self.other_failure if has_failed else None))
        self.account(whole - left, self._end)

    def native(self) -> Any:
        """Make SimGrid's activity."""
        raise NotImplementedError

    def shape(self, name: str) -> None:
        """Set properties of its action that the bindings lack."""

    def obstacle(self) -> Failure | None:
        """Return another reason why it cannot start now, None if it can."""
        return None

    def fails_with(self, host: ThreadsHost) -> bool:
        """Return True if it is detached and fails with its host."""
        return self.is_detached and host is self.hosts[0]

    def account(self, done: float, state: str) -> None:
        """Record the work done."""
        raise NotImplementedError


class ThreadsExecution(Work):
    """Flops on one host; see :meth:`simplugin.simulation.api.Actor.execute`."""

    def __init__(
        self, me: Any, flops: Any, host: Any, priority: Any, bound: Any, threads: Any, label: Any
    ) -> None:
        owner = me.world.running_actor("execute")
        super().__init__(owner, label, a_number(flops, "flops"))
        self.hosts = [owner.host if host is None else host_of(self.world, host)]
        self.text = f"execution on {self.hosts[0].name}"
        self._share = a_number(priority, "priority", is_positive=True)
        self._bound = -1.0 if bound is None else a_number(bound, "bound", is_positive=True)
        if threads != 1:
            refuse("Actor.execute(threads=...)")
        is_plain = not self.world.takes_parallel_tasks and _driver.option("cpu/optim", "s") != "TI"
        if bound is not None and not is_plain:
            raise errors.SimpluginError("ptask_L07 and cpu/optim:TI know no bound of an execution")

    def native(self) -> Any:
        """Make SimGrid's activity."""
        return simgrid.this_actor.exec_init([self.hosts[0].native], [self.amount], [])

    def shape(self, name: str) -> None:
        """Set priority and bound of its action."""
        _driver.shape(self.hosts[0].name, name, self._share, self._bound)

    def account(self, done: float, state: str) -> None:
        """Record the flops computed."""
        self.world.record.computed(self.hosts[0].name, self, done)
        self.world.record.add(self, self.hosts[0].name, "exec", done, state)


def _amounts(given: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Check amounts of a parallel task; None is none."""
    amounts = np.zeros(shape) if given is None else np.array(given, dtype=np.float64)
    if amounts.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, not {amounts.shape}")
    if not (np.isfinite(amounts) & (amounts >= 0)).all():
        raise ValueError(f"{what} must be finite numbers >= 0")
    return amounts


class ParallelTask(Work):
    """Flops on hosts, bytes between them; see `simplugin.simulation.api.Actor.parallel_execute`."""

    text = "parallel task"
    whole = 1.0

    def __init__(self, me: Any, hosts: Any, flops: Any, sizes: Any, label: Any) -> None:
        super().__init__(me.world.running_actor("parallel_execute"), label)
        if not self.world.takes_parallel_tasks:
            option = "SimGridOptions(host_model='ptask_L07')"
            raise errors.SimpluginError(f"parallel tasks need the host model ptask_L07: {option}")
        self.hosts = [host_of(self.world, host) for host in hosts]
        count = len(self.hosts)
        if count == 0:
            raise ValueError("a parallel task needs at least one host")
        self._flops = _amounts(flops, (count,), "flops")
        self._sizes = _amounts(sizes, (count, count), "sizes")
        self.amount = float(sum(self._flops))
        if count == 1 and self._sizes.any():
            refuse("Actor.parallel_execute() of one host with a transfer to itself")
        for i, j in np.argwhere(self._sizes > 0):
            require_route(self.hosts[i], self.hosts[j])

    def native(self) -> Any:
        """Make SimGrid's activity."""
        for host in self.hosts:
            # SimGrid's plug-in does not notice the start, and would take the host for busy before.
            _driver.energy_of_host(host.name)
        sizes = self._sizes.ravel().tolist() if self._sizes.any() else []
        natives = [host.native for host in self.hosts]
        return simgrid.this_actor.exec_init(natives, self._flops.tolist(), sizes)

    def account(self, done: float, state: str) -> None:
        """Record flops and bytes; `done` is the completed fraction of the task."""
        names, record = [host.name for host in self.hosts], self.world.record
        for name, flops in zip(names, self._flops.tolist(), strict=True):
            record.computed(name, self, done * flops)
        for i, j in np.argwhere(self._sizes > 0):
            if i != j:
                record.carried(names[i], names[j], done * float(self._sizes[i, j]))
        record.add(self, ",".join(names), "ptask", done * self.amount, state)


class Transfer(Work):
    """Bytes from a host to another: of a direct transfer, or of a put and its get."""

    host_failure = other_failure = errors.NetworkFailureException

    @staticmethod
    def size_of(value: float, what: str, rate: object) -> float:
        """Return a size; SimGrid's bindings take whole bytes only."""
        if rate is not None:
            refuse("Mailbox.put(rate=...)" if "payload" in what else "Actor.sendto(rate=...)")
        size = a_number(value, what)
        if size % 1 > _NO_FRACTION * size:
            refuse("transfers of fractions of a byte")
        return size

    def begin(self) -> None:
        """Start it in SimGrid, unless there is no route."""
        if self.amount == 0 and self.world.takes_parallel_tasks:
            refuse("transfers of 0 byte under ptask_L07")
        if self.off() is None and _driver.route_problem(*self._names(), True):
            self.end(errors.NoRouteError)
        elif self.off() is not None:
            self.end(self.off())
        else:
            self.start_time = self.world.now
            super().begin()

    def _names(self) -> tuple[str, str]:
        """Return the names of source and destination."""
        return self.hosts[0].name, self.hosts[1].name

    def native(self) -> Any:
        """Make SimGrid's activity."""
        native = simgrid.Comm.sendto_init(*(host.native for host in self.hosts))
        return native.set_payload_size(int(self.amount))

    def obstacle(self) -> Failure | None:
        """Return the failure of a link on the way, or, with cross-traffic, on the way back."""
        there = [host.shared for host in self.hosts]
        ways = [there, there[::-1]] if _driver.option("network/crosstraffic", "b") else [there]
        # Without links, as in the model Constant, there need not be routes.
        ways = ways if self.world.links else []
        on = all(link.is_on for way in ways for link in _driver.route(*way)[0])
        return None if on else errors.NetworkFailureException

    def error(self, kind: Failure) -> errors.SimpluginError:
        """Make an exception about this activity."""
        problem = _driver.route_problem(*self._names(), True) if kind is errors.NoRouteError else ""
        return kind(problem) if problem else super().error(kind)

    def account(self, done: float, state: str) -> None:
        """Record the bytes transferred."""
        self.world.record.carried(*self._names(), done)
        self.world.record.add(self, "->".join(self._names()), "comm", done, state)


class DirectTransfer(Transfer):
    """Bytes from a host to another, without actors there; it outlives its actor."""

    is_detached = True

    def __init__(
        self, me: Any, source: Any, destination: Any, size: Any, rate: Any, label: Any
    ) -> None:
        amount = self.size_of(size, "size", rate)
        super().__init__(me.world.running_actor("sendto"), label, amount)
        self.hosts = [host_of(self.world, host) for host in (source, destination)]
        require_route(*self.hosts)
        self.text = f"transfer from {self.hosts[0].name} to {self.hosts[1].name}"

    def fails_with(self, host: ThreadsHost) -> bool:
        """Return True if it fails with a host."""
        return host in self.hosts


class Sleep(ThreadsActivity):
    """Time that passes [s]."""

    text = "sleep"
    _alarm: Timer

    def begin(self) -> None:
        """Start it."""
        follows = _driver.is_default("precision/timing")
        now = self.world.now
        # As in cpp/driver/zero_capacity.cpp: a sleep that does not move the date never ends a loop.
        least = max(1e-300, 1e-9 * min(now, 1.0), 1e-15 * now)
        if not follows:
            least = float(_driver.option("precision/timing", "d"))
        duration = max(self.amount, least)
        self._alarm = self.world.at(self.world.now + duration, self.end)

    def leave(self) -> None:
        """Be woken no more, and record it."""
        self._alarm.function = nothing
        slept = self.world.now - (self.start_time or 0.0)
        self.world.record.add(self, self.owner.host.name, "sleep", slept, self.state)
