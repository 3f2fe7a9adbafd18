"""Bundles that arrive over time: discounts that last or not, and tasks that are not alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.elementary import exp
from simplugin.figures import Figure
from simplugin.market.counters import best_in_hindsight, cut, serve
from simplugin.market.execution import execute
from simplugin.market.lcg_arrivals import (
    ALPHA,
    LOAD,
    N_PEERS,
    N_SITES,
    Arrivals,
    arrivals,
)
from simplugin.market.model import HOUR, Terms
from simplugin.market.outcomes import jain_index
from simplugin.market.section5_sites import chosen_site
from simplugin.workloads.bundles import Bundle, lcg_bundles

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.market.agents.counters import Counters

PAST = "past the paper: bundles over time"
TASKS = 1000
PIECES, QUICK_PIECES = (1, 2, 5, 1000), (1, 2, 5)
DAY = 86400.0
# How long discount counters last, from not at all to for ever.
LIFETIMES: dict[str, Counters] = {
    "reset": "reset",
    "2.4 h": 0.1 * DAY,
    "1 day": DAY,
    "4 days": 4 * DAY,
    "kept": "kept",
}
QUICK_LIFETIMES = ("reset", "1 day", "kept")
# Of grids; those of seeds 0 and 1 were looked at before the lifetimes were chosen.
SEEDS, QUICK_SEEDS = range(2, 12), range(2, 3)
LOADS = (0.3, LOAD, 0.7)
# Small instances of which every history is looked at.
INSTANCES, QUICK_INSTANCES = 1000, 100


def trace(quick: bool) -> list[Claim]:
    """Return whether real bundles are as large and as identical as the paper assumes."""
    del quick
    rows = lcg_bundles()
    counts = np.array([row.count for row in rows])
    spread = np.array([row.variation for row in rows])
    known = {"trace": "LCG-2005", "gap": "120 s", "least": 100}
    return [
        Claim(
            "Bundles have 1000 tasks and over",
            "such as of size 1000 and over",
            f"{np.sum(counts >= 1000)} of {len(counts)} do; median {np.median(counts):.0f}",
            bool(np.median(counts) >= 1000),
            "bundles of at least 100 jobs that one user of the LCG grid submitted to one site, each"
            " at most 120 s after the one before; agrees if the median is 1000 or more. The largest"
            f" has {counts.max()}",
            "section 3.1",
            provenance=known,
        ),
        Claim(
            "Tasks of a bundle have identical computational sizes",
            "identical attributes",
            f"coefficient of variation {np.median(spread):.2f} (median), {spread.min():.2f} to"
            f" {spread.max():.2f}",
            bool(np.median(spread) < 0.1),
            "run times in the same bundles, which may differ for reasons other than sizes; agrees"
            " if the median coefficient of variation is below 0.1",
            "section 3.1",
            provenance=known,
        ),
    ]


@cache
def _cut(number: int, counters: Counters) -> tuple[float, float, float]:
    """Sell 1000 tasks in so many bundles: benefit, time of the longest busy peer, fairness."""
    whole = Bundle.of_class("computation", TASKS)
    parts = [replace(whole, count=count) for count in cut(TASKS, number)]
    terms = Terms(alpha=ALPHA)
    deals = execute(chosen_site(), parts, terms, "optimum", counters=counters).deals
    busy = np.sum([deal.peer_finish - deal.agreed for deal in deals], axis=0)
    return sum(deal.outcome().benefit for deal in deals), float(busy.max()), jain_index(busy)


def pieces(quick: bool) -> list[Claim]:
    """Return what cutting a bundle does to its benefit, if discounts are kept or start anew."""
    numbers = QUICK_PIECES if quick else PIECES
    kept, reset = ([_cut(each, how) for each in numbers] for how in ("kept", "reset"))
    off = max(abs(each[0] / kept[0][0] - 1) for each in kept)
    known = {"alpha": ALPHA, "N_max": "none", "unit": "G$ for a task an hour", "tasks": TASKS}
    where = (
        f"{TASKS} computation-intensive tasks at the site that stands for the paper's, cut into"
        f" {', '.join(map(str, numbers))} bundles that are sold one after another on SimGrid"
    )
    hours = ", ".join(f"{each[1] / HOUR:.2f} h" for each in reset)
    fair = ", ".join(f"{each[2]:.2f}" for each in reset)
    return [
        Claim(
            "Counters kept, bundles come to the benefit of all their tasks at once",
            "not said",
            f"at most {off:.1e} off",
            off < 1e-9,
            f"{where}; agrees if no benefit differs by 1e-9 of that of one bundle. The largest"
            " values come first, so that each bundle goes on where the one before ended",
            PAST,
            optimum=kept[0][0],
            provenance=known,
        ),
        Claim(
            "Counters reset, the same tasks are worth the more the more bundles they are cut into",
            "not said",
            ", ".join(f"{n}: {each[0]:.0f} G$" for n, each in zip(numbers, reset, strict=True)),
            bool(np.all(np.diff([each[0] for each in reset]) > 0)),
            f"{where}; agrees if every cut adds. Users lose their discount, and the fastest peers"
            f" get everything: the longest busy one works {hours}; fairness {fair}. So benefits of"
            " other bundlings, or of other lifetimes of counters, cannot be compared",
            PAST,
            provenance=known,
        ),
    ]


def hindsight(quick: bool) -> list[Claim]:
    """Return what selling each bundle at its best loses to knowing all of them."""
    count = QUICK_INSTANCES if quick else INSTANCES
    ratios = {how: np.array([_ratio(k, how) for k in range(count)]) for how in ("kept", "reset", 1)}
    fading = ratios.pop(1)
    exact = min(float(each.min()) for each in ratios.values())
    lost = int(np.sum(fading < 1 - 1e-9))
    return [
        Claim(
            "Only counters that fade make the best of each bundle less than the best of all",
            "not said",
            f"fading: {fading.min():.3f} to {fading.max():.3f}, mean {fading.mean():.4f}; kept and"
            f" reset: {exact:.9f} at least",
            exact > 1 - 1e-9 and lost > 0,
            f"benefit online over that of the best history, found among all, on {count} instances"
            " of 2 or 3 peers and 3 bundles of 1 to 6 tasks, alpha 0.05 to 0.5, whose dates are"
            " apart by the counters' lifetime on average; agrees if kept and reset lose nothing and"
            f" fading does on some: it does on {lost}. A task sold now is worth less to a later"
            " bundle, by how much depends on the date",
            PAST,
            optimum=1.0,
            provenance={"seed": 0, "instances": count},
        )
    ]


def _ratio(number: int, counters: Counters) -> float:
    """Return the benefit online over that in hindsight, of one small instance."""
    draws = np.random.default_rng([0, number])
    values = exp(0.5 * draws.standard_normal(int(draws.integers(2, 4))))
    counts = draws.integers(1, 7, 3).tolist()
    q = float(draws.uniform(0.5, 0.95))
    dates = np.cumsum(draws.exponential(1.0, 3))
    online = serve(values, counts, None, q, counters, dates)
    return online.benefit / best_in_hindsight(values, counts, q, counters, dates).benefit


def lifetimes(quick: bool) -> list[Claim]:
    """Return how long counters should last for the real bundles, by benefit and by response."""
    names = QUICK_LIFETIMES if quick else tuple(LIFETIMES)
    seeds = QUICK_SEEDS if quick else SEEDS
    found = {name: [arrivals(seed, LOAD, LIFETIMES[name]) for seed in seeds] for name in names}
    benefit = _table(found, lambda each: each.benefit)
    fair = _table(found, lambda each: each.fairness)
    where, known = _where(seeds), _known(seeds)
    return [
        Claim(
            "The longer counters last, the less the real bundles are worth",
            "not said",
            _per(names, benefit / 1e6, "{:.2f}", " MG$"),
            bool(np.all(np.diff(benefit, axis=0) < 0)),
            f"{where}; agrees if the benefit falls on each grid. It says how often users start at"
            " full price, not how well they are served",
            PAST,
            provenance=known,
        ),
        _soonest(found, seeds),
        Claim(
            "Counters that last even out how long peers work",
            "not said",
            f"fairness {_per(names, fair, '{:.2f}', '')}",
            bool(np.all(fair[1:] > fair[0])),
            f"{where}; Jain's index of the busy time of all {N_SITES * N_PEERS} peers; agrees if"
            " any lifetime is fairer than reset, on each grid",
            PAST,
            provenance=known,
        ),
        _against_shares(found, seeds),
    ]


def _soonest(found: dict[str, list[Arrivals]], seeds: range) -> Claim:
    """Judge whether users are served soonest between the ends."""
    names = tuple(found)
    response = _table(found, lambda each: float(each.response.mean()))
    inside = np.all(response[[0, -1]] > response[names.index("1 day")], axis=0)
    tail = _table(found, lambda each: float(np.percentile(each.response, 95)))
    busy = _table(found, lambda each: each.busy)
    return Claim(
        "Counters that fade within a day serve users sooner than ones kept or reset",
        "not said",
        f"mean response {_per(names, response / HOUR, '{:.1f}', ' h')}",
        bool(np.all(inside)),
        f"{_where(seeds)}; agrees if so on each grid: on {int(np.sum(inside))} of {len(seeds)}. The"
        " day was chosen on two other grids. Reset, the fast peers get nearly all of each bundle;"
        " kept, differences of speed are spent and all peers get as many tasks. 95th percentile"
        f" {_per(names, tail / HOUR, '{:.1f}', ' h')}; sites have a bundle for"
        f" {_per(names, busy, '{:.2f}', '')} of the time",
        PAST,
        provenance=_known(seeds),
    )


def _against_shares(found: dict[str, list[Arrivals]], seeds: range) -> Claim:
    """Compare responses with those of shares in proportion to speed."""
    shares = [arrivals(seed, LOAD, "reset", "proportional_share") for seed in seeds]
    floor = np.array([each.response.mean() for each in shares])
    ratio = _table(found, lambda each: float(each.response.mean())) / floor
    return Claim(
        "Whatever the lifetime, users wait longer than under proportional share",
        "not said",
        f"mean response over theirs: {_per(tuple(found), ratio, '{:.1f}', '')}",
        bool(np.all(ratio > 1)),
        f"{_where(seeds)}; agrees if longer on each grid. Shares in proportion to speed end"
        f" together: {np.mean(floor) / HOUR:.1f} h, sites busy for"
        f" {np.mean([each.busy for each in shares]):.2f} of the time. The market's optimum leaves"
        " peers of a site waiting for the last",
        PAST,
        provenance=_known(seeds),
    )


def loads(quick: bool) -> list[Claim]:
    """Return whether the order of lifetimes is that of other loads, too."""
    if quick:
        return []
    rows = []
    holds = []
    for load in LOADS:
        found = {
            name: [arrivals(seed, load, LIFETIMES[name]) for seed in SEEDS]
            for name in QUICK_LIFETIMES
        }
        response = _table(found, lambda each: float(each.response.mean()))
        holds.append(bool(np.all(response[[0, 2]] > response[1])))
        rows.append(f"{load}: {_per(QUICK_LIFETIMES, response / HOUR, '{:.1f}', ' h')}")
    return [
        Claim(
            "Of the three, counters that fade within a day serve users soonest at other loads, too",
            "not said",
            "; ".join(rows),
            all(holds),
            f"mean response; loads are work over what peers could do; {_where(SEEDS, '')}; agrees"
            " if a lifetime of a day has the shortest of the three on each grid at each load",
            PAST,
            provenance=_known(SEEDS, loads=list(LOADS)),
        )
    ]


def sizes(quick: bool) -> list[Claim]:
    """Return by how much bundles take longer than estimated if their tasks vary as jobs did."""
    seeds = QUICK_SEEDS if quick else SEEDS
    names = ("1 day",) if quick else QUICK_LIFETIMES
    alike = {name: [arrivals(seed, LOAD, LIFETIMES[name]) for seed in seeds] for name in names}
    error = _table(alike, lambda each: float(np.abs(each.completion / each.estimated - 1).max()))
    return [
        Claim(
            "Bundles of identical tasks take as long as estimated",
            "eq. (4)",
            f"at most {error.max():.1e} off",
            bool(error.max() < 1e-6),
            f"completion over its estimate, of each bundle; {_where(seeds)}; agrees within 1e-6",
            "eq. (4)",
            provenance=_known(seeds),
        ),
        _with_sizes(alike, seeds),
    ]


def _with_sizes(alike: dict[str, list[Arrivals]], seeds: range) -> Claim:
    """Judge whether sizes that differ take longer."""
    names = tuple(alike)
    drawn = {
        name: [arrivals(seed, LOAD, LIFETIMES[name], "optimum", seed) for seed in seeds]
        for name in names
    }
    longer = _table(drawn, lambda each: float(np.mean(each.completion / each.estimated)))
    worst = _table(drawn, lambda each: float(np.max(each.completion / each.estimated)))
    before, after = (
        _table(each, lambda run: float(run.response.mean())) / HOUR for each in (alike, drawn)
    )
    return Claim(
        "Bundles of tasks that vary as much as the real jobs take longer than estimated",
        "not said",
        f"mean {_per(names, longer, '{:.3f}', ' times')}",
        bool(np.all(longer > 1)),
        "sizes are lognormal with the mean and the coefficient of variation of each bundle;"
        f" {_where(seeds)}; agrees if longer on average on each grid. Peers deal by the mean; the"
        " more of them were to end together, the later the last does. Worst bundle"
        f" {_per(names, worst, '{:.1f}', ' times')}. Mean response"
        f" {_per(names, after, '{:.1f}', ' h')}, with mean sizes"
        f" {_per(names, before, '{:.1f}', ' h')}",
        PAST,
        provenance=_known(seeds),
    )


def _table(found: dict[str, list[Arrivals]], what: Callable[[Arrivals], float]) -> Any:
    """Return a measure of all runs, shape (n_lifetimes, n_seeds)."""
    return np.array([[what(each) for each in runs] for runs in found.values()])


def _per(names: tuple[str, ...], table: Any, form: str, unit: str) -> str:
    """Return the mean over seeds of each lifetime, in words."""
    means = table.mean(axis=1).tolist()
    return ", ".join(
        f"{name} {form.format(value)}{unit}" for name, value in zip(names, means, strict=True)
    )


def _where(seeds: range, load: str = f", load {LOAD}") -> str:
    """Return what was run, in words."""
    grids = "1 grid" if len(seeds) == 1 else f"{len(seeds)} grids"
    return (
        f"149 bundles of the LCG trace at {grids} of {N_SITES} sites of {N_PEERS} peers on"
        f" SimGrid{load}, exact optimum per bundle"
    )


def _known(seeds: range, **further: Any) -> dict[str, Any]:
    """Return what determines the runs."""
    return {
        "alpha": ALPHA,
        "N_max": "none",
        "unit": "G$ for a task an hour",
        "load": LOAD,
        "seeds": list(seeds),
        "dispatch": "first_idle",
        **further,
    }


def responses(quick: bool) -> list[Figure]:
    """Return the distribution of response times for each lifetime of counters."""
    names = QUICK_LIFETIMES if quick else tuple(LIFETIMES)
    runs = {f"counters {name}": arrivals(QUICK_SEEDS[0], LOAD, LIFETIMES[name]) for name in names}
    runs["proportional share"] = arrivals(QUICK_SEEDS[0], LOAD, "reset", "proportional_share")
    part = np.arange(1, len(lcg_bundles()) + 1) / len(lcg_bundles())
    return [
        Figure(
            "arrivals",
            f"149 bundles of the LCG trace, load {LOAD}, alpha {ALPHA}, no N_max",
            "response time [h]",
            "part of bundles done",
            {name: (np.sort(run.response) / HOUR, part) for name, run in runs.items()},
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "real bundles": trace,
    "cut bundles": pieces,
    "fading counters": hindsight,
    "lifetimes of counters": lifetimes,
    "arrivals at other loads": loads,
    "arrivals of real sizes": sizes,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"arrivals": responses}
