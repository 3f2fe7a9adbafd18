"""Markets that return to the optimum after a change or from a bad start, or hear plans late.

After a change, actors on SimGrid run in addition to the pure iteration. They start from its state
at that time, as actors go through the same rounds from a cold start. Each remaining role has its
own part of the state; new roles know nothing, and learn from the first sweeps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.fair_sharing import FairShare, fair_sharing
from simplugin.papers.bertin.five_hosts import PROPORTIONAL
from simplugin.platforms.graphs import Graph
from simplugin.pricing.execution import negotiate
from simplugin.pricing.iteration import Trajectory, iterate, settled, throughput_error
from simplugin.pricing.method import Method
from simplugin.pricing.methods import Market
from simplugin.pricing.policies.acceleration import AcceleratedState, ExtendedState, accelerated
from simplugin.pricing.policies.market import (
    MarketState,
    adapt,
    clear,
    first_metric,
    inverted,
    settle,
    with_metric,
)
from simplugin.workloads.shared_deployment import AlphaFair, SharedDeployment

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# How near every throughput is to the optimum when things change, and to the new one afterwards.
CALM, NEAR = 1e-6, 0.01


class Calm(NamedTuple):
    """State before a change.

    Attributes
    ----------
    sharing : SharedDeployment
        Until then.
    best : FairShare
        The optimum until then.
    state : MarketState or AcceleratedState
        After the last round.
    """

    sharing: SharedDeployment
    best: FairShare
    state: MarketState | AcceleratedState


class Comeback(NamedTuple):
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
        Largest difference of a rate between actors and the pure iteration, relative to the
        largest rate of the round; NaN without actors.
    trajectory : Trajectory
        From the change on, of the pure iteration.
    """

    rounds: int | None
    seconds: float
    apart: float
    trajectory: Trajectory


def calm_down(sharing: SharedDeployment, method: Method[Any], rounds: int) -> Calm:
    """Return the state once every throughput is within `CALM`, from a cold start.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment.
    method : Market or AcceleratedMarket
        The method.
    rounds : int
        At most.
    """
    best = fair_sharing(sharing)
    state: Any = method.start(sharing, PROPORTIONAL)
    for _ in range(rounds):
        if _near(sharing, state.rate, best.throughput):
            break
        state = method.round(sharing, PROPORTIONAL, state)
    return Calm(sharing, best, state)


def recover(
    graph: Graph,
    calm: Calm,
    sharing: SharedDeployment,
    method: Method[Any],
    rounds: int,
    *,
    simulated: bool = True,
) -> Comeback:
    """Return the recovery after a change of the deployment.

    Parameters
    ----------
    graph : Graph
        The platform after the change.
    calm : Calm
        The state before the change.
    sharing : SharedDeployment
        The deployment from now on, on all hosts of the platform; agents and applications may
        be new or removed, capacities changed.
    method : Market or AcceleratedMarket
        As before the change.
    rounds : int
        At most; actors stop one round after they are near.
    simulated : bool
        True if actors run, too.
    """
    best = fair_sharing(sharing).throughput
    state = resumed(calm, sharing)
    pure = iterate(method, sharing, PROPORTIONAL, rounds, start=state, prices=False, rates=True)
    near = settled(throughput_error(pure, best), NEAR)
    if not simulated:
        return Comeback(near, np.nan, np.nan, pure)
    needed = rounds if near is None else min(near + 1, rounds)
    own = without_strangers(calm.sharing, sharing, state)
    done = negotiate(graph, sharing, method, needed, PROPORTIONAL, start=own).trajectory
    assert pure.rates is not None
    assert done.rates is not None
    apart = _apart(done.rates, pure.rates[: needed + 1])
    return Comeback(near, np.nan if near is None else float(done.date[near]), apart, pure)


def resumed(calm: Calm, sharing: SharedDeployment) -> MarketState | AcceleratedState:
    """Return the state after a change, without the history of rounds."""
    market = calm.state.market if isinstance(calm.state, AcceleratedState) else calm.state
    return _like(calm.state, carried_over(calm.sharing, market, sharing))


def without_strangers(
    before: SharedDeployment, after: SharedDeployment, state: MarketState | AcceleratedState
) -> MarketState | AcceleratedState:
    """Return a state in which agents and applications that are new know nothing: all is 0."""
    market = state.market if isinstance(state, AcceleratedState) else state
    known = set(identities(before))
    there = np.array([key in known for key in identities(after)])
    names = np.array([name in before.applications for name in after.applications])
    own: dict[str, Any] = {
        field: np.where(there, getattr(market, field), 0.0)
        for field in ("request", "metric", "offer", "plan", "paid")
    }
    return _like(state, replace(market, **own, reached=np.where(names, market.reached, 0.0)))


def _like(
    state: MarketState | AcceleratedState, market: MarketState
) -> MarketState | AcceleratedState:
    """Return a state of the same kind for another market."""
    return accelerated(market) if isinstance(state, AcceleratedState) else market


def _near(sharing: SharedDeployment, rate: Floats, best: Floats) -> bool:
    """Return True if rates are as near to the optimum as before a change."""
    error = float(np.abs(sharing.throughput(rate) / best - 1).max())
    return max(error, sharing.overload(rate)) <= CALM


def _apart(seen: Floats, pure: Floats) -> float:
    """Return the largest difference of rates, relative to the largest of the round."""
    scale = np.maximum(np.abs(pure).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(np.max(np.abs(seen - pure) / scale))


def carried_over(
    before: SharedDeployment, state: MarketState, after: SharedDeployment
) -> MarketState:
    """Return the state of the remaining agents and applications after a change.

    Agents of an application on the same host behind the same link keep requests and metric,
    applications what they reached; newcomers start as `Market.start` has it. Resources whose
    participants are all old keep their balance, and the metric's rounds are counted anew.

    Parameters
    ----------
    before : SharedDeployment
        The problem up to now.
    state : MarketState
        After its last round.
    after : SharedDeployment
        The problem from now on: hosts, links or applications are new or removed, or capacities
        changed.

    Returns
    -------
    MarketState
        To begin the next round with.

    Raises
    ------
    InfeasibleError
        An application reaches no host that computes; the message names it.
    """
    fresh = Market().start(after, PROPORTIONAL)
    old, new = _matched(identities(before), identities(after))
    kept = np.zeros(fresh.request.shape, dtype=bool)
    kept[:, new] = (state.metric[:, old] > 0) & (fresh.metric[:, new] > 0)

    def stayed(name: str) -> Floats:
        """Return the fresh values, those of agents that stay replaced by theirs."""
        mine = getattr(fresh, name)
        values = mine.copy()
        values[:, new] = getattr(state, name)[:, old]
        return np.asarray(np.where(kept, values, mine))

    old_resource, new_resource = _matched(_resources(before), _resources(after))
    price, balance = fresh.price.copy(), fresh.balance.copy()
    price[new_resource] = state.price[old_resource]
    balance[new_resource] = state.balance[old_resource]
    joined = fresh.slots.resource[(~kept & (fresh.slots.bound > 0)).ravel()]
    balance[joined] = fresh.balance[joined]
    reached = fresh.reached.copy()
    old_application, new_application = _matched(before.applications, after.applications)
    reached[new_application] = state.reached[old_application]
    own: dict[str, Any] = {name: stayed(name) for name in ("request", "offer", "plan", "paid")}
    resumed = replace(fresh, **own, price=price, balance=balance, reached=reached)
    return with_metric(after, resumed, stayed("metric"))


def begun_from(
    sharing: SharedDeployment, rate: Floats, host_price: Floats, link_price: Floats
) -> MarketState:
    """Return the state that begins with rates and prices of elsewhere, within reason.

    What is known at the start bounds them, with :math:`F_k` what application k of K would reach
    alone: no agent computes more than it can, no application more than :math:`F_k / K`, no
    resource takes more than all its participants would gain alone, and no route of an application
    costs more per task than a task is worth at :math:`F_k / K`. Agents would need one sweep up and
    one down for the sums and routes, and the number K.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.
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
    state = Market().start(sharing, PROPORTIONAL)
    asked, application = state.slots, sharing.application
    part = asked.alone / sharing.n_applications
    state = replace(state, reached=part)
    state = with_metric(sharing, state, first_metric(sharing, PROPORTIONAL, state))
    rate = np.minimum(rate, asked.bound[0])
    rate = rate * np.minimum(1.0, part * inverted(sharing.throughput(rate)))[application]
    offer = np.minimum(np.stack([rate, sharing.gather(rate)]), asked.bound)
    gain = sharing.weight * PROPORTIONAL.marginal(asked.alone) * asked.alone
    gains = asked.total(np.stack([gain[application]] * 2))
    price = np.minimum(np.concatenate([host_price, link_price]), gains * inverted(asked.capacity))
    paid = asked.of_resources(price) * asked.demand
    dearest = _dearest_route(sharing, paid, asked.bound[0] > 0)
    value = sharing.weight * PROPORTIONAL.marginal(part)
    paid = paid * np.minimum(1.0, value / np.maximum(dearest, value))[application]
    request = offer + paid * inverted(state.metric)
    return replace(state, request=request, offer=offer, plan=offer, paid=paid, price=price)


def _dearest_route(sharing: SharedDeployment, paid: Floats, computes: NDArray[np.bool_]) -> Floats:
    """Return what each application's dearest route and computation cost per task."""
    route = paid[1].copy()
    for level in sharing.levels[1:]:
        route[level] += route[sharing.parent[level]]
    dearest = np.zeros(sharing.n_applications)
    np.maximum.at(dearest, sharing.application, np.where(computes, route + paid[0], 0.0))
    return dearest


def identities(sharing: SharedDeployment) -> list[Hashable]:
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


def _resources(sharing: SharedDeployment) -> list[Hashable]:
    """Return an identity of each resource."""
    return [
        *(("host", name) for name in sharing.hosts),
        *(("link", name) for name in sharing.links),
    ]


def _matched(before: Iterable[Hashable], after: Iterable[Hashable]) -> tuple[Integers, Integers]:
    """Return the positions of common elements, before and after."""
    place = {key: i for i, key in enumerate(before)}
    pairs = [(place[key], i) for i, key in enumerate(after) if key in place]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@dataclass(frozen=True, eq=False)
class DelayedState(ExtendedState):
    """A market's state, and the plans that are still under way.

    Attributes
    ----------
    market : MarketState
        As without delays.
    plans : tuple of float64 arrays, shape (2, n_agents)
        Of the last rounds, the latest first [tasks/s].
    """

    plans: tuple[Floats, ...]


@dataclass(frozen=True)
class DelayedMarket(Method[DelayedState]):
    """The method in which each slot acts on a plan of a random age, redrawn each round.

    Attributes
    ----------
    delay : int
        The oldest plan that a slot may act on [rounds].
    relaxation : float
        Step of a request towards the plan.
    seed : int
        Of the draws; each round has its own generator, so that rounds are functions of states.
    """

    delay: int = 5
    relaxation: float = 0.25
    seed: int = 0

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> DelayedState:
        """Return the state before the first round."""
        return DelayedState(Market().start(sharing, utility), ())

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: DelayedState
    ) -> DelayedState:
        """Return the state after one more round."""
        before = state.market
        cleared = clear(sharing, before)
        rule = sharing, utility, self.relaxation, before, *cleared
        plan = settle(*rule)[0].plan
        plans = (plan, *state.plans)[: self.delay + 1]
        generator = np.random.default_rng([self.seed, before.number])
        age = generator.integers(0, len(plans), size=plan.shape)
        received = np.take_along_axis(np.stack(plans), age[None], axis=0)[0]
        after = settle(*rule, received)[0]
        if after.number >= before.next_metric:
            after = adapt(sharing, utility, after)
        # The price paid stays when the metric changes.
        aim = before.request + self.relaxation * (received - after.offer) - after.offer
        request = after.offer + before.metric * aim * inverted(after.metric)
        return DelayedState(replace(after, request=request), plans)
