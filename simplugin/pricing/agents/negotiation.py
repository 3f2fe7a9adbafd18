"""Negotiating in synchronous rounds: actors whose messages cross the network they share out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.platforms.graphs import Graph
from simplugin.pricing.agents.delivery import Envelope, act
from simplugin.pricing.agents.methods import cast
from simplugin.pricing.agents.neighbourhood import neighbourhoods
from simplugin.pricing.agents.takeover import taken_over
from simplugin.pricing.trajectory import Method, State, Trajectory
from simplugin.simulation import SimGridOptions, simulate

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from simplugin.platforms.platform import Platform
    from simplugin.simulation import Actor, Result
    from simplugin.workloads.sharing import AlphaFair, Sharing

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Negotiation:
    """What came out of a simulated negotiation.

    Attributes
    ----------
    trajectory : Trajectory
        With dates and bytes; prices of resources that nobody uses are 0.
    result : Result
        Of the simulation, without a trace.
    """

    trajectory: Trajectory
    result: Result


def negotiate(
    platform: Graph | Platform | str | os.PathLike[str],
    sharing: Sharing,
    method: Method[Any],
    rounds: int,
    utility: AlphaFair,
    *,
    start: State | None = None,
    options: SimGridOptions | None = None,
    envelope: Envelope | None = None,
    **simulation: Any,
) -> Negotiation:
    """Let agents and price managers negotiate on a simulated platform.

    Each agent, and each price manager of a host or link, is an actor. All know but their
    neighbourhood, and learn the rest from messages; those between hosts cross the network.

    Parameters
    ----------
    platform : Graph, Platform or path
        Where; its hosts and links bear the names in `sharing`. There are routes both ways
        between fathers and sons, and between the users of a link.
    sharing : Sharing
        The deployment. Managers read capacities off the platform, not from here.
    method : Method
        What they do in a round.
    rounds : int
        How many.
    utility : AlphaFair
        Of every application.
    start : State, optional
        Of the method's pure iteration, to go on from: each role knows its own part of it.
    options : SimGridOptions, optional
        Of the simulation; ``SimGridOptions.linear()`` without.
    envelope : Envelope, optional
        Sizes of messages.
    **simulation
        Further arguments of `simulate`: limits, seed, back end, progress; no trace by default.

    Returns
    -------
    Negotiation
        The trajectory is that of the pure iteration.

    Raises
    ------
    WorkloadError
        A son has no route to its father, or `start` does not go with method and deployment.
    """
    model = platform
    if isinstance(model, Graph):
        check_ways_back(model, sharing)
        model = model.platform()
    first = sharing.hosts[int(sharing.host[0])]
    taken_over(method, sharing, start)
    result = simulate(
        model,
        [(first, convene, sharing, method, rounds, utility, envelope or Envelope(), start)],
        options=options or SimGridOptions.linear(),
        **({"trace": False} | simulation),
    )
    return Negotiation(_trajectory(sharing, result), result)


def check_ways_back(graph: Graph, sharing: Sharing) -> None:
    """Refuse a deployment whose sons cannot answer their fathers."""
    there = set(zip(graph.source.tolist(), graph.destination.tolist(), strict=True))
    sons = np.flatnonzero(sharing.father >= 0)
    hosts, fathers = sharing.host[sons], sharing.host[sharing.father[sons]]
    for son, father in zip(hosts.tolist(), fathers.tolist(), strict=True):
        if son != father and (son, father) not in there:
            raise WorkloadError(
                f"no link goes from {graph.hosts[son]!r} back to {graph.hosts[father]!r}:"
                " messages could not go up the tree; add it"
            )


async def convene(
    me: Actor,
    sharing: Sharing,
    method: Method[Any],
    rounds: int,
    utility: AlphaFair,
    envelope: Envelope,
    start: State | None = None,
) -> tuple[Floats, Floats]:
    """Start an actor for each role, and collect what they wrote down when all are over.

    Its states are made here, and not where the simulation is asked for, as 10 000 hosts have
    some 100 000 of them. It takes no part in the negotiation and no simulated time.

    Returns
    -------
    float64, shape (n_rounds + 1, n_agents + n_hosts + n_links)
        Rates, prices of hosts, prices of links.
    float64, shape (n_rounds + 1,)
        When the last role ended each round [s].
    """
    around = neighbourhoods(sharing)
    roles = cast(method, utility, rounds)
    own = taken_over(method, sharing, start)
    first_link = sharing.n_agents + sharing.n_hosts
    actors = {}
    for seat in around.agents:
        args: tuple[Any, ...] = (seat.number, roles.agent_decides, own(roles.agent(seat)), None)
        host = sharing.hosts[around.host[seat.number]]
        actors[seat.number] = me.spawn(act, *args, envelope, host=host)
    for desk in around.managers:
        sensor = "" if desk.is_host else sharing.links[desk.number - first_link]
        args = (desk.number, roles.manager_decides, own(roles.manager(desk)), sensor)
        host = sharing.hosts[around.host[desk.number]]
        actors[desk.number] = me.spawn(act, *args, envelope, host=host)
    values = np.zeros((rounds + 1, first_link + sharing.n_links))
    date = np.zeros(rounds + 1)
    for number, actor in actors.items():
        log, dates = await actor.join()
        values[:, number] = log
        date = np.maximum(date, dates)
    return values, date


def _trajectory(sharing: Sharing, result: Result) -> Trajectory:
    """Put together what the actors wrote down."""
    values, date = result.value_of("convene")
    rates, host_price, link_price = np.split(
        values, [sharing.n_agents, sharing.n_agents + sharing.n_hosts], axis=1
    )
    return Trajectory(
        np.array([sharing.throughput(rate) for rate in rates]),
        np.array([sharing.overload(rate) for rate in rates]),
        rates[-1],
        host_price,
        link_price,
        date,
        float(result.links.bytes.sum()),
        rates,
    )
