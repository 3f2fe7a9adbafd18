"""What section 4 of the paper proves of balanced states, and what is true of them.

The proofs of Theorems 1 and 2 move tasks between peers and leave prices v_i as they are, though
Eq. (7) lets them fall with the number of tasks; see `simplugin.market.balance` for what holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.market.balance import is_balanced
from simplugin.market.instances import ALPHA
from simplugin.market.theorem_measurements import (
    DRAWS,
    EQUAL,
    FAST,
    LEAST,
    MADE_PEERS,
    MADE_TASKS,
    QUICK_DRAWS,
    SEED,
    SLOW,
    SMALL_RANGES,
    drawn_markets,
    extreme_markets,
    made_states,
    small_markets,
)
from simplugin.optimum.bundle_benefit import largest_benefit

if TYPE_CHECKING:
    from collections.abc import Callable


def least_example(quick: bool) -> list[Claim]:
    """Return the least market in which Theorem 3 fails."""
    del quick
    best = largest_benefit(LEAST.values, LEAST.m, LEAST.caps, LEAST.q)
    balanced = is_balanced(LEAST, [1, 3], 7.0) and not is_balanced(LEAST, best.amounts, best.price)
    benefit = LEAST.benefit([1, 3])
    return [
        Claim(
            "V = (7, 12), q = 1/2, m = 4: the balanced state (1, 3) at price 7 has the largest"
            " benefit",
            "the maximum",
            benefit,
            bool(balanced and benefit >= best.benefit),
            "mean prices are 7 and 7 there; (2, 2) has 5.25 and 9 and is worth 28.5. No such"
            " example has fewer tasks, if all peers have some. Agrees if nothing is worth more",
            "Theorem 3",
            optimum=best.benefit,
            provenance={"alpha": 0.5, "N_max": "none"},
        )
    ]


def theorem1(quick: bool) -> list[Claim]:
    """Return whether adjustments of balanced states leave the benefit as it is."""
    found = made_states(quick)
    rising, changing = sum(each.rises for each in found), sum(each.changes for each in found)
    return [
        Claim(
            "If a state is balanced, adjusting it does not affect the global benefit",
            "not affected",
            f"some move of one task changes it in {changing} of {len(found)} balanced states, and"
            f" raises it in {rising}",
            changing == 0,
            "the proof leaves v_i as it is while A_i changes, against Eq. (7). States are drawn,"
            f" {MADE_PEERS[0]} to {MADE_PEERS[1]} peers with {MADE_TASKS[0]} to"
            f" {MADE_TASKS[1]} tasks each, and values then set so that all mean prices are equal."
            " Changes below 1e-9 of a mean price are none. Agrees if no move changes the benefit in"
            " any",
            "Theorem 1",
            provenance=_provenance(quick),
        )
    ]


def theorem2(quick: bool) -> list[Claim]:
    """Return whether the benefit of all unbalanced states can be increased, and by their move."""
    found, small = drawn_markets(quick), small_markets(quick)
    several = [each for each in found if each.active > 1]
    stuck = sum(not each.balanced for each in found)
    moves, losing = (sum(getattr(each, name) for each in small) for name in ("moves", "losing"))
    return [
        Claim(
            "If a state is unbalanced, the global benefit can always be increased",
            "always",
            f"the maximum itself is unbalanced in {stuck} of {len(found)} markets",
            stuck == 0,
            "a maximum cannot be increased, so that one that is unbalanced contradicts it; of the"
            f" {len(several)} maxima in which several peers have tasks"
            f" {sum(each.balanced for each in several)} are balanced. Agrees if all maxima are",
            "Theorem 2",
            provenance=_provenance(quick),
        ),
        Claim(
            "At a price that is one peer's, a task moved from it to a peer with profits adds to the"
            " benefit",
            "can be larger",
            f"{100 * losing / moves:.1f} % of {moves} moves lose",
            losing == 0,
            f"all such moves in all assignments of {len(small)} small markets with a task at least"
            " for every peer, moves that the proof of Theorem 2 makes: what counts is what the"
            " next task is worth, not the mean. Agrees if none loses",
            "proof of Theorem 2",
            provenance=_provenance(quick) | SMALL_RANGES,
        ),
    ]


def theorem3(quick: bool) -> list[Claim]:
    """Return whether balanced states are maxima, and what they lose."""
    made, found = made_states(quick), drawn_markets(quick)
    right = sum(each.loss <= EQUAL for each in made)
    equal = sum(each.equal for each in made)
    loss = np.array([each.loss for each in found])
    return [
        Claim(
            "A balanced state has the largest global benefit",
            "if and only if",
            f"{right} of {len(made)} balanced states have; the others lose"
            f" {_percent(each.loss for each in made if each.loss > EQUAL)}",
            right == len(made),
            "balance makes mean prices equal, the maximum marginal ones. The same states as for"
            f" Theorem 1, {equal} of them with equal amounts, thus equal values: only so are"
            " tasks that can be divided worth most in balance. Agrees if all states have",
            "Theorem 3",
            provenance=_provenance(quick),
        ),
        Claim(
            "States near to balance have about the largest global benefit",
            "in or near to a balanced state",
            f"they lose {_percent(loss)}; {np.sum(loss <= EQUAL)} of {len(loss)} lose nothing",
            bool(np.all(loss <= EQUAL)),
            "random markets; tasks go one by one to the peer whose mean price with one more is"
            " highest, which is a balanced state but for less than a task of each peer, and but for"
            " those at their caps, who may keep a profit. Agrees if none loses",
            "section 4.1",
            provenance=_provenance(quick),
        ),
    ]


def equation8(quick: bool) -> list[Claim]:
    """Return what the mean of prices is good for."""
    found, small = drawn_markets(quick), small_markets(quick)
    clears = sum(each.mean_clears for each in found)
    demand = np.array([each.mean_demand for each in found])
    worth = [1 - each.mean_worth for each in found if each.mean_demand < 1]
    wide = np.quantile(demand, [0.05, 0.5, 0.95])
    maximal = sum(each.near_is_maximal for each in small)
    return [
        Claim(
            "The market price is the mean of the peers' prices",
            "p* = sum(v_i) / n",
            f"clears the market at the maximum in {clears} of {len(found)} markets",
            clears == len(found),
            "a mean of mean prices, beside the interval of clearing prices, which are marginal"
            " ones; peers without tasks count with their base prices, as in Fig. 2. At this price"
            f" peers demand {wide[1]:.2f} m tasks in the median, {wide[0]:.2f} m to"
            f" {wide[2]:.2f} m in nine of ten; where they demand fewer than m, what they leave is"
            f" {_percent(worth)} of the largest benefit. Agrees if it clears in all",
            "Eq. (8)",
            provenance=_provenance(quick),
        ),
        Claim(
            "The state whose prices vary least about their mean has the largest benefit",
            "the nearest to a balanced state",
            f"in {maximal} of {len(small)} markets; the others lose"
            f" {_percent(each.near_loss for each in small if not each.near_is_maximal)}",
            maximal == len(small),
            "all assignments of small markets that give every peer a task at least, as section 4.1"
            " assumes; compared with the best of the same. Agrees if it has in all",
            "Eq. (8)",
            provenance=_provenance(quick) | SMALL_RANGES,
        ),
    ]


def what_holds(quick: bool) -> list[Claim]:
    """Return what is true instead: clearing prices, and half of the maximum."""
    found, small = drawn_markets(quick), small_markets(quick)
    states, maxima = sum(each.states for each in small), sum(each.maxima for each in small)
    exceptions = sum(each.exceptions for each in small)
    odd = sum(not each.supported or each.wrongly_supported for each in found)
    worst = max(1 / (1 - each.loss) for each in found)
    _, ratios, limits = extreme_markets(quick)
    made = max(1 / (1 - each.loss) for each in made_states(quick))
    worst = max(worst, made, float(ratios.max()))
    return [
        Claim(
            "A state has the largest benefit if and only if some price makes each peer's amount a"
            " best response",
            "not said",
            f"{exceptions} exceptions among {states} states, {maxima} of them maxima",
            exceptions == 0 and odd == 0,
            "that is, the best further task is worth no more than the worst that is sold."
            f" All assignments of {len(small)} small markets; and of {len(found)} larger ones"
            f" {odd} have a maximum without such a price, or a state near to balance that has one"
            " and loses. Agrees if there is no exception",
            "in place of Theorem 3",
            provenance=_provenance(quick) | SMALL_RANGES,
        ),
        Claim(
            "The largest benefit is at most twice that of a balanced state",
            "not said",
            f"{worst:.3f} times at most",
            bool(worst <= 2),
            "a peer that gets more at the maximum values none of these tasks above the balanced"
            " price. The worst of random markets, of balanced states that are made, and of one"
            f" peer of value {FAST[-1]:g} among {SLOW:,} of value 1 with as many tasks, where"
            f" {limits[-1]:.3f} is the limit of ever more of both. Agrees if it is 2 at most",
            "in place of Theorem 3",
            provenance=_provenance(quick),
        ),
    ]


def figures(quick: bool) -> list[Figure]:
    """Return what states near to balance lose."""
    loss = np.sort([each.loss for each in drawn_markets(quick)])
    part = np.arange(1, len(loss) + 1) / len(loss)
    fast, ratios, limits = extreme_markets(quick)
    return [
        Figure(
            "balance-loss",
            f"What the state nearest to balance loses, {len(loss)} random markets\n"
            f"alpha {ALPHA[0]:g} to {ALPHA[1]:g}; N_max none, lambda ceil(m / n) or any",
            "benefit lost [%]",
            "share of markets",
            {"nearest to balance": (100 * loss, part)},
            whole=True,
        ),
        Figure(
            "balance-ratio",
            f"Largest benefit over that near to balance, one peer of value R among {SLOW:,} of 1\n"
            "as many tasks, no N_max, alpha = 1 - exp(-x / m) where x = R (1 - exp(-x))",
            "log10 R",
            "ratio",
            {
                "whole tasks": (np.log10(fast), ratios),
                "limit": (np.log10(fast), limits),
            },
            lines={"2": 2.0},
        ),
    ]


def _provenance(quick: bool) -> dict[str, object]:
    """Return what all measurements depend on."""
    draws = QUICK_DRAWS if quick else DRAWS
    return {"seed": SEED, "instances": f"0 to {draws - 1}", "alpha": f"{ALPHA[0]:g} to {ALPHA[1]}"}


def _percent(losses: object) -> str:
    """Say mean and maximum of losses."""
    values = 100 * np.array(list(losses), dtype=np.float64)  # type: ignore[call-overload]
    return f"{values.mean():.2f} % on average, {values.max():.1f} % at most" if len(values) else "-"


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "least example": least_example,
    "Theorem 1": theorem1,
    "Theorem 2": theorem2,
    "Theorem 3": theorem3,
    "Eq. (8)": equation8,
    "what holds": what_holds,
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {"balance": figures}
