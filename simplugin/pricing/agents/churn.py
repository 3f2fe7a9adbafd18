"""Hosts that leave and applications that arrive between two rounds: how soon all is well again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.acceleration import AcceleratedMarket, AcceleratedState, accelerated
from simplugin.pricing.agents.negotiation import negotiate
from simplugin.pricing.markets import Market, MarketState
from simplugin.pricing.resumption import carried_over, identities
from simplugin.pricing.trajectory import iterate, settled, throughput_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.optimum.fair_sharing import FairShare
    from simplugin.platforms.graphs import Graph
    from simplugin.pricing.trajectory import Method, Trajectory
    from simplugin.workloads.sharing import AlphaFair, Sharing

    Floats = NDArray[np.float64]

# How near every throughput is to the optimum when things change.
CALM = 1e-6


@dataclass(frozen=True, eq=False)
class Calm:
    """What was known before a change.

    Attributes
    ----------
    sharing : Sharing
        Until then.
    best : FairShare
        The optimum until then.
    state : MarketState or AcceleratedState
        After the last round.
    rounds : int
        How many there were.
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
    """How it went on after a change.

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


def churn(
    graph: Graph,
    before: Sharing,
    after: Sharing,
    method: Method[Any],
    utility: AlphaFair,
    rounds: tuple[int, int] = (400, 400),
    *,
    changed: Graph | None = None,
    level: float = 0.01,
    simulated: bool = True,
) -> Comeback:
    """Negotiate in synchronous rounds, change what is shared, and go on with what all knew.

    Both parts run as actors on SimGrid. The second starts from the state of the pure iteration
    at the change, as the actors went through the same rounds: `Comeback.apart` says so. Each role
    that stays has its own part of it; who is new knows nothing, and learns from the first sweeps.

    Parameters
    ----------
    graph : Graph
        The platform.
    before, after : Sharing
        Deployments up to the change and from then on, both on all hosts of the platform; agents
        and applications may come and go, capacities change.
    method : Market or AcceleratedMarket
        What they do in a round.
    utility : AlphaFair
        Of every application.
    rounds : pair of int
        At most before the change, which comes once every throughput is within `CALM`; and after
        it, where actors stop one round after they are near.
    changed : Graph, optional
        The platform after the change, where it is another one.
    level : float
        How near, relative to the optimum; also the overload that is accepted.
    simulated : bool
        Whether actors run; it is the pure iteration alone otherwise.

    Returns
    -------
    Comeback
        Counted from the change.

    Raises
    ------
    SimpluginError
        The method is no market.
    """
    calm = calm_down(graph, before, method, utility, rounds[0], simulated=simulated)
    return recover(changed or graph, calm, after, method, utility, rounds[1], level=level)


def calm_down(
    graph: Graph,
    sharing: Sharing,
    method: Method[Any],
    utility: AlphaFair,
    rounds: int,
    *,
    simulated: bool = True,
) -> Calm:
    """Return what is known before a change, from a cold start; see `churn`."""
    if not isinstance(method, Market | AcceleratedMarket):
        raise SimpluginError(
            f"{type(method).__name__} does not say what is kept through a change; give a market"
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
    """Return how it goes on when something else is to be shared; see `churn`."""
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
    """Return whether rates are as near to the optimum as before a change."""
    error = float(np.abs(sharing.throughput(rate) / best - 1).max())
    return max(error, sharing.overload(rate)) <= CALM


def _apart(seen: Floats, pure: Floats) -> float:
    """Return the largest difference of rates, relative to the largest of the round."""
    scale = np.maximum(np.abs(pure).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(np.max(np.abs(seen - pure) / scale))
