"""Whether it pays to revise shares when graphs come and go, which the paper leaves for later."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.taskgraphs.arrivals import (
    OURS,
    RHOS,
    STRATEGIES,
    TOGETHER,
    Summary,
    bound,
    runs,
    settings,
    summary,
    tried,
)
from simplugin.taskgraphs.campaign import SEED, SITES, Setting
from simplugin.taskgraphs.readings import Readings

if TYPE_CHECKING:
    from collections.abc import Callable

# Combinations and sites; the quick run has one load, and only what a few runs can tell.
NUMBERS, QUICK_NUMBERS, QUICK_SITES, QUICK_RHO = 8, 1, ("lille", "sophia"), 0.3
# The strategy that ours is compared with, the fairest of the paper's.
_RIVAL = "wps_width"
_START = Readings(fixing="start")
_SOURCE = "section 8, future work"


def _runs(rho: float, quick: bool) -> list[Any]:
    """Return what is looked at."""
    numbers = range(QUICK_NUMBERS if quick else NUMBERS)
    return runs("random", rho, numbers=numbers, sites=QUICK_SITES if quick else SITES)


def found(setting: Setting, rho: float, *, quick: bool) -> Summary:
    """Return the means of a setting over random graphs that arrive."""
    return summary([tried(each, setting) for each in _runs(rho, quick)])


def _words(each: Summary) -> str:
    """Write the means of a setting."""
    return (
        f"unfairness {each.unfairness:.2f}, slowdown {each.slowdown:.2f} on average and"
        f" {each.worst:.2f} at worst, {each.makespan:.0f} s"
    )


def _claim(rho: float, quick: bool, claim: str, paper: str, **further: Any) -> Claim:
    """Return a claim with what all have in common."""
    provenance = {
        "seed": SEED,
        "rho": rho,
        "combinations": QUICK_NUMBERS if quick else NUMBERS,
        "sites": list(QUICK_SITES if quick else SITES),
    }
    claim = f"random graphs, one each {rho:g} makespans: {claim}"
    return Claim(claim, paper, **further, source=_SOURCE, provenance=provenance)


def recomputing(rho: float, quick: bool) -> list[Claim]:
    """Return whether shares of the graphs that are there beat those of all that will ever come."""
    if quick and rho != QUICK_RHO:
        return []
    claims = []
    for strategy in (_RIVAL,) if quick else STRATEGIES:
        static, arrival, event = (
            found(each, rho, quick=quick) for each in settings(strategy).values()
        )
        if strategy == "s":
            continue  # it has no shares
        claims.append(
            _claim(
                rho,
                quick,
                f"constraints have to be modified on arrivals, under {strategy}",
                "to be done",
                measured=f"slowdown {static.slowdown:.2f} to {event.slowdown:.2f},"
                f" {static.makespan:.0f} s to {event.makespan:.0f} s",
                agrees=event.slowdown > static.slowdown and event.makespan < static.makespan,
                why=f"static: {_words(static)}; on arrival: {_words(arrival)}; at events:"
                f" {_words(event)}. Agrees if from static to events the mean slowdown rises (1 is"
                " the best) and the makespan shrinks",
            )
        )
    return claims if quick else [*claims, *_completions(rho)]


def _completions(rho: float) -> list[Claim]:
    """Return whether it pays to react to completions too."""
    arrival, event = (
        found(settings(_RIVAL)[when], rho, quick=False) for when in ("arrival", "event")
    )
    start = found(settings(_RIVAL, _START)["event"], rho, quick=False)
    return [
        _claim(
            rho,
            False,
            f"it pays to react to completions as well, under {_RIVAL}",
            "to be done",
            measured=f"slowdown {arrival.slowdown:.2f} to {event.slowdown:.2f},"
            f" {arrival.makespan:.0f} s to {event.makespan:.0f} s",
            agrees=event.slowdown >= arrival.slowdown and event.makespan <= arrival.makespan,
            why=f"on arrival: {_words(arrival)}; at events: {_words(event)}; at events, where tasks"
            f" are mapped only when they can start: {_words(start)}. Agrees if neither the mean"
            " slowdown nor the makespan gets worse",
        )
    ]


def dominating(rho: float, quick: bool) -> list[Claim]:
    """Return whether ours is both fairer and shorter than the fairest strategy of the paper."""
    if quick:
        return []
    ours = found(OURS, rho, quick=False)
    best = float(np.mean([bound(each) for each in _runs(rho, False)]))
    rivals = dict(settings(_RIVAL).items())
    rivals["event, contention counted"] = settings(_RIVAL, TOGETHER)["event"]
    claims = []
    for name, setting in rivals.items():
        rival = found(setting, rho, quick=False)
        claims.append(
            _claim(
                rho,
                False,
                f"shares that are rebalanced beat {_RIVAL} ({name}) in unfairness and makespan",
                f"unfairness {rival.unfairness:.2f}, {rival.makespan:.0f} s",
                measured=f"unfairness {ours.unfairness:.2f}, {ours.makespan:.0f} s",
                agrees=ours.unfairness < rival.unfairness and ours.makespan <= rival.makespan,
                why=f"ours: {_words(ours)}; {_RIVAL}: {_words(rival)}; no schedule ends before"
                f" {best:.0f} s on average, {ours.makespan / best - 1:.0%} less than ours."
                " Agrees if unfairness is lower and the makespan no longer",
                optimum=best,
            )
        )
    return claims


def trade_off(rho: float, quick: bool) -> list[Figure]:
    """Return unfairness against makespan of all strategies, as points."""
    if quick and rho != QUICK_RHO:
        return []
    series, names = {}, {}
    modes: dict[str, list[tuple[str, Setting]]] = {"rebalanced (ours)": [("ours", OURS)]}
    for strategy in (_RIVAL,) if quick else STRATEGIES:
        for when, setting in settings(strategy).items():
            modes.setdefault(when, []).append((strategy, setting))
    for mode, pairs in modes.items():
        means = [found(setting, rho, quick=quick) for _, setting in pairs]
        series[mode] = (
            [each.makespan for each in means],
            [each.unfairness for each in means],
        )
        names[mode] = [name for name, _ in pairs]
    return [
        Figure(
            f"arrivals-{rho:g}",
            f"Random graphs that arrive, one each {rho:g} makespans",
            "makespan [s]",
            "unfairness",
            series,
            names=names,
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    **{f"arrivals, {rho:g}": partial(recomputing, rho) for rho in RHOS},
    **{f"arrivals, ours, {rho:g}": partial(dominating, rho) for rho in RHOS},
}
FIGURES: dict[str, Callable[[bool], list[Figure]]] = {
    f"arrivals, trade-off, {rho:g}": partial(trade_off, rho) for rho in RHOS
}
