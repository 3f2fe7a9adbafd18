"""What section 6 of the paper says beside what its campaign gives on SimGrid."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from simplugin.bags import deviation_claims
from simplugin.bags.campaign import FEW, ORDERS, Setting, measured
from simplugin.bags.campaign_summary import (
    BCS,
    CGBC,
    CGBC_LARGE,
    CGBC_WORST,
    DATA_CENTRIC,
    DATA_CENTRIC_SAME,
    DATA_CENTRIC_WORST,
    FCFS,
    FCFS_LARGE,
    FCFS_WORST,
    POLICIES,
    QUANTITIES,
    best,
    listed,
    quantities,
    ratios,
    score,
)
from simplugin.bags.instances import MAIN, READINGS, SEEDS, TREES
from simplugin.bags.ranking_claims import rankings
from simplugin.claims import Claim
from simplugin.elementary import log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simplugin.bags.campaign import Measurement
    from simplugin.bags.campaign_summary import Quantity

    Found = Mapping[str, Sequence[Measurement]]

SEED = SEEDS[0]
# Over how many orders of the first requests it averages.
QUICK_ORDERS = 2
# How many trees the variants of readings have.
_OF_VARIANTS = 60
# Within which factor means and shares agree, and how far beyond a bound extremes may be.
_MEAN, _SHARE, _EXTREME = 1.1, 1.25, 1.05
# Of each statement: its words, source, factor, and what explains a difference.
STATEMENTS: Mapping[Quantity, tuple[str, str, float, str]] = {
    DATA_CENTRIC: (
        "DATA-CENTRIC is behind LP in the geometric mean",
        "section 6.2.2, Figure 6a",
        _MEAN,
        "trading takes fast links first; the paper leaves the order open",
    ),
    DATA_CENTRIC_WORST: (
        "DATA-CENTRIC is far behind LP in a few cases, up to",
        "section 6.2.2, Figure 6a",
        _MEAN,
        "trading takes fast links first, as above",
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
        "",
    ),
    CGBC_LARGE: (
        "CGBC is behind LP on trees of 50 and 100 nodes",
        "section 6.2.2",
        _MEAN,
        "",
    ),
    FCFS: (
        "FCFS is behind LP in the geometric mean",
        "section 6.2.2, Figure 6b",
        _MEAN,
        "averaged over orders of the first requests",
    ),
    FCFS_WORST: (
        "FCFS is far behind LP in the worst case, more than",
        "section 6.2.2, Figure 6b",
        _EXTREME,
        "",
    ),
    FCFS_LARGE: (
        "FCFS is behind LP on trees of 50 and 100 nodes",
        "section 6.2.2",
        _MEAN,
        "",
    ),
    BCS: (
        "BCS is close to 0 in more than a share of the cases",
        "section 6.2.2, Figure 6c",
        _SHARE,
        "close to 0 is less than a thousandth of LP, as where no task of some application ends"
        " in the time that counts",
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
    bound = best(found["A"]["lp"])
    claims = [
        _stated(each, values, provenance, more * (each is FCFS_WORST), bound) for each in STATEMENTS
    ]
    return [
        *claims,
        *rankings(found, provenance),
        _best_reading(values, provenance),
    ]


def agrees(quantity: Quantity, value: float, factor: float) -> bool:
    """Whether a measurement is within a factor of the paper's value, or keeps to its bound.

    Up to an upper bound means the factor beyond it.
    """
    if quantity.over:
        return value >= quantity.paper
    if not value > 0 or math.isinf(value):
        return False
    if quantity.under:
        return value <= quantity.paper * factor
    return abs(log(value / quantity.paper)) <= log(factor) + 1e-12


def _stated(
    quantity: Quantity,
    values: Mapping[str, Mapping[Quantity, float]],
    provenance: Mapping[str, Any],
    more: str,
    bound: float,
) -> Claim:
    """Return one number of the paper beside those of all main readings."""
    words, source, factor, why = STATEMENTS[quantity]
    by_reading = ", ".join(f"{name} {each[quantity]:.3g}" for name, each in values.items())
    fitting = [name for name, each in values.items() if agrees(quantity, each[quantity], factor)]
    within = (
        f"from {quantity.paper:g} on" if quantity.over
        else f"up to {quantity.paper * factor:g}" if quantity.under
        else f"within a factor of {factor:g}"
    )  # fmt: skip
    is_mean = quantity in (DATA_CENTRIC, CGBC, FCFS)
    return Claim(
        words,
        f"over {quantity.paper:g}" if quantity.over else quantity.paper,
        _shown(values["A"][quantity]),
        "A" in fitting,
        f"reading A; by reading: {by_reading}. Agrees {within}: in {', '.join(fitting) or 'none'}"
        f"{'; ' * bool(why)}{why}{more}"
        + "; the optimum is that of a policy that reaches the linear program's"
        * is_mean,
        source,
        optimum=bound if is_mean else None,
        provenance=provenance,
    )


def _shown(value: float) -> float | str:
    """Return a number that JSON can hold."""
    return value if math.isfinite(value) else "throughput 0 on some tree"


def _best_reading(
    values: Mapping[str, Mapping[Quantity, float]], provenance: Mapping[str, Any]
) -> Claim:
    """Return which of the main readings is nearest to the paper's numbers."""
    distance = {name: score(each) for name, each in values.items()}
    nearest = min(distance, key=lambda name: distance[name])
    listed = ", ".join(f"{name} {each:.2f}" for name, each in distance.items())
    misses = [each.name for each in QUANTITIES if each.distance(values[nearest][each]) > log(1.1)]
    return Claim(
        "One reading of section 6.1 gives all of its numbers",
        "implied",
        f"{nearest} is nearest",
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
        distance[order[0]] <= log(1.1),
        f"mean of |ln(measured / paper)|, nearest first: {listed}. Agrees below ln 1.1",
        "section 6.1",
        provenance=_provenance(numbers),
    )


def _provenance(numbers: Sequence[int], **more: Any) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {"seed": SEED, "trees": listed(numbers), **more}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "heuristics, by reading": heuristics,
    **deviation_claims.PARTS,
    "variants of readings": variants,
}
