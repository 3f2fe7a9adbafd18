"""Table 1 of the paper: four ways to share a bundle among the peers of a site.

Neither the discount rate nor N_max nor the class of tasks is stated there. Here the discount rate
is 0.01, peers take as many tasks as they like, and all three classes are looked at; how much hangs
on that is in `section5_sensitivity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simplugin.listings import Listing
from simplugin.market.front import least_completion
from simplugin.market.model import Terms, completion_times, largest_share
from simplugin.market.outcomes import Outcome
from simplugin.market.policies import POLICIES
from simplugin.market.policies import RANDOM as RANDOM
from simplugin.market.section5_sites import (
    N_PEERS,
    SEED,
    SETUP,
    SPREAD,
    TASKS,
    chosen_site,
    consistent_site,
)
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundles import CLASSES, Bundle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simplugin.listings import Cell
    from simplugin.platforms.peers import PeerSite
    from simplugin.workloads.bundle_markets import BundleMarket, Floats

# The four algorithms of Table 1 in its order, by their names there.
ALGORITHMS = {
    "commodity": "CM(flat)",
    "double_auction": "Double Auction",
    "proportional_share": "Proportional Share",
    "isgbmat": "ISGBMAT",
}
# What else the names of two of them may mean.
OTHER_READINGS = {
    "commodity_equal": "CM, equal prices",
    "commodity_cheapest": "CM, cheapest first",
    "double_auction_marginal": "Auction, bids of next values",
    "double_auction_mean": "Auction, bids of mean prices",
    "double_auction_dearest": "Auction, bids of first prices",
}
RUNS = 50
ALPHA = 0.01
# Benefits and times that differ by less are equal; relative.
EQUAL = 1e-9


@dataclass(frozen=True)
class Row:
    """What an algorithm comes to, in the metrics of Table 1.

    Attributes
    ----------
    benefit : float
        Global benefit [G$].
    completion, total : float
        Longest time of a peer, and the sum of all [s].
    fairness : float
        Workload fairness FI.
    """

    benefit: float
    completion: float
    total: float
    fairness: float = float("nan")


def _clock(text: str) -> float:
    """Return seconds of hours:minutes:seconds."""
    hours, minutes, seconds = map(int, text.split(":"))
    return 3600.0 * hours + 60 * minutes + seconds


# As printed.
PAPER = {
    "commodity": Row(60424, _clock("2:00:37"), _clock("18:21:03")),
    "double_auction": Row(61976, _clock("1:49:51"), _clock("17:43:27")),
    "proportional_share": Row(60790, _clock("1:23:46"), _clock("16:56:31")),
    "isgbmat": Row(62765, _clock("1:37:50"), _clock("16:48:25")),
}


@dataclass(frozen=True)
class Relation:
    """One algorithm is better than another in a metric.

    Attributes
    ----------
    metric : {"benefit", "completion", "total"}
        In what.
    better, worse : str
        Keys of `ALGORITHMS`.
    """

    metric: str
    better: str
    worse: str

    def holds(self, rows: Mapping[str, Row]) -> bool:
        """Whether it is, by more than rounding."""
        first, second = (getattr(rows[name], self.metric) for name in (self.better, self.worse))
        if self.metric == "benefit":
            first, second = -first, -second
        return bool(first < second - EQUAL * abs(second))

    @property
    def words(self) -> str:
        """What it says."""
        sign = ">" if self.metric == "benefit" else "<"
        return f"{ALGORITHMS[self.better]} {sign} {ALGORITHMS[self.worse]}"


# The orders of Table 1, the best first, and their nine adjacent pairs.
ORDERS = {
    "benefit": ("isgbmat", "double_auction", "proportional_share", "commodity"),
    "completion": ("proportional_share", "isgbmat", "double_auction", "commodity"),
    "total": ("isgbmat", "proportional_share", "double_auction", "commodity"),
}
RELATIONS = tuple(
    Relation(metric, *pair) for metric, order in ORDERS.items() for pair in pairwise(order)
)


@dataclass(frozen=True)
class Setting:
    """What the paper leaves open of an experiment.

    Attributes
    ----------
    kind : {"computation", "neutral", "communication"}
        What tasks mostly do.
    alpha : float
        Discount rate.
    factor : float, optional
        N_max over the mean number of tasks of a peer, lambda; without, peers take all they like.
    """

    kind: str
    alpha: float = ALPHA
    factor: float | None = None

    @property
    def bundle(self) -> Bundle:
        """The thousand tasks."""
        return Bundle.of_class(self.kind, TASKS)

    @property
    def terms(self) -> Terms:
        """What prices follow from."""
        cap = None if self.factor is None else largest_share(TASKS, N_PEERS, self.factor)
        return Terms(self.alpha, cap, setup=SETUP)

    def market(self, site: PeerSite) -> tuple[BundleMarket, Floats]:
        """Return what is traded at a site, and the time of a task on each peer [s]."""
        times = completion_times(site, self.bundle, SETUP)
        return self.terms.market(times, TASKS), times

    def provenance(self, **further: object) -> dict[str, object]:
        """Return what determines a measurement, for claims."""
        cap = "none" if self.factor is None else largest_share(TASKS, N_PEERS, self.factor)
        return {
            "class": self.kind,
            "alpha": self.alpha,
            "N_max": cap,
            "price unit": "G$ for a task an hour",
            **further,
        }


SETTINGS = tuple(Setting(kind) for kind in CLASSES)
# Of Fig. 4: "tasks attribute is set to be computation-intensive".
FIGURE4 = Setting("computation")


def outcome(site: PeerSite, setting: Setting, policy: str, seed: int = 0) -> Outcome:
    """Return what a policy does at a site, with estimated times.

    Parameters
    ----------
    site : PeerSite
        The peers.
    setting : Setting
        What tasks and terms.
    policy : str
        A key of `simplugin.market.policies.POLICIES`.
    seed : int
        Of policies that draw.
    """
    market, times = setting.market(site)
    drawn = {"seed": seed} if policy in RANDOM else {}
    amounts, price = POLICIES[policy](market.values, market.m, market.caps, market.q, **drawn)
    return Outcome.estimated(market, amounts, price, times)


def row(site: PeerSite, setting: Setting, policy: str, runs: int = RUNS) -> Row:
    """Return the metrics of a policy, the mean over runs if it draws.

    Parameters
    ----------
    site, setting, policy
        As in `outcome`.
    runs : int
        Seeds of policies that draw, from 0 on.
    """
    count = runs if policy in RANDOM else 1
    found = [outcome(site, setting, policy, seed) for seed in range(count)]
    means = np.mean([(o.benefit, o.completion, o.total, o.fairness) for o in found], axis=0)
    return Row(*means.tolist())


@cache
def rows(
    setting: Setting,
    seed: int = SEED,
    runs: int = RUNS,
    policies: tuple[str, ...] = tuple(ALGORITHMS),
    spread: float = SPREAD,
) -> Mapping[str, Row]:
    """Return Table 1 of a consistent site.

    Parameters
    ----------
    setting : Setting
        What tasks and terms.
    seed, spread
        As in `consistent_site`.
    runs : int
        Over how many seeds the double auction is averaged.
    policies : tuple of str
        Which rows.
    """
    site = consistent_site(seed, spread)
    return {policy: row(site, setting, policy, runs) for policy in policies}


@cache
def best(setting: Setting) -> Row:
    """Return what is best in each metric by itself on the chosen site, each exactly.

    The total time is least if each task goes to the fastest peer that still takes one.

    Parameters
    ----------
    setting : Setting
        What tasks and terms.
    """
    market, times = setting.market(chosen_site())
    fastest = np.argsort(times, kind="stable")
    before = np.cumsum(market.caps[fastest]) - market.caps[fastest]
    amounts = np.clip(market.m - before, 0, market.caps[fastest])
    return Row(
        largest_benefit(market.values, market.m, market.caps, market.q).benefit,
        least_completion(times, market.m, market.caps),
        float(np.sum(amounts * times[fastest])),
    )


def simulated(setting: Setting, policy: str, seed: int = 0) -> Outcome:
    """Return what a policy does at the chosen site on SimGrid, with measured times.

    Parameters
    ----------
    setting, policy, seed
        As in `outcome`.
    """
    from simplugin.market.execution import execute

    done = execute(chosen_site(), setting.bundle, setting.terms, policy, seed=seed)
    return done.deals[0].outcome()


def table1(setting: Setting, runs: int = RUNS) -> Listing:
    """Return Table 1 on the chosen site beside the paper's, other readings below.

    Parameters
    ----------
    setting : Setting
        What tasks and terms.
    runs : int
        Over how many seeds the double auction is averaged.
    """
    policies = ALGORITHMS | OTHER_READINGS
    found = rows(setting, SEED, runs, tuple(policies))
    lines: list[tuple[Cell, ...]] = []
    for key, name in policies.items():
        ours, paper = found[key], PAPER.get(key)
        theirs = (paper.benefit, paper.completion, paper.total) if paper else (None, None, None)
        lines.append((name, ours.benefit, ours.completion, ours.total, ours.fairness, *theirs))
    cap = "none" if setting.factor is None else f"{setting.factor:g} times the mean"
    return Listing(
        f"Table 1, {setting.kind} tasks",
        (
            ("algorithm", ""), ("benefit", ""), ("completion", "s"), ("total", "s"), ("FI", ""),
            ("paper: benefit", ""), ("paper: completion", "s"), ("paper: total", "s"),
        ),
        tuple(lines),
        f"{TASKS} tasks, {N_PEERS} peers (seed {SEED}), alpha {setting.alpha:g}, N_max {cap},"
        f" benefit in G$ for a task an hour; Double Auction: mean of {runs} runs",
    )  # fmt: skip


def simulated1(setting: Setting) -> Listing:
    """Return times of one run of each algorithm on SimGrid beside the estimated ones.

    Parameters
    ----------
    setting : Setting
        What tasks and terms.
    """
    lines: list[tuple[Cell, ...]] = []
    for key, name in ALGORITHMS.items():
        ours, theirs = simulated(setting, key), outcome(chosen_site(), setting, key)
        lines.append(
            (name, ours.benefit, ours.completion, theirs.completion, ours.total, theirs.total)
        )
    return Listing(
        f"One run of each on SimGrid, {setting.kind} tasks",
        (
            ("algorithm", ""), ("benefit", ""), ("completion", "s"), ("estimated completion", "s"),
            ("total", "s"), ("estimated total", "s"),
        ),
        tuple(lines),
        f"alpha {setting.alpha:g}, site and draws of seed {SEED}",
    )  # fmt: skip
