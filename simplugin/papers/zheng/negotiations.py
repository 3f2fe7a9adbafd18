"""Negotiations by messages: the benefit they reach, and the rounds, messages and time they take."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.core.elementary import exp, log, log2
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.market.policies.clearing import (
    DEEP,
    GUESSES,
    SETTLED,
    SPARE,
    ask_all,
    counts_of,
    opening,
)
from simplugin.market.policies.negotiation import (
    Agreement,
    AnsweringPeer,
    BundleNegotiation,
    Scheduler,
    negotiate,
)
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.statements import Quantity, determined_by, unrefuted
from simplugin.papers.zheng.random_markets import Drawn, drawn_markets, seeds
from simplugin.papers.zheng.settings import EQUAL, ON_SITE, TASKS, ExperimentSetting, dealt
from simplugin.platforms.twelve_peers import N_PEERS, SEED, chosen_site
from simplugin.workloads.bundle_markets import BundleMarket, Floats

INSTANCES, QUICK_INSTANCES = 1000, 60
# Those that only exchange prices and counts, and the worth of tasks in doubt.
CLEARING = ("bisection", "median", "secant")
BY_MESSAGES = (
    *("isgbmat", "commodity", "double_auction", "proportional_share", "optimum"),
    *(*CLEARING, "clinching"),
)
# Rounds and messages of a peer that are few.
FEW_ROUNDS, FEW_MESSAGES = 25, 50
STEP, STEPS = 0.1, (1.0, 0.3, 0.1, 0.03)
# From the local scheduler to any peer [s].
LATENCY = 0.01
# Maximum number of rounds of a price with fixed steps.
_MOST_ROUNDS = 20_000


def bisection_rounds(market: BundleMarket, price: float) -> int:
    r"""Return the maximum number of rounds of bisection.

    With the highest clearing price p*, the smallest :math:`j` such that
    :math:`2^j - 1 > |\ln p^*|`, and the least :math:`s = \ln 1/q_i`, the steps outward take
    :math:`j + 1` rounds and leave a width of at most :math:`2^{j-1}`, in which each peer has no
    more than two tasks in doubt once it is below :math:`s`. The opening and the settlement make two
    more.

    Parameters
    ----------
    market : BundleMarket
        The market of all peers.
    price : float
        Value of the last task that is sold [price].
    """
    if price == 0:
        # Steps to DEEP and one below it; the settlement needs no round.
        return 3 + math.ceil(log2(-DEEP + 1))
    distance = abs(log(price))
    outward = max(1, math.ceil(log2(distance + 1)))
    if 2**outward - 1 <= distance:
        outward += 1
    narrow = math.ceil(outward - 1 - log2(float(-market.log_q.max())))
    return 2 + outward + 1 + max(0, narrow)


def median_rounds(total: int, n_peers: int) -> int:
    """Return the maximum number of rounds of weighted medians.

    Parameters
    ----------
    total : int
        Sum of the caps of all peers.
    n_peers : int
        The number of peers.
    """
    quarters = log(max(1.0, total / (SETTLED * n_peers))) / log(4 / 3)
    # The opening, the first medians, one split for each quarter and at least one, the settlement.
    return 3 + max(1, math.ceil(quarters))


def secant_rounds(total: int, n_peers: int) -> int:
    """Return the maximum number of rounds of secants, for any answers of peers.

    Parameters
    ----------
    total : int
        Sum of the caps of all peers.
    n_peers : int
        The number of peers.
    """
    quarters = log(max(1.0, total / (SETTLED * n_peers + SPARE))) / log(4 / 3)
    # Two openings, the first prices, guesses and a median for each quarter, and the settlement.
    return 4 + (GUESSES + 2) * max(0, math.ceil(quarters))


def clock(step: float = STEP, start: float = 0.0, rounds: int = _MOST_ROUNDS) -> BundleNegotiation:
    r"""Return tatonnement with a fixed step: ln p grows by step (D - m) / m in each round.

    It ends at the first price at which the demand D is m. Demand is a whole number, so that it may
    jump across m and the price may cycle. The sum of all D - m determines the price; if a sum
    occurs again, the negotiation fails.

    Parameters
    ----------
    step : float
        Change of the price's logarithm, relative to the relative excess demand.
    start : float
        Logarithm of the first price.
    rounds : int
        Maximum number of rounds.
    """
    if not (math.isfinite(step) and math.isfinite(start)):
        raise WorkloadError(f"step is {step!r} and start {start!r}; give finite numbers")

    def scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
        yield from opening(n_peers, m, ("open", m))
        # A whole number, so that recurring prices are equal to the last bit.
        excess = 0
        seen: dict[int, int] = {}
        while excess not in seen and len(seen) < rounds:
            seen[excess] = len(seen)
            price = start + step * excess / m
            (counts,) = yield from ask_all(n_peers, ("price", price))
            wanted = counts_of(counts)
            if wanted.sum() == m:
                return Agreement(wanted, exp(price))
            excess += int(wanted.sum()) - m
        why = f"has not ended after {rounds} rounds"
        if excess in seen:
            first, period = seen[excess] + 1, len(seen) - seen[excess]
            why = f"never ends: its prices of round {first} on come again every {period} rounds"
        raise InfeasibleError(f"a clock of step {step:g} {why}; negotiate by bisection")

    return BundleNegotiation(f"clock {step:g}", scheduler, AnsweringPeer)


class Effort(NamedTuple):
    """Gaps, rounds, their proven bounds, and messages of each peer.

    Arrays of shape (n_markets,).
    """

    gaps: Floats
    rounds: Floats
    bounds: Floats
    messages: Floats


@cache
def effort(name: str, quick: bool, *, own_rates: bool = False) -> Effort:
    """Return the effort of a shipped negotiation on the markets of the first seeds."""
    count = QUICK_INSTANCES if quick else INSTANCES
    lines = []
    for seed, drawn in enumerate(drawn_markets(count, own_rates=own_rates)):
        market = drawn.market
        agreed = negotiate(NEGOTIATIONS[name], *market.arguments, seed=seed)
        lines.append(
            (
                1 - market.benefit(agreed.amounts) / drawn.best.benefit,
                agreed.rounds,
                _bound(name, drawn),
                agreed.messages / market.n_peers,
            )
        )
    return Effort(*np.array(lines, dtype=np.float64).T)


def _bound(name: str, drawn: Drawn) -> float:
    """Return the maximum number of rounds; inf where none is known."""
    market = drawn.market
    total = int(market.caps.sum())
    match name:
        case "bisection":
            return bisection_rounds(market, drawn.best.price)
        case "median":
            return median_rounds(total, market.n_peers)
        case "secant":
            return secant_rounds(total, market.n_peers)
    return np.inf


def negotiations(quick: bool) -> dict[str, Quantity]:
    """Measure gaps, rounds, messages and time."""
    both = {
        name: [effort(name, quick, own_rates=own) for own in (False, True)] for name in CLEARING
    }
    gap = max(float(np.abs(each.gaps).max()) for some in both.values() for each in some)
    known = seeds(len(both["secant"][0].gaps)) | {"rates": "common, and of each peer's own"}
    found = {
        "clearing.gap": Quantity(gap, note=", ".join(CLEARING), optimum=0.0),
        "clearing.effort": _rounds(both, quick),
        "clock.ends": _clocks(quick),
        "secant.time": _on_simgrid(),
    }
    return determined_by(known, found)


def _rounds(both: dict[str, list[Effort]], quick: bool) -> Quantity:
    """Return the largest part of the bars for rounds and messages, or of proven bounds."""
    worst, words = 0.0, []
    for name, some in both.items():
        rounds, bounds, messages = (
            np.concatenate([getattr(each, field) for each in some])
            for field in ("rounds", "bounds", "messages")
        )
        parts = rounds.max() / FEW_ROUNDS, messages.max() / FEW_MESSAGES, np.max(rounds / bounds)
        worst = max(worst, *parts)
        words.append(
            f"{name}: {np.median(rounds):.0f} rounds in the median, {rounds.max():.0f} at most,"
            f" {np.median(messages):.1f} and {messages.max():.1f} messages a peer,"
            f" {parts[2]:.0%} of the bound"
        )
    isgbmat, secant = (effort(name, quick).messages for name in ("isgbmat", "secant"))
    words.append(
        f"messages a peer: secant {secant.mean():.1f} on average, {secant.max():.1f} at most,"
        f" ISGBMAT {isgbmat.mean():.1f} and {isgbmat.max():.0f}"
    )
    extreme, said = _extremes(quick)
    worst = max(worst, extreme, *(() if quick else (_large(words),)))
    note = "; ".join([*words, said])
    return unrefuted(worst, np.inf, len(isgbmat), quick=quick, note=note, over="markets")


def _extremes(quick: bool) -> tuple[float, str]:
    """Return rounds over bounds at extreme units of price and discount rates; inf if inexact."""
    values = exp(np.random.default_rng(SEED).normal(0, 1, N_PEERS))
    alphas = (1e-9, 1e-3, 0.5) if quick else (1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99)
    units = (1e-200, 1.0, 1e200) if quick else (1e-200, 1e-20, 1.0, 1e20, 1e200)
    most = dict.fromkeys(CLEARING, 0)
    exact = True
    for alpha in alphas:
        for unit in units:
            given = (unit * values, TASKS, TASKS, 1 - alpha)
            best = largest_benefit(*given)
            for name in CLEARING:
                agreed = negotiate(NEGOTIATIONS[name], *given)
                most[name] = max(most[name], agreed.rounds)
                exact &= np.array_equal(agreed.amounts, best.amounts)
    total = N_PEERS * TASKS
    bounds = {"median": median_rounds(total, N_PEERS), "secant": secant_rounds(total, N_PEERS)}
    words = ", ".join(f"{name} {most[name]} of {bound}" for name, bound in bounds.items())
    worst = max(most[name] / bound for name, bound in bounds.items())
    return (
        worst if exact else np.inf,
        f"alpha {min(alphas):g} to {max(alphas):g} and values around {min(units):g} to"
        f" {max(units):g}: {words}, bisection {most['bisection']} rounds",
    )


def _large(words: list[str]) -> float:
    """Return rounds of secants over the bar for 10,000 peers and 10^7 tasks; inf if inexact."""
    count, tasks = 10_000, 10**7
    given = (60 * exp(np.random.default_rng(SEED).normal(0, 0.5, count)), tasks, tasks, 0.999)
    best = largest_benefit(*given)
    found = {name: negotiate(NEGOTIATIONS[name], *given) for name in CLEARING}
    exact = all(np.array_equal(each.amounts, best.amounts) for each in found.values())
    took = ", ".join(
        f"{name} {each.rounds} rounds and {each.messages / count:.1f} messages a peer"
        for name, each in found.items()
    )
    words.append(f"{count:,} peers and {tasks:,} tasks: {took}")
    return found["secant"].rounds / FEW_ROUNDS if exact else np.inf


def _clocks(quick: bool) -> Quantity:
    """Return in which part of the markets a price that moves by a fixed step comes to rest."""
    ended, words = 1.0, []
    for step in (STEP,) if quick else STEPS:
        rounds: list[int] = []
        cycles = 0
        drawn = drawn_markets(QUICK_INSTANCES if quick else INSTANCES)
        for each in drawn:
            try:
                rounds.append(negotiate(clock(step), *each.market.arguments).rounds)
            except InfeasibleError as error:
                cycles += "never ends" in str(error)
        if step == STEP:
            ended = len(rounds) / len(drawn)
        words.append(
            f"step {step:g}: {len(rounds)} of {len(drawn)} end, within {np.median(rounds):.0f}"
            f" rounds in the median and {max(rounds)} at most, {cycles} cycle"
        )
    return Quantity(ended, note="; ".join(words), provenance=seeds(len(drawn)) | {"first_price": 1})


def _on_simgrid() -> Quantity:
    """Return the time of a negotiation by secants over that of the bundle, on SimGrid."""
    setting = ExperimentSetting("neutral")
    site = replace(chosen_site(), latency=LATENCY)
    market, _ = setting.market(site)
    shares, over, differs = {}, [], []
    for name in BY_MESSAGES:
        deal = dealt(site, setting.bundle, name, seed=SEED)
        here = negotiate(NEGOTIATIONS[name], *market.arguments, seed=SEED)
        alike = np.array_equal(deal.amounts, here.amounts) and (
            (deal.rounds, deal.messages, deal.bytes) == (here.rounds, here.messages, here.bytes)
        )
        if deal.payments is not None and here.payments is not None:
            alike &= bool(np.allclose(deal.payments, here.payments, rtol=EQUAL, atol=0.0))
        differs.append(abs(deal.price / here.price - 1) if alike else np.inf)
        shares[name] = deal.negotiation / (deal.finished - deal.agreed)
        # An announcement and every round there and back; the size of messages comes on top.
        over.append(deal.negotiation / ((2 * deal.rounds + 1) * LATENCY) - 1)
    words = ", ".join(f"{name} {share:.4%}" for name, share in shares.items())
    return Quantity(
        shares["secant"] if max(differs) <= EQUAL else np.inf,
        note=f"{words} of the time from the agreement on; {min(over):.2%} to {max(over):.2%} above"
        f" (2 rounds + 1) latencies; amounts, messages and bytes as without a network, prices to"
        f" {max(differs):.0e}",
        provenance=ON_SITE | {"class": setting.kind, "latency": f"{LATENCY:g} s"},
    )
