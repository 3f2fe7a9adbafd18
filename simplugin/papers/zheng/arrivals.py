"""Real bundles that arrive over time, and discounts that are kept, fade or are reset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.elementary import exp, expm1, log, power
from simplugin.market.actors.stations import Counters, ServiceRules, lifetime
from simplugin.market.execution import BundleExecution, execute
from simplugin.market.model import HOUR, jain_index
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.papers.statements import Quantity, determined_by, resampled
from simplugin.papers.zheng.settings import ALPHA, EQUAL, ON_SITE, TASKS, TERMS, compositions
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.platforms.twelve_peers import chosen_site
from simplugin.workloads.bundle_markets import Floats
from simplugin.workloads.bundles import Bundle, lcg_bundles

N_SITES, N_PEERS = 4, 12
# Work over what all peers could do between the first and the last submission.
LOAD, LOADS = 0.5, (0.3, 0.5, 0.7)
# Of the processors of the trace, which does not say it: only the ratio to peers' speeds matters,
# and that follows from the load.
SPEED = 1e9
# Data of a task and median bandwidth of a peer, invented: a transfer takes about a second of tasks
# that take an hour.
BYTE, BANDWIDTH = 1e8, 1.25e8
# Standard deviation of logarithms of speeds and bandwidths.
SPREAD = 0.5
_GRID_DRAW, _SIZE_DRAW = 6, 7
DAY = 86400.0
# How long discount counters last, from not at all to for ever.
LIFETIMES: dict[str, Counters] = {
    "reset": "reset",
    "2.4 h": 0.1 * DAY,
    "1 day": DAY,
    "4 days": 4 * DAY,
    "kept": "kept",
}
FEW_LIFETIMES = ("reset", "1 day", "kept")
# Of grids; those of seeds 0 and 1 were looked at before the lifetimes were chosen.
SEEDS, QUICK_SEEDS = range(2, 12), range(2, 3)
PIECES, QUICK_PIECES = (1, 2, 5, 1000), (1, 2, 5)
# Small instances, for each of which all histories are enumerated.
INSTANCES, QUICK_INSTANCES = 1000, 100


def lcg_grid(seed: int, load: float = LOAD) -> PeerGrid:
    """Return a grid of four sites of twelve peers that the bundles load as wanted.

    Speeds and bandwidths are drawn from lognormal distributions; speeds are then scaled by one
    factor.

    Parameters
    ----------
    seed : int
        Of the draw; the load only scales speeds.
    load : float
        Work of all bundles over what all peers compute from the first submission to the last.
        Sites wait for their slowest peer, so that they are busy for more than this.
    """
    generator = np.random.default_rng([seed, _GRID_DRAW])
    draws = exp(SPREAD * generator.standard_normal((2, N_SITES, N_PEERS)))
    speed, bandwidth = draws[0], BANDWIDTH * draws[1]
    rows = lcg_bundles()
    work = sum(row.count * row.mean for row in rows) * SPEED
    speed *= work / (load * (rows[-1].release - rows[0].release) * speed.sum())
    sites = tuple(
        PeerSite.numbered(
            speed[site],
            bandwidth[site],
            prefix=f"site-{site + 1}-peer",
            scheduler=f"site-{site + 1}-scheduler",
        )
        for site in range(N_SITES)
    )
    return PeerGrid(tuple(f"site-{site + 1}" for site in range(N_SITES)), sites)


def lcg_workload(sizes: int | None = None) -> list[Bundle]:
    """Return all bundles.

    Parameters
    ----------
    sizes : int, optional
        Seed of the work of tasks, drawn with the coefficient of variation of each bundle; None for
        identical tasks. The draws of bundles are independent.
    """
    return [
        row.bundle(
            SPEED,
            BYTE,
            None if sizes is None else np.random.default_rng([sizes, _SIZE_DRAW, number]),
        )
        for number, row in enumerate(lcg_bundles())
    ]


class Arrivals(NamedTuple):
    """Measures of bundles that arrive over time.

    Attributes
    ----------
    benefit : float
        Sum of the bundles' global benefits, at the values of their time [G$].
    response : float64, shape (n_bundles,)
        From submission to the end of the last task [s].
    longer : float64, shape (n_bundles,)
        From the agreement to the end of the last task, over its estimate.
    fairness : float
        Jain's index of the time that each peer of the grid was busy.
    busy : float
        Part of the time that sites had a bundle, until the last one was done.
    """

    benefit: float
    response: Floats
    longer: Floats
    fairness: float
    busy: float

    @property
    def mean(self) -> float:
        """Mean response time [s]."""
        return float(self.response.mean())

    @property
    def tail(self) -> float:
        """95th percentile of response times [s]."""
        return float(np.percentile(self.response, 95))

    @classmethod
    def of(cls, execution: BundleExecution) -> Arrivals:
        """Return the measures of an execution on a grid."""
        deals = execution.deals
        grid = execution.site
        sites = grid.sites if isinstance(grid, PeerGrid) else (grid,)
        peers = [np.zeros(site.n_peers) for site in sites]
        for deal in deals:
            peers[deal.site] += deal.peer_finish - deal.agreed
        held = sum(deal.finished - deal.called for deal in deals)
        end = max(deal.finished for deal in deals)
        begin = min(deal.submitted for deal in deals)
        return cls(
            benefit=sum(deal.outcome().benefit for deal in deals),
            response=np.array([deal.response for deal in deals]),
            longer=np.array(
                [(each.finished - each.agreed) / each.estimated().completion for each in deals]
            ),
            fairness=jain_index(np.concatenate(peers)),
            busy=held / (len(sites) * (end - begin)),
        )


@cache
def simulated(
    seed: int,
    load: float = LOAD,
    counters: Counters = "reset",
    negotiation: str = "optimum",
    sizes: int | None = None,
) -> Arrivals:
    """Return the measures of the bundles on a grid, on SimGrid.

    The sites of the trace are ignored: the global scheduler assigns the first bundle of its queue
    to the quickest idle site.
    """
    bundles = lcg_workload(sizes)
    grid = lcg_grid(seed, load)
    rules = ServiceRules(counters=counters)
    return Arrivals.of(execute(grid, bundles, TERMS, negotiation, rules=rules, seed=seed))


def arrivals(quick: bool) -> dict[str, Quantity]:
    """Measure real bundles, and lifetimes of discount counters."""
    rows = lcg_bundles()
    counts = np.array([row.count for row in rows])
    variation = np.array([row.variation for row in rows])
    found = {
        "bundles.count": Quantity(
            float(np.median(counts)),
            note=f"{np.sum(counts >= 1000)} of {len(counts)} have 1000 or more, the largest"
            f" {counts.max()}",
        ),
        "bundles.variation": Quantity(
            float(np.median(variation)),
            note=f"coefficients of variation of run times, {variation.min():.2f} to"
            f" {variation.max():.2f}",
        ),
        "counters.lost": _counters(quick),
        "lifetimes.response": _lifetimes(quick),
    }
    return determined_by({"trace": "LCG-2005", "gap": "120 s", "least": 100}, found)


@cache
def _cut(number: int, counters: Counters) -> tuple[float, float, float]:
    """Return benefit, time of the busiest peer and fairness of 1000 tasks in several bundles."""
    whole = Bundle.of_class("computation", TASKS)
    each, rest = divmod(TASKS, number)
    parts = [replace(whole, count=each + (place < rest)) for place in range(number)]
    rules = ServiceRules(counters=counters)
    deals = execute(chosen_site(), parts, TERMS, "optimum", rules=rules).deals
    busy = np.sum([deal.peer_finish - deal.agreed for deal in deals], axis=0)
    return sum(deal.outcome().benefit for deal in deals), float(busy.max()), jain_index(busy)


def _counters(quick: bool) -> Quantity:
    """Return the most that counters which do not fade lose against the best history."""
    numbers = QUICK_PIECES if quick else PIECES
    kept, reset = ([_cut(each, how) for each in numbers] for how in ("kept", "reset"))
    off = max(abs(each[0] / kept[0][0] - 1) for each in kept)
    cuts = ", ".join(
        f"{number}: {benefit:.0f} G$, {busy / HOUR:.2f} h, fairness {fair:.2f}"
        for number, (benefit, busy, fair) in zip(numbers, reset, strict=True)
    )
    count = QUICK_INSTANCES if quick else INSTANCES
    ratios = {how: np.array([_ratio(k, how) for k in range(count)]) for how in ("kept", "reset", 1)}
    fading = ratios.pop(1)
    return Quantity(
        max(off, *(float(1 - each.min()) for each in ratios.values())),
        note=f"fading ones reach {fading.min():.3f} to {fading.max():.3f} of the best history,"
        f" {fading.mean():.4f} on average, and lose in {np.sum(fading < 1 - EQUAL)} of {count}"
        f" small instances; kept, cuts of 1000 tasks change the benefit by {off:.1e} at most;"
        f" reset, they are worth, by number of bundles, {cuts}",
        optimum=0.0,
        provenance=ON_SITE | {"instances": count},
    )


def kept_parts(counters: Counters, dates: ArrayLike) -> Floats:
    """Return the remaining part of counters at the date of each bundle, since the previous one."""
    lasts = lifetime(counters)
    steps = np.diff(np.asarray(dates, dtype=np.float64), prepend=np.asarray(dates)[0])
    if lasts in (0, np.inf):
        return np.full(len(steps), 0.0 if lasts == 0 else 1.0)
    return exp(-steps / lasts)


def serve(
    values: Iterable[ArrayLike], counts: Sequence[int], q: float, parts: Floats
) -> list[tuple[Floats, BestBundle]]:
    """Return the discount counters before each bundle, and its assignment of largest benefit.

    A counter a means the value V q^a of the next task; `values` are those of each bundle.
    """
    found: list[tuple[Floats, BestBundle]] = []
    sold = 0.0 * np.asarray(parts[0])
    for own, m, part in zip(values, counts, parts, strict=True):
        sold = sold * part
        best = largest_benefit(np.asarray(own) * power(np.asarray(q), sold), m, m, q)
        found.append((np.broadcast_to(sold, best.amounts.shape), best))
        sold = sold + best.amounts
    return found


def best_in_hindsight(values: Floats, counts: Sequence[int], q: float, parts: Floats) -> float:
    """Return the largest benefit of bundles that are all known beforehand, of every history.

    Tasks of one bundle cost others of later ones by an amount that depends on the dates; the
    benefit is no longer concave.
    """
    choices = [compositions(m, len(values)) for m in counts]
    log_q = log(q)
    sold, benefit = np.zeros((1, len(values))), np.zeros(1)
    for choice, part in zip(choices, parts, strict=True):
        sold = sold * part
        worth = values * exp(sold * log_q) / -expm1(log_q)
        gain = np.sum(worth[:, None] * -expm1(choice * log_q), axis=2)
        benefit = (benefit[:, None] + gain).ravel()
        sold = (sold[:, None, :] + choice).reshape(-1, len(values))
    return float(benefit.max())


def _ratio(number: int, counters: Counters) -> float:
    """Return the benefit online over that in hindsight, of one small instance."""
    draws = np.random.default_rng([0, number])
    values = exp(0.5 * draws.standard_normal(int(draws.integers(2, 4))))
    counts = draws.integers(1, 7, 3).tolist()
    q = float(draws.uniform(0.5, 0.95))
    dates = np.cumsum(draws.exponential(1.0, 3))
    parts = kept_parts(counters, dates)
    online = sum(best.benefit for _, best in serve([values] * len(counts), counts, q, parts))
    return online / best_in_hindsight(values, counts, q, parts)


def _lifetimes(quick: bool) -> Quantity:
    """Return the mean response with counters of a day over that of kept and reset ones."""
    names = FEW_LIFETIMES if quick else tuple(LIFETIMES)
    seeds = QUICK_SEEDS if quick else SEEDS
    loads = (LOAD,) if quick else LOADS
    found = {name: [simulated(seed, LOAD, LIFETIMES[name]) for seed in seeds] for name in names}
    shares = [simulated(seed, LOAD, "reset", "proportional_share") for seed in seeds]
    floor = np.array([each.mean for each in shares])
    response = _table(found, "mean")
    words = [
        f"benefit {_means(names, _table(found, 'benefit') / 1e6)} MG$",
        f"mean response {_means(names, response / HOUR)} h",
        f"95th percentile {_means(names, _table(found, 'tail') / HOUR)} h",
        f"over proportional share's {_means(names, response / floor)}",
        f"fairness {_means(names, _table(found, 'fairness'))}",
        f"busy {_means(names, _table(found, 'busy'))}",
        f"proportional share {floor.mean() / HOUR:.1f} h, busy"
        f" {np.mean([each.busy for each in shares]):.2f}",
    ]
    ratios = []
    for load in loads:
        runs = {n: [simulated(seed, load, LIFETIMES[n]) for seed in seeds] for n in FEW_LIFETIMES}
        reset, day, kept = _table(runs, "mean")
        ratios.append(day / np.minimum(reset, kept))
        if load != LOAD:
            hours = np.array([reset, day, kept]) / HOUR
            words.append(f"load {load}: {_means(FEW_LIFETIMES, hours)} h")
    words.append(_sizes(("1 day",) if quick else FEW_LIFETIMES, seeds, found))
    table = np.array(ratios)
    return resampled(
        lambda few: float(table[:, few].mean(axis=1).max()),
        len(seeds),
        "; ".join(words),
        over="grids",
        provenance={
            "alpha": ALPHA, "N_max": "none", "load": list(loads), "seeds": list(seeds),
            "grid": f"{N_SITES} sites of {N_PEERS} peers", "dispatch": "first_idle",
        },
    )  # fmt: skip


def _sizes(names: tuple[str, ...], seeds: range, alike: dict[str, list[Arrivals]]) -> str:
    """Return by how much bundles take longer than estimated if their tasks vary as jobs did."""
    drawn = {
        name: [simulated(seed, LOAD, LIFETIMES[name], sizes=seed) for seed in seeds]
        for name in names
    }
    error = max(np.abs(each.longer - 1).max() for name in names for each in alike[name])
    longer, worst = (
        np.array([[what(each.longer) for each in some] for some in drawn.values()])
        for what in (np.mean, np.max)
    )
    response = _table(drawn, "mean") / HOUR
    return (
        f"identical tasks take what is estimated to {error:.1e}; with real sizes"
        f" {_means(names, longer, 3)} times as long, the worst bundle {_means(names, worst)}, mean"
        f" response {_means(names, response)} h"
    )


def _table(found: dict[str, list[Arrivals]], what: str) -> Floats:
    """Return a measure of all runs, shape (n_lifetimes, n_seeds)."""
    return np.array([[getattr(each, what) for each in runs] for runs in found.values()])


def _means(names: tuple[str, ...], table: Floats, digits: int = 2) -> str:
    """Return the mean over seeds of each lifetime as text."""
    means = table.mean(axis=1).tolist()
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in zip(names, means, strict=True))
