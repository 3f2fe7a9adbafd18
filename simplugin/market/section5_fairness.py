"""Figure 5 of the paper: fairness of ISGBMAT's allocation against the largest share of a peer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from simplugin.elementary import exp, log
from simplugin.market.model import largest_share
from simplugin.market.outcomes import Outcome
from simplugin.market.section5 import Setting, outcome
from simplugin.market.section5_sites import N_PEERS, TASKS, scaled_site
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import Floats

# Fairness falls with lambda at the first of these discount rates and rises at the last.
FALLING, RISING = 0.002, 0.02
# Below this the equal split is fairer than leaving N_max out, if peers differ little: alpha m / n
# is a half. There the k-th task is worth about (1 - k alpha) of the first, a peer whose value is by
# a part d above the mean gets d / alpha tasks more than others, its time differs from the mean by
# the part |n d / (alpha m) - d| of it; by d if all get the same.
THRESHOLD = N_PEERS / (2 * TASKS)
_STEP = 0.05
_CHANGE = 1e-9


@dataclass(frozen=True, eq=False)
class Curve:
    """Fairness for ever larger N_max, until peers take no more than they want anyway.

    Attributes
    ----------
    factors : float64, shape (n_points,)
        N_max over the mean number of tasks of a peer, rounded up: lambda. From 1 on.
    fairness : float64, shape (n_points,)
        FI, Eq. (14).
    free : float
        The lambda from which N_max does not bind.
    """

    factors: Floats
    fairness: Floats
    free: float

    @property
    def rise(self) -> float:
        """How much fairer leaving N_max out is than the equal split."""
        return float(self.fairness[-1] - self.fairness[0])

    @property
    def is_rising(self) -> bool:
        """Whether fairness never falls, and rises somewhere."""
        return bool(np.all(np.diff(self.fairness) >= -_CHANGE)) and self.rise > _CHANGE


@cache
def curve(seed: int, degree: float, setting: Setting, step: float = _STEP) -> Curve:
    """Return the fairness of a site of a heterogeneity degree.

    Parameters
    ----------
    seed, degree
        As in `simplugin.market.section5_sites.scaled_site`.
    setting : Setting
        What tasks and discount rate; its cap is left.
    step : float
        Between two lambda.
    """
    site = scaled_site(seed, degree)
    wanted = outcome(site, replace(setting, factor=None), "isgbmat")
    free = float(wanted.amounts.max() / largest_share(TASKS, N_PEERS, 1))
    # Two steps past the last cap that binds.
    count = int(np.ceil((free - 1) / step)) + 3
    factors = np.array([1 + step * number for number in range(count)])
    fairness = [
        outcome(site, replace(setting, factor=float(factor)), "isgbmat").fairness
        for factor in factors
    ]
    return Curve(factors, np.array(fairness), free)


@cache
def ends(seed: int, degree: float, setting: Setting) -> tuple[float, float]:
    """Return fairness at lambda 1 and without caps; the exact maximum stands for ISGBMAT's.

    Parameters
    ----------
    seed, degree, setting
        As in `curve`.
    """
    site = scaled_site(seed, degree)
    found = []
    for factor in (1.0, None):
        market, times = replace(setting, factor=factor).market(site)
        best = largest_benefit(market.values, market.m, market.caps, market.q)
        found.append(Outcome.estimated(market, best.amounts, best.price, times).fairness)
    return found[0], found[1]


def turning_rate(seed: int, degree: float, kind: str) -> float:
    """Return the discount rate at which the equal split is as fair as no N_max, by bisection.

    Parameters
    ----------
    seed, degree
        As in `curve`.
    kind : str
        Class of tasks.
    """
    low, high = log(THRESHOLD / 20), log(THRESHOLD * 5)
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        equal, free = ends(seed, degree, Setting(kind, exp(middle)))
        low, high = (low, middle) if free > equal else (middle, high)
    return exp(0.5 * (low + high))
