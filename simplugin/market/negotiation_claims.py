"""What negotiations by messages reach and take, in this process and on SimGrid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.elementary import exp
from simplugin.market.instances import instance
from simplugin.market.isgbmat import run_isgbmat
from simplugin.market.negotiation_figures import figures
from simplugin.market.negotiation_survey import (
    CLEARING,
    EQUAL,
    INSTANCES,
    QUICK_INSTANCES,
    clocks,
    drawn_market,
    effort,
)
from simplugin.market.negotiation_times import ALPHA, KIND, LATENCY, simulated
from simplugin.market.negotiations import NEGOTIATIONS, negotiate
from simplugin.market.negotiations.median import median_rounds
from simplugin.market.negotiations.secant import secant_rounds
from simplugin.market.section5_sites import N_PEERS, SEED, TASKS
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.figures import Figure

# Rounds and messages of a peer that are few.
FEW_ROUNDS, FEW_MESSAGES = 25, 50
STEP, STEPS = 0.1, (1.0, 0.3, 0.1, 0.03)
_SOURCE = "past the paper"


def optimality(quick: bool) -> list[Claim]:
    """Return whether negotiations that exchange prices and counts reach the maximum."""
    claims = []
    for name in CLEARING:
        same, own = (effort(name, quick, rates) for rates in (False, True))
        reached = [int(np.sum(np.abs(each.gaps) <= EQUAL)) for each in (same, own)]
        total = len(same.gaps)
        largest = max(float(np.abs(each.gaps).max()) for each in (same, own))
        bests = np.concatenate([same.best, own.best])
        benefit = np.mean((1 - np.concatenate([same.gaps, own.gaps])) * bests)
        claims.append(
            Claim(
                f"Negotiation by {name} reaches the largest global benefit",
                "not said",
                f"in {reached[0]} of {total} markets with one discount rate, in {reached[1]} of"
                f" {total} with one of each peer's own; at most {largest:.1e} below; the mean of"
                f" all benefits is {benefit:.1f} G$",
                reached == [total, total],
                "agrees if it does in every market, to 1e-9 of the exact maximum",
                _SOURCE,
                optimum=float(bests.mean()),
                provenance=_provenance(total),
            )
        )
    return claims


def rounds(quick: bool) -> list[Claim]:
    """Return how many rounds and messages these take."""
    claims = []
    for name in CLEARING:
        both = [effort(name, quick, rates) for rates in (False, True)]
        took, messages, bound = (
            np.concatenate([getattr(each, field) for each in both])
            for field in ("rounds", "messages", "bound")
        )
        few = bool(took.max() <= FEW_ROUNDS and messages.max() <= FEW_MESSAGES)
        claims.append(
            Claim(
                f"Negotiation by {name} takes few rounds and messages, never more than its bound",
                f"not said; bar: {FEW_ROUNDS} rounds, {FEW_MESSAGES} messages a peer",
                f"{np.median(took):.0f} rounds in the median, {took.max():.0f} at most;"
                f" {np.median(messages):.1f} messages a peer, {messages.max():.1f} at most;"
                f" at most {np.max(took / bound):.0%} of the bound",
                few and bool(np.all(took <= bound)),
                "agrees if no market takes more than the bar or than the proven bound; with one"
                " discount rate and with each peer's own",
                _SOURCE,
                provenance=_provenance(len(both[0].rounds)),
            )
        )
    return claims


def isgbmat_messages(quick: bool) -> list[Claim]:
    """Return whether ISGBMAT as messages is ISGBMAT, and what its passes cost."""
    count = QUICK_INSTANCES if quick else INSTANCES
    same, benefits, bests = 0, [], []
    for seed in range(count):
        market = drawn_market(seed, own_rates=False)
        given = (market.values, market.m, market.caps, market.q)
        run, agreed = run_isgbmat(*given), negotiate(NEGOTIATIONS["isgbmat"], *given)
        alike = np.array_equal(run.amounts, agreed.amounts) and agreed.rounds == run.passes + 2
        benefits.append(market.benefit(agreed.amounts))
        bests.append(largest_benefit(*given).benefit)
        same += bool(alike and abs(agreed.price / run.price - 1) <= EQUAL)
    took = {name: effort(name, quick) for name in ("isgbmat", "secant")}
    most, mean = (
        {name: float(reduce(each.messages)) for name, each in took.items()}
        for reduce in (np.max, np.mean)
    )
    return [
        Claim(
            "ISGBMAT as messages sells the same in as many passes as on all values at once",
            "not said",
            f"in {same} of {count} markets; the mean of all benefits is {np.mean(benefits):.1f} G$",
            same == count,
            "one call to all peers under their caps a pass, one to begin and one to take tasks"
            " beyond m back. Agrees if amounts and passes are equal in every market, and prices to"
            " 1e-9",
            "section 4.3",
            optimum=float(np.mean(bests)),
            provenance=_provenance(count),
        ),
        Claim(
            "Negotiation by secant takes fewer messages than ISGBMAT",
            "not said",
            f"{mean['secant']:.1f} a peer on average, {most['secant']:.1f} at most; ISGBMAT"
            f" {mean['isgbmat']:.1f} and {most['isgbmat']:.0f}",
            mean["secant"] < mean["isgbmat"] and most["secant"] < most["isgbmat"],
            "agrees if both the mean and the largest number are smaller. ISGBMAT's passes grow with"
            " m, up to 2 m - 1; in half the markets it ends within"
            f" {np.median(took['isgbmat'].rounds):.0f} rounds",
            _SOURCE,
            provenance=_provenance(count),
        ),
    ]


def told(quick: bool) -> list[Claim]:
    """Return how much peers tell of what tasks are worth to them."""
    each = {name: effort(name, quick) for name in (*CLEARING, "isgbmat", "optimum")}
    bisection = each["bisection"].told
    words = ", ".join(f"{name} {np.mean(found.told):.1f}" for name, found in each.items())
    return [
        Claim(
            "With bisection peers tell what a task is worth only if it is in doubt at the end",
            "not said; peers tell their prices, section 3.2",
            f"{bisection.mean():.1f} tasks a peer on average, {bisection.max():.1f} at most",
            bool(bisection.max() <= 2),
            "before, they answer how many tasks they want, from which a value can be guessed but"
            f" not known. Agrees if it is two tasks a peer at most. Times told on average: {words}"
            " (posted prices: V itself, and the discount rate)",
            _SOURCE,
            provenance=_provenance(len(bisection)),
        )
    ]


def extremes(quick: bool) -> list[Claim]:
    """Return whether rounds depend on how large values and discount rates are."""
    spread = exp(np.random.default_rng(SEED).normal(0, 1, N_PEERS))
    alphas = (1e-9, 1e-3, 0.5) if quick else (1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.99)
    units = (1e-200, 1.0, 1e200) if quick else (1e-200, 1e-20, 1.0, 1e20, 1e200)
    most = dict.fromkeys(CLEARING, 0)
    exact = True
    for alpha in alphas:
        for unit in units:
            given = (unit * spread, TASKS, TASKS, 1 - alpha)
            best = largest_benefit(*given)
            for name in CLEARING:
                agreed = negotiate(NEGOTIATIONS[name], *given)
                most[name] = max(most[name], agreed.rounds)
                exact &= np.array_equal(agreed.amounts, best.amounts)
    total = N_PEERS * TASKS
    bounds = {"median": median_rounds(total, N_PEERS), "secant": secant_rounds(total, N_PEERS)}
    return [
        Claim(
            "Rounds of medians and secants do not depend on units of prices or on discount rates",
            "not said",
            f"at most {most['median']} and {most['secant']}, bounds {bounds['median']} and"
            f" {bounds['secant']}; bisection {most['bisection']}",
            exact and all(most[name] <= bound for name, bound in bounds.items()),
            f"discount rates from {min(alphas):g} to {max(alphas):g}, values around"
            f" {min(units):g} to {max(units):g}. Agrees if none takes more than a bound in which"
            " neither occurs, and all sell the same as the exact maximum. Bisection begins at a"
            " price of 1, so that its rounds grow with the logarithm of the price's logarithm",
            _SOURCE,
            provenance={"seed": SEED, "n": N_PEERS, "m": TASKS, "N_max": "none"},
        )
    ]


def fixed_steps(quick: bool) -> list[Claim]:
    """Return whether a price that moves by a fixed part of the excess demand comes to rest."""
    found = clocks(STEP, quick)
    others = [] if quick else [(step, clocks(step, quick)) for step in STEPS]
    bests = [largest_benefit(*instance(seed).arguments) for seed in range(found.count)]
    clearing = sum(best.next_price < best.price for best in bests)
    words = "; ".join(
        f"step {step:g}: {each.cycles} cycle, the others take {np.median(each.rounds):.0f} rounds"
        f" in the median, {max(each.rounds)} at most"
        + (f", {each.open} had not ended" if each.open else "")
        for step, each in others
    )
    return [
        Claim(
            f"A price that moves by {STEP:g} (D - m) / m a round comes to rest",
            "not said; how textbooks have tatonnement",
            f"in {len(found.rounds)} of {found.count} markets; in {found.cycles} it repeats itself"
            f" for ever, in {found.open} it had done neither",
            len(found.rounds) == found.count,
            f"demand is m at some prices in {clearing} of the markets, but these are close together"
            " and demand, in whole numbers, may jump across m. A price that has been there before,"
            " in whole numbers of excess tasks, is proof of a cycle. Agrees if it ends in every"
            f" market{'. ' + words if words else ''}",
            _SOURCE,
            provenance=_provenance(found.count) | {"first price": 1},
        )
    ]


def large(quick: bool) -> list[Claim]:
    """Return what 10,000 peers and 10^7 tasks take."""
    if quick:
        return []
    count, tasks = 10_000, 10**7
    given = (60 * exp(np.random.default_rng(SEED).normal(0, 0.5, count)), tasks, tasks, 0.999)
    best = largest_benefit(*given)
    found = {name: negotiate(NEGOTIATIONS[name], *given) for name in CLEARING}
    exact = all(np.array_equal(each.amounts, best.amounts) for each in found.values())
    sold = BundleMarket(*given).benefit(found["secant"].amounts)
    words = ", ".join(
        f"{name} {each.rounds} rounds and {each.messages / count:.1f} messages a peer"
        for name, each in found.items()
    )
    return [
        Claim(
            f"By secant {count:,} peers and {tasks:,} tasks take as few rounds",
            f"not said; bar: {FEW_ROUNDS} rounds",
            f"{words}; benefit {sold:.0f} G$",
            exact and found["secant"].rounds <= FEW_ROUNDS,
            "agrees if secants keep to the bar and all three sell what the exact maximum has",
            _SOURCE,
            optimum=best.benefit,
            provenance={"seed": SEED, "alpha": 0.001, "N_max": "none"},
        )
    ]


def on_simgrid(quick: bool) -> list[Claim]:  # noqa: ARG001 # it is as fast as can be
    """Return whether simulated negotiations are the same, and whether their time matters."""
    found = simulated()
    worst = max(each.differs for each in found)
    secant = next(each for each in found if each.name == "secant")
    shares = {each.name: each.own_time / each.completion for each in found}
    # An announcement and every round there and back; what messages weigh comes on top.
    least = np.array([(2 * each.rounds + 1) * LATENCY for each in found])
    over = np.array([each.own_time for each in found]) / least - 1
    where = {
        "site": f"chosen, seed {SEED}", "class": KIND, "m": TASKS, "alpha": ALPHA,
        "N_max": "none", "price unit": "G$ for a task an hour", "latency": f"{LATENCY:g} s",
    }  # fmt: skip
    return [
        Claim(
            "Negotiations over SimGrid's network agree on what they do without one",
            "not said",
            f"{len(found)} negotiations; prices differ by {worst:.1e} at most",
            worst <= EQUAL,
            "agrees if amounts, rounds, messages and bytes are equal, and prices to 1e-9",
            _SOURCE,
            provenance=where,
        ),
        Claim(
            "Negotiating takes little of a bundle's time",
            "not said; bar: 0.1 % by secant",
            "; ".join(f"{name} {share:.4%}" for name, share in shares.items()),
            secant.own_time <= 1e-3 * secant.completion,
            f"of the time from agreement to the last task's end. Each round takes two latencies:"
            f" times are {over.min():.2%} to {over.max():.2%} above (2 rounds + 1) latencies."
            " Agrees if secants keep to the bar",
            _SOURCE,
            provenance=where,
        ),
    ]


def _provenance(count: int) -> dict[str, object]:
    """Return what determines a measurement on random markets."""
    return {
        "seeds": f"0-{count - 1}",
        "n": "2 to 24",
        "m": "2 to 1500",
        "alpha": "1e-4 to 0.5, log-uniform",
        "N_max": "none, lambda ceil(m / n) or any, of a third of the markets each",
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "negotiated maximum": optimality,
    "rounds": rounds,
    "ISGBMAT as messages": isgbmat_messages,
    "what peers tell": told,
    "extreme prices": extremes,
    "clocks of fixed step": fixed_steps,
    "large markets": large,
    "negotiations on SimGrid": on_simgrid,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"negotiations": figures}
