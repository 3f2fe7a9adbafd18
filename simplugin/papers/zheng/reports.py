"""Cooperating peers, section 3.1: gains of misreports, and payments that prevent them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.core.elementary import exp
from simplugin.market.mechanisms import Settlement, uniform, vickrey_clarke_groves
from simplugin.market.model import HOUR, Deal, completion_times
from simplugin.market.policies.clocks import clinching
from simplugin.market.policies.negotiation import negotiate
from simplugin.papers.statements import Quantity, determined_by, share
from simplugin.papers.zheng.random_markets import drawn_markets, random_market, seeds
from simplugin.papers.zheng.settings import EQUAL, SETTINGS, ExperimentSetting, dealt, spread
from simplugin.papers.zheng.strategic_reports import (
    Income,
    PeerReport,
    deviations,
    play,
    profit,
    reported,
    rival_prices,
)
from simplugin.platforms.twelve_peers import SETUP, chosen_site
from simplugin.workloads.bundle_markets import BundleMarket, Floats

Rule = Callable[[BundleMarket], Settlement]

# Numbers of random markets, of their tasks at most, of markets for which all relevant reports are
# tried, and of markets in which peers answer each other.
MARKETS, QUICK_MARKETS, MOST_TASKS = 1000, 60, 200
TRIED, QUICK_TRIED = 100, 5
GAMES, QUICK_GAMES = 200, 5
# How far reports are from ties; steps of reports in the game; ticks of the clock.
BESIDE, TICK = 1e-9, 0.01
# From the local scheduler to any peer where a clock runs on SimGrid [s].
LATENCY = 0.01
_TASKS = {"m": f"2 to {MOST_TASKS}"}


class MisreportSurvey(NamedTuple):
    """Misreports and payments in one random market, in parts of the benefit."""

    # The largest gain of a single peer under the uniform price, and the loss of benefit by it.
    gain: float
    loss: float
    # True if the others cannot take all tasks without some peer, so that VCG is not defined.
    captive: bool
    # VCG's income over that of the uniform price; inf if a payment is out of its range.
    income: float


@cache
def survey(seed: int) -> MisreportSurvey:
    """Return gains of misreports, and payments, in the market of a seed."""
    market = random_market(seed, MOST_TASKS)
    fixed = uniform(market)
    benefit = market.benefit(fixed.amounts)
    best = max(deviations(market), key=lambda each: each.gain)
    paid = all_defined_vcg(market)
    room = market.caps.sum() - market.caps
    worth = market.sums(fixed.amounts)
    rational = np.all((paid.payments >= 0) & (paid.payments <= worth * (1 + EQUAL)))
    return MisreportSurvey(
        best.gain / benefit,
        1 - best.benefit / benefit,
        bool(np.any((room < market.m) & (fixed.amounts > 0))),
        paid.revenue / fixed.revenue if rational else np.inf,
    )


def all_defined_vcg(market: BundleMarket, /) -> Settlement:
    """Return VCG's settlement, in which unsold tasks have the value 0."""
    return vickrey_clarke_groves(market, unsold="worthless")


@cache
def site_reports(setting: ExperimentSetting) -> list[PeerReport]:
    """Return the best report of each single peer of the chosen site, under the uniform price."""
    return deviations(setting.market()[0])


def reports(quick: bool) -> dict[str, Quantity]:
    """Measure gains of misreports, and payments of mechanisms."""
    found = [survey(seed) for seed in range(QUICK_MARKETS if quick else MARKETS)]
    free = [each for each in found if not each.captive]
    known = seeds(len(found)) | _TASKS
    measured = {
        "uniform.liars": share(
            [each.gain > EQUAL for each in free],
            " random markets have a peer that gains, by"
            f" {spread(each.gain for each in free)} of U^G, which loses"
            f" {spread(each.loss for each in free)}; in {len(found) - len(free)} further ones a"
            f" peer lacks rivals. Chosen site: {'; '.join(map(_liars, SETTINGS))}. On SimGrid,"
            f" {'; '.join(map(_simulated_lie, SETTINGS[:1] if quick else SETTINGS))}",
        ),
        "gain.most": _most_gain(QUICK_TRIED if quick else TRIED),
        "clock.difference": _clock(
            len(found), [each.income for each in found if not each.captive or each.income == np.inf]
        ),
        "game.settled": _games(QUICK_GAMES if quick else GAMES),
    }
    return determined_by(known, measured)


def _liars(setting: ExperimentSetting) -> str:
    """Return the number of peers of the chosen site that gain by misreporting, and their gains."""
    some = site_reports(setting)
    lying = [each for each in some if each.gain > 0]
    most = max(lying, key=lambda each: each.gain)
    market, _ = setting.market()
    factors = [each.factor for each in lying]
    return (
        f"{setting.kind} {len(lying)} of {len(some)}, at {min(factors):.3f} to"
        f" {max(factors):.3f} of their speeds, {most.gain / most.before:.1%} of its profit at"
        f" most, U^G falls by {1 - most.benefit / market.benefit(uniform(market).amounts):.3%}"
    )


def telling_reports(market: BundleMarket, peer: int, low: float = 0.0) -> Floats:
    r"""Return reports just below and above each at which a peer gets a task more or less.

    While its number k of tasks is constant, VCG's payment is constant, and the highest clearing
    price is :math:`\min(x V q^{k-1}, o)` with the least served value o of others. At that price a
    peer earns most just above a tie, and if it is held to its report
    (:math:`x \sum_j V q^{j-1}` is income) just below one. These reports and the truth suffice.
    """
    prices, log_q = rival_prices(market, peer), float(market.log_q[peer])
    ties = prices - market.log_value[peer] - np.arange(len(prices)) * log_q
    # Tasks without another taker are never lost.
    ties = ties[np.isfinite(ties)]
    step = min(BESIDE, -log_q / 4)
    near: Floats = exp(np.concatenate([ties - step, ties + step]))
    return near[near >= low]


def as_if(market: BundleMarket, peer: int, factor: float) -> BundleMarket:
    """Return a market in which one peer reports another speed."""
    factors = np.ones(market.n_peers)
    factors[peer] = factor
    return reported(market, factors)


def largest_gain(seed: int, rule: Rule, income: Income, low: float = 0.0) -> float:
    """Return the most that a peer gains by a report from `low` on, as part of the benefit."""
    market = random_market(seed, MOST_TASKS)
    honest = rule(market)
    most = 0.0
    for peer in range(market.n_peers):
        before = profit(market, honest, peer, income)
        for factor in telling_reports(market, peer, low).tolist():
            after = rule(as_if(market, peer, factor))
            most = max(most, profit(market, after, peer, income) - before)
    return float(most) / market.benefit(honest.amounts)


def _most_gain(tried: int) -> Quantity:
    """Return the largest gain of a misreport where none is possible in theory."""
    rules: dict[str, tuple[Rule, Income, float]] = {
        "claims of more, one price, measured time": (uniform, "measured", 1.0),
        "any, one price, only the time reported pays": (uniform, "verified", 0.0),
        "any, VCG, measured time": (all_defined_vcg, "measured", 0.0),
    }
    most = {
        name: max(largest_gain(seed, *rule) for seed in range(tried))
        for name, rule in rules.items()
    }
    claiming, peers = 0, 0
    for market in (setting.market()[0] for setting in SETTINGS):
        for peer in np.flatnonzero(uniform(market).amounts).tolist():
            earned = [
                profit(market, uniform(as_if(market, peer, factor)), peer, "reported")
                for factor in (1.0, 2.0, 4.0)
            ]
            claiming += earned[0] < earned[1] < earned[2]
            peers += 1
    return Quantity(
        max(most.values()),
        note=f"{', '.join(f'{name} {gain:.1e}' for name, gain in most.items())} of U^G. Paid by"
        f" the time reported, {claiming} of {peers} peers of the chosen site earn the more the"
        " faster they claim to be",
        provenance=seeds(tried) | _TASKS,
    )


def _simulated_lie(setting: ExperimentSetting) -> str:
    """Return the gain of the best misreport on SimGrid, and the computed one.

    The income of tasks follows from the measured time of the peer, V_i = price_unit / (T_i / A_i).
    """
    best, gain, longer = simulated_lie(setting)
    return (
        f"{setting.kind}: peer {best.peer + 1} reports {best.factor:.3f} of its speed and gains"
        f" {gain:.4%} of its profit ({best.gain / best.before:.4%} computed), the bundle takes"
        f" {longer:.3f} times as long"
    )


def simulated_lie(setting: ExperimentSetting) -> tuple[PeerReport, float, float]:
    """Return the best misreport, its relative gain, and the slowdown of the bundle."""
    best = max(site_reports(setting), key=lambda each: each.gain)
    site, bundle = chosen_site(), setting.bundle
    time = float(completion_times(site, bundle)[best.peer])
    scale = np.ones(site.n_peers)
    scale[best.peer] = (time - SETUP) / (time / best.factor - SETUP)
    believed = replace(site, speed=site.speed * scale, bandwidth=site.bandwidth * scale)
    honest, lying = (dealt(site, bundle, believed=each) for each in (site, believed))
    gain = float(_earned(lying)[best.peer] / _earned(honest)[best.peer]) - 1
    return best, gain, lying.outcome().completion / honest.outcome().completion


def _earned(deal: Deal) -> Floats:
    """Return the profit of each peer if income follows from measured time [price]."""
    measured = deal.outcome().times / np.maximum(deal.amounts, 1)
    # Peers without tasks have a time of 0.
    worked = np.where(deal.amounts > 0, measured, np.inf)
    paid = HOUR / worked * deal.market.sums(deal.amounts) / deal.market.values
    earned: Floats = paid - deal.amounts * deal.price
    return earned


def _clock(count: int, incomes: list[float]) -> Quantity:
    """Return how far payments by a rising clock are from VCG's, in parts of the income."""
    worst, rounds, coarse = 0.0, [], []
    for market, best in drawn_markets(count, MOST_TASKS):
        wanted, found = all_defined_vcg(market), negotiate(clinching(), *market.arguments)
        scale = max(wanted.revenue, EQUAL * best.benefit)
        worst = max(
            worst, float(np.abs(np.asarray(found.payments) - wanted.payments).max() / scale)
        )
        rounds.append(found.rounds)
        coarse.append(negotiate(clinching(TICK), *market.arguments).rounds)
    fine, ticking = (clock_deal(tick) for tick in (None, TICK))
    wanted = all_defined_vcg(fine.market)
    networked = float(np.abs(fine.outcome().paid - wanted.payments).max()) / wanted.revenue
    lost = 1 - ticking.outcome().benefit / fine.market.benefit(wanted.amounts)
    ratios = ", ".join(
        f"{each.kind} {all_defined_vcg(market).revenue / uniform(market).revenue:.3f}"
        for each, market in ((each, each.market()[0]) for each in SETTINGS)
    )
    # VCG has no revenue above that of one price, and no payment out of range.
    right = max(incomes) <= 1 + EQUAL
    return Quantity(
        max(worst, networked) if right else np.inf,
        note=f"random markets {worst:.1e}, rounds median {np.median(rounds):.0f}, at most"
        f" {max(rounds)}, with ticks of {TICK:.0%} {np.median(coarse):.0f} and {max(coarse)};"
        f" chosen site on SimGrid {networked:.1e}, {_effort(fine)}; with ticks {_effort(ticking)},"
        f" {lost:.1e} of U^G lost, income {ticking.outcome().revenue / wanted.revenue - 1:+.1%}."
        f" VCG brings {np.mean(incomes):.2f} of one price's income on average ({min(incomes):.2f}"
        f" to {max(incomes):.2f}), on the chosen site {ratios}",
        optimum=0.0,
        provenance=seeds(count) | _TASKS,
    )


def clock_deal(tick: float | None) -> Deal:
    """Return the deal of 1000 computation-intensive tasks by a clock on SimGrid."""
    site = replace(chosen_site(), latency=LATENCY)
    return dealt(site, SETTINGS[0].bundle, clinching(tick))


def _effort(deal: Deal) -> str:
    """Return the effort of a negotiation."""
    share = deal.negotiation / deal.outcome().completion
    return (
        f"{deal.rounds} rounds, {deal.messages} messages, {deal.negotiation:.2f} s, {share:.1e} of"
        " the completion time"
    )


def _games(wanted: int) -> Quantity:
    """Return in which part of the markets peers that answer each other's reports settle."""
    free = (seed for seed in range(10 * wanted) if not survey(seed).captive)
    chosen = [seed for seed, _ in zip(free, range(wanted), strict=False)]
    markets = [random_market(seed, MOST_TASKS) for seed in chosen]
    found = [(play(market, tick=TICK), uniform(market).revenue) for market in markets]
    ended = [each.ended for each, _ in found]
    income = np.array([1 - each.revenue / truth for each, truth in found])
    benefit = np.array([1 - 1 / each.anarchy for each, _ in found])
    return share(
        [end == "settled" for end in ended],
        f" settle, {ended.count('cycle')} come back to the same reports for ever; U^G loses"
        f" {spread(benefit)}, more than 5% in {np.sum(benefit > 0.05)}, the local scheduler's"
        f" income {spread(income)}",
        provenance=seeds(chosen[-1] + 1) | {"tick": TICK},
    )
