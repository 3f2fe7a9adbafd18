r"""Local markets with Anderson acceleration.

A round of `MarketIteration` maps the requests :math:`d` to :math:`d + g`. While the metric stays,
Anderson's method (type II, [1]_) mixes the last rounds,

.. math:: d \leftarrow d_i + g_i - \sum_j \gamma_j (\Delta d_j + \Delta g_j),

with :math:`\gamma` least in :math:`\|g_i - \sum_j \gamma_j \Delta g_j\|_\theta`. Where a residual
stays as it was, :math:`\|\Delta g\|^2 \leq` `STEADY` :math:`\|g\|^2`, requests merely drift, and
the step is 2, 4, 8... times :math:`g` instead. A round is undone if its :math:`\|g\|_\theta^2`
exceeds the least since the metric changed by more than `SLACK`: the allocation stays, the requests
return to the plain step, and the memory is cleared. Plain rounds never let the residual grow while
the metric stays, and so no round lets it grow further than that.

Its cost is a second pair of sweeps per round. Up each edge of each tree go the sums of
:math:`\theta g g_j` below it for the rounds remembered and this one (`MEMORY` + 2 = 12 scalars at
most), the masters add up the applications in order, and each solves the same small system. Down
come the coefficients (`MEMORY` = 10 scalars at most), the stride, and whether the round is undone.
Masters exchange their sums along one tree that joins them, where those of each application pass
by themselves, as the order of summation is to be the same for all.

References
----------
.. [1] H. F. Walker, P. Ni (2011). Anderson acceleration for fixed-point iterations. SIAM Journal
   on Numerical Analysis 49(4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from simplugin.pricing.policies.market import MarketIteration, MarketState
from simplugin.workloads.shared_deployment import AlphaFair, Floats, SharedDeployment

# Of one slot, or of all.
Request = TypeVar("Request", float, Floats)

# How many differences of rounds are mixed.
MEMORY = 10
# How small the squared norm of the change of a residual is, relative to that of the residual, while
# requests merely drift.
STEADY = 0.0025
# How far the squared norm of a residual may exceed the least so far.
SLACK = 1.2
# Relative to the squared norms of the differences, added to the diagonal of their products: keeps
# coefficients from magnifying rounding.
RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class ExtendedState:
    """A market's state, extended by a variant of the method.

    Attributes
    ----------
    market : MarketState
        The state of the plain method.
    """

    market: MarketState

    @property
    def rate(self) -> Floats:
        """Tasks that each agent computes [tasks/s], shape (n_agents,)."""
        return self.market.rate

    @property
    def host_price(self) -> Floats:
        """Price of computation on each host [utility/flop], shape (n_hosts,)."""
        return self.market.host_price

    @property
    def link_price(self) -> Floats:
        """Price of traffic on each link [utility/byte], shape (n_links,)."""
        return self.market.link_price


@dataclass(frozen=True, eq=False)
class AcceleratedState(ExtendedState):
    """A market's state, and the rounds remembered.

    Attributes
    ----------
    market : MarketState
        Requests for the next round, and the results of the last valid one.
    requests, residuals : tuple of float64 arrays, shape (2, n_agents)
        Of the rounds remembered, the oldest first [tasks/s].
    products : float64, shape (n_remembered, n_remembered)
        Inner products of the residuals, in the metric [utility].
    stride : float
        Length of the last step in residuals, while these are steady; else 1.
    least : float
        The smallest squared norm of a residual since the metric changed [utility].
    plain : float64, shape (2, n_agents), optional
        The requests to return to if the mixed ones in `market` prove worse; None if plain.
    """

    requests: tuple[Floats, ...]
    residuals: tuple[Floats, ...]
    products: Floats
    stride: float
    least: float
    plain: Floats | None


@dataclass(frozen=True)
class AcceleratedMarketIteration:
    """The method with a dozen sums over all agents per round.

    Attributes
    ----------
    market : MarketIteration
        The plain method.
    """

    market: MarketIteration = field(default_factory=MarketIteration)

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> AcceleratedState:
        """Return the state before the first round."""
        return accelerated(self.market.start(sharing, utility))

    def round(
        self, sharing: SharedDeployment, utility: AlphaFair, state: AcceleratedState
    ) -> AcceleratedState:
        """Return the state after one more round."""
        before = state.market
        after = self.market.round(sharing, utility, before)
        residual = self.market.relaxation * (after.plan - after.offer)
        remembered = (*state.residuals, residual)
        products = grown(state.products, total(sharing, before.metric, residual, remembered))
        if state.plain is not None and not products[-1, -1] <= SLACK * state.least:
            return undone(state)
        if after.metric is not before.metric:
            return accelerated(after)
        requests = (*state.requests, before.request)
        if len(requests) > MEMORY + 1:
            requests, remembered, products = requests[1:], remembered[1:], products[1:, 1:]
        least = min(state.least, float(products[-1, -1]))
        plain = AcceleratedState(after, requests, remembered, products, 1.0, least, None)
        if len(requests) < 2:
            return plain
        stride = 2 * state.stride if steady(products) else 1.0
        if stride > 1:
            request = before.request + stride * residual
        else:
            request = mix(requests, remembered, coefficients(products))
        moved = replace(after, request=request)
        return replace(plain, market=moved, stride=stride, plain=after.request)


def accelerated(market: MarketState) -> AcceleratedState:
    """Return the state that remembers no round."""
    return AcceleratedState(market, (), (), np.zeros((0, 0)), 1.0, np.inf, None)


def undone(state: AcceleratedState) -> AcceleratedState:
    """Return the state before a mixed round, with the requests of the plain step instead."""
    assert state.plain is not None
    market = replace(
        state.market,
        request=state.plain,
        number=state.market.number + 1,
        next_metric=max(state.market.next_metric, state.market.number + 2),
    )
    requests, residuals = state.requests[-1:], state.residuals[-1:]
    products = state.products[-1:, -1:]
    return AcceleratedState(market, requests, residuals, products, 1.0, state.least, None)


def total(
    sharing: SharedDeployment, metric: Floats, residual: Floats, residuals: tuple[Floats, ...]
) -> Floats:
    """Return the inner products of a residual with all, summed up the trees, then over these.

    Returns
    -------
    float64, shape (n_residuals,)
        In the metric [utility].
    """
    weighted = metric * residual
    parts = np.stack(
        [weighted[0] * other[0] + weighted[1] * other[1] for other in residuals], axis=1
    )
    sums = np.zeros(len(residuals))
    for part in sharing.gather(parts)[sharing.masters]:
        sums = sums + part
    return sums


def grown(products: Floats, row: Floats) -> Floats:
    """Return a symmetric matrix with one more row and column."""
    size = len(row)
    larger = np.empty((size, size))
    larger[:-1, :-1] = products
    larger[-1, :] = row
    larger[:, -1] = row
    return larger


def steady(products: Floats) -> bool:
    """Return True if the last two residuals remembered are nearly the same."""
    change = (products[-1, -1] - products[-1, -2]) - (products[-2, -1] - products[-2, -2])
    return bool(change <= STEADY * products[-1, -1])


def coefficients(products: Floats) -> Floats:
    r"""Return Anderson's coefficients.

    Parameters
    ----------
    products : float64, shape (n, n)
        Inner products of the residuals remembered, the oldest first.

    Returns
    -------
    float64, shape (n - 1,)
        :math:`\gamma` of the differences between successive rounds, the oldest first.
    """
    rows = products[1:] - products[:-1]
    square = rows[:, 1:] - rows[:, :-1]
    right = rows[:, -1]
    size = np.sqrt(np.maximum(np.diag(square), 0.0))
    known = size > 0
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=known)
    scaled = square * inverse[:, None] * inverse + RIDGE * np.eye(len(size))
    scaled[~known, ~known] = 1.0
    return solved(scaled, right * inverse) * inverse


def solved(matrix: Floats, right: Floats) -> Floats:
    """Return the solution of equations with a positive definite matrix, by elimination in order.

    NumPy's solver uses LAPACK, which has other last bits on other CPUs; rounds magnify them.
    """
    left = np.column_stack([matrix, right])
    for k in range(len(right)):
        left[k] /= left[k, k]
        others = np.arange(len(right)) != k
        left[others] -= left[others, k : k + 1] * left[k]
    return left[:, -1]


def mix(
    requests: Sequence[Request], residuals: Sequence[Request], gamma: Iterable[float]
) -> Request:
    """Return the mixed requests, the differences in order, the oldest first."""
    mixed = requests[-1] + residuals[-1]
    for j, part in enumerate(gamma):
        moved = (requests[j + 1] - requests[j]) + (residuals[j + 1] - residuals[j])
        mixed = mixed - part * moved
    return mixed
