"""Experiments of section 6: the paper's heuristics against LP and against their expectations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np

from simplugin.elementary import log
from simplugin.papers.beaumont.campaign import FEW, ORDERS, Measurement, Setting, measurements
from simplugin.papers.beaumont.comparisons import Floats, Ratios, best, deviations, ratios
from simplugin.papers.beaumont.instances import MAIN, READINGS, SEEDS, TASKS, TREES
from simplugin.papers.statements import Quantity, Statement, determined_by, named, share, statements

Found = Mapping[str, Sequence[Measurement]]


PAPER = "simplugin.papers.beaumont"
SEED = SEEDS[0]
POLICIES = ("lp", "data_centric", "cgbc", "fcfs", "bcs")
# The policies that expect a throughput.
EXPECTING = POLICIES[:3]
# What the paper says of LP's throughputs over those of others, as properties of `Ratios`.
MEASURES = {
    "data_centric": ("mean", "worst", "same"),
    "cgbc": ("mean", "large", "worst"),
    "fcfs": ("mean", "large", "worst"),
    "bcs": ("near_zero",),
}
# Number of trees for the variants of readings.
VARIANT_TREES = 60
# Largest factor that a number may be off in a reading that gives it, and the most that the
# logarithm of the factor counts in the distance of a reading.
NEAR, MOST = 1.1, 2.0
# A ratio that is much.
MUCH = 1.2
# Factor of larger buffers and more tasks; the trees with them, and a few small trees with even
# more tasks.
LARGER, MANY = 10, 60
LARGER_TREES, QUICK_LARGER, MANY_TREES = tuple(range(60)), (0, 1, 2, 5, 6), (0, 1, 5, 6, 10, 11)
# Policies and trees that get ten times the tasks.
LONGER = ("lp", "data_centric", "cgbc", "fcfs")
LONG, QUICK_LONG, ONE_PERCENT = tuple(range(15)), (0, 5, 10), 0.01
# DATA-CENTRIC's orders of nodes, the readings that compare them, and the ratios of throughputs
# from which an execution and an expectation have failed.
NODE_ORDERS, ORDER_READINGS = ("fast", "breadth", "slow"), ("A", "C")
FAILED, EXPECTED = 1.5, 1.2


def provenance(numbers: Sequence[int], **more: Any) -> dict[str, Any]:
    """Return the seed and the trees of a measurement."""
    return {"seed": SEED, "trees": listed(numbers), **more}


def listed(numbers: Sequence[int]) -> str:
    """Return the numbers of trees as text."""
    first, last = min(numbers), max(numbers)
    if len(numbers) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, numbers))


@cache
def campaign(reading: str, numbers: tuple[int, ...], orders: int) -> Found:
    """Return the measurements of the paper's policies on some trees, by policy.

    Parameters
    ----------
    reading : str
        A key of `simplugin.papers.beaumont.instances.READINGS`.
    numbers : tuple of int
        Numbers of the trees.
    orders : int
        Number of orders of the first requests of first come, first served.
    """
    return {
        name: measurements(
            reading, SEED, numbers, Setting(name, orders=orders if name == "fcfs" else 1)
        )
        for name in POLICIES
    }


def section_6_2(found: Found) -> dict[str, float]:
    """Return the numbers of section 6.2 for one reading, by the quantity of their statement."""
    numbers = {"deviation": _mean({name: deviations(found[name]) for name in EXPECTING})}
    for policy, measures in MEASURES.items():
        behind = ratios(found["lp"], found[policy])
        numbers |= {f"{policy}.{name}": getattr(behind, name) for name in measures}
    return numbers


def distances(measured: Mapping[str, float]) -> dict[str, float]:
    """Return the logarithm of the factor between each number and the paper's, at most `MOST`.

    A number on the right side of a bound of the paper's has no distance.
    """
    stated = {each.quantity: each for each in statements(PAPER) if each.quantity in measured}
    return {name: _distance(stated[name], value) for name, value in measured.items()}


def _distance(stated: Statement, value: float) -> float:
    """Return the distance of a number."""
    paper = float(stated.paper)
    if (stated.criterion.at_least is not None and value >= paper) or (
        stated.criterion.at_most is not None and 0 < value <= paper
    ):
        return 0.0
    return min(abs(log(value / paper)), MOST) if value > 0 else MOST


def _by_reading(values: Mapping[str, float], note: str = "", **more: Any) -> Quantity:
    """Return the value of reading A with the interval over all readings."""
    note = f"reading A; by reading: {named(values, '.3g')}" + f"; {note}" * bool(note)
    interval = min(values.values()), max(values.values())
    return Quantity(values["A"], interval, note, over="readings", **more)


def heuristics(quick: bool) -> dict[str, Quantity]:
    """Return the distances of the heuristics from LP, by the main readings of the text."""
    numbers = FEW if quick else tuple(range(TREES))
    orders = ORDERS[quick]
    found = {name: campaign(name, numbers, orders) for name in MAIN}
    values = {name: section_6_2(each) for name, each in found.items()}
    optimum = best(found["A"]["lp"])
    behind = {
        policy: {name: ratios(each["lp"], each[policy]) for name, each in found.items()}
        for policy in POLICIES[1:]
    }
    quantities = {
        name: _by_reading(
            {reading: each[name] for reading, each in values.items()},
            optimum=optimum if name.endswith(".mean") else None,
        )
        for name in values["A"]
        if name != "deviation"
    }
    quantities |= _sizes(behind["fcfs"], behind["cgbc"])
    quantities["lp.ahead"] = _ahead(behind)
    quantities["ranking"] = _ranking(behind)
    quantities["nearest.misses"] = _nearest(values)
    return determined_by(provenance(numbers, orders=orders), quantities)


def _sizes(fcfs: Mapping[str, Ratios], cgbc: Mapping[str, Ratios]) -> dict[str, Quantity]:
    """Return comparisons of small trees with large ones."""
    turns = {name: (each.small, each.large) for name, each in fcfs.items()}
    over = {
        name: (small / cgbc[name].small, large / cgbc[name].large)
        for name, (small, large) in turns.items()
    }

    def note(sizes: Mapping[str, tuple[float, float]]) -> str:
        lines = (f"{name} {small:.3g}, {large:.3g}" for name, (small, large) in sizes.items())
        return f"geometric means of small and large trees: {'; '.join(lines)}"

    return {
        "fcfs.growth": _by_reading({n: b / a for n, (a, b) in turns.items()}, note(turns)),
        "cgbc_over_fcfs.small": _by_reading({n: a for n, (a, _) in over.items()}, note(over)),
        "cgbc_over_fcfs.growth": _by_reading(
            {n: b / max(a, 1.0) for n, (a, b) in over.items()}, note(over)
        ),
    }


def _ahead(behind: Mapping[str, Mapping[str, Ratios]]) -> Quantity:
    """Return the share of trees on which LP is ahead, for the heuristic with the least."""
    shares = {
        reading: {policy: behind[policy][reading].positive for policy in POLICIES[1:]}
        for reading in MAIN
    }
    written = "; ".join(f"{name}: {named(each, '.0%')}" for name, each in shares.items())
    mean = float(np.mean(list(shares["A"].values())))
    note = f"least heuristic of reading A; mean {mean:.1%}; each: {written}"
    return Quantity(min(shares["A"].values()), note=note)


def _ranking(behind: Mapping[str, Mapping[str, Ratios]]) -> Quantity:
    """Return True if LP is best and FCFS much worse than DATA-CENTRIC and CGBC, in reading A."""
    good, lines = [], []
    for reading in MAIN:
        means = {name: behind[name][reading].mean for name in POLICIES[1:4]}
        if min(means.values()) >= 1 and means["fcfs"] >= MUCH * max(
            means["data_centric"], means["cgbc"]
        ):
            good.append(reading)
        order = sorted(means.items(), key=lambda item: item[1])
        lines.append(
            f"{reading}: "
            + ", ".join(f"{name} {behind[name][reading].written()}" for name, _ in order)
        )
    return Quantity("A" in good, note=f"holds in {', '.join(good) or 'none'}; {'; '.join(lines)}")


def _nearest(values: Mapping[str, Mapping[str, float]]) -> Quantity:
    """Return how many numbers the reading nearest to the paper misses."""
    far = {name: distances(each) for name, each in values.items()}
    mean = {name: float(np.mean(list(each.values()))) for name, each in far.items()}
    nearest = min(mean, key=lambda name: mean[name])
    misses = [name for name, each in far[nearest].items() if each > log(NEAR)]
    note = (
        f"{nearest} is nearest of {len(mean)} readings; mean of |ln(measured / paper)| over"
        f" {len(far[nearest])} numbers: {named(mean, '.2f')}; it misses"
        f" {', '.join(misses) or 'none'}"
    )
    return Quantity(len(misses), note=note)


def variants(_quick: bool) -> dict[str, Quantity]:
    """Return the distance of the reading or variant that is nearest to the paper's numbers."""
    numbers = tuple(range(VARIANT_TREES))
    values = {name: section_6_2(campaign(name, numbers, ORDERS[False])) for name in READINGS}
    mean = {name: float(np.mean(list(distances(each).values()))) for name, each in values.items()}
    order = sorted(mean, key=lambda name: mean[name])
    note = f"{order[0]!r} is nearest; {named({name: mean[name] for name in order}, '.2f')}"
    for each in statements(PAPER):
        if each.quantity in values["A"]:
            found = {name: value[each.quantity] for name, value in values.items()}
            low, high = (pick(found, key=lambda name: found[name]) for pick in (min, max))
            fitting = [name for name in found if each.criterion.holds(found[name], each.paper)]
            note += (
                f"; {each.quantity} {found[low]:.3g} ({low}) to {found[high]:.3g} ({high}), agrees"
                f" in {', '.join(fitting) or 'none'}"
            )
    return {"nearest.distance": Quantity(mean[order[0]], note=note, provenance=provenance(numbers))}


def deviation(quick: bool) -> dict[str, Quantity]:
    """Return the shortfall of executions with usual and with large buffers, reading A."""
    numbers = FEW if quick else tuple(range(TREES))
    usual = _expecting(numbers, Setting(""))
    few = QUICK_LARGER if quick else LARGER_TREES
    large = Setting("", buffer=10 * LARGER, count=TASKS * LARGER)
    more, by_slope = _expecting(few, large), _expecting(few, large, "slope")
    before = _mean(_expecting(few, Setting("")))
    note = (
        f"{_each(more)}; with ten slots the same trees have {before:.4f}; by the slope between"
        f" 10 and 90 % of completions {_mean(by_slope):.4f} remains, which filling and"
        " draining the buffers does not explain"
    )
    if not quick:
        long = _expecting(MANY_TREES, replace(large, count=TASKS * MANY))
        note += (
            f"; with {TASKS * MANY} tasks it is {_mean(long):.4f} on {len(MANY_TREES)} small trees,"
            f" which have {_mean(_expecting(MANY_TREES, large)):.4f} with {TASKS * LARGER}"
        )
    return {
        "deviation": Quantity(
            _mean(usual), note=_each(usual), optimum=0.0, provenance=provenance(numbers)
        ),
        "deviation.larger": Quantity(
            _mean(more),
            note=note,
            optimum=0.0,
            provenance=provenance(few, buffer=10 * LARGER, tasks=TASKS * LARGER),
        ),
    }


def _expecting(
    numbers: Sequence[int], setting: Setting, by: Literal["fair", "slope"] = "fair"
) -> dict[str, Floats]:
    """Return the deviations of each policy that expects a throughput, in reading A."""
    return {
        name: deviations(measurements("A", SEED, numbers, replace(setting, policy=name)), by=by)
        for name in EXPECTING
    }


def _mean(found: Mapping[str, Floats]) -> float:
    """Return the mean over all policies and trees."""
    return float(np.mean(np.concatenate(list(found.values()))))


def _each(found: Mapping[str, Floats]) -> str:
    """Write the mean of each policy."""
    return named({name: float(np.mean(values)) for name, values in found.items()}, ".4f")


def enough_tasks(quick: bool) -> dict[str, Quantity]:
    """Return the share of throughputs that ten times the tasks change by at most one per cent."""
    numbers = QUICK_LONG if quick else LONG
    changes = {name: _changes(name, numbers) for name in LONGER}
    within = np.concatenate(list(changes.values())) <= ONE_PERCENT
    words = "; reading A, median and largest change: " + ", ".join(
        f"{name} {np.median(each):.1%}, {np.max(each):.1%}" for name, each in changes.items()
    )
    measured_on = provenance(numbers, tasks=TASKS * LARGER)
    return {"tasks.enough": share(within, words, provenance=measured_on)}


def _changes(policy: str, numbers: Iterable[int]) -> Floats:
    """Return the relative change of a policy's throughput with ten times the tasks."""
    few, many = (
        np.array([each.fair for each in measurements("A", SEED, numbers, setting)])
        for setting in (Setting(policy), Setting(policy, count=TASKS * LARGER))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.abs(many / few - 1)
    return np.asarray(np.where(few == many, 0.0, change))


def node_orders(_quick: bool) -> dict[str, Quantity]:
    """Return the failures of DATA-CENTRIC by the order in which it takes nodes."""
    worst: dict[str, float] = {}
    shares: dict[str, float] = {}
    lines, counts = [], []
    for reading in ORDER_READINGS:
        executed, expected = (
            {order: _data_centric(reading, order, theory=theory) for order in NODE_ORDERS}
            for theory in (False, True)
        )
        for order, each in executed.items():
            worst[f"{reading}, {order} first"] = each.largest
            lines.append(
                f"{reading}, {order} first {each.written()}, expected {expected[order].written()}"
            )
        ran, hoped = (
            np.concatenate([each.log for each in found.values()]) for found in (executed, expected)
        )
        failed = ran > log(FAILED)
        shown = int(np.sum(failed & (hoped > log(EXPECTED))))
        shares[reading] = shown / failed.sum() if failed.any() else 0.0
        counts.append(f"{reading} {shown} of {failed.sum()}")
    found = {
        "orders.worst": Quantity(
            min(worst[f"A, {order} first"] for order in NODE_ORDERS),
            (min(worst.values()), max(worst.values())),
            f"least of the three orders in reading A; largest where both have a throughput:"
            f" {named(worst, '.3g')}; geometric means: {'; '.join(lines)}",
            over="orders and readings",
        ),
        "orders.expected": _by_reading(shares, "; ".join(counts)),
    }
    return determined_by(provenance(range(TREES)), found)


def _data_centric(reading: str, order: str, *, theory: bool) -> Ratios:
    """Return LP over DATA-CENTRIC with an order of nodes."""
    parameters = () if order == "fast" else (("order", order),)
    high, low = (
        measurements(reading, SEED, range(TREES), each)
        for each in (Setting("lp"), Setting("data_centric", parameters))
    )
    return ratios(high, low, by="theory" if theory else "fair")
