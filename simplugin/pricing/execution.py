"""Negotiations on a simulated platform, in synchronous rounds or without."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Unpack

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.graphs import Graph
from simplugin.platforms.platform import Platform
from simplugin.pricing.actors.delivery import Envelope, RolePlace, RoleRecord, act, act_periodically
from simplugin.pricing.actors.dispatchers import AgentSetup, agent
from simplugin.pricing.changes import CapacityChange, ProblemInterval, changing, reachable
from simplugin.pricing.iteration import Trajectory, require_rounds, settled
from simplugin.pricing.method import Method, Role, Roles, State, check_start, require_method
from simplugin.pricing.neighbourhood import ManagerNeighbourhood, Neighbourhoods, neighbourhoods
from simplugin.pricing.policies.task_queues import Proportions
from simplugin.pricing.task_dispatch import Dispatch, live_stations, measured
from simplugin.simulation import Actor, Result, SimGridOptions
from simplugin.simulation.api import Semaphore
from simplugin.simulation.options import SimulationKeywords, with_defaults
from simplugin.simulation.platform_changes import failing_links_on_routes, profile_changes, profiles
from simplugin.simulation.simulate import simulate
from simplugin.workloads.applications import Application
from simplugin.workloads.shared_deployment import AlphaFair, Floats, Integers, SharedDeployment

# Of one run; far fewer than the dates that SimGrid can distinguish.
_MOST_PERIODS = 10**9


@dataclass(frozen=True, eq=False)
class PriceNegotiation:
    """Result of a simulated negotiation.

    Attributes
    ----------
    trajectory : Trajectory
        With dates and bytes; prices of unused resources are 0.
    result : Result
        Of the simulation, without a trace.
    """

    trajectory: Trajectory
    result: Result


def negotiate(
    platform: Graph | Platform | str | os.PathLike[str],
    sharing: SharedDeployment,
    method: Method[Any],
    rounds: int,
    utility: AlphaFair,
    *,
    start: State | None = None,
    envelope: Envelope | None = None,
    **simulation: Unpack[SimulationKeywords],
) -> PriceNegotiation:
    """Simulate a negotiation of agents and price managers in synchronous rounds.

    Each agent, and each price manager of a host or link, is an actor. All know their
    neighbourhood only, and learn the rest from messages; those between hosts cross the network.

    Hosts may fail and come back by profiles of the platform. This interrupts the round at once:
    the roles there, and agents that reached their master through the host, are gone; the others
    continue from their rates and prices, as do those that return.

    Parameters
    ----------
    platform : Graph, Platform or path
        Where; its hosts and links bear the names in `sharing`. There are routes both ways
        between parents and children, and between the users of a link.
    sharing : SharedDeployment
        The deployment. Managers read capacities off the platform, not from here.
    method : Method
        The method.
    rounds : int
        Number of rounds.
    utility : AlphaFair
        Of every application.
    start : State, optional
        State of the method's pure iteration to resume from; each role gets its own part of it.
    envelope : Envelope, optional
        Sizes of messages.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``.

    Returns
    -------
    PriceNegotiation
        The trajectory is that of the pure iteration.

    Raises
    ------
    WorkloadError
        A child has no route to its parent, `start` or the step sizes do not go with method and
        deployment, `rounds` is below 1, or every host fails at some time.
    """
    require_rounds(rounds, 1)
    method = require_method(method)
    method.roles(utility, rounds)
    method.check(sharing)
    if start is not None:
        check_start(method, sharing, utility, start)
    model = platform
    if isinstance(model, Graph):
        check_ways_back(model, sharing)
        model = model.platform()
    described = model if isinstance(model, Platform) else read_platform(model)
    failing = {name for name, kind in profiles(described) if kind == "HOST_AVAIL"}
    safe = [host for host in sharing.hosts if host not in failing]
    if not safe:
        raise WorkloadError("every host fails at some time; one that does not has to start roles")
    first = sharing.hosts[int(sharing.host[0])]
    first = safe[0] if first in failing else first
    asked = sharing, method, rounds, utility, envelope or Envelope(), start, bool(failing)
    result = simulate(
        model, [(first, run_rounds, *asked)], **with_defaults(simulation, SimGridOptions.linear())
    )
    return PriceNegotiation(_trajectory(sharing, result), result)


def check_ways_back(graph: Graph, sharing: SharedDeployment) -> None:
    """Raise if a child has no link with a bandwidth to its parent."""
    open_ = graph.bandwidth > 0
    there = set(zip(graph.source[open_].tolist(), graph.destination[open_].tolist(), strict=True))
    children = np.flatnonzero(sharing.parent >= 0)
    hosts, parents = sharing.host[children], sharing.host[sharing.parent[children]]
    for child, parent in zip(hosts.tolist(), parents.tolist(), strict=True):
        if child != parent and (child, parent) not in there:
            raise WorkloadError(
                f"no link with a bandwidth goes from {graph.hosts[child]!r} back to"
                f" {graph.hosts[parent]!r}: messages could not go up the tree; give one"
            )


async def run_rounds(
    me: Actor,
    sharing: SharedDeployment,
    method: Method[Any],
    rounds: int,
    utility: AlphaFair,
    envelope: Envelope,
    start: State | None,
    watched: bool,
) -> tuple[Floats, Floats, Floats]:
    """Start an actor for each role, and collect their records when all have ended.

    This coordinator takes no part in the negotiation and no simulated time. It makes the roles in
    the simulation's process, because 10 000 hosts have some 100 000 of them. A host that fails or
    comes back interrupts the round: the remaining roles continue with new neighbourhoods.

    Returns
    -------
    float64, shape (n_rounds + 1, n_agents + n_hosts + n_links)
        Rates, prices of hosts, prices of links; 0 for roles that are off.
    float64, shape (n_rounds + 1,)
        When the last role ended each round [s].
    float64, shape (n_rounds + 1,)
        Size of the messages that roles had posted to other hosts when they ended it [byte].
    """
    values = np.zeros((rounds + 1, sharing.n_agents + sharing.n_hosts + sharing.n_links))
    date, sent = np.zeros(rounds + 1), np.zeros(rounds + 1)
    wake, done, known = me.semaphore(0), 0, dict[int, Role]()
    for host in sharing.hosts if watched else ():
        me.spawn(watch, wake, host=host, daemon=True, restart=True)
    while True:
        off = _off(me, sharing)
        there = np.ones(sharing.n_applications, dtype=bool)
        part, _, agents = reachable(sharing, there, off) if off else (sharing, None, None)
        if part is None:
            raise WorkloadError("the hosts of all masters have failed; keep one of them on")
        if start is not None and not known and part is not sharing:
            raise WorkloadError(f"{min(off)!r} is off at the start, but the state has roles there")
        first = not known
        prefix = "" if first else f"{me.now:g} s: "
        around = neighbourhoods(part, prefix=prefix)
        roles = method.roles(utility, rounds - done)
        records: dict[int, RoleRecord] = {}
        actors = []
        for place in _places(around, roles, sharing):
            seat, role = place.seat, place.new_role()
            number = seat.number
            if isinstance(seat, ManagerNeighbourhood):
                number += sharing.n_agents - part.n_agents
            elif agents is not None:
                number = int(agents[number])
            if first and start is not None:
                role.resume(start)
            elif number in known:
                role.inherit(known[number])
            known[number] = role
            records[number] = record = RoleRecord()
            args = f"{prefix}{seat.number}", role, place.sensor, envelope, record, watched
            actors.append(me.spawn(act, *args, host=place.host))
        if watched:
            # Until the end of all, or until a host fails or comes back.
            joining = me.spawn(_join, actors, wake, name="waits for roles")
            while not all(record.over for record in records.values()):
                await wake.acquire()
                if _off(me, sharing) != off:
                    break
            for actor in (joining, *actors):
                actor.kill()
        else:
            for actor in actors:
                await actor.join()
        last = min(len(record.values) for record in records.values()) - 1
        # The state at the interruption is not the end of a round.
        skipped = 1 if done else 0
        rows = slice(done + skipped, done + last + 1)
        for number, record in records.items():
            values[rows, number] = record.values[skipped : last + 1]
            date[rows] = np.maximum(date[rows], record.dates[skipped : last + 1])
            sent[rows] += record.sizes[skipped : last + 1]
        sent[rows] += sent[done] if done else 0.0
        done += last
        if done == rounds:
            return values, date, sent


def _off(me: Actor, sharing: SharedDeployment) -> set[str]:
    """Return the hosts that are off."""
    return {name for name in sharing.hosts if not me.host_by_name(name).is_on}


def _places(around: Neighbourhoods, roles: Roles, sharing: SharedDeployment) -> Iterator[RolePlace]:
    """Yield the agents and the managers in their places."""
    for seat in around.agents:
        host = sharing.hosts[around.host[seat.number]]
        yield RolePlace(seat, host, partial(roles.agent, seat), None)
    for desk in around.managers:
        host = sharing.hosts[around.host[desk.number]]
        sensor = "" if desk.is_host else sharing.links[desk.resource]
        yield RolePlace(desk, host, partial(roles.manager, desk), sensor)


async def watch(me: Actor, wake: Semaphore) -> None:
    """Signal the coordinator when the host starts or fails."""
    me.on_exit(lambda _: wake.release())
    wake.release()
    await me.semaphore(0).acquire()


async def _join(me: Actor, actors: Sequence[Actor], wake: Semaphore) -> None:
    """Signal the coordinator after the end of all actors."""
    del me
    for actor in actors:
        await actor.join()
    wake.release()


def _trajectory(sharing: SharedDeployment, result: Result) -> Trajectory:
    """Return the trajectory from the actors' logs."""
    values, date, sent = result.value_of("run_rounds")
    total = float(result.links.bytes.sum())
    rates, host_price, link_price = np.split(
        values, [sharing.n_agents, sharing.n_agents + sharing.n_hosts], axis=1
    )
    throughput = np.array([sharing.throughput(rate) for rate in rates])
    overload = np.array([sharing.overload(rate) for rate in rates])
    sent = total * sent / (float(sent[-1]) or 1.0)
    end = rates[-1], host_price, link_price
    return Trajectory(throughput, overload, *end, date, total, rates, sent)


@dataclass(frozen=True, eq=False)
class PeriodicRun:
    """Rates, prices and tasks of a run without rounds.

    Attributes
    ----------
    date : float64, shape (n_samples,)
        Of each sample [s].
    throughput : float64, shape (n_samples, n_applications)
        Of each application [tasks/s].
    rates : float64, shape (n_samples, n_agents)
        Of each agent [tasks/s].
    host_price : float64, shape (n_hosts,)
        At the end [utility/flop].
    link_price : float64, shape (n_links,)
        At the end [utility/byte].
    period : float
        Between two decisions of a role [s].
    bytes_sent : float
        Through the simulated network, data of tasks included [byte].
    result : Result
        Of the simulation, without a trace.
    tasks : Dispatch, optional
        Tasks dispatched during the negotiation, with the throughputs of the last three quarters.
    """

    date: Floats
    throughput: Floats
    rates: Floats
    host_price: Floats
    link_price: Floats
    period: float
    bytes_sent: float
    result: Result
    tasks: Dispatch | None = None

    def return_time(
        self, interval: ProblemInterval, best: Floats, level: float = 0.01
    ) -> float | None:
        """Return the time until every throughput stays near the optimum.

        Parameters
        ----------
        interval : ProblemInterval
            Between two changes.
        best : float64, shape (n_applications of the interval,)
            The optimal throughputs there [tasks/s].
        level : float
            Largest error relative to the optimum, and largest overload of a resource.

        Returns
        -------
        float or None
            Since the interval's start [s]; None if they were not near at its end.
        """
        seen = self.seen(interval)
        first = settled(self.errors(interval, best), level) if len(seen) else None
        return None if first is None else float(self.date[seen[first]] - interval.start)

    def seen(self, interval: ProblemInterval) -> Integers:
        """Return the numbers of the samples within an interval."""
        return np.flatnonzero((self.date >= interval.start) & (self.date < interval.end))

    def during(self, interval: ProblemInterval) -> tuple[Floats, Floats]:
        """Return throughputs and the overload of the samples within an interval.

        Rates of agents that are cut off from their masters do not count.

        Returns
        -------
        float64, shape (n_samples, n_applications of the interval)
            Throughputs [tasks/s].
        float64, shape (n_samples,)
            The worst overload of a resource, relative to its capacity.
        """
        sharing = interval.sharing
        rates = self.rates[np.ix_(self.seen(interval), interval.agents)]
        throughput = np.array([sharing.throughput(rate) for rate in rates])
        return (
            throughput.reshape(-1, sharing.n_applications),
            np.array([sharing.overload(rate) for rate in rates]),
        )

    def errors(self, interval: ProblemInterval, best: Floats) -> Floats:
        """Return the worst relative error of a throughput, or overload, of each sample in it."""
        throughput, overload = self.during(interval)
        with np.errstate(all="ignore"):
            relative = np.abs(throughput / best - 1)
        worst = np.where(np.isnan(relative), 0.0, relative).max(axis=1)
        return np.asarray(np.maximum(worst, overload))


@dataclass(frozen=True, eq=False)
class PeriodicSettings:
    """End, period and sizes of a run without rounds.

    Attributes
    ----------
    until : float
        End of the run [s].
    period : float
        Time between two decisions of a role [s].
    patience : int
        Periods for which a role may be silent before it is dropped.
    sample : float, optional
        Time between two samples of the rates [s]; by default the period.
    grain : float or float64, shape (n_applications,), optional
        Number of tasks for which a simulated task stands. With it, tasks are dispatched at the
        negotiated rates, as `dispatch` does, over the links that messages cross; by default no
        tasks are dispatched.
    envelope : Envelope
        Sizes of messages.

    Raises
    ------
    WorkloadError
        A time or `patience` is out of range.
    """

    until: float
    period: float
    patience: int = 5
    sample: float | None = None
    grain: float | Floats | None = None
    envelope: Envelope = field(default_factory=Envelope)

    def __post_init__(self) -> None:
        """Check the fields."""
        times = self.until, self.period, self.period if self.sample is None else self.sample
        few = all(0 < each <= self.until <= _MOST_PERIODS * each for each in times)
        if not few or self.until == np.inf or self.patience < 1:
            raise WorkloadError(
                f"until is {self.until}, period {self.period}, sample {self.sample} and patience"
                f" {self.patience}; give positive, finite times, from one to {_MOST_PERIODS:,}"
                " periods and samples, and a patience of 1 or more"
            )


def simulate_periodic(
    platform: Graph | Platform | str | os.PathLike[str],
    applications: Sequence[Application],
    sharing: SharedDeployment,
    method: Method[Any],
    utility: AlphaFair,
    settings: PeriodicSettings,
    *,
    changes: Sequence[CapacityChange] = (),
    **simulation: Unpack[SimulationKeywords],
) -> PeriodicRun:
    """Simulate agents and managers that act each period on their last messages, through changes.

    Each role decides once a period, at a random phase, and waits for nothing. Messages cross the
    simulated network, and are lost where a link or a host fails. A role that is silent for
    `patience` periods or signs off is dropped: an agent without a parent stops, a child or member
    leaves the sums. Roles start afresh when their host comes back.

    Parameters
    ----------
    platform : Graph, Platform or path
        Where, before any change; profiles of its own are followed, too. Its hosts and links bear
        the names in `sharing`. There are routes both ways between parents and children, and between
        the users of a link.
    applications : sequence of Application
        The applications, each from `start` to `end`.
    sharing : SharedDeployment
        Their deployment.
    method : Method
        The method.
    utility : AlphaFair
        Of every application.
    settings : PeriodicSettings
        End of the run, period and sizes.
    changes : sequence of CapacityChange
        Changes of other hosts and links, as profiles of the simulated platform.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`; by default
        ``options=SimGridOptions.linear()`` and ``trace=False``. `seed` also determines the phases.

    Returns
    -------
    PeriodicRun
        Samples of all rates.

    Raises
    ------
    PlatformError
        A profile of the platform has random dates, see `profile_changes`.
    WorkloadError
        A child has no link to its parent, all hosts fail at some time, a change names an unknown
        resource, or something fails although tasks are dispatched.
    """
    until, grain = settings.until, settings.grain
    require_method(method).periodic_roles(utility, settings.patience)
    if isinstance(platform, Graph):
        check_ways_back(platform, sharing)
    method.check(sharing)
    every = [*profile_changes(platform, sharing, until), *changes]
    off = {change.resource for change in every if change.fails}
    if off and grain is not None:
        raise WorkloadError(
            f"{min(off)!r} fails, and tasks would be lost with it; leave out grain, or the failure"
        )
    safe = [host for host in sharing.hosts if host not in off]
    if not safe:
        raise WorkloadError("every host fails at some time; the observer needs one that does not")
    # Managers of links are on other hosts if possible.
    failing = {host for host, name in enumerate(sharing.hosts) if name in off}
    failing |= {
        child
        for _, child in failing_links_on_routes(platform, sharing, off.difference(sharing.hosts))
    }
    stations = {} if grain is None else live_stations(sharing, grain, settings.period, until)
    if changes or isinstance(platform, Graph):
        if not isinstance(platform, Graph | Platform):
            platform = read_platform(platform)
        platform = changing(platform, changes, sharing)
    parties = sharing, tuple(applications), frozenset(failing), method, utility, settings, stations
    options = with_defaults(simulation, SimGridOptions.linear())
    result = simulate(platform, [(safe[0], monitor, *parties)], **options)
    date, rates, prices = result.value_of("monitor")
    throughput = np.array([sharing.throughput(rate) for rate in rates])
    host_price, link_price = np.split(prices, [sharing.n_hosts])
    sent = float(result.links.bytes.sum())
    tasks = None if grain is None else measured(sharing, result, grain, date, throughput)
    seen = date, throughput, rates, host_price, link_price
    return PeriodicRun(*seen, settings.period, sent, result, tasks)


async def monitor(
    me: Actor,
    sharing: SharedDeployment,
    applications: Sequence[Application],
    failing: Collection[int],
    method: Method[Any],
    utility: AlphaFair,
    settings: PeriodicSettings,
    stations: Mapping[int, AgentSetup],
) -> tuple[Floats, Floats, Floats]:
    """Start all roles and dispatchers, and sample the rates until the end.

    Roles on hosts that are off start once these are on.

    Returns
    -------
    float64, shape (n_samples,)
        Dates [s].
    float64, shape (n_samples, n_agents)
        Rates [tasks/s].
    float64, shape (n_hosts + n_links,)
        Prices of the last sample [utility/flop or utility/byte].
    """
    around = neighbourhoods(sharing, applications, failing)
    roles = method.periodic_roles(utility, settings.patience)
    board = np.zeros(len(around.host))
    waiting: dict[str, list[RolePlace]] = {}
    for place in _places(around, roles, sharing):
        waiting.setdefault(place.host, []).append(place)
    for number, station in stations.items():
        me.spawn(agent, station, host=sharing.hosts[around.host[number]], name=station.name)
    dates, rates, prices = [], [], np.zeros(0)
    while me.now < settings.until:
        for host in [name for name in waiting if me.host_by_name(name).is_on]:
            for place in waiting.pop(host):
                setup = stations.get(place.seat.number)
                live = setup.proportions if setup is not None else None
                assert not isinstance(live, Proportions)
                post = place, board, settings.period, settings.envelope, live
                me.spawn(act_periodically, *post, host=host, daemon=True, restart=True)
        await me.sleep_for(settings.sample or settings.period)
        dates.append(me.now)
        rates.append(board[: sharing.n_agents].copy())
        if me.now < settings.until:
            prices = board[sharing.n_agents :].copy()
    return np.array(dates), np.array(rates), prices
