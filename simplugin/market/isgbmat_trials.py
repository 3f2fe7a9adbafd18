"""Runs of ISGBMAT on random markets, with all, some or none of its repairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simplugin.market.dealing import round_robin
from simplugin.market.instances import instance
from simplugin.market.isgbmat import PRINTED, REPAIRED, Repairs, Run, run_isgbmat
from simplugin.optimum.bundle_benefit import largest_benefit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simplugin.market.instances import Instance
    from simplugin.optimum.bundle_benefit import BestBundle
    from simplugin.workloads.bundle_markets import Amounts, Floats

INSTANCES, QUICK_INSTANCES = 1000, 100
EQUAL = 1e-9
# The printed loop, and with more and more of its defects cured.
STAGES: Mapping[str, Repairs] = {
    "as printed": PRINTED,
    "0/0 cured": replace(PRINTED, idle_price=True),
    "and full peers left out": replace(PRINTED, idle_price=True, full_left_out=True),
    "and in logarithms": replace(PRINTED, idle_price=True, full_left_out=True, logarithms=True),
    "and trimmed": replace(REPAIRED, last_round=False, clearing_price=False),
    "all repairs": REPAIRED,
}
ENDS = ("ended", "not a number", "overshoot", "stuck")


class Trial(NamedTuple):
    """A run on a market, and the best that there is."""

    drawn: Instance
    best: BestBundle
    run: Run

    @property
    def is_optimal(self) -> bool:
        """Whether A + F is worth as much as the best, and places all tasks."""
        taken = self.run.taken
        benefit = self.drawn.market.benefit(taken)
        return bool(taken.sum() == self.drawn.m and benefit >= self.best.benefit * (1 - EQUAL))

    @property
    def is_put_out(self) -> bool:
        """Whether what is put out is worth as much as the best, and places all tasks."""
        put_out = self.run.amounts
        benefit = self.drawn.market.benefit(put_out)
        return bool(put_out.sum() == self.drawn.m and benefit >= self.best.benefit * (1 - EQUAL))

    @property
    def clears(self) -> bool:
        """Whether the price put out is a clearing price."""
        low, high = self.best.next_price * (1 - EQUAL), self.best.price * (1 + EQUAL)
        return bool(low <= self.run.price <= high)


@cache
def trials(repairs: Repairs, quick: bool, alike: bool = False) -> tuple[Trial, ...]:
    """Return how ISGBMAT with some repairs fares on the markets of the first seeds.

    Parameters
    ----------
    repairs : Repairs
        Which are made.
    quick : bool
        100 markets instead of 1000.
    alike : bool
        Whether all peers have the value of the first.
    """
    drawn = drawn_markets(quick, alike)
    return tuple(Trial(each, best, run_isgbmat(*each.arguments, repairs)) for each, best in drawn)


def ends(repairs: Repairs, quick: bool) -> Counter[str]:
    """Return how often ISGBMAT with some repairs ends in each way."""
    return Counter(trial.run.end for trial in trials(repairs, quick))


@dataclass(frozen=True)
class Without:
    """What becomes of markets if one repair is not made.

    Attributes
    ----------
    key : str
        Of the repair.
    failures : int
        Runs that do not end, or put out too few or too many tasks, too little benefit or no
        clearing price.
    count : int
        How many runs there are.
    words : str
        What failed.
    """

    key: str
    failures: int
    count: int
    words: str


@cache
def without(key: str, quick: bool) -> Without:
    """Return what becomes of the markets if all repairs but one are made.

    Parameters
    ----------
    key : str
        Of `REPAIRS`. Without the refusal, markets whose caps lack room are tried; without
        logarithms, markets whose peers are all alike.
    quick : bool
        100 markets instead of 1000.
    """
    repairs = replace(REPAIRED, **{key: False})
    if key == "refusal":
        runs = [run_isgbmat(*_too_small(each), repairs) for each, _ in drawn_markets(quick)]
        stuck = sum(run.end == "stuck" for run in runs)
        return Without(key, stuck, len(runs), f"{stuck} stay empty for ever, if caps lack room")
    alike = key == "logarithms"
    found = trials(repairs, quick, alike)
    failed = [(each, _failure(each)) for each in found]
    how = Counter(words for _, words in failed if words)
    if alike:
        others = sum(bool(_failure(each)) for each in trials(repairs, quick))
        how[f"if all peers are alike; {others} if each has its own value"] = 0
    words = [f"{number} {words}" if number else words for words, number in how.items()]
    return Without(key, sum(how.values()), len(found), ", ".join(words) or "none fails")


def _failure(trial: Trial) -> str:
    """Return in what a run has failed; empty if it has not."""
    if trial.run.end != "ended":
        return _WORDS[trial.run.end]
    placed = int(trial.run.amounts.sum())
    if placed != trial.drawn.m:
        return f"put out too {'few' if placed < trial.drawn.m else 'many'} tasks"
    if not trial.is_put_out:
        return "put out too little benefit"
    return "" if trial.clears else "put out no clearing price"


_WORDS = {
    "not a number": "come to 0/0",
    "overshoot": "pass m for ever",
    "stuck": "stay empty for ever",
}


@cache
def drawn_markets(quick: bool, alike: bool = False) -> tuple[tuple[Instance, BestBundle], ...]:
    """Return the markets of the first seeds with their maxima.

    Parameters
    ----------
    quick : bool
        100 markets instead of 1000.
    alike : bool
        Whether all peers have the value of the first.
    """
    drawn = [instance(seed) for seed in range(QUICK_INSTANCES if quick else INSTANCES)]
    if alike:
        drawn = [replace(each, values=np.full_like(each.values, each.values[0])) for each in drawn]
    return tuple((each, largest_benefit(*each.arguments)) for each in drawn)


def _too_small(drawn: Instance) -> tuple[Floats, int, Amounts, float]:
    """Return a market with caps that leave one task over."""
    return drawn.values, drawn.m, round_robin(drawn.m - 1, drawn.caps), drawn.q
