"""What comes of peers that answer each other's reports."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.market.instances import instance
from simplugin.market.mechanisms import uniform
from simplugin.market.misreport_claims import (
    MOST_TASKS,
    NOTHING,
    PAST,
    provenance,
    site_market,
    survey,
)
from simplugin.market.misreports import play

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplugin.market.misreports import Game

# Random markets in which peers answer each other, and the tick of their reports.
GAMES, QUICK_GAMES, TICK = 200, 5, 0.01
# Part of the benefit that the game may cost before that is said of it.
MOST_LOST = 0.05


@cache
def game(seed: int) -> tuple[Game, float]:
    """Return where peers end that answer each other, and the income that truth would bring."""
    market = instance(seed, MOST_TASKS).market
    return play(market, tick=TICK), uniform(market).revenue


def games(quick: bool) -> list[Claim]:
    """Return where peers end that answer each other's reports."""
    wanted = QUICK_GAMES if quick else GAMES
    free = (seed for seed in range(10 * wanted) if not survey(seed).captive)
    seeds = [seed for seed, _ in zip(free, range(wanted), strict=False)]
    found = [game(seed) for seed in seeds]
    ended = [each.ended for each, _ in found]
    ends = {end: ended.count(end) for end in ("settled", "cycle", "open")}
    known = provenance(seeds[-1] + 1, markets=len(seeds), tick=TICK)
    settle = Claim(
        "Peers that answer each other's reports under one price settle",
        "not said",
        f"{ends['settled']} of {len(found)} markets settle, {ends['cycle']} come back to the"
        f" same reports for ever, {ends['open']} neither in 200 passes",
        ends["settled"] == len(found),
        "in turn, each the report that is best for it then, on a grid of factors"
        f" exp({TICK:g}). Agrees if all settle. They bid each other up over a task for as long"
        " as that is worth it, then all drop back",
        PAST,
        provenance=known,
    )
    # What few markets lose says nothing of the worst.
    return [settle] if quick else [settle, *_lost(found, known)]


def _lost(found: list[tuple[Game, float]], known: dict[str, object]) -> list[Claim]:
    """Judge what the game costs the local scheduler, and all together."""
    income = np.array([1 - each.revenue / truth for each, truth in found])
    benefit = np.array([1 - 1 / each.anarchy for each, _ in found])
    some = np.maximum(income, benefit) > NOTHING
    market = site_market("computation")
    site, truth = play(market, tick=TICK), uniform(market).revenue
    known = known | {"chosen site": f"computation, {site.ended}"}
    why = (
        "the worst end of a cycle counts for U^G, the mean over it for income. Markets in which"
        " caps leave a peer without rivals are left out. Agrees if"
    )
    return [
        Claim(
            "The game costs a larger part of the local scheduler's income than of U^G",
            "not said",
            f"income loses {income.mean():.1%} on average, {income.max():.1%} at most; U^G"
            f" {benefit.mean():.1%} and {benefit.max():.1%}; chosen site"
            f" {1 - site.revenue / truth:.1%} and {1 - 1 / site.anarchy:.2%}",
            bool(income.mean() > benefit.mean()),
            f"{why} so on average: income loses the larger part in {np.sum(income > benefit)} of"
            f" {np.sum(some)} markets in which either loses any",
            PAST,
            provenance=known,
        ),
        Claim(
            f"The game never costs more than {MOST_LOST:.0%} of U^G",
            "not said",
            f"it costs more in {np.sum(benefit > MOST_LOST)} of {len(found)} markets,"
            f" {benefit.max():.1%} at most",
            bool(benefit.max() <= MOST_LOST),
            f"{why} so in each market. Where it does not, most often a peer that reports too little"
            " leaves tasks to slower ones",
            PAST,
            provenance=known,
        ),
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"game": games}
