"""Flow control over several routes, as the report recalls it: Algorithms 1 and 2, Eqs. (8), (9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simplugin.elementary import power
from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.workloads.sharing import AlphaFair

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Routes:
    """Sources that send over several routes each, and the links that the routes share.

    Attributes
    ----------
    source : int64, shape (n_routes,)
        The source of each route.
    route, link : int64, shape (n_uses,)
        The pairs of a route and a link that it goes over.
    bandwidth : float64, shape (n_links,)
        Of each link.
    least, most : float64, shape (n_sources,)
        Bounds :math:`m_s` and :math:`M_s` on what each source sends over all its routes. The
        report drops them, but needs them: a marginal utility is infinite at 0, and a price of 0
        asks for an infinite throughput.
    weight : float64, shape (n_sources,)
        Of each source's utility.

    Raises
    ------
    WorkloadError
        Lengths or ranges are wrong, or a source has no route.
    """

    source: Integers
    route: Integers
    link: Integers
    bandwidth: Floats
    least: Floats
    most: Floats
    weight: Floats

    def __post_init__(self) -> None:
        """Check the fields."""
        for name in ("source", "route", "link"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        for name in ("bandwidth", "least", "most", "weight"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        if not len(self.least) == len(self.most) == len(self.weight):
            raise WorkloadError("least, most and weight differ in length; give one a source")
        if len(self.route) != len(self.link):
            raise WorkloadError("route and link differ in length; give pairs")
        if not np.all((self.least > 0) & (self.least < self.most) & np.isfinite(self.most)):
            raise WorkloadError("a source's bounds are not 0 < least < most < infinity")
        for name in ("bandwidth", "weight"):
            values = getattr(self, name)
            if not np.all(np.isfinite(values) & (values > 0)):
                raise WorkloadError(f"{name} has an entry that is not positive and finite")
        for name, count in (("route", self.n_routes), ("link", self.n_links)):
            values = getattr(self, name)
            if np.any((values < 0) | (values >= count)):
                raise WorkloadError(f"{name} of a pair is not in 0..{count - 1}")
        if not np.array_equal(np.unique(self.source), np.arange(self.n_sources)):
            raise WorkloadError(
                f"sources of routes are not 0..{self.n_sources - 1}, each at least once"
            )

    @property
    def n_sources(self) -> int:
        """How many sources there are."""
        return len(self.least)

    @property
    def n_routes(self) -> int:
        """How many routes there are."""
        return len(self.source)

    @property
    def n_links(self) -> int:
        """How many links there are."""
        return len(self.bandwidth)

    def throughput(self, rate: Floats) -> Floats:
        """Return what each source sends, Eq. (4), shape (n_sources,)."""
        return _total(self.source, rate, self.n_sources)

    def load(self, rate: Floats) -> Floats:
        """Return what each link carries, Eq. (5), shape (n_links,)."""
        return _total(self.link, rate[self.route], self.n_links)

    def price(self, link_price: Floats) -> Floats:
        """Return the price of each route, the sum over its links, shape (n_routes,)."""
        return _total(self.route, link_price[self.link], self.n_routes)


@dataclass(frozen=True, eq=False)
class FlowState:
    """Rates and prices between two rounds.

    Attributes
    ----------
    rate, memory : float64, shape (n_routes,)
        Rate of each route, and its augmented rate; the second algorithm has no use for it.
    link_price : float64, shape (n_links,)
        Of each link.
    """

    rate: Floats
    memory: Floats
    link_price: Floats


class FlowRound(Protocol):
    """A round of flow control."""

    def __call__(
        self, routes: Routes, utility: AlphaFair, state: FlowState, step: float
    ) -> FlowState:
        """Return the state after the round; the state given stays as it is."""
        ...


def augmented_round(routes: Routes, utility: AlphaFair, state: FlowState, step: float) -> FlowState:
    r"""Run Algorithms 1 and 2 once: gradient steps on the augmented Lagrangian [1]_.

    The rates of a source are projected onto its bounds, as in [1]_.

    Parameters
    ----------
    routes : Routes
        The problem.
    utility : AlphaFair
        Of every source.
    state : FlowState
        Rates and prices before.
    step : float
        :math:`\gamma`, of rates, augmented rates and prices alike.

    Raises
    ------
    WorkloadError
        The fairness is max-min, which has no utility to follow the gradient of.

    References
    ----------
    .. [1] W.-H. Wang, M. Palaniswami, S. H. Low (2003). Optimal flow control and routing in
       multi-path networks. Performance Evaluation 52(2-3).
    """
    if math.isinf(utility.alpha):
        raise WorkloadError("max-min fairness has no gradient; give a finite alpha")
    throughput = routes.throughput(state.rate)
    marginal = (routes.weight * utility.marginal(throughput))[routes.source]
    gain = marginal - routes.price(state.link_price)
    drawn = (1 - step) * state.rate + step * state.memory + step * gain
    return FlowState(
        _bounded(routes, drawn),
        (1 - step) * state.memory + step * state.rate,
        _link_price(routes, state, step),
    )


def cheapest_round(routes: Routes, utility: AlphaFair, state: FlowState, step: float) -> FlowState:
    r"""Run the second algorithm once: Eqs. (8) and (9), and Algorithm 2 for links.

    A source sends :math:`U'^{-1}` of its cheapest route's price, within its bounds. Routes that
    cost more lose rate, and the cheapest, the first of several, makes up for the rest.

    Parameters
    ----------
    routes : Routes
        The problem.
    utility : AlphaFair
        Of every source, with an `alpha` above 0.
    state : FlowState
        Rates and prices before.
    step : float
        :math:`\gamma`, of rates and prices alike.

    Raises
    ------
    WorkloadError
        The utility has no inverse of its derivative.
    """
    if not 0 < utility.alpha < math.inf:
        raise WorkloadError(f"alpha is {utility.alpha!r}; give one above 0 and below infinity")
    price = routes.price(state.link_price)
    order = np.lexsort((price, routes.source))
    cheapest = order[np.searchsorted(routes.source[order], np.arange(routes.n_sources))]
    least = price[cheapest]
    with np.errstate(divide="ignore"):
        wanted = power(routes.weight / least, 1 / utility.alpha)
    throughput = np.clip(wanted, routes.least, routes.most)
    rate = np.maximum(state.rate - step * (price - least[routes.source]), 0.0)
    rate[cheapest] = 0.0
    rate[cheapest] = np.maximum(throughput - routes.throughput(rate), 0.0)
    return FlowState(rate, state.memory, _link_price(routes, state, step))


def flow_control(
    round_of: FlowRound,
    routes: Routes,
    utility: AlphaFair,
    rounds: int,
    step: float,
    start: FlowState | None = None,
) -> tuple[Floats, FlowState]:
    """Run flow control.

    Parameters
    ----------
    round_of : callable
        `augmented_round` or `cheapest_round`.
    routes : Routes
        The problem.
    utility : AlphaFair
        Of every source.
    rounds : int
        How many rounds to run.
    step : float
        Step size.
    start : FlowState, optional
        Where to start from; the least rates, split evenly, and prices of 0 otherwise.

    Returns
    -------
    throughput : float64, shape (rounds + 1, n_sources)
        After each round, from the start.
    state : FlowState
        After the last.
    """
    if start is None:
        split = routes.least / np.bincount(routes.source, minlength=routes.n_sources)
        rate = split[routes.source]
        start = FlowState(rate, rate, np.zeros(routes.n_links))
    state = start
    throughput = [routes.throughput(state.rate)]
    for _ in range(rounds):
        state = round_of(routes, utility, state, step)
        throughput.append(routes.throughput(state.rate))
    return np.array(throughput), state


def _link_price(routes: Routes, state: FlowState, step: float) -> Floats:
    """Return link prices after a round, Algorithm 2."""
    excess = routes.load(state.rate) - routes.bandwidth
    return np.asarray(np.maximum(state.link_price + step * excess, 0.0))


def _bounded(routes: Routes, drawn: Floats) -> Floats:
    """Return the rates nearest to those drawn that are at least 0 and within sources' bounds."""
    rate = np.maximum(drawn, 0.0)
    throughput = routes.throughput(rate)
    target = np.clip(throughput, routes.least, routes.most)
    for source in np.flatnonzero(target != throughput):
        mine = routes.source == source
        rate[mine] = _onto_simplex(drawn[mine], float(target[source]))
    return rate


def _onto_simplex(values: Floats, total: float) -> Floats:
    """Return the nearest point without negative entries whose entries have a given sum."""
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling - shifts >= 0)[-1])
    return np.asarray(np.maximum(values - shifts[kept], 0.0))


def _total(index: Integers, values: Floats, length: int) -> Floats:
    """Return sums of values by index."""
    return np.asarray(np.bincount(index, values, length), dtype=float)
