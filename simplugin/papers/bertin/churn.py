"""Returns of markets to the optimum after a change between two rounds, or from a bad start.

Before and after a change actors run on SimGrid beside the pure iteration. After it they start from
the state of the pure iteration, as they went through the same rounds: `Comeback.apart` measures it.
Each role that stays has its own part of the state; newcomers know nothing, and learn from the first
sweeps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.errors import SimpluginError
from simplugin.optimum.fair_sharing import FairShare, fair_sharing
from simplugin.platforms.graphs import Graph
from simplugin.pricing.execution import negotiate
from simplugin.pricing.iteration import Method, Trajectory, iterate, settled, throughput_error
from simplugin.pricing.policies.acceleration import AcceleratedMarket, AcceleratedState, accelerated
from simplugin.pricing.policies.market import (
    Market,
    MarketState,
    first_metric,
    inverted,
    with_metric,
)
from simplugin.workloads.sharing import AlphaFair, Sharing

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# How near every throughput is to the optimum when things change.
CALM = 1e-6


@dataclass(frozen=True, eq=False)
class Calm:
    """State before a change.

    Attributes
    ----------
    sharing : Sharing
        Until then.
    best : FairShare
        The optimum until then.
    state : MarketState or AcceleratedState
        After the last round.
    rounds : int
        Number of rounds.
    apart : float
        Largest difference of a rate between actors and the pure iteration, relative to the
        largest rate of the round; NaN without actors.
    """

    sharing: Sharing
    best: FairShare
    state: MarketState | AcceleratedState
    rounds: int
    apart: float


@dataclass(frozen=True, eq=False)
class Comeback:
    """Run after a change.

    Attributes
    ----------
    rounds : int or None
        From which every throughput stays near the new optimum, and no resource is overloaded by
        more; 0 if the change itself left them there, None if they are not by the end.
    seconds : float
        The same in simulated time, with the two sweeps by which agents learn what resources
        bound them to now [s]; NaN without actors, or if they are not near.
    apart : float
        As in `Calm`, over both parts.
    trajectory : Trajectory
        From the change on, of the pure iteration.
    """

    rounds: int | None
    seconds: float
    apart: float
    trajectory: Trajectory


def calm_down(
    graph: Graph,
    sharing: Sharing,
    method: Method[Any],
    utility: AlphaFair,
    rounds: int,
    *,
    simulated: bool = True,
) -> Calm:
    """Return what is known once every throughput is within `CALM`, from a cold start.

    Parameters
    ----------
    graph : Graph
        The platform.
    sharing : Sharing
        The deployment.
    method : Market or AcceleratedMarket
        The method.
    utility : AlphaFair
        Of every application.
    rounds : int
        At most.
    simulated : bool
        True if actors run, too.

    Raises
    ------
    SimpluginError
        The method is no market.
    """
    if not isinstance(method, Market | AcceleratedMarket):
        raise SimpluginError(
            f"{type(method).__name__} has no state to keep through a change; give a market"
        )
    best = fair_sharing(sharing, utility.alpha)
    state: Any = method.start(sharing, utility)
    rates = [state.rate]
    while len(rates) <= rounds and not _near(sharing, state.rate, best.throughput):
        state = method.round(sharing, utility, state)
        rates.append(state.rate)
    apart = np.nan
    if simulated:
        done = negotiate(graph, sharing, method, len(rates) - 1, utility).trajectory
        assert done.rates is not None
        apart = _apart(done.rates, np.array(rates))
    return Calm(sharing, best, state, len(rates) - 1, apart)


def recover(
    graph: Graph,
    calm: Calm,
    sharing: Sharing,
    method: Method[Any],
    utility: AlphaFair,
    rounds: int,
    *,
    level: float = 0.01,
) -> Comeback:
    """Return how it goes on when something else is to be shared.

    Parameters
    ----------
    graph : Graph
        The platform after the change.
    calm : Calm
        The state before the change.
    sharing : Sharing
        The deployment from now on, on all hosts of the platform; agents and applications may
        have come or gone, capacities changed.
    method, utility
        As before the change.
    rounds : int
        At most; actors stop one round after they are near.
    level : float
        Largest error relative to the optimum, and largest overload.
    """
    best = fair_sharing(sharing, utility.alpha).throughput
    state = resumed(calm, sharing, utility)
    pure = iterate(method, sharing, utility, rounds, start=state, prices=False, rates=True)
    near = settled(throughput_error(pure, best), level)
    if np.isnan(calm.apart):
        return Comeback(near, np.nan, np.nan, pure)
    needed = rounds if near is None else min(near + 1, rounds)
    own = without_strangers(calm.sharing, sharing, state)
    done = negotiate(graph, sharing, method, needed, utility, start=own).trajectory
    assert pure.rates is not None
    assert done.rates is not None
    apart = max(calm.apart, _apart(done.rates, pure.rates[: needed + 1]))
    return Comeback(near, np.nan if near is None else float(done.date[near]), apart, pure)


def resumed(calm: Calm, sharing: Sharing, utility: AlphaFair) -> MarketState | AcceleratedState:
    """Return the state that goes on after a change; rounds remembered are forgotten."""
    if isinstance(calm.state, AcceleratedState):
        return accelerated(carried_over(calm.sharing, calm.state.market, sharing, utility))
    return carried_over(calm.sharing, calm.state, sharing, utility)


def without_strangers(
    before: Sharing, after: Sharing, state: MarketState | AcceleratedState
) -> MarketState | AcceleratedState:
    """Return a state in which agents and applications that are new know nothing: all is 0."""
    if isinstance(state, AcceleratedState):
        return accelerated(_without_strangers(before, after, state.market))
    return _without_strangers(before, after, state)


def _without_strangers(before: Sharing, after: Sharing, state: MarketState) -> MarketState:
    """Return the same for the state without acceleration."""
    known = set(identities(before))
    there = np.array([key in known for key in identities(after)])
    names = np.array([name in before.applications for name in after.applications])
    return replace(
        state,
        wish=np.where(there, state.wish, 0.0),
        metric=np.where(there, state.metric, 0.0),
        offer=np.where(there, state.offer, 0.0),
        plan=np.where(there, state.plan, 0.0),
        paid=np.where(there, state.paid, 0.0),
        reached=np.where(names, state.reached, 0.0),
    )


def _near(sharing: Sharing, rate: Floats, best: Floats) -> bool:
    """Return True if rates are as near to the optimum as before a change."""
    error = float(np.abs(sharing.throughput(rate) / best - 1).max())
    return max(error, sharing.overload(rate)) <= CALM


def _apart(seen: Floats, pure: Floats) -> float:
    """Return the largest difference of rates, relative to the largest of the round."""
    scale = np.maximum(np.abs(pure).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(np.max(np.abs(seen - pure) / scale))


def carried_over(
    before: Sharing, state: MarketState, after: Sharing, utility: AlphaFair
) -> MarketState:
    """Return the state with which agents and applications that stay go on after a change.

    Agents of an application on the same host behind the same link keep wishes and metric,
    applications what they reached; newcomers start as `Market.start` has it. Resources whose
    participants are all old keep their balance, and the metric's rounds are counted anew.

    Parameters
    ----------
    before : Sharing
        The problem up to now.
    state : MarketState
        After its last round.
    after : Sharing
        The problem from now on: hosts, links or applications have come or gone, or capacities
        changed.
    utility : AlphaFair
        Of every application.

    Returns
    -------
    MarketState
        To begin the next round with.

    Raises
    ------
    InfeasibleError
        An application reaches no host that computes; the message names it.
    """
    fresh = Market().start(after, utility)
    old, new = _matched(identities(before), identities(after))
    kept = np.zeros(fresh.wish.shape, dtype=bool)
    kept[:, new] = (state.metric[:, old] > 0) & (fresh.metric[:, new] > 0)

    def stayed(mine: Floats, theirs: Floats) -> Floats:
        """Return the fresh values, those of agents that stay replaced by theirs."""
        values = mine.copy()
        values[:, new] = theirs[:, old]
        return np.where(kept, values, mine)

    old_resource, new_resource = _matched(_resources(before), _resources(after))
    price, balance = fresh.price.copy(), fresh.balance.copy()
    price[new_resource] = state.price[old_resource]
    balance[new_resource] = state.balance[old_resource]
    joined = fresh.slots.resource[~kept.ravel()[fresh.slots.used]]
    balance[joined] = fresh.balance[joined]
    reached = fresh.reached.copy()
    old_application, new_application = _matched(before.applications, after.applications)
    reached[new_application] = state.reached[old_application]
    resumed = replace(
        fresh,
        wish=stayed(fresh.wish, state.wish),
        offer=stayed(fresh.offer, state.offer),
        plan=stayed(fresh.plan, state.plan),
        paid=stayed(fresh.paid, state.paid),
        price=price,
        balance=balance,
        reached=reached,
    )
    return with_metric(after, resumed, stayed(fresh.metric, state.metric))


def begun_from(
    sharing: Sharing, utility: AlphaFair, rate: Floats, host_price: Floats, link_price: Floats
) -> MarketState:
    """Return the state that begins with rates and prices of elsewhere, within reason.

    What is known at the start bounds them, with :math:`F_k` what application k of K would reach
    alone: no agent computes more than it can, no application more than :math:`F_k / K`, no
    resource takes more than all its participants would gain alone, and no route of an application
    costs more per task than a task is worth at :math:`F_k / K`. Agents would need one sweep up and
    one down for the sums and routes, and the number K.

    Parameters
    ----------
    sharing : Sharing
        The problem.
    utility : AlphaFair
        Of every application.
    rate : float64, shape (n_agents,)
        Tasks that each agent is to compute [tasks/s].
    host_price : float64, shape (n_hosts,)
        Of computation [utility/flop].
    link_price : float64, shape (n_links,)
        Of traffic [utility/byte].

    Returns
    -------
    MarketState
        To begin the first round with.
    """
    state = Market().start(sharing, utility)
    asked, application = state.slots, sharing.application
    part = asked.alone / sharing.n_applications
    state = replace(state, reached=part)
    state = with_metric(sharing, state, first_metric(sharing, utility, state))
    rate = np.minimum(rate, asked.bound[0])
    rate = rate * np.minimum(1.0, part * inverted(sharing.throughput(rate)))[application]
    offer = np.minimum(np.stack([rate, sharing.gather(rate)]), asked.bound)
    gain = sharing.weight * utility.marginal(asked.alone) * asked.alone
    gains = np.bincount(
        asked.resource, np.tile(gain[application], 2)[asked.used], len(asked.capacity)
    )
    price = np.minimum(np.concatenate([host_price, link_price]), gains * inverted(asked.capacity))
    paid = np.zeros_like(offer)
    paid.ravel()[asked.used] = price[asked.resource] * asked.demand.ravel()[asked.used]
    dearest = _dearest_route(sharing, paid, asked.bound[0] > 0)
    value = sharing.weight * utility.marginal(part)
    paid = paid * np.minimum(1.0, value / np.maximum(dearest, value))[application]
    wish = offer + paid * inverted(state.metric)
    return replace(state, wish=wish, offer=offer, plan=offer, paid=paid, price=price)


def _dearest_route(sharing: Sharing, paid: Floats, computes: NDArray[np.bool_]) -> Floats:
    """Return what each application's dearest route and computation cost per task."""
    route = paid[1].copy()
    for level in sharing.levels[1:]:
        route[level] += route[sharing.father[level]]
    dearest = np.zeros(sharing.n_applications)
    np.maximum.at(dearest, sharing.application, np.where(computes, route + paid[0], 0.0))
    return dearest


def identities(sharing: Sharing) -> list[Hashable]:
    """Return an identity of each agent: application, host, link, number among equals."""
    seen: dict[Hashable, int] = {}
    keys: list[Hashable] = []
    for application, host, link in zip(
        sharing.application.tolist(), sharing.host.tolist(), sharing.link.tolist(), strict=True
    ):
        name = sharing.links[link] if link >= 0 else None
        key = (sharing.applications[application], sharing.hosts[host], name)
        seen[key] = seen.get(key, -1) + 1
        keys.append((key, seen[key]))
    return keys


def _resources(sharing: Sharing) -> list[Hashable]:
    """Return an identity of each resource."""
    return [
        *(("host", name) for name in sharing.hosts),
        *(("link", name) for name in sharing.links),
    ]


def _matched(before: Iterable[Hashable], after: Iterable[Hashable]) -> tuple[Integers, Integers]:
    """Return the places of what is in both, before and after."""
    place = {key: i for i, key in enumerate(before)}
    pairs = [(place[key], i) for i, key in enumerate(after) if key in place]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
