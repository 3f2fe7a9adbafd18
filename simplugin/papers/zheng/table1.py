"""Section 5.2: the four algorithms of Table 1, and the peers of Figure 4.

Variations of the settings measure the influence of the parameters that the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.core.elementary import exp
from simplugin.market.model import HOUR, PricedAssignment
from simplugin.market.policies.shipped import POLICIES, decide
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.papers.statements import Quantity, resampled, share
from simplugin.papers.zheng.settings import (
    EQUAL,
    ON_SITE,
    SETTINGS,
    TASKS,
    ExperimentSetting,
    best_of,
    bisected,
)
from simplugin.papers.zheng.trade_offs import front
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.twelve_peers import (
    MEAN_PRICE,
    N_PEERS,
    SEED,
    SLOW_PEER,
    SPREAD,
    chosen_site,
    consistent_site,
)
from simplugin.results.curves import CurvePlot
from simplugin.workloads.bundle_markets import largest_share

# The four algorithms of Table 1 in its order, by their names there.
ALGORITHMS = {
    "commodity": "CM(flat)",
    "double_auction": "Double Auction",
    "proportional_share": "Proportional Share",
    "isgbmat": "ISGBMAT",
}
# Other readings of two of these names.
OTHER_READINGS = {
    "commodity_equal": "CM, equal prices",
    "commodity_cheapest": "CM, cheapest first",
    "double_auction_marginal": "Auction, bids of next values",
    "double_auction_mean": "Auction, bids of mean prices",
    "double_auction_dearest": "Auction, bids of first prices",
}
# Auctions on the chosen site, sites, auctions on each site, and sites of each variation.
RUNS, QUICK_RUNS = 50, 5
SITES, QUICK_SITES = 200, 20
SITE_RUNS, QUICK_SITE_RUNS = 3, 1
VARIED_SITES, QUICK_VARIED_SITES = 40, 5
ALPHAS = (0.003, 0.006, 0.01, 0.015, 0.02, 0.03)
ENDS = ALPHAS[:: len(ALPHAS) - 1]
# N_max over the mean number of tasks of a peer.
FACTORS = (1.0, 1.25, 1.5, 2.0)
# The setting of Fig. 4, with computation-intensive tasks.
FIGURE4 = SETTINGS[0]
_RATES = (1e-5, 0.5)


class Table1Row(NamedTuple):
    """Metrics of Table 1: global benefit [G$], completion time and total time [s]."""

    benefit: float
    completion: float
    total: float

    def __str__(self) -> str:
        """Return the row as the paper prints it."""
        return f"{self.benefit:.0f} G$, {_clock(self.completion)}, {_clock(self.total)}"


METRICS = ("benefit", "completion", "total")
# As printed: 2:00:37 and 18:21:03; 1:49:51 and 17:43:27; 1:23:46 and 16:56:31; 1:37:50 and
# 16:48:25.
PAPER = {
    "commodity": Table1Row(60424, 7237, 66063),
    "double_auction": Table1Row(61976, 6591, 63807),
    "proportional_share": Table1Row(60790, 5026, 60991),
    "isgbmat": Table1Row(62765, 5870, 60505),
}
# The orders of Table 1, the best first.
ORDERS = {
    "benefit": ("isgbmat", "double_auction", "proportional_share", "commodity"),
    "completion": ("proportional_share", "isgbmat", "double_auction", "commodity"),
    "total": ("isgbmat", "proportional_share", "double_auction", "commodity"),
}


def _clock(seconds: float) -> str:
    """Return hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def outcome(
    site: PeerSite, setting: ExperimentSetting, policy: str, seed: int = 0
) -> PricedAssignment:
    """Return the outcome of a policy at a site, with estimated times."""
    market, times = setting.market(site)
    amounts, price = decide(POLICIES[policy], market, seed)
    return PricedAssignment(market, amounts, price, amounts * times)


@cache
def row(
    setting: ExperimentSetting,
    policy: str,
    seed: int = SEED,
    runs: int = RUNS,
    spread: float = SPREAD,
) -> Table1Row:
    """Return the metrics of a policy on a consistent site, the mean over runs if it draws."""
    site = consistent_site(seed, spread)
    count = runs if policy == "double_auction" else 1
    found = [outcome(site, setting, policy, each) for each in range(count)]
    means = np.mean([[getattr(each, name) for name in METRICS] for each in found], axis=0)
    return Table1Row(*means.tolist())


def table1(quick: bool) -> dict[str, Quantity]:
    """Measure the metrics of the four algorithms, and their orders."""
    runs = QUICK_RUNS if quick else RUNS
    sites, site_runs = (QUICK_SITES, QUICK_SITE_RUNS) if quick else (SITES, SITE_RUNS)
    held = holding(SETTINGS, sites, site_runs)
    varied = _variations(quick)
    worst = [_is_worst(each, seed, site_runs) for seed in range(sites) for each in SETTINGS]
    known = ON_SITE | {"site": f"{sites} consistent ones", "auctions": site_runs}
    found = {
        "figures": _figures(runs),
        "commodity.worst": share(worst, quick=quick, over="settings", provenance=known),
        "auction.dear": _dear_peers(sites // 2 if quick else sites, known),
        "runs.varied": _varied_runs(runs),
        **printed_figures(),
        **figure4(quick),
    }
    words = "; ".join(
        f"{name} {' '.join(f'{100 * part:.0f}' for part in some.mean(axis=(0, 1)))}"
        f" {100 * some.all(axis=-1).mean():.0f}"
        for name, some in {f"{held[..., 0].size} settings": held, **varied}.items()
    )
    for number, metric in enumerate(ORDERS):
        three = slice(3 * number, 3 * number + 3)
        found[f"order.{metric}"] = replace(
            _least(held[..., three]),
            note=f"{', '.join(_relations(metric))}; all nine relations of Table 1 and all at once,"
            f" in percent of settings: {words}",
            optimum=1.0,
            provenance=known,
            readings={
                name: _least(some[..., three]).interval or (0.0, 1.0)
                for name, some in varied.items()
            },
            missing="the discount rate, N_max, the capacities and the rules of the algorithms",
        )
    return found


def _least(held: NDArray[np.bool_]) -> Quantity:
    """Return the part of settings in which the relation holds that holds least often."""
    return resampled(lambda few: float(held[few].mean(axis=(0, 1)).min()), len(held), over="sites")


def _figures(runs: int) -> Quantity:
    """Return the largest deviation of the twelve figures from the paper's, in the nearest class."""
    tables = {each.kind: {name: row(each, name, runs=runs) for name in PAPER} for each in SETTINGS}
    off = {
        kind: max(
            abs(getattr(table[name], metric) / getattr(paper, metric) - 1)
            for name, paper in PAPER.items()
            for metric in METRICS
        )
        for kind, table in tables.items()
    }
    words = [
        f"{kind}: {', '.join(f'{ALGORITHMS[name]} {each}' for name, each in table.items())}"
        for kind, table in tables.items()
    ]
    return Quantity(
        min(off.values()),
        note=f"{'; '.join(words)}; the paper: {', '.join(map(str, PAPER.values()))}",
        provenance=ON_SITE | {"runs": runs},
    )


def _relations(metric: str) -> list[str]:
    """Return the three adjacent pairs of an order as text."""
    sign = ">" if metric == "benefit" else "<"
    return [f"{ALGORITHMS[a]} {sign} {ALGORITHMS[b]}" for a, b in pairwise(ORDERS[metric])]


def _holds(table: Mapping[str, Table1Row]) -> list[bool]:
    """Return which of the nine relations hold, by more than rounding."""
    found = []
    for metric, order in ORDERS.items():
        sign = -1 if metric == "benefit" else 1
        for pair in pairwise(order):
            first, second = (sign * getattr(table[name], metric) for name in pair)
            found.append(bool(first < second - EQUAL * abs(second)))
    return found


def holding(
    settings: Iterable[ExperimentSetting],
    sites: int,
    runs: int,
    spread: float = SPREAD,
    readings: Mapping[str, str] | None = None,
) -> NDArray[np.bool_]:
    """Return which relations of Table 1 hold; shape (n_sites, n_settings, 9).

    Parameters
    ----------
    settings : iterable of ExperimentSetting
        Classes of tasks and terms.
    sites : int
        Seeds of consistent sites, from 0 on.
    runs : int
        Number of seeds of the double auction on each site.
    spread : float
        Spread of the sites' capacities.
    readings : mapping of str to str, optional
        Algorithms of Table 1, and the policies that stand for them instead.
    """
    policies = {name: (readings or {}).get(name, name) for name in ALGORITHMS}
    chosen = list(settings)
    return np.array(
        [
            [
                _holds({n: row(each, p, seed, runs, spread) for n, p in policies.items()})
                for each in chosen
            ]
            for seed in range(sites)
        ]
    )


def _variations(quick: bool) -> dict[str, NDArray[np.bool_]]:
    """Return which relations hold under other terms and readings, as `holding` does."""
    scope = (QUICK_VARIED_SITES, QUICK_SITE_RUNS) if quick else (VARIED_SITES, SITE_RUNS)
    found: dict[str, NDArray[np.bool_]] = {}
    for alpha in ENDS if quick else ALPHAS:
        some = [replace(each, alpha=alpha) for each in SETTINGS]
        found[f"alpha {alpha:g}"] = holding(some, *scope)
    if quick:
        return found
    for factor in FACTORS:
        some = [replace(each, factor=factor) for each in SETTINGS]
        found[f"N_max {factor:g} times the mean"] = holding(some, *scope)
    for spread in (0.3, 0.8):
        found[f"capacities of spread {spread:g}"] = holding(SETTINGS, *scope, spread)
    for policy, name in OTHER_READINGS.items():
        read = {each: policy for each in ALGORITHMS if policy.startswith(each)}
        found[name] = holding(SETTINGS, *scope, readings=read)
    return found


def _is_worst(setting: ExperimentSetting, seed: int, runs: int) -> bool:
    """Return True if the flat commodity market is the worst in all three metrics."""
    table = {name: row(setting, name, seed, runs) for name in ALGORITHMS}
    signs = {metric: -1 if metric == "benefit" else 1 for metric in METRICS}
    return all(
        sorted(table, key=lambda name: sign * getattr(table[name], metric))[-1] == "commodity"
        for metric, sign in signs.items()
    )


def _dear_peers(sites: int, known: dict[str, object]) -> Quantity:
    """Return how often the auction gives the dearer half of the peers more than ISGBMAT."""
    shares, less = [], []
    for seed in range(sites):
        site = consistent_site(seed)
        for setting in SETTINGS:
            values = setting.market(site)[0].values
            dear = values > np.median(values)
            ours, auction = (outcome(site, setting, each) for each in ("isgbmat", "double_auction"))
            shares.append([int(each.amounts[dear].sum()) for each in (ours, auction)])
            less += [
                outcome(site, setting, f"double_auction_{name}").total < ours.total
                for name in ("mean", "dearest")
            ]
    means = np.mean(shares, axis=0) / TASKS
    more = np.array([second > first for first, second in shares]).reshape(sites, -1)
    return resampled(
        lambda few: float(more[few].mean()),
        sites,
        f"{more.sum()} of {more.size} settings; the dearer half gets {means[1]:.1%} of the tasks,"
        f" {means[0]:.1%} from ISGBMAT; bids of mean or first prices have less total time than"
        f" ISGBMAT in {sum(less)} of {len(less)} cases",
        over="sites",
        provenance=known | {"auctions": 1},
    )


def _varied_runs(runs: int) -> Quantity:
    """Return the number of algorithms with a benefit that varies between runs."""
    spreads = {}
    for policy, name in ALGORITHMS.items():
        found = [outcome(chosen_site(), FIGURE4, policy, seed).benefit for seed in range(runs)]
        # Of differences, as the mean of the values may be rounded.
        spreads[name] = float(np.std(np.subtract(found, found[0])))
    words = ", ".join(f"{name}: sd {each:.0f} G$" for name, each in spreads.items())
    varied = sum(each > 0 for each in spreads.values())
    return Quantity(varied, note=f"{words} over {runs} runs", provenance=ON_SITE)


def spread_needed(row: Table1Row, unit: float) -> float:
    """Return the least ratio of peers' speeds for a benefit and a total time of Table 1.

    With V_i t_i = c, the products of sums are at least c m^2 by Cauchy and Schwarz, and at most
    c m^2 (r + 1)^2 / (4 r) by Kantorovich, if no peer with tasks is more than r times as fast as
    another. The benefit is at most the sum of A_i V_i, by the discount. The unit c is in G$ s.
    """
    product = row.benefit * row.total / (unit * TASKS**2)
    return 2 * product - 1 + 2 * float(np.sqrt(product * (product - 1))) if product > 1 else 1.0


def printed_figures() -> dict[str, Quantity]:
    """Measure which of the figures that the paper prints fit each other."""
    sums = {name: each.total / (N_PEERS * each.completion) for name, each in PAPER.items()}
    hours, seconds = (
        [spread_needed(each, unit) for each in PAPER.values()] for unit in (HOUR, 1.0)
    )
    products = [each.benefit * each.total / (HOUR * TASKS**2) for each in PAPER.values()]
    return {
        "sums.ratio": Quantity(
            max(sums.values()),
            note=", ".join(f"{ALGORITHMS[name]} {each:.4f}" for name, each in sums.items()),
        ),
        "unit.spread": Quantity(
            max(hours),
            note=f"benefit times total time over m^2 is"
            f" {', '.join(f'{each:.3f}' for each in products)} G$ h; in seconds peers would have"
            f" to differ {min(seconds):.0f}-fold",
        ),
    }


def cleared(site: PeerSite, alpha: float, n_max: int | None = None) -> BestBundle:
    """Return the exact maximum, thus ISGBMAT's result, for computation-intensive tasks."""
    market, _ = replace(FIGURE4, alpha=alpha).market(site)
    return largest_benefit(market.values, market.m, n_max or market.m, market.q)


def idle_bounds(site: PeerSite) -> tuple[float, int]:
    """Return the largest alpha and the least N_max at which the slow peer gets no task."""
    low, _ = bisected(_RATES, 1e-6, lambda rate: cleared(site, rate).amounts[SLOW_PEER] == 0)
    no, yes = largest_share(TASKS, N_PEERS, 1) - 1, TASKS
    while yes - no > 1:
        half = (no + yes) // 2
        idle = cleared(site, FIGURE4.alpha, half).amounts[SLOW_PEER] == 0
        no, yes = (no, half) if idle else (half, yes)
    return exp(low), yes


def rate_of_price(site: PeerSite, price: float) -> float:
    """Return the discount rate at which a price clears, by bisection; without caps."""
    low, high = bisected(_RATES, 1e-9, lambda rate: cleared(site, rate).price > price)
    return exp(0.5 * (low + high))


def figure4(quick: bool) -> dict[str, Quantity]:
    """Measure the slow peer's tasks, which peers are idle, and the market price."""
    sites = QUICK_SITES if quick else SITES
    site = chosen_site()
    found = outcome(site, FIGURE4, "isgbmat")
    here = cleared(site, FIGURE4.alpha)
    some = [idle_bounds(consistent_site(seed)) for seed in range(sites)]
    rates, shares = zip(*some, strict=True)
    least = largest_share(TASKS, N_PEERS, 1)
    rate = rate_of_price(site, MEAN_PRICE)
    others = int(np.sum(cleared(site, rate).amounts == 0)) - 1
    paper = PAPER["proportional_share"]
    means = [TASKS * HOUR / (N_PEERS * paper.completion), TASKS * HOUR / paper.total]
    totals = [row(FIGURE4, "proportional_share", seed, 1).total for seed in range(QUICK_SITES)]
    return {
        "slow.tasks": Quantity(
            int(found.amounts[SLOW_PEER]),
            note=f"{np.sum(found.amounts == 0)} peer of {N_PEERS} is idle; without caps for alpha"
            f" below {some[SEED][0]:.4f} (on {sites} sites {min(rates):.4f} to {max(rates):.4f});"
            f" at alpha {FIGURE4.alpha:g} for N_max from {some[SEED][1]} on ({min(shares)} to"
            f" {max(shares)}); N_max {least} forces {TASKS - (N_PEERS - 1) * least} tasks on it",
            optimum=float(here.amounts[SLOW_PEER]),
            provenance=ON_SITE,
        ),
        "idle.exceptions": _idle(sites // 2 if quick else sites),
        "price": Quantity(
            found.price,
            note=f"at {MEAN_PRICE} {int(found.market.response(MEAN_PRICE).sum())} of {TASKS} tasks"
            f" are sold; it clears at alpha {rate:.5f}, with {others} further peers idle; the mean"
            f" of first prices is {found.market.values.mean():.1f} here, in Table 1"
            f" {means[0]:.1f} by Proportional Share's completion and {means[1]:.1f} by its total"
            f" time, {paper.total:.0f} s, on sites of the mean {MEAN_PRICE} {min(totals):.0f} to"
            f" {max(totals):.0f} s",
            optimum=here.price,
            provenance=ON_SITE,
            readings={f"alpha {rate:.5f}": (MEAN_PRICE, MEAN_PRICE)},
            missing="the discount rate",
        ),
    }


def _idle(sites: int) -> Quantity:
    """Return how many peers are idle above the clearing price, or busy below it."""
    wrong = idle = cases = 0
    for site in map(consistent_site, range(sites)):
        for kind in SETTINGS:
            for alpha in ALPHAS:
                for factor in (*FACTORS, None):
                    market, _ = replace(kind, alpha=alpha, factor=factor).market(site)
                    found = best_of(market)
                    # Peers with a first price equal to the clearing price may be idle or busy.
                    apart = np.abs(market.values / found.price - 1) > EQUAL
                    below = market.values < found.price
                    wrong += int(np.sum(apart & ((found.amounts == 0) != below)))
                    idle += int(np.sum(found.amounts == 0))
                    cases += N_PEERS
    return Quantity(
        wrong,
        note=f"among {cases} peers, {idle} of them idle",
        provenance={"sites": sites, "alpha": list(ALPHAS), "lambda": [*FACTORS, "none"]},
    )


def figure4_figures(_quick: bool) -> list[CurvePlot]:
    """Return first prices and tasks of all peers of the chosen site."""
    found = outcome(chosen_site(), FIGURE4, "isgbmat")
    market = found.market
    edges = np.arange(N_PEERS + 1) + 0.5
    terms = f"computation-intensive tasks, alpha {FIGURE4.alpha:g}, no N_max"
    worth = market.worth(np.maximum(found.amounts, 1))
    last = np.where(found.amounts > 0, worth, 0.0)
    return [
        CurvePlot(
            "figure4a",
            f"Figure 4 (a): retail prices, {terms}",
            "peer",
            "price [G$ for a task an hour]",
            {"first price": (edges, market.values), "value of the last task sold": (edges, last)},
            lines={
                f"clearing price {found.price:.1f}": found.price,
                f"mean of first prices {market.values.mean():.1f}": float(market.values.mean()),
            },
            bars=True,
        ),
        CurvePlot(
            "figure4b",
            f"Figure 4 (b): allocation by ISGBMAT, {terms}",
            "peer",
            "tasks",
            {"tasks": (edges, found.amounts)},
            lines={f"mean {TASKS / N_PEERS:.1f}": TASKS / N_PEERS},
            bars=True,
        ),
    ]


def table1_figures(quick: bool, *, setting: ExperimentSetting) -> list[CurvePlot]:
    """Return the algorithms between benefit and completion time, with the front of all."""
    runs = QUICK_RUNS if quick else RUNS
    market, times = setting.market()
    reached = front(market.values, times, market.m, market.caps, market.q, 12 if quick else 60)
    # Other readings within the range of the chart.
    shown = {name: OTHER_READINGS[name] for name in ("commodity_equal", "double_auction_mean")}

    def points(table: Mapping[str, Table1Row]) -> tuple[list[float], list[float]]:
        return [each.benefit for each in table.values()], [
            each.completion for each in table.values()
        ]

    return [
        CurvePlot(
            f"table1-{setting.kind}",
            f"Table 1: {setting.kind} tasks, alpha {setting.alpha:g}, no N_max",
            "global benefit [G$, a price being that of a task an hour]",
            "completion time [s]",
            {
                "on the chosen site": points({n: row(setting, n, runs=runs) for n in ALGORITHMS}),
                "other readings": points({name: row(setting, name) for name in shown}),
                "in the paper": points(PAPER),
                "front": (reached.benefit, reached.completion),
            },
            log_y=True,
            names={
                "on the chosen site": tuple(ALGORITHMS.values()),
                "other readings": tuple(shown.values()),
                "in the paper": tuple(ALGORITHMS.values()),
            },
        )
    ]
