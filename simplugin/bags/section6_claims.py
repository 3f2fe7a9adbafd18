"""What section 6 of the paper says beside what its campaign gives on SimGrid."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.campaign import FEW, ORDERS, Setting, measured
from simplugin.bags.campaign_summary import (
    BCS,
    CGBC,
    CGBC_LARGE,
    CGBC_WORST,
    DATA_CENTRIC,
    DATA_CENTRIC_SAME,
    DATA_CENTRIC_WORST,
    DEVIATION,
    FCFS,
    FCFS_LARGE,
    FCFS_WORST,
    POLICIES,
    QUANTITIES,
    deviations,
    listed,
    quantities,
    ratios,
    score,
)
from simplugin.bags.instances import MAIN, READINGS, SEEDS, TASKS, TREES
from simplugin.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simplugin.bags.campaign import Measurement
    from simplugin.bags.campaign_summary import Quantity

    Found = Mapping[str, Sequence[Measurement]]

SEED = SEEDS[0]
# The policies that expect a throughput, and ten times the buffers and tasks.
EXPECTING = POLICIES[:3]
LARGER = 10
# On a few small trees, so many times the tasks.
LARGEST, _FEW = 60, (0, 1, 5, 6, 10, 11)
# Which trees the quick run has for larger buffers.
_QUICK_LARGER = (0, 1, 2, 5, 6)
# Over how many orders of the first requests it averages.
QUICK_ORDERS = 2
# How many trees the variants of readings have, and those that buffers of 100 have.
_OF_VARIANTS, _OF_LARGER = 60, 60
# Within which factor means, shares and extremes agree.
_MEAN, _SHARE, _EXTREME = 1.1, 1.25, 2.0
# Deviations may be so far apart.
_DEVIATION = 0.03

# Of each statement: its words, source, factor, and what explains a difference.
STATEMENTS: Mapping[Quantity, tuple[str, str, float, str]] = {
    DATA_CENTRIC: (
        "DATA-CENTRIC is behind LP in the geometric mean",
        "section 6.2.2, Figure 6a",
        _MEAN,
        "trading takes fast links first; the paper leaves the order open",
    ),
    DATA_CENTRIC_WORST: (
        "DATA-CENTRIC is far behind LP in a few cases, at most",
        "section 6.2.2, Figure 6a",
        _EXTREME,
        "which trees trading fails on depends on the order in which it takes nodes",
    ),
    DATA_CENTRIC_SAME: (
        "DATA-CENTRIC does as well as LP on a share of the trees",
        "abstract",
        _SHARE,
        "as well is within 5 %, or better",
    ),
    CGBC: (
        "CGBC is behind LP in the geometric mean",
        "section 6.2.2, Figure 6d",
        _MEAN,
        "a root that computes takes tasks that are mostly data, which macro-tasks cannot be"
        " split for",
    ),
    CGBC_WORST: (
        "CGBC is never far behind LP, at most",
        "section 6.2.2, Figure 6d",
        _EXTREME,
        "a last macro-task in a slow transfer can hold back all throughputs by the formula",
    ),
    CGBC_LARGE: (
        "CGBC is behind LP on trees of 50 and 100 nodes",
        "section 6.2.2",
        _MEAN,
        "as on all trees",
    ),
    FCFS: (
        "FCFS is behind LP in the geometric mean",
        "section 6.2.2, Figure 6b",
        _MEAN,
        "each tree is averaged over some orders of the first requests, as many as said",
    ),
    FCFS_WORST: (
        "FCFS is far behind LP in the worst case, more than",
        "section 6.2.2, Figure 6b",
        _EXTREME,
        "more is as the paper says",
    ),
    FCFS_LARGE: (
        "FCFS is further behind on trees of 50 and 100 nodes",
        "section 6.2.2",
        _MEAN,
        "more hosts are behind links that first come, first served cannot avoid",
    ),
    BCS: (
        "BCS is close to 0 in more than a share of the cases",
        "section 6.2.2, Figure 6c",
        _SHARE,
        "close to 0 is less than a thousandth of LP, as where no task of some application ends"
        " in the time that counts; a root that computes gives each application a share of its CPU",
    ),
}


@cache
def paper_campaign(reading: str, numbers: tuple[int, ...], orders: int) -> Found:
    """Return the paper's policies on some trees of the campaign's seed.

    Parameters
    ----------
    reading : str
        A key of `simplugin.bags.instances.READINGS`.
    numbers : tuple of int
        Of the trees.
    orders : int
        Over how many orders of the first requests first come, first served is averaged.
    """
    settings = {name: Setting(name) for name in POLICIES}
    settings["fcfs"] = Setting("fcfs", orders=orders)
    return {
        name: [measured(reading, SEED, number, setting) for number in numbers]
        for name, setting in settings.items()
    }


def deviation(quick: bool) -> list[Claim]:
    """Return how far executions stay below what is expected, with usual and large buffers."""
    numbers = FEW if quick else range(TREES)
    usual = _expecting(numbers, Setting(""))
    large = _QUICK_LARGER if quick else tuple(range(_OF_LARGER))
    more = _expecting(large, Setting("", buffer=10 * LARGER, count=TASKS * LARGER))
    before = _expecting(large, Setting(""))
    by_slope = _expecting(large, Setting("", buffer=10 * LARGER, count=TASKS * LARGER), "slope")
    return [
        Claim(
            "With ten slots, throughputs stay below what LP, DATA-CENTRIC and CGBC expect by",
            DEVIATION.paper,
            _mean(usual),
            abs(_mean(usual) - DEVIATION.paper) <= _DEVIATION,
            f"mean of 1 - measured / expected; {_each(usual)}. Agrees within 0.03. A task of much"
            " data blocks a port for many times what ten tasks keep its children busy",
            "section 6.2.1, Figure 5",
            provenance=_provenance(numbers),
        ),
        Claim(
            "With ten times the buffers and tasks, by less",
            0.00334,
            _mean(more),
            abs(_mean(more)) <= 0.0134,
            f"{_each(more)}; with ten slots the same trees have {_mean(before):.4f}. Agrees within"
            f" 0.01. By the slope between 10 and 90 % of completions it is {_mean(by_slope):.4f}:"
            " what is left is that larger buffers take longer to fill and to drain"
            f"{'' if quick else _many_tasks()}",
            "section 6.2.1",
            provenance=_provenance(large, buffer=10 * LARGER, tasks=TASKS * LARGER),
        ),
    ]


def _many_tasks() -> str:
    """Say how little throughputs of long executions are below what is expected."""
    found = _expecting(_FEW, Setting("", buffer=10 * LARGER, count=TASKS * LARGEST))
    before = _expecting(_FEW, Setting("", buffer=10 * LARGER, count=TASKS * LARGER))
    return (
        f"; with {TASKS * LARGEST} tasks it is {_mean(found):.4f} on {len(_FEW)} small trees, which"
        f" have {_mean(before):.4f} with {TASKS * LARGER}"
    )


def _expecting(
    numbers: Sequence[int], setting: Setting, by: str = "fair"
) -> dict[str, list[float]]:
    """Return the deviations of each policy that expects a throughput, in reading A."""
    found = {}
    for name in EXPECTING:
        each = [measured("A", SEED, n, replace(setting, policy=name)) for n in numbers]
        found[name] = deviations(each, by=by).tolist()
    return found


def _mean(found: Mapping[str, Sequence[float]]) -> float:
    """Return the mean over all policies and trees."""
    return float(np.mean(np.concatenate([np.asarray(each) for each in found.values()])))


def _each(found: Mapping[str, Sequence[float]]) -> str:
    """Write the mean of each policy."""
    return ", ".join(f"{name} {np.mean(values):.4f}" for name, values in found.items())


def heuristics(quick: bool) -> list[Claim]:
    """Return how far the heuristics are behind LP, by the main readings of the text."""
    numbers = FEW if quick else tuple(range(TREES))
    orders = QUICK_ORDERS if quick else ORDERS
    found = {name: paper_campaign(name, numbers, orders) for name in MAIN}
    values = {name: quantities(each) for name, each in found.items()}
    provenance = _provenance(numbers, orders=orders)
    alone = {name: ratios(each["lp"], each["fcfs"], by="lowest") for name, each in found.items()}
    more = "; with the worst of the orders alone " + ", ".join(
        f"{name} {each.worst:.3g}" for name, each in alone.items()
    )
    claims = [_stated(each, values, provenance, more * (each is FCFS_WORST)) for each in STATEMENTS]
    return [*claims, _ranking(found, provenance), _best_reading(values, provenance)]


def agrees(quantity: Quantity, value: float, factor: float) -> bool:
    """Whether a measurement is within a factor of the paper's value, or over it if that is all."""
    if quantity.over:
        return value >= quantity.paper
    if not value > 0 or math.isinf(value):
        return False
    return abs(math.log(value / quantity.paper)) <= math.log(factor) + 1e-12


def _stated(
    quantity: Quantity,
    values: Mapping[str, Mapping[Quantity, float]],
    provenance: Mapping[str, Any],
    more: str,
) -> Claim:
    """Return one number of the paper beside those of all main readings."""
    words, source, factor, why = STATEMENTS[quantity]
    by_reading = ", ".join(f"{name} {each[quantity]:.3g}" for name, each in values.items())
    fitting = [name for name, each in values.items() if agrees(quantity, each[quantity], factor)]
    bound = f"from {quantity.paper:g} on" if quantity.over else f"within a factor of {factor:g}"
    return Claim(
        words,
        f"over {quantity.paper:g}" if quantity.over else quantity.paper,
        _shown(values["A"][quantity]),
        "A" in fitting,
        f"reading A; by reading: {by_reading}. Agrees {bound}: in {', '.join(fitting) or 'none'};"
        f" {why}{more}",
        source,
        provenance=provenance,
    )


def _shown(value: float) -> float | str:
    """Return a number that JSON can hold."""
    return value if math.isfinite(value) else "throughput 0 on some tree"


def _ranking(found: Mapping[str, Found], provenance: Mapping[str, Any]) -> Claim:
    """Return whether heuristics are as good as the paper says, one beside the other."""
    orders = {}
    for reading, each in found.items():
        behind = {name: ratios(each["lp"], each[name]).mean for name in POLICIES}
        orders[reading] = sorted(behind, key=lambda name: behind[name])
    good = sum(
        order.index("fcfs") > max(order.index("cgbc"), order.index("data_centric"))
        and order.index("cgbc") > order.index("lp")
        for order in orders.values()
    )
    listed = "; ".join(f"{name}: {', '.join(order)}" for name, order in orders.items())
    return Claim(
        "LP is best, DATA-CENTRIC and CGBC come next, FCFS is much worse",
        "LP first, FCFS last",
        f"in {good} of {len(orders)} readings",
        good == len(orders),
        f"by geometric means over trees with a throughput: {listed}. Agrees if CGBC is behind LP,"
        " and FCFS behind CGBC and DATA-CENTRIC, in all. BCS is not ranked by this mean, which"
        " leaves out where it starves an application",
        "section 6.2.2",
        provenance=provenance,
    )


def _best_reading(
    values: Mapping[str, Mapping[Quantity, float]], provenance: Mapping[str, Any]
) -> Claim:
    """Return which of the main readings is nearest to the paper's numbers."""
    distance = {name: score(each) for name, each in values.items()}
    best = min(distance, key=lambda name: distance[name])
    listed = ", ".join(f"{name} {each:.2f}" for name, each in distance.items())
    misses = [each.name for each in QUANTITIES if each.distance(values[best][each]) > math.log(1.1)]
    return Claim(
        "One reading of section 6.1 gives all of its numbers",
        "implied",
        f"{best} is nearest",
        not misses,
        f"mean of |ln(measured / paper)| over {len(QUANTITIES)} numbers, each 2 at most: {listed}."
        f" Agrees if the nearest has all within 10 %; it misses {', '.join(misses)}",
        "section 6.1",
        provenance=provenance,
    )


def variants(quick: bool) -> list[Claim]:
    """Return how the numbers move with each variant of a reading; not in the quick run."""
    if quick:
        return []
    numbers = tuple(range(_OF_VARIANTS))
    values = {name: quantities(paper_campaign(name, numbers, ORDERS)) for name in READINGS}
    claims = []
    for quantity, (words, source, factor, _) in STATEMENTS.items():
        found = {name: each[quantity] for name, each in values.items()}
        fitting = [name for name, value in found.items() if agrees(quantity, value, factor)]
        low, high = (pick(found, key=lambda name: found[name]) for pick in (min, max))
        claims.append(
            Claim(
                f"{words}: over all {len(READINGS)} readings and variants",
                f"over {quantity.paper:g}" if quantity.over else quantity.paper,
                f"{found[low]:.3g} to {found[high]:.3g}",
                bool(fitting),
                f"least in {low!r}, most in {high!r}; agrees if some reading does:"
                f" {'; '.join(fitting) or 'none'}",
                source,
                provenance=_provenance(numbers),
            )
        )
    distance = {name: score(each) for name, each in values.items()}
    order = sorted(distance, key=lambda name: distance[name])
    return [*claims, _nearest_variant(order, distance, numbers)]


def _nearest_variant(
    order: Sequence[str], distance: Mapping[str, float], numbers: Sequence[int]
) -> Claim:
    """Return which of all readings is nearest to the paper's numbers."""
    listed = "; ".join(f"{name} {distance[name]:.2f}" for name in order)
    return Claim(
        "One of all readings and variants gives all numbers of section 6.2",
        "implied",
        f"{order[0]!r} is nearest, at {distance[order[0]]:.2f}",
        distance[order[0]] <= math.log(1.1),
        f"mean of |ln(measured / paper)|, nearest first: {listed}. Agrees below ln 1.1",
        "section 6.1",
        provenance=_provenance(numbers),
    )


def _provenance(numbers: Sequence[int], **more: Any) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {"seed": SEED, "trees": listed(numbers), **more}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "heuristics, by reading": heuristics,
    "deviation": deviation,
    "variants of readings": variants,
}
