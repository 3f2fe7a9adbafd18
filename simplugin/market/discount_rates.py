"""Discount rates of each peer under which the assignment that is wanted is the optimum."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, expm1, log
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats
from simplugin.workloads.parameter_ranges import whole

# How close the price comes to values of peers, which it must stay between, and benefits that are
# the same; relative.
_MARGIN, _EQUAL = 1e-6, 1e-12
# The lowest price that is looked at, as part of the highest, and the largest ln(1/q).
_LOWEST, _STEEPEST = 1e-250, 30.0
# By what parts of a step the last task may be worth more than the price.
_PARTS = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class BalancingRates:
    """Discount rates, and what they are made for.

    Attributes
    ----------
    alpha : float64, shape (n_peers,)
        Discount rate of each peer.
    price : float
        That clears the market under these rates [price].
    amounts : int64, shape (n_peers,)
        Tasks of each peer, the one optimum under these rates.
    """

    alpha: Floats
    price: float
    amounts: Amounts


def completion_bound(times: ArrayLike, m: int) -> float:
    """Return what the completion time is at least: all finish together [s].

    Parameters
    ----------
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    m : int
        The number of tasks.
    """
    return m / float(np.sum(1 / positive_times(times)))


def balanced_split(times: ArrayLike, m: int, caps: ArrayLike | None = None) -> Amounts:
    """Return the assignment with the shortest completion time.

    It takes the m earliest of all finishing times k t_i. The same assignment maximises the benefit
    where the k-th task of a peer is worth what one is that ends when it does, c / (k t_i), a
    price that falls without any discount rate. But for rounding it is in proportion to prices
    V_i, as Proportional Share is; as a rounding of that it is d'Hondt's.

    Parameters
    ----------
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    m : int
        The number of tasks.
    caps : int64, shape (n_peers,), optional
        Maximum number of tasks of each peer, or one number for all; None for m.

    Returns
    -------
    int64, shape (n_peers,)
        Tasks of each peer; of equal times the peer of the lowest number has its own first.

    Raises
    ------
    WorkloadError
        A time is not positive, or m not whole.
    InfeasibleError
        The caps leave tasks over.
    """
    taken = positive_times(times)
    market = BundleMarket(1 / taken, whole("m", m), m if caps is None else caps, 0.5)
    amounts = np.zeros(market.n_peers, dtype=np.int64)
    # Whole shares of the time by which those who may take more finish surely belong to them.
    while (left := m - int(amounts.sum())) > market.n_peers:
        open_ = amounts < market.caps
        level = (left + amounts[open_].sum()) / np.sum(1 / taken[open_])
        amounts = np.maximum(amounts, np.minimum(np.floor(level / taken), market.caps))
        amounts = amounts.astype(np.int64)
    queue = [
        ((amounts[peer] + 1) * taken[peer], peer)
        for peer in np.flatnonzero(amounts < market.caps).tolist()
    ]
    heapq.heapify(queue)
    for _ in range(left):
        _, peer = heapq.heappop(queue)
        amounts[peer] += 1
        if amounts[peer] < market.caps[peer]:
            heapq.heappush(queue, ((amounts[peer] + 1) * taken[peer], peer))
    return amounts


def rates_for(
    values: ArrayLike,
    amounts: ArrayLike,
    price: float,
    idle: float = 0.5,
    part: float = 0.5,
) -> Floats:
    r"""Return discount rates under which amounts are the one optimum, at a price that clears.

    With :math:`\ln(1/q_i) = \ln(V_i / p) / (A_i - 1/2)` the last task of a peer is worth more than
    the price p and the next one less, by half a step each; 1/2 may be any other part of it. A
    peer with tasks must have :math:`V_i > p`, an idle one :math:`V_i < p`: no rate keeps a peer
    idle whose first task is worth more.

    Parameters
    ----------
    values : float64, shape (n_peers,)
        Value of the first task on each peer, V_i [price].
    amounts : int64, shape (n_peers,)
        Tasks wanted on each.
    price : float
        Of a task [price].
    idle : float
        Rate of peers without tasks, of no consequence.
    part : float
        By what part of a step the last task is worth more than the price, between 0 and 1; the
        more, the larger are rates.

    Returns
    -------
    float64, shape (n_peers,)
        Discount rate alpha_i of each peer.

    Raises
    ------
    InfeasibleError
        The price is not below the values of all peers with tasks and above those of all others, or
        so low that a rate is 1; the message names the peer.
    """
    worth, wanted = np.asarray(values, dtype=np.float64), np.asarray(amounts)
    active = wanted > 0
    wrong = np.where(active, worth <= price, worth >= price)
    if np.any(wrong):
        peer = int(np.argmax(wrong))
        side = "below" if active[peer] else "above"
        raise InfeasibleError(
            f"no discount rate gives peer {peer}, whose first task is worth {worth[peer]:.6g},"
            f" {wanted[peer]} tasks at the price {price:.6g}; give a price {side} that"
        )
    # Rates must not round to 1; a single task may be followed by a worthless one all the same.
    most = _STEEPEST * (wanted - 0.5)
    ratio = log(worth / price)
    if np.any(active & (ratio > most)):
        peer = int(np.argmax(active & (ratio > most)))
        raise InfeasibleError(
            f"the discount rate of peer {peer} is 1 but for rounding at the price {price:.6g};"
            f" give one above {worth[peer] * exp(-most[peer]):.6g}"
        )
    steps = np.minimum(ratio / np.where(active, wanted - part, 1), _STEEPEST)
    return np.where(active, -expm1(-steps), idle)


def balancing_rates(
    values: ArrayLike,
    times: ArrayLike,
    m: int,
    benefit: float,
    caps: ArrayLike | None = None,
    idle: float = 0.5,
) -> BalancingRates:
    """Return rates under which peers that work finish together and the benefit is as given.

    Other rates mean other prices of the same tasks, so that benefits under them can only be
    compared if something is held; here it is the benefit itself, say that of the common rate. It
    rises with the price, and the lower that is, the more peers are worth it and work. Of all
    sets of peers, those with the highest values first, the largest is taken that can have the
    benefit. Where it is more than with all of a set and less than without its last peer, that one
    gets fewer tasks than balance asks for, as many as can be.

    Parameters
    ----------
    values : float64, shape (n_peers,)
        Value of the first task on each peer, V_i [price].
    times : float64, shape (n_peers,)
        Estimated completion time of one task on each peer, t_i [s].
    m : int
        The number of tasks.
    benefit : float
        Global benefit wanted [price].
    caps : int64, shape (n_peers,), optional
        Maximum number of tasks of each peer, or one number for all; None for m.
    idle : float
        Rate of peers without tasks.

    Returns
    -------
    BalancingRates
        The rates and their price.

    Raises
    ------
    InfeasibleError
        No set of peers and price have that benefit: it is out of range, or with few tasks a peer
        between what can be had.
    """
    market = BundleMarket(values, m, m if caps is None else caps, 0.5)
    taken = positive_times(times)
    order = np.argsort(-market.values, kind="stable")
    for count in range(market.n_peers, 0, -1):
        amounts = _wanted(market, taken, order[:count], benefit)
        found = None if amounts is None else _price(market, amounts, benefit)
        if amounts is not None and found is not None:
            alpha = rates_for(market.values, amounts, found[0], idle, found[1])
            return BalancingRates(alpha, found[0], amounts)
    # Where the price is nothing.
    least = market.values[balanced_split(taken, market.m, market.caps) > 0].sum()
    raise InfeasibleError(
        f"no price gives a balanced assignment a benefit of {benefit:.6g}: values allow from"
        f" {least:.6g} to less than {m * market.values.max():.6g}, with"
        " gaps where peers have few tasks; give another benefit"
    )


def _wanted(market: BundleMarket, taken: Floats, chosen: Amounts, benefit: float) -> Amounts | None:
    """Return balanced amounts of peers that can have a benefit, with fewer for the last one."""
    last = int(chosen[-1])
    caps = np.zeros_like(market.caps)
    caps[chosen] = market.caps[chosen]

    def split(most: int) -> Amounts | None:
        limits = np.where(np.arange(market.n_peers) == last, most, caps)
        if limits.sum() < market.m:
            return None
        amounts = np.zeros_like(limits)
        open_ = limits > 0
        amounts[open_] = balanced_split(taken[open_], market.m, limits[open_])
        return amounts

    def suffices(amounts: Amounts | None) -> bool:
        if amounts is None:
            return False
        most = _benefit(market, amounts, _highest(market, amounts), _PARTS[0])
        return most >= benefit * (1 - _EQUAL)

    full = split(int(caps[last]))
    if full is None or suffices(full):
        return full
    low, high = 0, int(full[last])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if suffices(split(middle)) else (low, middle)
    return split(low) if low else None


def _highest(market: BundleMarket, amounts: Amounts) -> float:
    """Return about the highest price at which all peers that have tasks want some."""
    return float(market.values[amounts > 0].min()) * (1 - _MARGIN)


def _price(market: BundleMarket, amounts: Amounts, benefit: float) -> tuple[float, float] | None:
    """Return the price at which amounts have a benefit, and the part of a step for it."""
    high = _highest(market, amounts)
    low = float(market.values[amounts == 0].max(initial=0.0)) * (1 + _MARGIN)
    active = amounts > 0
    # At lower prices rates round to 1.
    lowest = market.values[active] * exp(-_STEEPEST * (amounts[active] - 0.5))
    low = max(low, float(lowest.max()) * (1 + _MARGIN), high * _LOWEST)
    if not low < high:
        return None
    bottom, top = _benefit(market, amounts, low), _benefit(market, amounts, high)
    if abs(benefit - top) <= _EQUAL * benefit:
        return high, 0.5
    if bottom <= benefit <= top:
        logarithm = root(
            lambda log_price: _benefit(market, amounts, exp(log_price)) - benefit,
            log(low),
            log(high),
        )
        return exp(logarithm), 0.5
    # One task more or less of the slowest peer leaves a gap, which other parts of a step fill.
    price, ends = (low, (0.5, _PARTS[1])) if benefit < bottom else (high, (_PARTS[0], 0.5))
    most, least = (_benefit(market, amounts, price, part) for part in ends)
    if not least <= benefit <= most:
        return None
    return price, root(lambda part: benefit - _benefit(market, amounts, price, part), *ends)


def root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return the least number at which a rising function is positive or 0, if not at `low`."""
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


def _benefit(market: BundleMarket, amounts: Amounts, price: float, part: float = 0.5) -> float:
    """Return the global benefit of amounts under the rates that a price gives them."""
    alpha = rates_for(market.values, amounts, price, part=part)
    return BundleMarket(market.values, market.m, market.caps, 1 - alpha).benefit(amounts)


def positive_times(times: ArrayLike) -> Floats:
    """Return times of a task on each peer; raise WorkloadError unless all are positive."""
    taken = np.asarray(times, dtype=np.float64)
    if taken.ndim != 1 or not taken.size or not np.all(np.isfinite(taken) & (taken > 0)):
        raise WorkloadError(f"times are {times!r}; give a positive number of seconds a peer")
    return taken
