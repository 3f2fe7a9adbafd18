"""What the paper says of fairness and N_max, its Figure 5, and what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplugin.claims import Claim
from simplugin.errors import InfeasibleError
from simplugin.market.model import Terms, completion_times
from simplugin.market.section5 import ALPHA, SETTINGS, Setting
from simplugin.market.section5_fairness import (
    FALLING,
    RISING,
    THRESHOLD,
    Curve,
    curve,
    ends,
    turning_rate,
)
from simplugin.market.section5_sites import DEGREES, N_PEERS, SEED, TASKS, chosen_site
from simplugin.workloads.bundles import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = "section 5.2, Figure 5"
# Discount rates between and around the two of the figures.
RATES = (FALLING, 0.003, 0.006, ALPHA, RISING, 0.03)
_SITES, _QUICK_SITES = 200, 10
_TURNING_SITES = 10
_COARSE = 0.25
# Below this fairness is called poor; 1 is the most.
_POOR, _FAIR = 0.9, 1.0
_SAME = 1e-6


def kinds(quick: bool) -> tuple[str, ...]:
    """Return the classes of tasks that are looked at."""
    return ("computation",) if quick else tuple(CLASSES)


def curves(kind: str, alpha: float, quick: bool) -> list[Curve]:
    """Return the curves of the three heterogeneity degrees, the lowest first."""
    steps = {"step": _COARSE} if quick else {}
    return [curve(SEED, degree, Setting(kind, alpha), **steps) for degree in DEGREES]


def floor_share(_quick: bool) -> list[Claim]:
    """Return whether lambda 1 is possible as the paper defines it."""
    least = TASKS // N_PEERS
    times = completion_times(chosen_site(), SETTINGS[0].bundle)
    try:
        Terms(ALPHA, least).market(times, TASKS)
        refusal = ""
    except InfeasibleError as error:
        refusal = str(error)
    return [
        Claim(
            "lambda = 1, the mean amount rounded down, is a possible N_max",
            f"N_max = floor({TASKS} / {N_PEERS}) = {least}",
            f"{N_PEERS} x {least} = {N_PEERS * least} < {TASKS}: {refusal or 'placed'}",
            not refusal,
            "agrees if the market can place all tasks; here lambda multiplies the mean rounded up",
            SOURCE,
            provenance={"m": TASKS, "n": N_PEERS},
        )
    ]


def poor(quick: bool) -> list[Claim]:
    """Return whether the equal split is unfair."""
    # The discount rate decides only who goes without the few places that are left over.
    starts = {
        kind: [each.fairness[0] for each in curves(kind, RISING, quick)] for kind in kinds(quick)
    }
    everyone = np.concatenate(list(starts.values()))
    words = "; ".join(
        f"{kind}: {', '.join(f'{start:.3f}' for start in some)}" for kind, some in starts.items()
    )
    return [
        Claim(
            "Fairness is poor at lambda = 1",
            "poor",
            f"FI below {_POOR:g} at the start of {int(np.sum(everyone < _POOR))} of {len(everyone)}"
            f" curves ({words})",
            bool(np.all(everyone < _POOR)),
            f"curves of H_D 2.76, 5.52, 11.05. Agrees if all start below {_POOR:g}; the paper's"
            " word has no figure. Equal amounts are as unfair as peers differ: only the paper's"
            " degree has a peer slow enough",
            SOURCE,
            optimum=_FAIR,
            provenance={"alpha": RISING, "seed": SEED, "classes": list(starts)},
        )
    ]


def rising(quick: bool) -> list[Claim]:
    """Return whether fairness rises with lambda, at a discount rate where it does and does not."""
    found = []
    for alpha in (RISING, FALLING):
        drawn = {kind: curves(kind, alpha, quick) for kind in kinds(quick)}
        everyone = [each for some in drawn.values() for each in some]
        words = "; ".join(
            f"{kind}: " + ", ".join(f"{c.fairness[0]:.3f} to {c.fairness[-1]:.3f}" for c in some)
            for kind, some in drawn.items()
        )
        up = sum(each.rise > _SAME for each in everyone)
        steady = sum(each.is_rising for each in everyone)
        found.append(
            Claim(
                f"Fairness rises with lambda (alpha {alpha:g})",
                "three curves rise, then converge",
                f"{up} of {len(everyone)} curves end above their start, {steady} without a fall"
                f" on the way ({words})",
                steady == len(everyone),
                "curves of H_D 2.76, 5.52, 11.05, from lambda 1 until N_max does not bind. Agrees"
                " if none falls and all end above their start. Without caps everything runs to the"
                " fastest"
                " peers as alpha goes to 0, and they take m / n each as it grows: whether caps make"
                " the allocation fairer is a matter of alpha, which the paper does not give",
                SOURCE,
                optimum=_FAIR,
                provenance={"alpha": alpha, "seed": SEED, "classes": list(drawn)},
            )
        )
    return found


def ordered(quick: bool) -> list[Claim]:
    """Return whether sites of higher degree are less fair at the same lambda."""
    total, parts, held = np.zeros(2), [], []
    seeds = range(_QUICK_SITES if quick else _SITES)
    for kind in kinds(quick):
        counts = np.zeros(2)
        for alpha in (RISING, FALLING):
            some = curves(kind, alpha, quick)
            length = max(len(each.fairness) for each in some)
            # Past its last cap that binds a curve stays where it is.
            values = np.array(
                [np.pad(c.fairness, (0, length - len(c.fairness)), mode="edge") for c in some]
            )
            counts += np.sum(np.all(np.diff(values, axis=0) < 0, axis=0)), length
            setting = Setting(kind, alpha)
            both = [[ends(seed, degree, setting) for degree in DEGREES] for seed in seeds]
            held.append(np.all(np.diff(both, axis=1) < 0, axis=(1, 2)))
        parts.append(f"{kind} {counts[0] / counts[1]:.0%}")
        total += counts
    return [
        Claim(
            "At any N_max, higher heterogeneity means less fairness",
            "three curves, one below the other",
            f"at {total[0]:.0f} of {total[1]:.0f} lambda ({', '.join(parts)})",
            bool(total[0] == total[1]),
            f"the chosen site, its deviations from the mean scaled to three degrees, alpha"
            f" {RISING:g} and {FALLING:g}; agrees if the curves lie so at every lambda. Of"
            f" {len(seeds)} sites {np.mean(held):.1%} have that order at lambda 1 and without caps",
            SOURCE,
            provenance={
                "alpha": [RISING, FALLING],
                "seed": SEED,
                "degrees": list(DEGREES),
                "sites": len(seeds),
            },
        )
    ]


def converging(quick: bool) -> list[Claim]:
    """Return from which lambda on fairness is constant."""
    flat, words = True, []
    for alpha in (RISING, FALLING):
        for kind in kinds(quick):
            some = curves(kind, alpha, quick)
            free = [each.factors >= each.free for each in some]
            flat &= all(
                bool(np.all(each.fairness[past] == each.fairness[-1]) and past.sum() > 1)
                for each, past in zip(some, free, strict=True)
            )
            words.append(
                f"{kind}, alpha {alpha:g}: " + ", ".join(f"{each.free:.2f}" for each in some)
            )
    return [
        Claim(
            "Fairness converges: from some lambda on N_max is of no use",
            "yes",
            "from lambda " + "; ".join(words),
            flat,
            "for H_D 2.76, 5.52, 11.05. Agrees if fairness is the same at all lambda from the"
            " largest amount that a peer wants on; true of any allocation that caps only cut",
            SOURCE,
            provenance={"seed": SEED},
        )
    ]


def sites_rising(quick: bool) -> list[Claim]:
    """Return on how many sites leaving N_max out is fairer than lambda 1, by discount rate."""
    seeds = range(_QUICK_SITES if quick else _SITES)
    words, parts = [], []
    for alpha in RATES:
        rises = [
            [
                free > equal
                for equal, free in (ends(seed, degree, Setting(kind, alpha)) for seed in seeds)
            ]
            for degree in DEGREES
            for kind in kinds(quick)
        ]
        some = np.mean(np.reshape(rises, (len(DEGREES), -1)), axis=1)
        parts.append(some)
        words.append(f"{alpha:g}: " + ", ".join(f"{part:.0%}" for part in some))
    return [
        Claim(
            "Leaving N_max out is fairer than lambda = 1, at whatever discount rate",
            "no rate is stated",
            "; ".join(words),
            bool(np.all(np.array(parts) == 1)),
            f"in which part of {len(seeds)} sites and the classes it is, for H_D 2.76, 5.52, 11.05,"
            " by alpha. Agrees if on all at every rate",
            SOURCE,
            provenance={"sites": len(seeds), "classes": list(kinds(quick))},
        )
    ]


def threshold(quick: bool) -> list[Claim]:
    """Return from which discount rate on leaving N_max out is fairer, beside its closed form."""
    if quick:
        return []
    seeds = range(_TURNING_SITES)
    rates = {
        degree: [turning_rate(seed, degree, kind) for seed in seeds for kind in CLASSES]
        for degree in DEGREES
    }
    means = {degree: float(np.median(some)) for degree, some in rates.items()}
    words = [
        f"H_D {degree:.2f}: {means[degree]:.4f} ({min(some):.4f} to {max(some):.4f})"
        for degree, some in rates.items()
    ]
    return [
        Claim(
            "Where peers differ little, leaving N_max out is fairer from alpha = n / (2 m) on",
            f"not said; the bar is {THRESHOLD:g} +- 20 % at the lowest degree",
            "; ".join(words),
            abs(means[DEGREES[0]] / THRESHOLD - 1) <= 0.2,
            f"medians over {len(seeds)} sites and three classes. A peer that is better by a part d"
            " than the mean gets d / alpha tasks more, so its time is off by n d / (alpha m) - d"
            " against d. At the paper's degree the slow peer rules: lambda 1 forces 76 tasks on it,"
            " which is worse than nearly anything",
            SOURCE,
            provenance={"sites": len(seeds)},
        )
    ]


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "Figure 5, lambda 1": floor_share,
    "Figure 5, equal amounts": poor,
    "Figure 5, rising": rising,
    "Figure 5, heterogeneity": ordered,
    "Figure 5, convergence": converging,
    "Figure 5, discount rate": sites_rising,
    "Figure 5, threshold": threshold,
}
