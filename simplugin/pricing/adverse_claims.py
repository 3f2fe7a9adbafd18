"""The method without step sizes where things are against it: a bad start, and late news."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.pricing.acceleration import AcceleratedMarket, accelerated
from simplugin.pricing.delays import DelayedMarket
from simplugin.pricing.gradient import Steps
from simplugin.pricing.instances import SEED
from simplugin.pricing.markets import Market
from simplugin.pricing.past_claims import PROPORTIONAL, chosen
from simplugin.pricing.resumption import begun_from
from simplugin.pricing.survey import examine, spread, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simplugin.pricing.markets import MarketState
    from simplugin.pricing.survey import Finding
    from simplugin.workloads.sharing import Sharing

# Rounds that each run gets, and how old a plan may be that is acted upon.
_ROUNDS, _QUICK_ROUNDS, _DELAY = 600, 300, 5
# Actors run platforms of so many agents at most in the quick run, and in the full one.
_QUICK_AGENTS, _MOST_AGENTS = 60, 400
# What diverges has an error of this or more, of a throughput or of overload, in the last half.
_DIVERGED = 1.0


def bad_start(quick: bool) -> list[Claim]:
    """Return how markets do from Table 1's rates and prices, which are far from all markets'."""
    claims = []
    for what, method in (("accelerated markets", AcceleratedMarket()), ("markets", Market())):
        found = []
        for each in chosen(quick):
            begun = _reported_start(each.sharing)
            small = each.sharing.n_agents <= (_QUICK_AGENTS if quick else _MOST_AGENTS)
            found.append(
                examine(
                    each,
                    method,
                    PROPORTIONAL,
                    _QUICK_ROUNDS if quick else _ROUNDS,
                    simulated=small,
                    start=accelerated(begun) if isinstance(method, AcceleratedMarket) else begun,
                )
            )
        claims.append(
            _claim(
                f"A really badly chosen initialisation does no harm: {what}",
                "oscillations quickly vanish",
                found,
                "from rates of 6e5 and prices of 0.02 on every platform, cut before the first"
                " round, by arrays and not by messages: no application above its even part of what"
                " it would reach alone, no resource dearer than its participants would gain alone,"
                " no route dearer than a task is worth at that; actors on SimGrid ran"
                f" {_simulated(found)} of the platforms",
                "section 5.3, Figure 8",
                quick,
            )
        )
    return claims


def late_news(quick: bool) -> list[Claim]:
    """Return how markets do where each slot acts on a plan that is up to five rounds old."""
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    method = DelayedMarket(_DELAY)
    found = [examine(each, method, PROPORTIONAL, rounds, simulated=False) for each in chosen(quick)]
    return [
        _claim(
            "It also works where plans come late: markets",
            "not tried",
            found,
            "pure iterations: markets and sweeps wait for each other, but each slot acts on a plan"
            f" of the last {_DELAY + 1} rounds, drawn anew each round, with a relaxation"
            f" of {method.relaxation:g}",
            "section 5.1.1",
            quick,
        )
    ]


def _reported_start(sharing: Sharing) -> MarketState:
    """Return the state with Table 1's starting values, within what is possible."""
    steps = Steps()
    return begun_from(
        sharing,
        PROPORTIONAL,
        np.where(sharing.computes, steps.start_rate, 0.0),
        np.full(sharing.n_hosts, steps.start_host_price),
        np.full(sharing.n_links, steps.start_link_price),
    )


def _claim(
    claim: str, paper: str, found: Sequence[Finding], how: str, source: str, quick: bool
) -> Claim:
    """Return what rounds it took, and whether anything diverged."""
    median, _ = spread(found, "near")
    rounds = _QUICK_ROUNDS if quick else _ROUNDS
    late = float(np.max([each.worst for each in found]))
    never = sum(each.near is None for each in found)
    return Claim(
        claim,
        paper,
        f"every throughput within 1 % after {written(median, rounds)} rounds (median)",
        bool(late < _DIVERGED),
        f"{how}; {len(found)} platforms, on {never} of them not within 1 % by the last round, else"
        f" {_known(found):g} at worst; the largest error in the last half is {late:.2g}; agrees if"
        " none diverges, with an error of 1 or more",
        source,
        provenance=_provenance(quick),
    )


def _known(found: Sequence[Finding]) -> float:
    """Return the most rounds to 1 % among those that got there."""
    return max((each.near for each in found if each.near is not None), default=np.inf)


def _simulated(found: Sequence[Finding]) -> int:
    """Return how many platforms actors ran."""
    return sum(not np.isnan(each.apart) for each in found)


def _provenance(quick: bool) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {
        "platforms": "every 17th of 200 instances" if quick else "200 instances",
        "seed": SEED,
        "rounds": _QUICK_ROUNDS if quick else _ROUNDS,
    }


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "platforms, bad start": bad_start,
    "platforms, late news": late_news,
}
