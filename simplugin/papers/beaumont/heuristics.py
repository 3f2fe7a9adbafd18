"""Experiments of section 6: the paper's heuristics against LP and against their expectations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.papers.beaumont.campaign import (
    FEW,
    ORDERS,
    PolicySetting,
    ThroughputMeasurement,
    measurements,
)
from simplugin.papers.beaumont.comparisons import Floats, Ratios, best, deviations, ratios
from simplugin.papers.beaumont.instances import MAIN, READINGS, SEEDS, TASKS, TREES
from simplugin.papers.statements import (
    Quantity,
    determined_by,
    largest,
    named,
    resampled,
    share,
    statements,
)

Found = Mapping[str, Sequence[ThroughputMeasurement]]


PAPER = "simplugin.papers.beaumont"
SEED = SEEDS[0]
POLICIES = ("lp", "data_centric", "cgbc", "fcfs", "bcs")
# The policies that expect a throughput.
EXPECTING = POLICIES[:3]
# Information that the paper lacks to choose one of the main readings.
MISSING = "whether tasks are alike in computation or in data, and whether the root computes"
# How tasks travel in further variants, as a change of settings: BCS with ten slots of a buffer for
# each application, and requests for one task each, those of all children in turn.
TRAVEL: Mapping[str, Callable[[PolicySetting], PolicySetting]] = {
    "ten slots each": lambda each: (
        replace(each, parameters=(("buffer_per_application", True),))
        if each.policy == "bcs"
        else each
    ),
    "requests in turn": lambda each: replace(each, single_requests=True, orders=1),
}
VARIANTS = (*READINGS, *(f"{name}, {words}" for name in MAIN for words in TRAVEL))
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


def provenance(numbers: Sequence[int]) -> dict[str, Any]:
    """Return the seed and the trees of a measurement."""
    return {"seed": SEED, "trees": listed(numbers)}


def listed(numbers: Sequence[int]) -> str:
    """Return the numbers of trees as text."""
    first, last = min(numbers), max(numbers)
    if len(numbers) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, numbers))


@cache
def campaign(variant: str, numbers: tuple[int, ...], orders: int) -> Found:
    """Return the measurements of the paper's policies on some trees, by policy.

    Parameters
    ----------
    variant : str
        One of `VARIANTS`.
    numbers : tuple of int
        Numbers of the trees.
    orders : int
        Number of orders of the first requests of first come, first served.
    """
    reading, _, words = (variant, "", "") if variant in READINGS else variant.partition(", ")
    settings = [PolicySetting(name, orders=orders if name == "fcfs" else 1) for name in POLICIES]
    changed = [TRAVEL[words](each) for each in settings] if words else settings
    return {each.policy: measurements(reading, SEED, numbers, each) for each in changed}


def section_6_2(found: Found) -> dict[str, Quantity]:
    """Return the quantities of section 6.2 in one reading, with intervals over trees."""
    behind = {name: ratios(found["lp"], found[name]) for name in POLICIES[1:]}

    def over(measure: Callable[..., float | bool], *names: str) -> Quantity:
        """Return a measure of LP over some policies."""
        return resampled(
            lambda few: measure(*(behind[name].of(few) for name in names)),
            len(found["lp"]),
            over="trees",
        )

    quantities = {"deviation": _deviation(found), "ranking": over(_ranked, *POLICIES[1:4])}
    for name in POLICIES[1:4]:
        quantities[f"{name}.mean"] = over(lambda each: each.mean, name)
        quantities[f"{name}.worst"] = largest(exp(behind[name].log), over="trees")
    theory = ratios(found["lp"], found["cgbc"], by="theory").worst
    least = min(behind, key=lambda name: np.mean(behind[name].log > 0))
    return quantities | {
        "cgbc.worst": replace(quantities["cgbc.worst"], note=f"at most {theory:.4g} expected"),
        "cgbc.large": over(lambda each: each.large, "cgbc"),
        "fcfs.large": over(lambda each: each.large, "fcfs"),
        "data_centric.same": share(behind["data_centric"].same, over="trees"),
        "bcs.near_zero": share(behind["bcs"].near_zero, over="trees"),
        "fcfs.growth": over(lambda fcfs: fcfs.large / fcfs.small, "fcfs"),
        "cgbc_over_fcfs.small": over(lambda fcfs, cgbc: fcfs.small / cgbc.small, "fcfs", "cgbc"),
        "cgbc_over_fcfs.growth": over(
            lambda fcfs, cgbc: fcfs.large / cgbc.large / max(fcfs.small / cgbc.small, 1.0),
            "fcfs",
            "cgbc",
        ),
        "lp.ahead": share(behind[least].log > 0, f", over {least}", over="trees"),
    }


def _ranked(data_centric: Ratios, cgbc: Ratios, fcfs: Ratios) -> bool:
    """Return True if LP is best and FCFS much worse than DATA-CENTRIC and CGBC."""
    good = (data_centric.mean, cgbc.mean)
    return min(*good, fcfs.mean) >= 1 and fcfs.mean >= MUCH * max(good)


def heuristics(quick: bool) -> dict[str, Quantity]:
    """Return the distances of the heuristics from LP, by the main readings of the text."""
    numbers, orders = FEW if quick else tuple(range(TREES)), ORDERS[quick]
    found = {name: section_6_2(campaign(name, numbers, orders)) for name in MAIN}
    quantities = {
        key: by_reading({name: each[key] for name, each in found.items()}) for key in found["A"]
    }
    optimum = best(campaign("A", numbers, orders)["lp"])
    for policy in POLICIES[1:4]:
        key = f"{policy}.mean"
        quantities[key] = replace(quantities[key], optimum=optimum)
    quantities["fewest.misses"] = _fewest_misses(found)
    return determined_by(provenance(numbers) | {"orders": orders}, quantities)


def variants(_quick: bool) -> dict[str, Quantity]:
    """Return the quantities over all readings and variants."""
    numbers = tuple(range(TREES))
    found = {name: section_6_2(campaign(name, numbers, ORDERS[False])) for name in VARIANTS}
    return determined_by(provenance(numbers), {"fewest.misses": _fewest_misses(found)})


def by_reading(found: Mapping[str, Quantity], missing: str = MISSING) -> Quantity:
    """Return the quantity of reading A, with the intervals of the others."""
    lines = []
    for name, each in found.items():
        value = each.value if isinstance(each.value, bool) else f"{each.value:.3g}"
        lines.append(f"{name} {value}" + f" ({each.note})" * bool(each.note))
    others = {name: each.interval for name, each in found.items() if name != "A" and each.interval}
    return replace(
        found["A"], note=f"by reading: {', '.join(lines)}", readings=others, missing=missing
    )


def _fewest_misses(found: Mapping[str, Mapping[str, Quantity]]) -> Quantity:
    """Return the number of statements of section 6.2 that disagree in the reading with fewest."""
    stated = [each for each in statements(PAPER) if each.quantity in found["A"]]
    misses, most, lines = [], [], []
    for name, quantities in found.items():
        held = {each.id: each.judge(quantities[each.quantity]).agrees for each in stated}
        misses.append(list(held.values()).count(False))
        most.append(misses[-1] + list(held.values()).count(None))
        agreed = ", ".join(key for key in held if held[key]) or "none"
        lines.append(f"{name} misses {misses[-1]}, agrees with {agreed}")
    trees = found["A"]["ranking"].samples
    ends = (min(misses), min(most))
    return Quantity(min(misses), ends, "; ".join(lines), samples=trees, over="trees")


def deviation(quick: bool) -> dict[str, Quantity]:
    """Return the shortfall of executions with large buffers, reading A."""
    numbers = QUICK_LARGER if quick else LARGER_TREES
    large = PolicySetting("", buffer=10 * LARGER, count=TASKS * LARGER)
    more = _expecting(numbers, large)
    beside = {
        "with ten slots": _deviation(_expecting(numbers, PolicySetting(""))),
        "by the slope between 10 and 90 % of completions": _deviation(more, "slope"),
    }
    if not quick:
        long = replace(large, count=TASKS * MANY)
        beside[f"on {len(MANY_TREES)} small trees"] = _deviation(_expecting(MANY_TREES, large))
        beside[f"there with {TASKS * MANY} tasks"] = _deviation(_expecting(MANY_TREES, long))
    found, words = _deviation(more), (f"{key} {each.value:.4f}" for key, each in beside.items())
    found = replace(found, note="; ".join([found.note, *words]), optimum=0.0)
    known = provenance(numbers) | {"buffer": 10 * LARGER, "tasks": TASKS * LARGER}
    return determined_by(known, {"deviation.larger": found})


def _expecting(numbers: Sequence[int], setting: PolicySetting) -> Found:
    """Return the measurements of each policy that expects a throughput, in reading A."""
    return {
        name: measurements("A", SEED, numbers, replace(setting, policy=name)) for name in EXPECTING
    }


def _deviation(found: Found, by: Literal["fair", "slope"] = "fair") -> Quantity:
    """Return the mean shortfall of executions over all policies that expect a throughput."""
    rows = np.array([deviations(found[name], by=by) for name in EXPECTING])
    means = {name: _mean(row) for name, row in zip(EXPECTING, rows, strict=True)}
    return resampled(
        lambda few: _mean(rows[:, few]), rows.shape[1], named(means, ".4f"), over="trees"
    )


def _mean(values: Floats) -> float:
    """Return the mean of all values that are not NaN."""
    known = values[~np.isnan(values)]
    return float(np.mean(known)) if known.size else math.nan


def enough_tasks(quick: bool) -> dict[str, Quantity]:
    """Return the share of throughputs that ten times the tasks change by at most one per cent."""
    numbers = QUICK_LONG if quick else LONG
    changes = {name: _changes(name, numbers) for name in LONGER}
    within = np.concatenate(list(changes.values())) <= ONE_PERCENT
    words = "; reading A, median and largest change: " + ", ".join(
        f"{name} {np.median(each):.1%}, {np.max(each):.1%}" for name, each in changes.items()
    )
    measured_on = provenance(numbers) | {"tasks": TASKS * LARGER}
    return {"tasks.enough": share(within, words, provenance=measured_on)}


def _changes(policy: str, numbers: Iterable[int]) -> Floats:
    """Return the relative change of a policy's throughput with ten times the tasks."""
    few, many = (
        np.array([each.fair for each in measurements("A", SEED, numbers, setting)])
        for setting in (PolicySetting(policy), PolicySetting(policy, count=TASKS * LARGER))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.abs(many / few - 1)
    return np.asarray(np.where(few == many, 0.0, change))


def node_orders(_quick: bool) -> dict[str, Quantity]:
    """Return the failures of DATA-CENTRIC by the order in which it takes nodes."""
    worst, expected = {}, {}
    for reading in ORDER_READINGS:
        ran, hoped = (
            [_data_centric(reading, order, theory=theory) for order in NODE_ORDERS]
            for theory in (False, True)
        )
        most = [largest(exp(each.log[np.isfinite(each.log)]), over="trees") for each in ran]
        least = min(most, key=lambda each: each.value)
        low, high = np.min([each.interval or () for each in most], axis=0).tolist()
        lines = (
            f"{order} first {one.written()}, expected {other.written()}"
            for order, one, other in zip(NODE_ORDERS, ran, hoped, strict=True)
        )
        worst[reading] = replace(least, interval=(low, high), note="; ".join(lines))
        expected[reading] = _failures(ran, hoped)
    missing = "whether tasks are alike in computation or in data"
    found = {"orders.worst": worst, "orders.expected": expected}
    quantities = {key: by_reading(each, missing) for key, each in found.items()}
    return determined_by(provenance(range(TREES)), quantities)


def _failures(ran: Sequence[Ratios], hoped: Sequence[Ratios]) -> Quantity:
    """Return the share of failed executions with an expected failure."""
    failed = np.array([each.log for each in ran]) > log(FAILED)
    shown = failed & (np.array([each.log for each in hoped]) > log(EXPECTED))
    return resampled(
        lambda few: float(np.sum(shown[:, few])) / max(float(np.sum(failed[:, few])), 1.0),
        failed.shape[1],
        f"{np.sum(shown)} of {np.sum(failed)}",
        over="trees",
    )


def _data_centric(reading: str, order: str, *, theory: bool) -> Ratios:
    """Return LP over DATA-CENTRIC with an order of nodes."""
    parameters = () if order == "fast" else (("order", order),)
    high, low = (
        measurements(reading, SEED, range(TREES), each)
        for each in (PolicySetting("lp"), PolicySetting("data_centric", parameters))
    )
    return ratios(high, low, by="theory" if theory else "fair")
