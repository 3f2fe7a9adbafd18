"""Hosts, links and routes as actors see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from simplugin.errors import HostFailureException, NoRouteError, SimpluginError
from simplugin.simulation import _driver
from simplugin.simulation.threads.world import World, a_number, positive


class _Resource:
    """A host or a link."""

    def __init__(self, world: World, native: Any) -> None:
        self._world = world
        self.native = native
        self.name: str = native.name
        self.properties: dict[str, str] = dict(native.get_properties())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def load(self) -> float:
        """Speed [flop/s] or bandwidth [byte/s] in use."""
        return float(self.native.load)

    def turn_on(self) -> None:
        """Turn it on; the restartable actors of a host start again."""
        self._world.call(self.native.turn_on)

    def _measured(self, plugin: str, energy: Callable[[str], float]) -> float:
        """Return the energy so far [J]; raise if it is not measured."""
        if plugin not in self._world.plugins:
            raise SimpluginError("energy is not measured; run simulate(..., energy=True)")
        return energy(self.name)


class Host(_Resource):
    """A host; see :class:`simplugin.simulation.api.Host`."""

    @property
    def speed(self) -> float:
        """Peak speed of a core in this pstate [flop/s]."""
        return float(self.native.speed)

    @property
    def available_speed(self) -> float:
        """Fraction of the speed that its profile leaves."""
        return float(self.native.available_speed)

    @property
    def cores(self) -> int:
        """Number of cores."""
        return int(self.native.core_count)

    @property
    def is_on(self) -> bool:
        """True if it is on."""
        return bool(self.native.is_on)

    @property
    def pstate_count(self) -> int:
        """Number of performance states."""
        return int(self.native.pstate_count)

    @property
    def pstate(self) -> int:
        """Its performance state."""
        return int(self.native.pstate)

    @pstate.setter
    def pstate(self, value: int) -> None:
        self._world.call(setattr, self.native, "pstate", self._checked(value))

    def pstate_speed(self, pstate: int) -> float:
        """Return the speed of a pstate [flop/s]."""
        return float(self.native.pstate_speed(self._checked(pstate)))

    def _checked(self, pstate: int) -> int:
        """Return a pstate that exists."""
        if not 0 <= pstate < self.pstate_count:
            raise ValueError(
                f"host {self.name!r} has pstates 0 to {self.pstate_count - 1}, not {pstate}"
            )
        return pstate

    @property
    def energy(self) -> float:
        """Energy so far [J]."""
        return self._measured("host_energy", _driver.energy_of_host)

    def turn_off(self) -> None:
        """Turn it off: its actors are killed."""
        if not self.is_on:
            return
        here = [actor for actor in self._world.actors if actor.host is self and actor.is_alive]
        abandoned = [activity for actor in here for activity in actor.abandon()]
        try:
            self._world.call(self.native.turn_off)
        finally:
            for activity in abandoned:
                activity.wake_waiters()
        self._world.do_deferred()


class Link(_Resource):
    """A link; see :class:`simplugin.simulation.api.Link`."""

    @property
    def bandwidth(self) -> float:
        """Bandwidth [byte/s]."""
        return float(self.native.bandwidth)

    @bandwidth.setter
    def bandwidth(self, value: float) -> None:
        checked = positive(self._settable(value), "bandwidth")
        self._world.call(self.native.set_bandwidth, checked)

    @property
    def latency(self) -> float:
        """Latency [s]."""
        return float(self.native.latency)

    @latency.setter
    def latency(self, value: float) -> None:
        checked = a_number(self._settable(value), "latency")
        self._world.call(self.native.set_latency, checked)

    def _settable(self, value: float) -> float:
        """Return the value; raise if it is missing, or if SimGrid cannot change the link."""
        if value is None:
            raise TypeError("expected a number")
        if self.sharing_policy == "WIFI":
            raise ValueError("SimGrid cannot change a Wi-Fi link")
        return value

    @property
    def is_on(self) -> bool:
        """True if it is on."""
        return bool(self.native.is_on())

    @property
    def sharing_policy(self) -> str:
        """SHARED, FATPIPE, SPLITDUPLEX, ..."""
        return str(self.native.get_sharing_policy().name)

    @property
    def energy(self) -> float:
        """Energy so far [J]."""
        return self._measured("link_energy", _driver.energy_of_link)

    def set_host_wifi_rate(self, host: Host | str, level: int, /) -> None:
        """Choose the rate of a host on this Wi-Fi link."""
        _driver.set_wifi_rate(self.name, host_of(self._world, host).name, level)

    def turn_off(self) -> None:
        """Turn it off: its transfers fail."""
        self._world.call(self.native.turn_off)


class Route(NamedTuple):
    """How two hosts are connected."""

    links: tuple[Link, ...]
    latency: float


def host_of(world: World, host: Host | str) -> Host:
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


def require_route(source: str, destination: str, *, transfers: bool = True) -> None:
    """Raise unless SimGrid finds a route between two hosts, and can transfer over it."""
    problem = _driver.route_problem(source, destination, transfers)
    if problem:
        raise NoRouteError(problem)


def route_between(world: World, source: Host, destination: Host) -> Route:
    """Ask SimGrid for the route between two hosts."""
    require_route(source.name, destination.name, transfers=False)
    links, latency = source.native.route_to(destination.native)
    # Loopbacks are not in the platform's list.
    found = (world.links.get(link.name) or Link(world, link) for link in links)
    return Route(tuple(found), float(latency))
