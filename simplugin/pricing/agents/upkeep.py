"""Negotiating without rounds, while the platform and the applications change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.pricing.agents.attendance import Post, attend
from simplugin.pricing.agents.changes import changing
from simplugin.pricing.agents.delivery import Envelope
from simplugin.pricing.agents.methods import ticking_cast
from simplugin.pricing.agents.negotiation import check_ways_back
from simplugin.pricing.agents.neighbourhood import (
    ABOVE,
    BELOW,
    AgentSeat,
    ManagerSeat,
    neighbourhoods,
)
from simplugin.simulation import SimGridOptions, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.platforms.graphs import Graph
    from simplugin.pricing.agents.changes import Change, Interval
    from simplugin.pricing.trajectory import Method
    from simplugin.simulation import Actor, Result
    from simplugin.workloads.applications import Application
    from simplugin.workloads.sharing import Sharing
    from simplugin.workloads.utility import AlphaFair

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Upkeep:
    """How rates followed what changed.

    Attributes
    ----------
    date : float64, shape (n_samples,)
        When it was looked at [s].
    throughput : float64, shape (n_samples, n_applications)
        Of each application [tasks/s].
    rates : float64, shape (n_samples, n_agents)
        Of each agent [tasks/s].
    period : float
        Between two decisions of a role [s].
    bytes_sent : float
        Through the simulated network [byte].
    result : Result
        Of the simulation, without a trace.
    """

    date: Floats
    throughput: Floats
    rates: Floats
    period: float
    bytes_sent: float
    result: Result

    def return_time(self, interval: Interval, best: Floats, level: float = 0.01) -> float | None:
        """Return how long it took until every throughput was near the optimum, and stayed so.

        Parameters
        ----------
        interval : Interval
            Between two changes.
        best : float64, shape (n_applications of the interval,)
            The optimal throughputs there [tasks/s].
        level : float
            How near, relative to the optimum; also the overload of a resource that is accepted.

        Returns
        -------
        float or None
            Since the interval's start [s]; None if they were not near at its end.
        """
        seen = np.flatnonzero((self.date >= interval.start) & (self.date < interval.end))
        errors = self.errors(interval, best)[seen]
        outside = np.flatnonzero(~(errors <= level))
        first = int(outside[-1]) + 1 if len(outside) else 0
        return float(self.date[seen[first]] - interval.start) if first < len(seen) else None

    def errors(self, interval: Interval, best: Floats) -> Floats:
        """Return the worst relative error of a throughput, or overload if larger, of each sample.

        Rates of agents that are cut off from their masters do not count.
        """
        rates = self.rates[:, interval.agents]
        throughput = np.array([interval.sharing.throughput(rate) for rate in rates])
        overload = np.array([interval.sharing.overload(rate) for rate in rates])
        worst = np.abs(throughput / best - 1).max(axis=1)
        return np.asarray(np.maximum(worst, overload))


def keep_up(
    graph: Graph,
    applications: Sequence[Application],
    sharing: Sharing,
    method: Method[Any],
    utility: AlphaFair,
    *,
    until: float,
    period: float,
    changes: Sequence[Change] = (),
    patience: int = 5,
    sample: float | None = None,
    options: SimGridOptions | None = None,
    envelope: Envelope | None = None,
    seed: int = 0,
) -> Upkeep:
    """Let agents and managers act each period on what they last heard, through changes.

    Nobody waits for anybody. Each role decides once a period, at a phase of its own; messages
    take the time that they take, and are lost where a link or a host fails. Who has been silent
    for `patience` periods, or has taken its leave, counts as gone: an agent without a father
    stops, a son or member drops out of the sums. Roles start afresh when their host comes back.

    Parameters
    ----------
    graph : Graph
        Where, before any change.
    applications : sequence of Application
        What shares it, from `start` to `end`.
    sharing : Sharing
        Their deployment.
    method : Method
        What they do in a period.
    utility : AlphaFair
        Of every application.
    until : float
        When it ends [s].
    period : float
        Between two decisions of a role [s].
    changes : sequence of Change
        What happens to hosts and links; they are profiles of the simulated platform.
    patience : int
        How many periods somebody may be silent.
    sample : float, optional
        Between two looks of the observer [s]; a period without.
    options : SimGridOptions, optional
        Of the simulation; ``SimGridOptions.linear()`` without.
    envelope : Envelope, optional
        Sizes of messages.
    seed : int
        Of the phases.

    Returns
    -------
    Upkeep
        Samples of all rates.

    Raises
    ------
    WorkloadError
        A son has no link to its father, or all hosts fail at some time.
    """
    check_ways_back(graph, sharing)
    failing = {change.resource for change in changes if change.capacity <= 0}
    safe = [host for host in graph.hosts if host not in failing]
    if not safe:
        raise WorkloadError("every host fails at some time; the observer needs one that does not")
    placement = (safe[0], observe, sharing, tuple(applications), method, utility, patience, period)
    result = simulate(
        changing(graph, changes),
        [(*placement, envelope or Envelope(), sample or period, until)],
        options=options or SimGridOptions.linear(),
        trace=False,
        seed=seed,
    )
    date, rates = result.value_of("observe")
    throughput = np.array([sharing.throughput(rate) for rate in rates])
    return Upkeep(date, throughput, rates, period, float(result.links.bytes.sum()), result)


async def observe(
    me: Actor,
    sharing: Sharing,
    applications: Sequence[Application],
    method: Method[Any],
    utility: AlphaFair,
    patience: int,
    period: float,
    envelope: Envelope,
    sample: float,
    until: float,
) -> tuple[Floats, Floats]:
    """Start all roles as daemons, and look at their rates until the end.

    Returns
    -------
    float64, shape (n_samples,)
        Dates [s].
    float64, shape (n_samples, n_agents)
        Rates [tasks/s].
    """
    around = neighbourhoods(sharing, applications)
    first_link = sharing.n_agents + sharing.n_hosts
    roles = ticking_cast(method, utility, patience)
    board = np.zeros(len(around.host))
    seats: tuple[AgentSeat | ManagerSeat, ...] = (*around.agents, *around.managers)
    for seat in seats:
        number = seat.number
        if isinstance(seat, AgentSeat):
            decide, new_state, sensor = roles.agent_decides, partial(roles.agent, seat), None
        else:
            decide, new_state = roles.manager_decides, partial(roles.manager, seat)
            sensor = "" if seat.is_host else sharing.links[number - first_link]
        post = Post(number, decide, new_state, _ears(seat), sensor, period, envelope)
        host = sharing.hosts[around.host[number]]
        me.spawn(attend, post, board, host=host, daemon=True, restart=True)
    dates, rates = [], []
    while me.now < until:
        await me.sleep_for(sample)
        dates.append(me.now)
        rates.append(board[: sharing.n_agents].copy())
    return np.array(dates), np.array(rates)


def _ears(seat: AgentSeat | ManagerSeat) -> dict[str, int]:
    """Return how many neighbours on other hosts there are, by the side they are on."""
    if isinstance(seat, ManagerSeat):
        return {BELOW: sum(not each.local for each in seat.members)}
    above = (seat.father, seat.host_manager, seat.link_manager)
    return {
        ABOVE: sum(not each.local for each in above if each),
        BELOW: sum(not each.local for each in seat.sons),
    }
