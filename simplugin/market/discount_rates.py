"""Discount rates of each peer under which a given assignment is the optimum."""

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

# Relative distance of the price from the values of peers, and relative difference of benefits that
# count as equal.
_MARGIN, _EQUAL = 1e-6, 1e-12
# The lowest price, relative to the highest, and the largest ln(1/q).
_LOWEST, _STEEPEST = 1e-250, 30.0
# Bounds of the part of a step by which the last task may be worth more than the price.
_PARTS = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class BalancingRates:
    """Discount rates, and the optimum under them.

    Attributes
    ----------
    alpha : float64, shape (n_peers,)
        Discount rate of each peer.
    price : float
        Price that clears the market under these rates [price].
    amounts : int64, shape (n_peers,)
        Tasks of each peer, the one optimum under these rates.
    """

    alpha: Floats
    price: float
    amounts: Amounts


def completion_bound(times: ArrayLike, m: int) -> float:
    """Return the lower bound of the completion time, at which all peers finish together [s].

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
    if the k-th task of a peer has the value c / (k t_i), the inverse of its finishing time. Except
    for rounding it is proportional to the prices V_i, as Proportional Share is; the rounding is
    d'Hondt's.

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
        Tasks of each peer; ties go to the peer of the lowest number.

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
    # Peers below their caps surely get these whole shares of the common finishing time.
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
    values: ArrayLike, amounts: ArrayLike, price: float, idle: float = 0.5, part: float = 0.5
) -> Floats:
    r"""Return discount rates under which amounts are the unique optimum at a clearing price.

    With :math:`\ln(1/q_i) = \ln(V_i / p) / (A_i - 1/2)` the last task of a peer is worth more than
    the price p and the next one less, by half a step each; 1/2 may be any other part of it. A
    peer with tasks must have :math:`V_i > p`, an idle one :math:`V_i < p`: a peer whose first
    task is worth more than the price buys it at any rate.

    Parameters
    ----------
    values : float64, shape (n_peers,)
        Value of the first task on each peer, V_i [price].
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Price of a task [price].
    idle : float
        Rate of peers without tasks, without effect.
    part : float
        Part of a step by which the last task is worth more than the price, between 0 and 1; larger
        parts mean larger rates.

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
    # Rates must not round to 1, except for a single task followed by a worthless one.
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

    Other rates mean other values of the same tasks, so that benefits can be compared only if one
    quantity is fixed: here the benefit, for instance that of the common rate. The benefit rises
    with the price; at lower prices more peers work. Sets of peers are tried in the order of their
    values, and the largest set that reaches the benefit is used. If the benefit lies between that
    of a set and that of the set without its last peer, this peer gets fewer tasks than balance
    requires, but as many as possible.

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
        No set of peers and price has that benefit: it is out of range, or in a gap between possible
        benefits, as occurs with few tasks per peer.
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
    # The benefit at the price 0.
    least = market.values[balanced_split(taken, market.m, market.caps) > 0].sum()
    raise InfeasibleError(
        f"no price gives a balanced assignment a benefit of {benefit:.6g}: values allow from"
        f" {least:.6g} to less than {m * market.values.max():.6g}, with"
        " gaps where peers have few tasks; give another benefit"
    )


def _wanted(market: BundleMarket, taken: Floats, chosen: Amounts, benefit: float) -> Amounts | None:
    """Return balanced amounts that reach a benefit, with fewer tasks for the last peer."""
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
    """Return a price just below the lowest value of a peer with tasks."""
    return float(market.values[amounts > 0].min()) * (1 - _MARGIN)


def _price(market: BundleMarket, amounts: Amounts, benefit: float) -> tuple[float, float] | None:
    """Return the price and the part of a step that give amounts a benefit."""
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
    # The gap between two numbers of tasks of the slowest peer is filled by other parts of a step.
    price, ends = (low, (0.5, _PARTS[1])) if benefit < bottom else (high, (_PARTS[0], 0.5))
    most, least = (_benefit(market, amounts, price, part) for part in ends)
    if not least <= benefit <= most:
        return None
    return price, root(lambda part: benefit - _benefit(market, amounts, price, part), *ends)


def root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return the least number above `low` at which a rising function is 0 or positive."""
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


def _benefit(market: BundleMarket, amounts: Amounts, price: float, part: float = 0.5) -> float:
    """Return the global benefit of amounts under the rates of a price."""
    alpha = rates_for(market.values, amounts, price, part=part)
    return BundleMarket(market.values, market.m, market.caps, 1 - alpha).benefit(amounts)


def positive_times(times: ArrayLike) -> Floats:
    """Return times of a task on each peer; raise WorkloadError unless all are positive."""
    taken = np.asarray(times, dtype=np.float64)
    if taken.ndim != 1 or not taken.size or not np.all(np.isfinite(taken) & (taken > 0)):
        raise WorkloadError(f"times are {times!r}; give a positive number of seconds a peer")
    return taken
