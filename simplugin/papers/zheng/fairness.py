"""Figure 5: fairness of ISGBMAT's allocation against the largest share of a peer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from simplugin.market.model import PricedAssignment
from simplugin.papers.statements import Quantity, determined_by, share
from simplugin.papers.zheng.settings import ON_SITE, TASKS, ExperimentSetting, best_of, by_class
from simplugin.papers.zheng.table1 import outcome
from simplugin.platforms.twelve_peers import DEGREES, N_PEERS, SEED, scaled_site
from simplugin.results.curves import CurvePlot
from simplugin.workloads.bundle_markets import Floats, largest_share
from simplugin.workloads.bundles import CLASSES

# Fairness falls with lambda at the first of these discount rates and rises at the last.
FALLING, RISING = 0.002, 0.02
RATES = (FALLING, 0.003, 0.006, 0.01, RISING, 0.03)
SITES, QUICK_SITES = 200, 10
_STEP, _COARSE = 0.05, 0.25
_CHANGE = 1e-9


class FairnessCurve(NamedTuple):
    """Fairness for ever larger N_max, until no peer wants more.

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
    def is_rising(self) -> bool:
        """True if fairness never falls, and rises somewhere."""
        steady = bool(np.all(np.diff(self.fairness) >= -_CHANGE))
        return steady and self.fairness[-1] - self.fairness[0] > _CHANGE

    @property
    def converges(self) -> bool:
        """True if fairness is constant from where N_max does not bind."""
        past = self.factors >= self.free
        return bool(np.all(self.fairness[past] == self.fairness[-1]) and past.sum() > 1)

    def __str__(self) -> str:
        """Return both ends, and where the curve is flat."""
        return f"{self.fairness[0]:.3f} to {self.fairness[-1]:.3f} ({self.free:.2f})"


@cache
def curve(degree: float, setting: ExperimentSetting, step: float = _STEP) -> FairnessCurve:
    """Return the fairness of the chosen site, scaled to a heterogeneity degree."""
    site = scaled_site(SEED, degree)
    wanted = outcome(site, setting, "isgbmat")
    free = float(wanted.amounts.max() / largest_share(TASKS, N_PEERS, 1))
    # Two steps past the last cap that binds.
    count = int(np.ceil((free - 1) / step)) + 3
    factors = np.array([1 + step * number for number in range(count)])
    fairness = [
        outcome(site, replace(setting, factor=float(factor)), "isgbmat").fairness
        for factor in factors
    ]
    return FairnessCurve(factors, np.array(fairness), free)


def curves(kind: str, alpha: float, quick: bool) -> list[FairnessCurve]:
    """Return the curves of the three heterogeneity degrees, the lowest first."""
    step = _COARSE if quick else _STEP
    return [curve(degree, ExperimentSetting(kind, alpha), step) for degree in DEGREES]


@cache
def ends(seed: int, degree: float, setting: ExperimentSetting) -> tuple[float, float]:
    """Return fairness at lambda 1 and without caps; the exact maximum stands for ISGBMAT's."""
    site = scaled_site(seed, degree)
    found = []
    for factor in (1.0, None):
        market, times = replace(setting, factor=factor).market(site)
        best = best_of(market)
        taken = best.amounts * times
        found.append(PricedAssignment(market, best.amounts, best.price, taken).fairness)
    return found[0], found[1]


def fairness(quick: bool) -> dict[str, Quantity]:
    """Measure where fairness begins, rises and ends."""
    kinds = ("computation",) if quick else tuple(CLASSES)
    drawn = {(a, k): curves(k, a, quick) for a in (RISING, FALLING) for k in kinds}
    everyone = [each for some in drawn.values() for each in some]
    known = ON_SITE | {"alpha": [RISING, FALLING], "H_D": list(DEGREES)}
    words = "; ".join(
        f"alpha {alpha:g}, {kind}: {', '.join(map(str, some))}"
        for (alpha, kind), some in drawn.items()
    )
    rising = {
        alpha: float(np.mean([each.is_rising for kind in kinds for each in drawn[alpha, kind]]))
        for alpha in (RISING, FALLING)
    }
    flat = sum(each.converges for each in everyone)
    least = TASKS // N_PEERS
    found = {
        "floor.places": Quantity(
            N_PEERS * least, note=f"{N_PEERS} peers with {least} tasks each", provenance=ON_SITE
        ),
        "fairness.rising": Quantity(
            rising[RISING],
            note=f"curves that rise without a fall, from lambda 1 to where N_max does not bind, at"
            f" alpha {RISING:g}: {words}; then {flat} of {len(everyone)} are constant. Fairer"
            " without N_max, in part of the sites by degree:"
            f" {_fairer(kinds, quick)}",
            optimum=1.0,
            readings={f"alpha {FALLING:g}": (rising[FALLING], rising[FALLING])},
            missing="the discount rate",
        ),
        "fairness.ordered": _ordered(drawn, quick),
    }
    return determined_by(known, found)


def _fairer(kinds: tuple[str, ...], quick: bool) -> str:
    """Return in which part of sites leaving N_max out is fairer, by discount rate and degree."""
    words = []
    for alpha in RATES:
        parts = [
            np.mean(
                [
                    free > equal
                    for kind in kinds
                    for seed in range(QUICK_SITES if quick else SITES)
                    for equal, free in (ends(seed, degree, ExperimentSetting(kind, alpha)),)
                ]
            )
            for degree in DEGREES
        ]
        words.append(f"alpha {alpha:g} {', '.join(f'{part:.0%}' for part in parts)}")
    return "; ".join(words)


def _ordered(drawn: dict[tuple[float, str], list[FairnessCurve]], quick: bool) -> Quantity:
    """Return at which part of all lambda sites of higher degree are less fair."""
    lower: dict[str, list[bool]] = {}
    for (_, kind), some in drawn.items():
        length = max(len(each.fairness) for each in some)
        # Past its last cap that binds a curve is constant.
        values = np.array(
            [np.pad(c.fairness, (0, length - len(c.fairness)), mode="edge") for c in some]
        )
        lower.setdefault(kind, []).extend(np.all(np.diff(values, axis=0) < 0, axis=0).tolist())
    return share(
        [each for own in lower.values() for each in own],
        f" lambda ({by_class(map(np.mean, lower.values()), '.0%')})",
        quick=quick,
        over="lambda",
    )


def figure5(quick: bool, *, alpha: float, kind: str) -> list[CurvePlot]:
    """Return fairness against lambda for three heterogeneity degrees."""
    some = curves(kind, alpha, quick)
    suffix = "" if kind == "computation" else f"-{kind}"
    # All curves to the end of the longest.
    end = max(float(each.factors[-1]) for each in some)
    return [
        CurvePlot(
            f"figure5-alpha-{alpha:g}{suffix}",
            f"Figure 5: {kind} tasks, alpha {alpha:g}",
            "lambda: N_max / mean number of tasks of a peer",
            "workload fairness FI",
            {
                f"H_D = {degree:.4g}": (
                    np.append(each.factors, end),
                    np.append(each.fairness, each.fairness[-1]),
                )
                for degree, each in zip(DEGREES, some, strict=True)
            },
            # The paper is about the start of the lowest curve.
            whole=True,
        )
    ]
