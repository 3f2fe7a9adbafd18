"""What section 7 says of the averages of its figures 3 to 5, and when a measurement agrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from simplugin.taskgraphs.section7 import Averages

# By how many points a percentage may be off, and by what factor a ratio.
_POINTS, _FACTOR = 0.08, 1.2
# Makespans that differ by less are as good as each other.
_CLOSE = 0.05
# What is told of a measurement, and whether it agrees.
Verdict = tuple[str, bool]


@dataclass(frozen=True)
class Statement:
    """A sentence of the paper about one family of graphs.

    Attributes
    ----------
    key : str
        A short name.
    claim : str
        The sentence.
    paper : str
        Its number, or its order.
    source : str
        Section, figure.
    judge : callable
        ``(averages of the family, those of random graphs) -> (measured, agrees)``.
    why : str
        By what it agrees or not, and what explains a difference.
    """

    key: str
    claim: str
    paper: str
    source: str
    judge: Callable[[Averages, Averages], Verdict]
    why: str


def _percent(value: float) -> str:
    """Return a part in percent."""
    return f"{100 * value:.0f} %"


def _range(values: Sequence[float] | np.ndarray) -> str:
    """Return the least and the largest of some parts in percent."""
    return f"{_percent(float(np.min(values)))} to {_percent(float(np.max(values)))}"


def _mean_gain(table: Averages, strategy: str, other: str = "s") -> float:
    """Return by what part a strategy is fairer than another, over all numbers of graphs."""
    return 1.0 - float(np.sum(table.unfair(strategy)) / np.sum(table.unfair(other)))


def _near(value: float, told: float, points: float = _POINTS) -> bool:
    """Tell whether a percentage is the one that is told."""
    return abs(value - told) <= points


def _fairer_than_s(table: Averages, _: Averages) -> Verdict:
    """Tell which strategies are fairer than S."""
    found = [name for name in table.strategies if name != "s" and _mean_gain(table, name) > 0]
    wanted = {"es", "ps_width", "wps_cp", "wps_width", "wps_work"}
    return ", ".join(found), set(found) == wanted


def _less_fair_than_s(table: Averages, _: Averages) -> Verdict:
    """Tell whether PS-cp and PS-work are less fair than S."""
    gains = [_mean_gain(table, name) for name in ("ps_cp", "ps_work")]
    return ", ".join(f"{1 - gain:.2f} times S" for gain in gains), max(gains) < 0


def _gains(*strategies: str, told: float) -> Callable[[Averages, Averages], Verdict]:
    """Judge whether strategies are fairer than S by a part."""

    def judge(table: Averages, _: Averages) -> Verdict:
        gains = [_mean_gain(table, name) for name in strategies]
        return ", ".join(map(_percent, gains)), all(_near(gain, told) for gain in gains)

    return judge


def _largest_gains(*strategies: str, told: float) -> Callable[[Averages, Averages], Verdict]:
    """Judge how much fairer than S strategies are at most."""

    def judge(table: Averages, _: Averages) -> Verdict:
        gains = [float(np.max(table.gain(name))) for name in strategies]
        return ", ".join(map(_percent, gains)), all(_near(gain, told) for gain in gains)

    return judge


def _fairest(table: Averages, _: Averages) -> Verdict:
    """Tell which strategy is the fairest."""
    first, second = table.ranked(table.unfair)[:2]
    return f"{first}, before {second}", first == "wps_width"


def _twice(table: Averages, _: Averages) -> Verdict:
    """Tell how many times fairer WPS-width is than S for 4 graphs and more."""
    larger = np.array(table.counts) >= 4
    ratios = (table.unfair("s") / table.unfair("wps_width"))[larger]
    agrees = bool(np.all((ratios > 2 / _FACTOR) & (ratios < 2 * _FACTOR)))
    return f"{np.min(ratios):.2f} to {np.max(ratios):.2f}", agrees


def _least_fair(table: Averages, _: Averages) -> Verdict:
    """Tell which strategy is the least fair."""
    second, last = table.ranked(table.unfair)[-2:]
    return f"{last}, after {second}", last == "ps_work"


def _two_shortest(table: Averages, _: Averages) -> Verdict:
    """Tell which two strategies have the shortest makespans."""
    order = table.ranked(table.length)
    words = ", ".join(f"{name} {np.mean(table.length(name)):.3f}" for name in order[:3])
    return words, set(order[:2]) == {"ps_cp", "ps_work"}


def _shortest(table: Averages, _: Averages) -> Verdict:
    """Tell which strategy has the shortest makespans."""
    first, second = table.ranked(table.length)[:2]
    return f"{first}, before {second}", first == "ps_work"


def _grows(strategy: str) -> Callable[[Averages, Averages], Verdict]:
    """Judge whether the relative makespan of a strategy grows with the number of graphs."""

    def judge(table: Averages, _: Averages) -> Verdict:
        values = table.length(strategy)
        words = ", ".join(f"{value:.3f}" for value in values)
        return words, bool(values[-1] > values[0] and np.all(np.diff(values) > -0.02))

    return judge


def _longest(table: Averages, _: Averages) -> Verdict:
    """Tell which strategy has the longest makespans."""
    second, last = table.ranked(table.length)[-2:]
    return f"{last}, after {second}", last == "ps_width"


def _ratio(one: str, other: str, told: float) -> Callable[[Averages, Averages], Verdict]:
    """Judge how many times as long as those of another the makespans of a strategy are."""

    def judge(table: Averages, _: Averages) -> Verdict:
        value = float(np.mean(table.length(one)) / np.mean(table.length(other)))
        return f"{value:.2f} times", told / _FACTOR < value < told * _FACTOR

    return judge


def _closer(table: Averages, _: Averages) -> Verdict:
    """Tell how much closer to the shortest than S WPS-work is."""
    gains = table.length("s") - table.length("wps_work")
    agrees = bool(np.min(gains) > 0.04 - _CLOSE and np.max(gains) < 0.15 + _CLOSE)
    return _range(gains), agrees and float(np.mean(gains)) > 0.02


def _longer(one: str, other: str) -> Callable[[Averages, Averages], Verdict]:
    """Judge whether makespans of one strategy are longer than those of another."""

    def judge(table: Averages, _: Averages) -> Verdict:
        values = [float(np.mean(table.length(name))) for name in (one, other)]
        return f"{values[0]:.3f} against {values[1]:.3f}", values[0] > values[1]

    return judge


def _above_shortest(strategy: str, told: float) -> Callable[[Averages, Averages], Verdict]:
    """Judge how much longer than the shortest the makespans of a strategy are."""

    def judge(table: Averages, _: Averages) -> Verdict:
        first = table.ranked(table.length)[0]
        value = float(np.mean(table.length(strategy)) / np.mean(table.length(first))) - 1
        return _percent(value), _near(value, told)

    return judge


def _fairer_than_shortest(table: Averages, _: Averages) -> Verdict:
    """Tell how much fairer than the strategy with the shortest makespans WPS-width is."""
    value = _mean_gain(table, "wps_width", table.ranked(table.length)[0])
    return _percent(value), _near(value, 0.55)


def _unfairness_grows(table: Averages, _: Averages) -> Verdict:
    """Tell whether unfairness grows with the number of graphs under every strategy."""
    steps = np.diff(table.unfairness, axis=1)
    means = ", ".join(f"{value:.2f}" for value in table.unfairness.mean(axis=0))
    return f"{means} on average", bool(np.all(steps > 0))


def _no_longer(one: str, other: str) -> Callable[[Averages, Averages], Verdict]:
    """Judge whether makespans of one strategy are as good as those of another."""

    def judge(table: Averages, _: Averages) -> Verdict:
        values = [float(np.mean(table.length(name))) for name in (one, other)]
        return f"{values[0]:.3f} against {values[1]:.3f}", values[0] <= values[1] * (1 + _CLOSE)

    return judge


RANDOM = (
    Statement(
        "R1", "five strategies are fairer than S",
        "ES, the three WPS, PS-width", "section 7, Figure 3", _fairer_than_s,
        "sums of mean unfairness over all numbers of graphs are compared",
    ),
    Statement(
        "R2", "PS-cp and PS-work are less fair than S",
        "less fair", "section 7, Figure 3", _less_fair_than_s,
        "shares in proportion to needs starve the small graphs",
    ),
    Statement(
        "R3", "WPS-cp and PS-width are fairer than S by about",
        "16 %", "section 7, Figure 3", _gains("wps_cp", "ps_width", told=0.16),
        "within 8 points",
    ),
    Statement(
        "R4", "ES and WPS-work are fairer than S by up to",
        "36 %", "section 7, Figure 3", _largest_gains("es", "wps_work", told=0.36),
        "within 8 points, at the number of graphs where it is most",
    ),
    Statement(
        "R5", "the fairest strategy is",
        "WPS-width", "section 7, Figure 3", _fairest, "mean over numbers of graphs",
    ),
    Statement(
        "R6", "WPS-width is fairer than S by a factor, from 4 to 10 graphs",
        "2", "section 7, Figure 3", _twice, "within a factor of 1.2 at each number of graphs",
    ),
    Statement(
        "R7", "the least fair strategy is",
        "PS-work", "section 8", _least_fair,
        "starving by critical paths and by work are close to each other",
    ),
    Statement(
        "R8", "the two strategies with the shortest makespans are",
        "PS-cp and PS-work", "section 7, Figure 3", _two_shortest, "mean relative makespan",
    ),
    Statement(
        "R9", "the strategy with the shortest makespans is",
        "PS-work", "section 8", _shortest, "mean relative makespan",
    ),
    Statement(
        "R10", "the relative makespan of S grows with the number of graphs",
        "grows", "section 7, Figure 3", _grows("s"), "by 2, 4, 6, 8, 10 graphs",
    ),
    Statement(
        "R11", "the strategy with the longest makespans is",
        "PS-width", "section 7, Figure 3", _longest, "mean relative makespan",
    ),
    Statement(
        "R12", "the relative makespan of PS-width over that of WPS-cp is",
        "almost 2", "section 7, Figure 3", _ratio("ps_width", "wps_cp", 1.9),
        "within a factor of 1.2",
    ),
    Statement(
        "R13", "WPS-work is closer to the shortest makespan than S by",
        "4 to 15 %", "section 7, Figure 3", _closer,
        "points of relative makespan; each within 5 points of that range, and 2 on average",
    ),
    Statement(
        "R14", "relative makespans of ES are longer than those of S",
        "longer", "section 7, Figure 3", _longer("es", "s"), "mean relative makespan",
    ),
    Statement(
        "R15", "WPS-width is longer than the shortest by",
        "16 %", "section 7", _above_shortest("wps_width", 0.16), "within 8 points",
    ),
    Statement(
        "R16", "WPS-width is fairer than the strategy with the shortest makespans by",
        "55 %", "section 7", _fairer_than_shortest, "within 8 points",
    ),
    Statement(
        "R17", "unfairness grows with the number of graphs",
        "grows", "section 7, Figures 2 and 3", _unfairness_grows, "under each strategy",
    ),
    Statement(
        "R18", "makespans of WPS-width are competitive with those of S",
        "competitive", "section 7", _no_longer("wps_width", "s"), "no more than 5 % longer",
    ),
)  # fmt: skip


def _less_unfair(table: Averages, random: Averages) -> Verdict:
    """Tell whether unfairness is lower than with random graphs."""
    ratios = table.unfairness.mean(axis=1) / random.unfairness.mean(axis=1)
    words = f"{np.mean(ratios):.2f} times on average, {np.max(ratios):.2f} at most"
    return words, bool(np.mean(ratios) < 1)


def _second_fairest(table: Averages, _: Averages) -> Verdict:
    """Tell which strategy is the second fairest."""
    order = table.ranked(table.unfair)
    return f"{order[1]}, after {order[0]}", order[1] == "ps_width"


def _at_most_twice(table: Averages, _: Averages) -> Verdict:
    """Tell how long ES is with most graphs."""
    value = float(table.length("es")[-1])
    return f"{value:.2f} times", 2 / _FACTOR < value < 2 * _FACTOR


def _third_fairest(table: Averages, _: Averages) -> Verdict:
    """Return the place of WPS-work up to 8 graphs."""
    places = []
    for column, count in enumerate(table.counts):
        if count <= 8:
            order = np.argsort(table.unfairness[:, column], kind="stable").tolist()
            places.append(order.index(table.strategies.index("wps_work")) + 1)
    words = ", ".join(map(str, places))
    return f"place {words}", sorted(places)[len(places) // 2] == 3


def _rather_ps_width(table: Averages, _: Averages) -> Verdict:
    """Tell which of PS-width and WPS-work is fairer with most graphs."""
    values = [float(table.unfair(name)[-1]) for name in ("ps_width", "wps_work")]
    return f"{values[0]:.2f} against {values[1]:.2f}", values[0] < values[1]


def _more_competitive(table: Averages, random: Averages) -> Verdict:
    """Tell whether S is closer to the shortest than with random graphs."""
    values = [float(np.mean(each.length("s"))) for each in (table, random)]
    return f"{values[0]:.3f} against {values[1]:.3f}", values[0] < values[1]


FFT = (
    Statement(
        "F1", "unfairness is lower than with random graphs",
        "lower", "section 7, Figure 4", _less_unfair, "the same strategies are compared",
    ),
    Statement(
        "F2", "the second fairest strategy is",
        "PS-width", "section 7, Figure 4", _second_fairest, "mean over numbers of graphs",
    ),
    Statement(
        "F3", "PS-width leads to shorter schedules than WPS-width",
        "shorter", "section 7, Figure 4", _longer("wps_width", "ps_width"),
        "relative makespans of WPS-width against those of PS-width",
    ),
    Statement(
        "F4", "schedules of ES with 10 graphs are longer than the shortest, up to",
        "twice", "section 7, Figure 4", _at_most_twice, "within a factor of 1.2",
    ),
    Statement(
        "F5", "WPS-work is the third fairest up to 8 graphs",
        "third", "section 7, Figure 4", _third_fairest, "the median place of 2, 4, 6, 8 graphs",
    ),
    Statement(
        "F6", "the fairest strategy is",
        "WPS-width", "section 7, Figure 4", _fairest, "mean over numbers of graphs",
    ),
    Statement(
        "F7", "S is more competitive in makespan than with random graphs",
        "more competitive", "section 7, Figure 4", _more_competitive, "mean relative makespan",
    ),
    Statement(
        "F8", "with 10 graphs PS-width is fairer than WPS-work",
        "fairer", "section 7, Figure 4", _rather_ps_width, "unfairness with 10 graphs",
    ),
    Statement(
        "F9", "makespans of WPS-work are competitive with those of S",
        "competitive", "section 7, Figure 4", _no_longer("wps_work", "s"),
        "no more than 5 % longer",
    ),
)  # fmt: skip


def _same(table: Averages, _: Averages) -> Verdict:
    """Tell whether shares by width are equal shares."""
    rows = [table.strategies.index(name) for name in ("es", "ps_width", "wps_width")]
    spread = float(np.max(np.ptp(table.makespan[rows], axis=0)))
    return f"makespans differ by {spread:.2g} s", spread == 0


def _less_fair_than_es(table: Averages, _: Averages) -> Verdict:
    """Tell how much less fair than ES WPS-work is."""
    value = -_mean_gain(table, "wps_work", "es")
    return _percent(value), _near(value, 0.25)


def _shorter_than_es(table: Averages, _: Averages) -> Verdict:
    """Tell how much shorter than ES WPS-work is."""
    value = 1.0 - float(np.mean(table.length("wps_work")) / np.mean(table.length("es")))
    return _percent(value), _near(value, 0.35)


def _best_trade(table: Averages, _: Averages) -> Verdict:
    """Tell which strategies are both fairer and shorter than WPS-work."""
    better = [
        name
        for name in table.strategies
        if np.mean(table.unfair(name)) < np.mean(table.unfair("wps_work"))
        and np.mean(table.length(name)) < np.mean(table.length("wps_work"))
    ]
    return ", ".join(better) or "none", not better


STRASSEN = (
    Statement(
        "T1", "PS-width and WPS-width lead to exactly the schedules of ES",
        "exactly", "section 7", _same, "all graphs have the same width",
    ),
    Statement(
        "T2", "WPS-work is less fair than ES by around",
        "25 %", "section 7, Figure 5", _less_fair_than_es,
        "within 8 points; it depends on what an addition costs",
    ),
    Statement(
        "T3", "makespans of WPS-work are shorter than those of ES by around",
        "35 %", "section 7, Figure 5", _shorter_than_es, "within 8 points",
    ),
    Statement(
        "T4", "WPS-work is the best trade-off: strategies both fairer and shorter are",
        "none", "section 8", _best_trade, "means over numbers of graphs",
    ),
)  # fmt: skip

STATEMENTS: Mapping[str, tuple[Statement, ...]] = {
    "random": RANDOM,
    "fft": FFT,
    "strassen": STRASSEN,
}
