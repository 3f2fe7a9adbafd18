"""Fair sharing: the throughputs that are best by the utilities of all applications."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.optimum.bottlenecks import Bottleneck, Bottlenecks
from simplugin.optimum.convex import ConvexShare, convex_program
from simplugin.optimum.entropic import entropic
from simplugin.optimum.fairest import alpha_fair, max_min
from simplugin.optimum.flows import Flows
from simplugin.optimum.largest import EQUAL, largest
from simplugin.workloads.utility import AlphaFair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simplugin.workloads.sharing import Sharing

    Floats = NDArray[np.float64]

# Relative change of throughputs by a further bottleneck that is rounding.
SETTLED = 1e-11
# Share of every bottleneck below which an application's ways are found by prices alone.
UNSEEN = 1e-12


@dataclass(frozen=True, eq=False)
class FairShare:
    """A fair sharing, and the prices that prove it.

    Attributes
    ----------
    rate : float64, shape (n_agents,)
        Tasks that each agent computes [tasks/s]; feasible, one of many that are as good.
    throughput : float64, shape (n_applications,)
        Of each application [tasks/s]; unique.
    host_price : float64, shape (n_hosts,)
        What a flop more would bring [utility/flop]. For max-min fairness, how much it would
        raise the smallest throughput per weight [1/flop].
    link_price : float64, shape (n_links,)
        Likewise [utility/byte], [1/byte].
    objective : float
        Weighted sum of utilities. For max-min fairness, the smallest throughput per weight.
    gap : float
        A certificate: what the best could be better at most, relative to what all capacity is
        worth at these prices. For max-min fairness, the largest part of its bottleneck's
        capacity that an application leaves unused; where it is 0, each application shares a
        bottleneck with none that has more per weight, which only max-min fair throughputs do.
    """

    rate: Floats
    throughput: Floats
    host_price: Floats
    link_price: Floats
    objective: float
    gap: float


def fair_sharing(sharing: Sharing, alpha: float = 1.0) -> FairShare:
    r"""Return the alpha-fair sharing of hosts and links, to 1e-8 or better [1]_.

    Solves Eqs. (1) to (3) of [2]_ in terms of the flow through each agent. The convex program
    in cvxpy comes first, see `convex_program`; its throughputs are good to about 1e-5. Cutting
    planes between two exact solvers go on from there: HiGHS finds the least load that makes
    given throughputs, and prices which prove that no less will do; an interior point method
    finds the fairest throughputs that such bounds allow. This takes about as many linear
    programs as there are applications, and ends when a further bound changes nothing. Where
    capacities spread over six orders of magnitude and more, errors of up to 5e-6 in throughputs
    were seen with alpha 0 and inf; `FairShare.gap` does not bound those.

    With ``alpha = 0`` the largest :math:`\sum_k w_k\rho_k` does not tell the throughputs, so
    that the limit from above is returned, see `entropic`. With ``alpha = inf``, throughputs
    per weight are max-min fair (lexicographic).

    Parameters
    ----------
    sharing : Sharing
        The problem. Capacities may be 0; nothing is computed or sent there.
    alpha : float
        0 for the largest throughput, 1 for proportional fairness, inf for max-min fairness.

    Returns
    -------
    FairShare
        Rates, throughputs, prices, and a proof of optimality. A resource without capacity has
        a price at which none would use its first flop or byte.

    Raises
    ------
    WorkloadError
        `alpha` is negative or not a number.
    InfeasibleError
        An application reaches no host; the message names it, and how to right it. Or numbers
        are too far apart for double precision.

    References
    ----------
    .. [1] J. Mo, J. Walrand (2000). Fair end-to-end window-based congestion control. IEEE/ACM
       Transactions on Networking 8(5).
    .. [2] R. Bertin, A. Legrand, C. Touati (2008). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Grid 2008.
    """
    utility = AlphaFair(alpha)
    flows = Flows(sharing)
    if math.isinf(alpha):
        return _max_min(flows)
    if alpha == 0:
        return _largest(flows)
    return _alpha_fair(flows, utility)


def _alpha_fair(flows: Flows, utility: AlphaFair) -> FairShare:
    """Return the sharing for a positive and finite alpha."""
    sharing, alpha = flows.sharing, utility.alpha
    # Throughputs are as exact as prices to the power of 1 / alpha.
    settled = SETTLED * max(1.0, 1 / alpha)
    rate, bounds, y = _cut(
        flows,
        lambda bound: alpha_fair(bound, sharing.weight, alpha),
        settled,
        _interior(sharing, alpha),
    )
    # Prices relative to the largest multiplier: for a large alpha they leave double precision.
    largest_y = float(y.max())
    host_price, link_price = (
        np.exp(y - largest_y) @ np.array([getattr(bound, name) for bound in bounds])
        for name in ("host_price", "link_price")
    )
    # The cheapest way costs at least what each bottleneck's cheapest way does, added up.
    prices = np.array([bound.price for bound in bounds])
    with np.errstate(divide="ignore", invalid="ignore"):
        log_price = np.logaddexp.reduce(np.log(prices) + y[:, None] - largest_y, axis=0)
        # It may cost more where an application is too small for a linear program to see.
        unseen = (prices * sharing.throughput(rate)).max(axis=0) < UNSEEN
        dearer = np.log(flows.cheapest(host_price, link_price)) - log_price
    dearer = np.where(unseen, np.fmax(dearer, 0.0), 0.0)
    log_price = log_price + dearer
    rate = rate * np.exp(-dearer / alpha)[sharing.application]
    rate = _on_cheapest_ways(flows, rate, host_price, link_price)
    throughput = sharing.throughput(rate)
    price = np.exp(log_price)
    income = float(sharing.speed @ host_price + sharing.bandwidth @ link_price)
    best = np.exp((np.log(sharing.weight) - largest_y - log_price) / alpha)
    gap = income - float(price @ throughput) + _regret(throughput, price, best, alpha)
    host_price, link_price = _of_no_capacity(flows, price, host_price, link_price)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        unit = np.exp(largest_y)
        host_price, link_price = (
            np.multiply(part, unit, out=np.zeros(len(part)), where=part > 0)
            for part in (host_price, link_price)
        )
        objective = float(utility.objective(throughput, sharing.weight))
    return FairShare(rate, throughput, host_price, link_price, objective, abs(gap) / income)


def _interior(sharing: Sharing, alpha: float) -> ConvexShare | None:
    """Return where to start from, if the numbers are such that an interior point is found."""
    try:
        return convex_program(sharing, alpha)
    except InfeasibleError:
        return None


def _on_cheapest_ways(flows: Flows, rate: Floats, host_price: Floats, link_price: Floats) -> Floats:
    """Move rates too small for a linear program to tell their ways to their cheapest ones."""
    sharing = flows.sharing
    price = flows.carriage(link_price) + (
        sharing.flop[sharing.application] * host_price[sharing.host]
    )
    cheapest = flows.cheapest(host_price, link_price)[sharing.application]
    dear = (rate > 0) & (price > cheapest * (1 + EQUAL))
    if not np.any(dear):
        return rate
    at = np.flatnonzero(flows.computes & (price == cheapest))
    _, first = np.unique(sharing.application[at], return_index=True)
    moved = np.where(dear, 0.0, rate)
    moved[at[first]] += np.bincount(sharing.application[dear], rate[dear], sharing.n_applications)
    overload = sharing.overload(moved)
    return moved / (1 + overload) if overload < 1e-10 else rate


def _regret(throughput: Floats, price: Floats, best: Floats, alpha: float) -> float:
    """Return what applications would gain, at given prices, by the throughputs they like best."""
    known = best > 0
    more = throughput[known] / best[known] - 1
    less = np.log1p(more)
    power = less if alpha == 1 else np.expm1((1 - alpha) * less) / (1 - alpha)
    return float(np.sum((price * best)[known] * (more - power)))


def _max_min(flows: Flows) -> FairShare:
    """Return the max-min fair sharing."""
    sharing = flows.sharing
    rate, bounds, stop = _cut(flows, lambda bound: max_min(bound, sharing.weight), SETTLED)
    throughput = sharing.throughput(rate)
    level = throughput / sharing.weight
    # The bound of the smallest level is the program of the first stage; its prices.
    first = bounds[int(stop[np.argmin(level)])]
    scale = 1 / float(first.price @ sharing.weight)
    price, host_price, link_price = (
        scale * part for part in (first.price, first.host_price, first.link_price)
    )
    host_price, link_price = _of_no_capacity(flows, price, host_price, link_price)
    gap = max(1 - float(bounds[int(number)].price @ throughput) for number in stop)
    return FairShare(rate, throughput, host_price, link_price, float(level.min()), abs(gap))


def _largest(flows: Flows) -> FairShare:
    """Return the sharing for alpha = 0, as a limit."""
    sharing = flows.sharing
    most = largest(flows)
    served = most.served

    def even(bound: Floats) -> tuple[Floats, None]:
        throughput = np.zeros(sharing.n_applications)
        throughput[served] = entropic(
            bound[:, served], most.equal[:, served], sharing.weight[served]
        )
        return throughput, None

    rate, _, _ = _cut(flows, even, SETTLED)
    throughput = sharing.throughput(rate)
    objective = float(sharing.weight @ throughput)
    income = float(sharing.speed @ most.host_price + sharing.bandwidth @ most.link_price)
    prices = _of_no_capacity(flows, sharing.weight, most.host_price, most.link_price)
    return FairShare(rate, throughput, *prices, objective, abs(income - objective) / income)


def _cut(
    flows: Flows,
    fairest: Callable[[Floats], tuple[Floats, Any]],
    settled: float,
    start: ConvexShare | None = None,
) -> tuple[Floats, list[Bottleneck], Any]:
    """Find bottlenecks until none changes what is fairest.

    Returns feasible rates, all bottlenecks, and what `fairest` returned last besides
    throughputs.
    """
    sharing = flows.sharing
    bottlenecks = Bottlenecks(flows)
    # Any prices prove a bound; with those of all computation it is one for each application.
    speed = np.append(sharing.speed, np.zeros(sharing.n_links))
    prices = np.divide(1.0, speed, out=np.zeros(len(speed)), where=speed > 0)
    bounds = [bottlenecks.bottleneck(prices)]
    if start is not None and np.all(start.throughput > 0):
        bounds.append(bottlenecks.search(start.throughput)[1])
    rate = np.zeros(sharing.n_agents)
    before = np.full(sharing.n_applications, np.nan)
    for _ in range(100 + 20 * sharing.n_applications):
        throughput, rest = fairest(np.array([bound.price for bound in bounds]))
        if np.all(np.abs(throughput - before) <= settled * before):
            return _exactly(sharing, rate, before), bounds, rest
        before = throughput
        rate, bound = bottlenecks.search(throughput)
        if any(np.allclose(bound.price, known.price, rtol=1e-13, atol=0.0) for known in bounds):
            return _exactly(sharing, rate, throughput), bounds, rest
        bounds.append(bound)
    raise InfeasibleError(
        f"throughputs did not settle to {settled:g} within {bottlenecks.searches} programs;"
        " the quantities may be too far apart, check their units"
    )


def _exactly(sharing: Sharing, rate: Floats, throughput: Floats) -> Floats:
    """Return feasible rates that make throughputs, from some that do up to tolerances."""
    made = sharing.throughput(rate)
    ratio = np.divide(throughput, made, out=np.zeros_like(made), where=made > 0)
    rate = rate * ratio[sharing.application]
    return rate / (1 + sharing.overload(rate))


def _of_no_capacity(
    flows: Flows, price: Floats, host_price: Floats, link_price: Floats
) -> tuple[Floats, Floats]:
    """Return prices also of hosts and links without capacity: at which none would use them."""
    sharing = flows.sharing
    lost = sharing.computes & ~flows.computes
    if not np.any(lost):
        return host_price, link_price
    host_price, link_price = host_price.copy(), link_price.copy()
    flop, byte = sharing.flop[sharing.application], sharing.byte[sharing.application]
    missing = price[sharing.application] - flows.carriage(link_price)
    idle = np.flatnonzero(lost & (sharing.speed[sharing.host] == 0))
    np.maximum.at(host_price, sharing.host[idle], missing[idle] / flop[idle])
    # The first link without bandwidth on the way makes up for what is still missing.
    missing = missing - flop * host_price[sharing.host]
    closed = flows.carries.copy()
    closed[flows.carries] = sharing.bandwidth[sharing.link[flows.carries]] == 0
    first = np.where(closed, np.arange(sharing.n_agents), -1)
    for level in sharing.levels[1:]:
        above = first[sharing.father[level]]
        first[level] = np.where(above >= 0, above, first[level])
    behind = np.flatnonzero(lost & (first >= 0))
    np.maximum.at(link_price, sharing.link[first[behind]], missing[behind] / byte[first[behind]])
    return host_price, link_price
