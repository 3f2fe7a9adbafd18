"""Averages over the runs of the campaign, and the quantities of sections 7 and 8 from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from simplugin.papers.ntakpe.campaign import EIGHT, Scope, SharingSetting, measured
from simplugin.papers.statements import Quantity, resampled
from simplugin.workloads.graph_generators import Family

Floats = NDArray[np.float64]


# Ratio beyond which two values differ, or two slopes.
FACTOR = 1.2
# Relative difference of makespans that count as equal.
CLOSE = 0.05
# Weights of equal shares in sweeps.
MUS = tuple(np.linspace(0.0, 1.0, 11).round(1).tolist())
QUICK_MUS = (0.0, 0.5, 0.7, 1.0)
FAIRER_THAN_S = ("es", "ps_width", "wps_cp", "wps_width", "wps_work")


@dataclass(frozen=True, eq=False)
class Averages:
    """Means over the runs of each number of graphs.

    Attributes
    ----------
    names : tuple of str
        Names of the settings.
    counts : tuple of int
        Numbers of graphs.
    values : float64, shape (3, n_counts, n_runs, n_settings)
        Unfairness; makespan over that of the best strategy of the run; makespan [s].
    sites : int
        Consecutive runs that have the same graphs.
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    values: Floats
    sites: int

    @cached_property
    def means(self) -> Floats:
        """Means over runs; shape (3, n_settings, n_counts)."""
        return np.stack([each.mean(axis=1).T for each in self.values])

    @property
    def unfairness(self) -> Floats:
        """Mean unfairness; shape (n_settings, n_counts)."""
        return np.asarray(self.means[0])

    @property
    def relative(self) -> Floats:
        """Mean makespan relative to the best strategy; shape (n_settings, n_counts)."""
        return np.asarray(self.means[1])

    @property
    def makespan(self) -> Floats:
        """Mean makespan [s]; shape (n_settings, n_counts)."""
        return np.asarray(self.means[2])

    def unfair(self, name: str) -> Floats:
        """Return the unfairness of a setting by number of graphs; shape (n_counts,)."""
        return np.asarray(self.unfairness[self.names.index(name)])

    def length(self, name: str) -> Floats:
        """Return the relative makespan of a setting by number of graphs; shape (n_counts,)."""
        return np.asarray(self.relative[self.names.index(name)])

    def gain(self, name: str, other: str = "s") -> float:
        """Return the part by which a setting is fairer than another, over all counts."""
        return 1.0 - float(np.sum(self.unfair(name)) / np.sum(self.unfair(other)))

    def up_to(self, count: int) -> Averages:
        """Return the averages of at most `count` graphs."""
        few = np.array(self.counts) <= count
        counts = tuple(each for each in self.counts if each <= count)
        return replace(self, counts=counts, values=self.values[:, few])

    def resampled(self, combinations: NDArray[np.int64]) -> Averages:
        """Return the averages over other combinations."""
        runs = (combinations[:, np.newaxis] * self.sites + np.arange(self.sites)).ravel()
        return replace(self, values=self.values[:, :, runs])


def averages(
    family: Family,
    scope: Scope,
    settings: Mapping[str, SharingSetting] = EIGHT,
    *,
    compared: Mapping[str, SharingSetting] | None = None,
    variant: str = "",
) -> Averages:
    """Return the averages of settings; makespans are relative to the best of those compared."""
    return _averages(
        family, scope, tuple(settings.items()), tuple((compared or settings).values()), variant
    )


@cache
def _averages(
    family: Family,
    scope: Scope,
    settings: tuple[tuple[str, SharingSetting], ...],
    compared: tuple[SharingSetting, ...],
    variant: str,
) -> Averages:
    """Return the averages of settings."""
    cases = scope.cases(family, variant)
    shortest = [min(measured(case, each).makespan for each in compared) for case in cases]
    found = [[measured(case, setting) for _, setting in settings] for case in cases]
    makespan = np.array([[each.makespan for each in run] for run in found])
    unfairness = np.array([[each.unfairness for each in run] for run in found])
    relative = makespan / np.array(shortest)[:, np.newaxis]
    values = np.stack([unfairness, relative, makespan])
    shape = (3, len(scope.counts), scope.runs, len(settings))
    names = tuple(name for name, _ in settings)
    return Averages(names, scope.counts, values.reshape(shape), len(scope.sites))


def beside(family: Family, scope: Scope, settings: Mapping[str, SharingSetting]) -> Averages:
    """Return the averages of settings, relative to the best of the eight strategies."""
    return averages(family, scope, settings, compared=EIGHT)


def weighted(strategy: str, *, quick: bool = False) -> dict[str, SharingSetting]:
    """Return a weighted strategy with each weight of a sweep."""
    return {f"{mu:g}": SharingSetting(strategy, mu=mu) for mu in (QUICK_MUS if quick else MUS)}


# A measure of the averages of a family of graphs and those of random graphs: the value and a note.
Measure = Callable[[Averages, Averages], tuple[float | bool, str]]


def quantity(measure: Measure, found: Averages, random: Averages, note: str = "") -> Quantity:
    """Return a measure with its interval over combinations."""
    _, words = measure(found, random)

    def again(chosen: NDArray[np.int64]) -> float | bool:
        """Return the measure of some combinations."""
        here = found.resampled(chosen)
        return measure(here, here if random is found else random.resampled(chosen))[0]

    number = found.values.shape[2] // found.sites
    return resampled(again, number, "; ".join(filter(None, (words, note))), over="combinations")


def place(rank: str, name: str, up_to: int = 10) -> Measure:
    """Measure the place of a strategy by mean ``fairness`` or ``makespan``, the best first."""

    def measure(found: Averages, _: Averages) -> tuple[float, str]:
        few = found.up_to(up_to)
        means = (few.unfairness if rank == "fairness" else few.relative).mean(axis=1)
        order = [few.names[each] for each in np.argsort(means, kind="stable").tolist()]
        at = order.index(name)
        beside = [*order[max(at - 1, 0) : at], *order[at + 1 : at + 2]]
        values = (f"{each} {means[few.names.index(each)]:.3f}" for each in (name, *beside))
        return float(at + 1), f"{rank}: {', '.join(values)}"

    return measure


def ratio(kind: str, one: str, other: str, up_to: int = 10) -> Measure:
    """Measure the mean unfairness or makespan of a strategy over that of another."""

    def measure(found: Averages, _: Averages) -> tuple[float, str]:
        few = found.up_to(up_to)
        values = few.unfair if kind == "unfairness" else few.length
        first, second = (float(np.mean(values(name))) for name in (one, other))
        digits = 2 if kind == "unfairness" else 3
        return first / second, f"{first:.{digits}f} against {second:.{digits}f}"

    return measure


def gains(paper: float, *strategies: str) -> Measure:
    """Measure by what part strategies are fairer than S: the value farthest from the paper's."""

    def measure(found: Averages, _: Averages) -> tuple[float, str]:
        values = [found.gain(name) for name in strategies]
        words = ", ".join(f"{100 * value:.0f} %" for value in values)
        worst = max(values, key=lambda value: abs(value - paper))
        return worst, f"{', '.join(strategies)}: {words}"

    return measure


def fairer_than_s(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure the least gain of the five fairer strategies, and of S over the other two."""
    gain = {name: found.gain(name) for name in found.names if name != "s"}
    fairer = ", ".join(name for name, value in gain.items() if value > 0)
    signed = [value if name in FAIRER_THAN_S else -value for name, value in gain.items()]
    return min(signed), f"fairer: {fairer}"


def less_fair_than_s(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure the unfairness of PS-cp and PS-work over that of S, the lesser."""
    ratios = [1 - found.gain(name) for name in ("ps_cp", "ps_work")]
    return min(ratios), ", ".join(f"{each:.2f} times S" for each in ratios)


def twice_as_fair(found: Averages, _: Averages) -> tuple[bool, str]:
    """Measure if WPS-width is consistently about twice as fair as S from 4 graphs on."""
    larger = np.array(found.counts) >= 4
    ratios = (found.unfair("s") / found.unfair("wps_width"))[larger]
    low, high = float(np.min(ratios)), float(np.max(ratios))
    return low > 2 / FACTOR and high < low * FACTOR**2, f"{low:.2f} to {high:.2f}"


def two_shortest(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure the worse of the places of PS-cp and PS-work by makespan."""
    order = sorted(found.names, key=lambda name: float(np.mean(found.length(name))))
    words = ", ".join(f"{name} {np.mean(found.length(name)):.3f}" for name in order[:3])
    return 1.0 + max(order.index("ps_cp"), order.index("ps_work")), words


def growth_of_s(found: Averages, _: Averages) -> tuple[bool, str]:
    """Measure if the relative makespan of S grows with the number of graphs."""
    values = found.length("s")
    words = ", ".join(f"{value:.3f}" for value in values)
    return bool(values[-1] > values[0] and np.all(np.diff(values) > -0.02)), words


def closer_than_s(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure how much closer to the shortest than S WPS-work is, farthest from 4 to 15 %."""
    values = found.length("s") - found.length("wps_work")
    low, high = float(np.min(values)), float(np.max(values))
    return max(low, high, key=lambda value: abs(value - 0.095)), f"{low:.0%} to {high:.0%}"


def above_shortest(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure how much longer than the shortest strategy WPS-width is."""
    own, best = float(np.mean(found.length("wps_width"))), np.min(found.relative.mean(axis=1))
    return float(own / best - 1), ""


def fairer_than_shortest(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure how much fairer than the shortest strategy WPS-width is."""
    shortest = found.names[int(np.argmin(found.relative.mean(axis=1)))]
    return found.gain("wps_width", shortest), f"than {shortest}"


def least_step(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure by how much unfairness grows from one number of graphs to the next, at least."""
    means = ", ".join(f"{value:.2f}" for value in found.unfairness.mean(axis=0))
    return float(np.min(np.diff(found.unfairness, axis=1))), f"{means} on average"


def bends(unfair: tuple[float, float], length: tuple[float, float]) -> bool:
    """Return True if a weight of equal shares is a point to stop at.

    Parameters
    ----------
    unfair, length : tuple of float
        Slopes of unfairness and relative makespan over the weight: before and beyond.
    """
    gained, gains = -unfair[0], -unfair[1]
    return gained > 0 and gains < gained / FACTOR and length[1] > max(FACTOR * length[0], CLOSE)


def bends_at(mu: float, proportional: str, strategy: str) -> Measure:
    """Measure if beyond `mu` unfairness falls less than before and makespans grow more.

    `mu` is 0 for proportional and 1 for equal shares.
    """

    def measure(found: Averages, _: Averages) -> tuple[bool, str]:
        slopes = []
        for values in (found.unfair, found.length):
            start, bend, end = (
                float(np.mean(values(name))) for name in (proportional, strategy, "es")
            )
            slopes.append(((bend - start) / mu, (end - bend) / (1 - mu)))
        unfair, length = slopes
        words = "unfairness {:+.2f}, then {:+.2f}; ".format(*unfair)
        return bends(unfair, length), words + "makespan {:+.2f}, then {:+.2f}".format(*length)

    return measure


def less_unfair(*without: str) -> Measure:
    """Measure the part of the strategies under which graphs are treated fairer than random ones."""

    def measure(found: Averages, random: Averages) -> tuple[float, str]:
        ratios = {
            name: float(np.mean(found.unfair(name)) / np.mean(random.unfair(name)))
            for name in found.names
            if name not in without
        }
        higher = [f"{name} {each:.2f} times" for name, each in ratios.items() if each >= 1]
        lower = len(ratios) - len(higher)
        words = f"{lower} of {len(ratios)}; {np.mean(list(ratios.values())):.2f} times on average"
        return lower / len(ratios), "; not ".join([words, *higher])

    return measure


def es_with_most(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure the relative makespan of ES with most graphs."""
    return float(found.length("es")[-1]), ""


def rather_ps_width(found: Averages, random: Averages) -> tuple[bool, str]:
    """Measure if WPS-work is among the fairest up to 8 graphs, and less fair with 10."""
    few = found.up_to(8)
    most = replace(found, counts=found.counts[-1:], values=found.values[:, -1:])
    work, width = (
        [place("fairness", name)(each, random)[0] for each in (few, most)]
        for name in ("wps_work", "ps_width")
    )
    values = [float(found.unfair(name)[-1]) for name in ("ps_width", "wps_work")]
    became = work[0] < width[0] or work[0] <= 3 < work[1]
    words = f"{values[0]:.2f} against {values[1]:.2f}; WPS-work has place {work[0]:g} up to 8"
    return bool(values[0] < values[1] and became), f"{words}, {work[1]:g} with 10"


def s_beside_random(found: Averages, random: Averages) -> tuple[float, str]:
    """Measure the relative makespan of S over that with random graphs."""
    here, there = (float(np.mean(each.length("s"))) for each in (found, random))
    return here / there, f"{here:.3f} against {there:.3f}"


def rank_correlation(found: Averages, random: Averages) -> tuple[float, str]:
    """Measure the lesser of the rank correlations with random graphs, of fairness and makespan."""
    values = []
    for which in range(2):
        orders = [
            np.argsort(each.means[which].mean(axis=1), kind="stable") for each in (found, random)
        ]
        ranks = [np.argsort(order, kind="stable") for order in orders]
        values.append(float(np.asarray(np.corrcoef(np.stack(ranks)))[0, 1]))
    return min(values), f"{values[0]:.2f}, {values[1]:.2f}"


def spread_by_width(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure how much ES, PS-width and WPS-width differ in makespan and unfairness."""
    rows = [found.names.index(name) for name in ("es", "ps_width", "wps_width")]
    spread, uneven = (
        float(np.max(np.ptp(each[rows], axis=0))) for each in (found.makespan, found.unfairness)
    )
    return max(spread, uneven), f"makespans differ by {spread:.2g} s, unfairness by {uneven:.2g}"


def better_trades(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure how many strategies are both fairer and shorter than WPS-work."""
    means = found.means[:2].mean(axis=2).T
    better = {
        name: [
            other for other, point in zip(found.names, means, strict=True) if np.all(point < own)
        ]
        for name, own in zip(found.names, means, strict=True)
    }
    others = [name for name, each in better.items() if name != "wps_work" and not each]
    words = f"{', '.join(better['wps_work']) or 'none'}; none either for"
    return float(len(better["wps_work"])), f"{words} {', '.join(others) or 'no other'}"


def work_beside_es(kind: str) -> Measure:
    """Measure how much less fair than ES, or how much shorter, WPS-work is."""

    def measure(found: Averages, random: Averages) -> tuple[float, str]:
        if kind == "unfairness":
            return -found.gain("wps_work", "es"), ""
        return 1 - ratio(kind, "wps_work", "es")(found, random)[0], ""

    return measure


def opposite_trends(found: Averages, _: Averages) -> tuple[bool, str]:
    """Measure if unfairness falls and makespans grow with each weight of equal shares."""
    back, across = [], []
    # Growing unfairness and falling makespans contradict the paper.
    for values, sign in ((found.unfairness, 1.0), (found.makespan, -1.0)):
        most = np.max(values, axis=0)
        back.append(float(np.max(sign * np.diff(values, axis=0) / np.where(most > 0, most, 1.0))))
        across.append(float(np.max(sign * (values[-1] - values[0]))))
    unfair, length = found.unfairness.mean(axis=1), found.makespan.mean(axis=1)
    words = (
        f"{unfair[0]:.2f} to {unfair[-1]:.2f}, {length[0]:.0f} s to {length[-1]:.0f} s for mu from"
        f" {found.names[0]} to {found.names[-1]}; largest step back"
        f" {100 * max(back[0], 0):.1f} %, {100 * max(back[1], 0):.1f} %"
    )
    return max(across) < 0 and max(back) <= CLOSE, words


def bend_of_sweep(found: Averages, _: Averages, mu: float = 0.7) -> tuple[bool, str]:
    """Measure if beyond `mu` there is less gain in unfairness, and makespans grow more."""
    mus = np.array(found.names, dtype=float)
    at = int(np.argmin(np.abs(mus - mu)))
    unfair, length = found.unfairness.mean(axis=1), found.makespan.mean(axis=1)

    def slopes(values: Floats) -> tuple[float, float]:
        """Return the slopes before and beyond the weight."""
        before = (values[at] - values[0]) / (mus[at] - mus[0])
        return float(before), float((values[-1] - values[at]) / (mus[-1] - mus[at]))

    gained, costs = slopes(unfair), slopes(length)
    words = "unfairness {:+.2f}, then {:+.2f} a unit of mu; ".format(*gained)
    words += "makespan {:+.0f} s, then {:+.0f} s".format(*costs)
    return bends(gained, slopes(length / length[0])), words


def fairest_mu(found: Averages, _: Averages) -> tuple[float, str]:
    """Measure the weight of equal shares with the least mean unfairness."""
    unfair = found.unfairness.mean(axis=1)
    pairs = zip(found.names, unfair, strict=True)
    words = ", ".join(f"{mu}: {each:.2f}" for mu, each in pairs)
    return float(found.names[int(np.argmin(unfair))]), words


_least_fair, _shortest = place("fairness", "ps_work"), place("makespan", "ps_work")
_comparable = ratio("makespan", "wps_width", "s")
_MU_CP = bends_at(0.5, "ps_cp", "wps_cp")
_MU_WORK = bends_at(0.7, "ps_work", "wps_work")
# These compare with random graphs.
BESIDE_RANDOM = ("F1", "F7", "F10", "T5")
# The quantities of each family of graphs, by their keys in statements.toml.
MEASURES: Mapping[Family, Mapping[str, Measure]] = {
    "random": {
        "R1": fairer_than_s,
        "R2": less_fair_than_s,
        "R3": gains(0.16, "wps_cp", "ps_width"),
        "R4": gains(0.36, "es", "wps_work"),
        "R5": place("fairness", "wps_width"),
        "R6": twice_as_fair,
        "R7": _least_fair,
        "R8": two_shortest,
        "R9": _shortest,
        "R10": growth_of_s,
        "R11": place("makespan", "ps_width"),
        "R12": ratio("makespan", "ps_width", "wps_cp"),
        "R13": closer_than_s,
        "R14": ratio("makespan", "es", "s"),
        "R15": above_shortest,
        "R16": fairer_than_shortest,
        "R17": least_step,
        "R18": _comparable,
        "R19": ratio("unfairness", "ps_width", "wps_cp"),
        "R20": ratio("unfairness", "wps_work", "es"),
        "M1": _MU_CP,
    },
    "fft": {
        "F1": less_unfair(),
        "F2": place("fairness", "ps_width"),
        "F3": ratio("makespan", "wps_width", "ps_width"),
        "F4": es_with_most,
        "F5": place("fairness", "wps_work", up_to=8),
        "F6": place("fairness", "wps_width"),
        "F7": s_beside_random,
        "F8": rather_ps_width,
        "F9": ratio("makespan", "wps_work", "s", up_to=8),
        "F10": rank_correlation,
        "M2": _MU_CP,
        "M3": _MU_WORK,
        "FC1": ratio("unfairness", "wps_width", "s"),
        "FC2": _comparable,
        "FC3": _least_fair,
        "FC4": _shortest,
    },
    "strassen": {
        "T1": spread_by_width,
        "T2": work_beside_es("unfairness"),
        "T3": work_beside_es("makespan"),
        "T4": better_trades,
        "T5": less_unfair("ps_width", "wps_width"),
        "M4": _MU_CP,
        "M5": _MU_WORK,
        "TC1": ratio("unfairness", "wps_width", "s"),
        "TC2": _comparable,
        "TC3": _least_fair,
        "TC4": _shortest,
    },
}
