"""Fair sharing: the throughputs of the largest sum of the utilities of all applications."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import InfeasibleError, UncertifiedError
from simplugin.optimum.bottlenecks import Bottleneck, Bottlenecks, largest_total
from simplugin.optimum.entropic import entropic
from simplugin.optimum.fairest import alpha_fair, max_min
from simplugin.optimum.flows import Flows
from simplugin.optimum.interior import LITTLE, REGULAR, correction, interior_point
from simplugin.optimum.paths import Paths
from simplugin.optimum.solvers import ACCEPTED, UNITS, certify
from simplugin.workloads.shared_deployment import AlphaFair, SharedDeployment

Floats = NDArray[np.float64]

# Error of the certificate at which no further correction is made, and how many there are.
AIM, CORRECTIONS = 1e-12, 4
# Share of a throughput that may be rounding.
STRAY = 1e-9
# Relative change of throughputs by a further bottleneck that is rounding.
SETTLED = 1e-11


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
        Gain by a flop more [utility/flop]. For max-min fairness, how much it would
        raise the smallest throughput, per weight if weighted [1/flop].
    link_price : float64, shape (n_links,)
        Likewise [utility/byte], [1/byte].
    objective : float
        Weighted sum of utilities. For max-min fairness, the smallest throughput, per weight if
        weighted.
    gap : float
        A certificate: by how much the conditions of optimality are missed at most, each in relative
        terms, see `simplugin.optimum.paths.Paths.error`, and by how much a throughput
        is off, to first order; at most 1e-6, as a rule under 1e-8. For alpha 0 and max-min
        fairness also by how much each capacity would have to be less for the throughputs to be
        those of the cutting planes.
    """

    rate: Floats
    throughput: Floats
    host_price: Floats
    link_price: Floats
    objective: float
    gap: float


def fair_sharing(sharing: SharedDeployment, alpha: float = 1.0) -> FairShare:
    r"""Return the alpha-fair sharing of hosts and links, with a certificate [1]_.

    Solves Eqs. (1) to (3) of [2]_ in terms of the flow through each agent. Cutting planes go
    between two exact solvers: HiGHS finds the least load that makes given throughputs, and
    prices which prove that no less will do; an interior point method finds the fairest
    throughputs that such bounds allow. This takes about as many linear programs as there are
    applications, and ends when a further bound changes nothing. For alpha positive and finite,
    Newton's method then corrects what rounding has left, and shows how exact throughputs are.
    Where they are not proven to 1e-6, as capacities are many orders of magnitude apart,
    `interior_point` solves the problem as a whole; if that does not either, it is refused.

    With ``alpha = 0`` the largest :math:`\sum_k w_k\rho_k` does not determine the throughputs, so
    that the limit from above is returned, see `entropic`. With ``alpha = inf`` it is the limit,
    too: throughputs are max-min fair (lexicographic), and weights no longer matter, as
    :math:`w_k^{1/\alpha}` goes to 1. `weighted_max_min` divides throughputs by weights.

    Parameters
    ----------
    sharing : SharedDeployment
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
        An application reaches no host; the message names it and the remedy.
    UncertifiedError
        Quantities are too far apart for double precision; the message names the scarcest.

    References
    ----------
    .. [1] J. Mo, J. Walrand (2000). Fair end-to-end window-based congestion control. IEEE/ACM
       Transactions on Networking 8(5).
    .. [2] R. Bertin, A. Legrand, C. Touati (2008). Toward a fully decentralized algorithm for
       multiple bag-of-tasks application scheduling on grids. Grid 2008.
    """
    utility = AlphaFair(alpha)
    if math.isinf(alpha):
        return weighted_max_min(replace(sharing, weight=np.ones(sharing.n_applications)))
    flows = Flows(sharing)
    if alpha == 0:
        return _largest(flows)
    return _alpha_fair(flows, utility)


def weighted_max_min(sharing: SharedDeployment) -> FairShare:
    """Return the sharing with max-min fair throughputs per weight (lexicographic).

    With equal weights it is the limit of alpha-fair sharing. With others it is none of that family:
    one of twice the weight has twice the throughput where both use the same.

    Parameters
    ----------
    sharing : SharedDeployment
        The problem.

    Raises
    ------
    InfeasibleError, UncertifiedError
        As `fair_sharing`.
    """
    flows = Flows(sharing)
    rate, bounds, stop, error = _cut(flows, lambda bound: max_min(bound, sharing.weight), SETTLED)
    throughput = sharing.throughput(rate)
    level = throughput / sharing.weight
    # The bound of the smallest level is the program of the first stage; its prices.
    first = bounds[int(stop[np.argmin(level)])]
    scale = 1 / float(first.price @ sharing.weight)
    price = _of_no_capacity(flows, scale * first.price, scale * first.of_resources)
    gaps = [abs(1 - float(bounds[int(number)].price @ throughput)) for number in stop]
    error = certify(max(error, *gaps), "the max-min fair sharing", _remedy(Paths(flows)))
    return _fair_share(flows, rate, price, float(level.min()), error)


def _fair_share(
    flows: Flows, rate: Floats, price: Floats, objective: float, error: float
) -> FairShare:
    """Return the sharing of some rates, with the prices of hosts and links."""
    host_price, link_price = np.split(price, [flows.sharing.n_hosts])
    throughput = flows.sharing.throughput(rate)
    return FairShare(rate, throughput, host_price, link_price, objective, error)


def _alpha_fair(flows: Flows, utility: AlphaFair) -> FairShare:
    """Return the sharing for a positive and finite alpha."""
    sharing, alpha = flows.sharing, utility.alpha
    ways = Paths(flows)
    error, rate, price = np.inf, np.zeros(sharing.n_agents), np.zeros(len(ways.resource))
    for rates, prices in _candidates(ways, flows, alpha):
        for candidate in (rates, _tidied(ways, rates, prices, alpha)):
            point = candidate, prices
            for _ in range(CORRECTIONS):
                missed, after = _missed(ways, *point, alpha)
                if missed < error:
                    error, (rate, price) = missed, point
                if missed <= AIM or not missed < np.inf:
                    break
                point = after
        if error <= ACCEPTED:
            break
    certify(error, f"the fair sharing for alpha {alpha:g}", _remedy(ways))
    # Relative to the largest price: for a large alpha prices leave double precision.
    top = float(price.max())
    prices = np.zeros(len(flows.capacity))
    prices[ways.resource] = np.exp(price - top)
    prices = np.divide(prices, flows.capacity, out=prices, where=prices > 0)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        worth = np.exp(_log_worth(sharing, rate, alpha) - top)
        prices = _of_no_capacity(flows, worth, prices)
        prices = np.multiply(prices, np.exp(top), out=np.zeros(len(prices)), where=prices > 0)
        objective = float(utility.objective(sharing.throughput(rate), sharing.weight))
    return _fair_share(flows, rate, prices, objective, error)


def _missed(
    ways: Paths, rate: Floats, price: Floats, alpha: float
) -> tuple[float, tuple[Floats, Floats]]:
    """Return the error of the certificate, throughputs included, and what Newton's method gives."""
    sharing = ways.sharing
    error = ways.error(rate, price, _log_worth(sharing, rate, alpha))
    try:
        change, rate, price = correction(ways, sharing.weight, alpha, rate, price)
    except RuntimeError:  # a singular matrix
        return np.inf, (rate, price)
    return max(error, float(change.max())), (rate / (1 + sharing.overload(rate)), price)


def _log_worth(sharing: SharedDeployment, rate: Floats, alpha: float) -> Floats:
    """Return logarithms of the value of one more task of each application."""
    with np.errstate(divide="ignore"):
        throughput = np.log(sharing.throughput(rate))
    return np.asarray(np.log(sharing.weight) - alpha * throughput)


def _candidates(ways: Paths, flows: Flows, alpha: float) -> Iterator[tuple[Floats, Floats]]:
    """Yield feasible rates and logarithms of prices of whole resources, the quickest first."""
    sharing = flows.sharing
    with suppress(InfeasibleError), np.errstate(all="ignore"):
        cuts = _by_cuts(ways, flows, alpha)
        if np.all(cuts[0] >= 0) and np.max(cuts[1]) < np.inf:
            yield cuts
    for middle, regular in ((False, REGULAR), (False, (1e-10, 1e-10)), (True, (1e-12, 1e-10))):
        start = interior_point(ways, sharing.weight, 1.0, stop=0.02) if middle else None
        point = interior_point(ways, sharing.weight, alpha, start=start, regular=regular)
        rate = np.zeros(sharing.n_agents)
        rate[ways.agent] = np.exp(point.rate)
        yield rate / (1 + sharing.overload(rate)), point.price


def _tidied(ways: Paths, rate: Floats, price: Floats, alpha: float) -> Floats:
    """Return feasible rates without what solvers leave to rounding, as they see absolute loads.

    Applications that use little take their cheapest ways only, and compute as much as prices
    determine; of the others, dearer ways with next to no share are dropped.
    """
    sharing = ways.sharing
    used, way_price, application = rate[ways.agent], ways.price(price), ways.application
    load = np.zeros(sharing.n_applications)
    np.maximum.at(load, application[ways.way], np.exp(ways.demand) * used[ways.way])
    little = load < LITTLE
    cheapest = np.lexsort((way_price, application))
    cheapest = cheapest[np.unique(application[cheapest], return_index=True)[1]]
    with np.errstate(invalid="ignore"):
        share = used / np.bincount(application, used)[application]
    stray = (share < STRAY) & (way_price > way_price[cheapest][application])
    used = np.where(stray | little[application], 0.0, used)
    # Its throughput follows from the price of a task there.
    with np.errstate(over="ignore"):
        throughput = np.exp((np.log(sharing.weight) - way_price[cheapest]) / alpha)
    used[cheapest[little]] = throughput[little]
    rate = np.zeros(sharing.n_agents)
    rate[ways.agent] = used
    return np.asarray(rate / (1 + sharing.overload(rate)))


def _by_cuts(ways: Paths, flows: Flows, alpha: float) -> tuple[Floats, Floats]:
    """Return what cutting planes make of a positive and finite alpha."""
    sharing = flows.sharing
    # Throughputs are as exact as prices to the power of 1 / alpha.
    rate, bounds, y, _ = _cut(
        flows, lambda bound: alpha_fair(bound, sharing.weight, alpha), SETTLED * max(1.0, 1 / alpha)
    )
    income = np.array([bound.of_resources for bound in bounds])
    with np.errstate(divide="ignore"):
        income = np.log(income[:, ways.resource] * flows.capacity[ways.resource])
    return rate, np.logaddexp.reduce(income + y[:, None], axis=0)


def _remedy(ways: Paths) -> str:
    """Return what to do where no certificate was found, naming the scarcest resource."""
    sharing = ways.sharing
    scarcest = int(ways.resource[ways.row[np.argmax(ways.demand)]])
    if scarcest < sharing.n_hosts:
        name = f"host {sharing.hosts[scarcest]!r} with {sharing.speed[scarcest]:g} flop/s"
    else:
        link = scarcest - sharing.n_hosts
        name = f"link {sharing.links[link]!r} with {sharing.bandwidth[link]:g} byte/s"
    apart = float(np.ptp(ways.demand) / np.log(10))
    return (
        f"capacities per task are {apart:.0f} orders of magnitude apart: check the units of"
        f" {name}, or leave it out"
    )


def _largest(flows: Flows) -> FairShare:
    """Return the sharing for alpha = 0, as a limit."""
    sharing = flows.sharing
    most = largest_total(flows)
    served = most.served

    def even(bound: Floats) -> tuple[Floats, None]:
        throughput = np.zeros(sharing.n_applications)
        throughput[served] = entropic(
            bound[:, served], most.equal[:, served], sharing.weight[served]
        )
        return throughput, None

    rate, _, _, error = _cut(flows, even, SETTLED)
    ways = Paths(flows)
    with np.errstate(divide="ignore"):
        price = np.log((most.price * flows.capacity)[ways.resource])
    error = max(error, ways.error(rate, price, np.log(sharing.weight)))
    certify(error, "the largest throughput", _remedy(ways))
    objective = float(sharing.weight @ sharing.throughput(rate))
    return _fair_share(
        flows, rate, _of_no_capacity(flows, sharing.weight, most.price), objective, error
    )


def _cut(
    flows: Flows,
    fairest: Callable[[Floats], tuple[Floats, Any]],
    settled: float,
) -> tuple[Floats, list[Bottleneck], Any, float]:
    """Add bottlenecks until the fairest throughputs no longer change.

    Returns feasible rates, all bottlenecks, the second value that `fairest` returned last,
    and the difference between its throughputs and those of the rates: all bottlenecks are bounds,
    hence the rates would be the fairest if each capacity were that much less.
    """
    sharing = flows.sharing
    bottlenecks = Bottlenecks(flows)
    # What each application reaches alone; any prices prove a bound.
    bounds = [
        bottlenecks.bottleneck(price, worth)
        for price, worth in zip(flows.cuts(), np.eye(sharing.n_applications), strict=True)
    ]
    rate = np.zeros(sharing.n_agents)
    before = np.full(sharing.n_applications, np.nan)
    for _ in range(100 + 20 * sharing.n_applications):
        throughput, rest = fairest(np.array([bound.price for bound in bounds]))
        if np.all(np.abs(throughput - before) <= settled * before):
            break
        before = throughput
        rate, bound = bottlenecks.search(throughput)
        if any(np.allclose(bound.price, known.price, rtol=1e-13, atol=0.0) for known in bounds):
            break
        bounds.append(bound)
    else:
        raise UncertifiedError(
            f"throughputs did not settle to {settled:g} in {bottlenecks.searches} programs; {UNITS}"
        )
    # Feasible rates that make these throughputs, and how far from them they are.
    made = sharing.throughput(rate)
    ratio = np.divide(before, made, out=np.zeros_like(made), where=made > 0)
    rate = rate * ratio[sharing.application]
    rate = rate / (1 + sharing.overload(rate))
    wanted = before > 0
    missed = np.abs(sharing.throughput(rate)[wanted] / before[wanted] - 1)
    return rate, bounds, rest, float(missed.max(initial=0.0))


def _of_no_capacity(flows: Flows, worth: Floats, price: Floats) -> Floats:
    """Return prices also of hosts and links without capacity: at which none would use them."""
    sharing = flows.sharing
    lost = sharing.computes & ~flows.computes
    if not np.any(lost):
        return price
    price = price.copy()
    flop, byte = sharing.flop[sharing.application], sharing.byte[sharing.application]
    missing = worth[sharing.application] - flows.carriage(price)
    idle = np.flatnonzero(lost & (sharing.speed[sharing.host] == 0))
    np.maximum.at(price, sharing.host[idle], missing[idle] / flop[idle])
    # The first link without bandwidth on the path gets the missing price.
    missing = missing - flop * price[sharing.host]
    closed = flows.carries.copy()
    closed[flows.carries] = sharing.bandwidth[sharing.link[flows.carries]] == 0
    first = np.where(closed, np.arange(sharing.n_agents), -1)
    for level in sharing.levels[1:]:
        above = first[sharing.parent[level]]
        first[level] = np.where(above >= 0, above, first[level])
    behind = np.flatnonzero(lost & (first >= 0))
    link = sharing.n_hosts + sharing.link[first[behind]]
    np.maximum.at(price, link, missing[behind] / byte[first[behind]])
    return price
