"""Going on with what the markets knew: after a change, or from rates and prices of elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simplugin.pricing.markets import Market, MarketState, first_metric, with_metric
from simplugin.pricing.slots import inverted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from simplugin.workloads.sharing import AlphaFair, Sharing

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def carried_over(
    before: Sharing, state: MarketState, after: Sharing, utility: AlphaFair
) -> MarketState:
    """Return the state with which those who stay go on after a change.

    Agents of an application on the same host behind the same link keep wishes and metric,
    applications what they reached; who is new starts as in
    :meth:`~simplugin.pricing.markets.Market.start`. Resources whose participants are all old
    keep their balance, and the metric's rounds are counted anew.

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
        """Return mine for who is new and theirs for who stays."""
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
    one down for the sums and routes, and to be told K.

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
    """Return what tells agents apart: application, host, link, and which of several alike."""
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
    """Return what tells resources apart."""
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
