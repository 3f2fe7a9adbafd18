"""When the averages of a campaign agree with what section 7 says of its figures.

Every judgement takes the averages of a family of graphs and those of random graphs, and returns
what is told of the measurement, and whether it agrees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.taskgraphs.section7 import Averages

    Judge = Callable[[Averages, Averages], tuple[str, bool]]

# By how many points a percentage may be off, and by what factor a ratio.
POINTS, FACTOR = 0.08, 1.2
# Makespans that differ by less are as good as each other.
CLOSE = 0.05
# Rank correlation from which rankings are almost the same.
SAME_RANKING = 0.7
# Under which part of the strategies something has to hold that the text says of all.
MOST = 0.75
# By how many points a range may be missed, and by how much a value that grows may fall back.
_EDGE, _BACK = 0.03, 0.02
FAIRER_THAN_S = frozenset({"es", "ps_width", "wps_cp", "wps_width", "wps_work"})


def _percent(value: float) -> str:
    """Return a part in percent."""
    return f"{100 * value:.0f} %"


def _mean_gain(table: Averages, strategy: str, other: str = "s") -> float:
    """Return by what part a strategy is fairer than another, over all numbers of graphs."""
    return 1.0 - float(np.sum(table.unfair(strategy)) / np.sum(table.unfair(other)))


def _near(value: float, told: float, points: float = POINTS) -> bool:
    """Tell whether a percentage is the one that is told."""
    return abs(value - told) <= points


def _means(table: Averages, *strategies: str) -> list[float]:
    """Return mean relative makespans."""
    return [float(np.mean(table.length(name))) for name in strategies]


def fairer_than_s(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategies are fairer than S."""
    found = [name for name in table.strategies if name != "s" and _mean_gain(table, name) > 0]
    return ", ".join(found), set(found) == FAIRER_THAN_S


def less_fair_than_s(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell whether PS-cp and PS-work are less fair than S."""
    gains = [_mean_gain(table, name) for name in ("ps_cp", "ps_work")]
    return ", ".join(f"{1 - gain:.2f} times S" for gain in gains), max(gains) < 0


def gains(*strategies: str, told: float) -> Judge:
    """Judge whether strategies are fairer than S by a part."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        found = [_mean_gain(table, name) for name in strategies]
        return ", ".join(map(_percent, found)), all(_near(gain, told) for gain in found)

    return judge


def fairest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategy is the fairest."""
    first, second = table.ranked(table.unfair)[:2]
    return f"{first}, before {second}", first == "wps_width"


def twice_as_fair(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell how many times fairer WPS-width is than S for 4 graphs and more."""
    larger = np.array(table.counts) >= 4
    ratios = (table.unfair("s") / table.unfair("wps_width"))[larger]
    low, high = float(np.min(ratios)), float(np.max(ratios))
    return f"{low:.2f} to {high:.2f}", low > 2 / FACTOR and high < low * FACTOR**2


def least_fair(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategy is the least fair."""
    second, last = table.ranked(table.unfair)[-2:]
    return f"{last}, after {second}", last == "ps_work"


def two_shortest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which two strategies have the shortest makespans."""
    order = table.ranked(table.length)
    words = ", ".join(f"{name} {np.mean(table.length(name)):.3f}" for name in order[:3])
    return words, set(order[:2]) == {"ps_cp", "ps_work"}


def shortest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategy has the shortest makespans."""
    first, second = table.ranked(table.length)[:2]
    return f"{first}, before {second}", first == "ps_work"


def grows(strategy: str) -> Judge:
    """Judge whether the relative makespan of a strategy grows with the number of graphs."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        values = table.length(strategy)
        words = ", ".join(f"{value:.3f}" for value in values)
        return words, bool(values[-1] > values[0] and np.all(np.diff(values) > -_BACK))

    return judge


def longest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategy has the longest makespans."""
    second, last = table.ranked(table.length)[-2:]
    return f"{last}, after {second}", last == "ps_width"


def times_as_long(one: str, other: str, told: float) -> Judge:
    """Judge how many times as long as those of another the makespans of a strategy are."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        first, second = _means(table, one, other)
        ratio = first / second
        return f"{ratio:.2f} times", told / FACTOR < ratio < told * FACTOR

    return judge


def closer(one: str, other: str, least: float, most: float) -> Judge:
    """Judge how many points of relative makespan closer to the shortest one strategy is."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        found = table.length(other) - table.length(one)
        low, high = float(np.min(found)), float(np.max(found))
        words = f"{_percent(low)} to {_percent(high)}"
        return words, low >= least - _EDGE and high <= most + _EDGE

    return judge


def longer(one: str, other: str) -> Judge:
    """Judge whether makespans of one strategy are longer than those of another."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        first, second = _means(table, one, other)
        return f"{first:.3f} against {second:.3f}", first > second

    return judge


def no_longer(one: str, other: str, *, up_to: int = 10) -> Judge:
    """Judge whether makespans of one strategy are as good as those of another."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        few = np.array(table.counts) <= up_to
        first, second = (float(np.mean(table.length(name)[few])) for name in (one, other))
        return f"{first:.3f} against {second:.3f}", first <= second * (1 + CLOSE)

    return judge


def above_shortest(strategy: str, told: float) -> Judge:
    """Judge how much longer than the shortest the makespans of a strategy are."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        own, best = _means(table, strategy, table.ranked(table.length)[0])
        return _percent(own / best - 1), _near(own / best - 1, told)

    return judge


def fairer_than_shortest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell how much fairer than the strategy with the shortest makespans WPS-width is."""
    value = _mean_gain(table, "wps_width", table.ranked(table.length)[0])
    return _percent(value), _near(value, 0.55)


def unfairness_grows(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell whether unfairness grows with the number of graphs under every strategy."""
    steps = np.diff(table.unfairness, axis=1)
    means = ", ".join(f"{value:.2f}" for value in table.unfairness.mean(axis=0))
    return f"{means} on average", bool(np.all(steps > 0))


def fairer(one: str, other: str) -> Judge:
    """Judge whether one strategy is fairer than another."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        first, second = (float(np.mean(table.unfair(name))) for name in (one, other))
        return f"{first:.2f} against {second:.2f}", first < second

    return judge


def similarly_fair(one: str, other: str) -> Judge:
    """Judge whether two strategies are about as fair as each other."""

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        first, second = (float(np.mean(table.unfair(name))) for name in (one, other))
        agrees = second / FACTOR < first < second * FACTOR
        return f"{first:.2f} against {second:.2f}", agrees

    return judge


def bends(unfair: tuple[float, float], length: tuple[float, float]) -> bool:
    """Tell whether a weight of equal shares is where to stop.

    Parameters
    ----------
    unfair, length : tuple of float
        By how much unfairness and relative makespan rise a unit of the weight: before, beyond.
    """
    gained, gains = -unfair[0], -unfair[1]
    return gained > 0 and gains < gained / FACTOR and length[1] > max(FACTOR * length[0], CLOSE)


def bends_at(mu: float, proportional: str, weighted: str) -> Judge:
    """Judge whether beyond `mu` unfairness falls less than before and makespans grow more.

    Proportional shares have a `mu` of 0, equal shares one of 1.
    """

    def judge(table: Averages, _: Averages) -> tuple[str, bool]:
        slopes = []
        for values in (table.unfair, table.length):
            start, bend, end = (
                float(np.mean(values(name))) for name in (proportional, weighted, "es")
            )
            slopes.append(((bend - start) / mu, (end - bend) / (1 - mu)))
        unfair, length = slopes
        words = "unfairness {:+.2f}, then {:+.2f}; ".format(*unfair)
        return words + "makespan {:+.2f}, then {:+.2f}".format(*length), bends(unfair, length)

    return judge


def opposite_trends(mus: NDArray[np.float64], found: Averages) -> tuple[str, bool]:
    """Tell whether unfairness falls and makespans grow with each weight of equal shares.

    Parameters
    ----------
    mus : float64, shape (n_mus,)
        The weights, growing.
    found : Averages
        Its "strategies" are these weights.
    """
    back, across = [], []
    # Growing unfairness and falling makespans are against what is told.
    for values, sign in ((found.unfairness, 1.0), (found.makespan, -1.0)):
        most = np.max(values, axis=0)
        back.append(float(np.max(sign * np.diff(values, axis=0) / np.where(most > 0, most, 1.0))))
        across.append(float(np.max(sign * (values[-1] - values[0]))))
    unfair, length = found.unfairness.mean(axis=1), found.makespan.mean(axis=1)
    words = (
        f"{unfair[0]:.2f} to {unfair[-1]:.2f}, {length[0]:.0f} s to {length[-1]:.0f} s for mu from"
        f" {mus[0]:g} to {mus[-1]:g}; largest step back {max(back[0], 0):.1%},"
        f" {max(back[1], 0):.1%}"
    )
    return words.replace("%", " %"), max(across) < 0 and max(back) <= CLOSE


def less_unfair(*but: str) -> Judge:
    """Judge whether unfairness is lower than with random graphs, but for some strategies."""

    def judge(table: Averages, random: Averages) -> tuple[str, bool]:
        ratios = {
            name: float(np.mean(table.unfair(name)) / np.mean(random.unfair(name)))
            for name in table.strategies
            if name not in but
        }
        higher = [f"{name} {ratio:.2f} times" for name, ratio in ratios.items() if ratio >= 1]
        lower = len(ratios) - len(higher)
        words = (
            f"under {lower} of {len(ratios)}; {np.mean(list(ratios.values())):.2f} times on average"
        )
        words += f"; not under {', '.join(higher)}" if higher else ""
        return words, lower >= MOST * len(ratios)

    return judge


def second_fairest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategy is the second fairest."""
    order = table.ranked(table.unfair)
    return f"{order[1]}, after {order[0]}", order[1] == "ps_width"


def at_most_twice(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell how long ES is with most graphs."""
    value = float(table.length("es")[-1])
    return f"{value:.2f} times", 2 / FACTOR < value < 2 * FACTOR


def third_fairest(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which place WPS-work has up to 8 graphs."""
    order = _fairest_first(table, np.array(table.counts) <= 8)
    place = order.index("wps_work") + 1
    return f"place {place}, after {', '.join(order[: place - 1]) or 'none'}", place == 3


def _fairest_first(table: Averages, chosen: NDArray[np.bool_]) -> list[str]:
    """Return the strategies by their mean unfairness over some numbers of graphs."""
    means = table.unfairness[:, chosen].mean(axis=1)
    return [table.strategies[place] for place in np.argsort(means, kind="stable").tolist()]


def rather_ps_width(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell whether WPS-work is among the fairest up to 8 graphs, and no longer with 10."""
    few = np.array(table.counts) <= 8
    values = [float(table.unfair(name)[-1]) for name in ("ps_width", "wps_work")]
    orders = [_fairest_first(table, chosen) for chosen in (few, ~few)]
    places = [order.index("wps_work") + 1 for order in orders]
    ahead = orders[0].index("wps_work") < orders[0].index("ps_width")
    became = ahead or places[0] <= 3 < places[1]
    words = f"{values[0]:.2f} against {values[1]:.2f}; WPS-work has place {places[0]} up to 8"
    return f"{words}, {places[1]} with 10", bool(values[0] < values[1] and became)


def more_competitive(table: Averages, random: Averages) -> tuple[str, bool]:
    """Tell whether S is closer to the shortest than with random graphs."""
    [here], [there] = _means(table, "s"), _means(random, "s")
    return f"{here:.3f} against {there:.3f}", here < there


def same_ranking(table: Averages, random: Averages) -> tuple[str, bool]:
    """Tell how alike strategies are ranked as with random graphs."""
    found = [
        _rank_correlation(table.unfairness, random.unfairness),
        _rank_correlation(table.relative, random.relative),
    ]
    return f"{found[0]:.2f}, {found[1]:.2f}", min(found) >= SAME_RANKING


def _rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Spearman's correlation of the means of strategies."""
    orders = [np.argsort(each.mean(axis=1), kind="stable") for each in (one, other)]
    ranks = [np.argsort(order, kind="stable") for order in orders]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def same_schedules(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell whether shares by width are equal shares."""
    rows = [table.strategies.index(name) for name in ("es", "ps_width", "wps_width")]
    spread = float(np.max(np.ptp(table.makespan[rows], axis=0)))
    uneven = float(np.max(np.ptp(table.unfairness[rows], axis=0)))
    words = f"makespans differ by {spread:.2g} s, unfairness by {uneven:.2g}"
    return words, spread == uneven == 0


def less_fair_than_es(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell how much less fair than ES WPS-work is."""
    value = -_mean_gain(table, "wps_work", "es")
    return _percent(value), _near(value, 0.25)


def shorter_than_es(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell how much shorter than ES WPS-work is."""
    weighted, equal = _means(table, "wps_work", "es")
    return _percent(1 - weighted / equal), _near(1 - weighted / equal, 0.35)


def best_trade(table: Averages, _: Averages) -> tuple[str, bool]:
    """Tell which strategies are both fairer and shorter than WPS-work."""
    points = {
        name: (float(np.mean(table.unfair(name))), float(np.mean(table.length(name))))
        for name in table.strategies
    }

    def better(name: str) -> list[str]:
        """Return the strategies that are both fairer and shorter than one."""
        unfair, length = points[name]
        return [other for other, (u, k) in points.items() if u < unfair and k < length]

    found = better("wps_work")
    others = [name for name in points if name != "wps_work" and not better(name)]
    words = ", ".join(found) or "none"
    return f"{words}; none either for {', '.join(others) or 'no other'}", not found
