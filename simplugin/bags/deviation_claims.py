"""What sections 6.1.4 and 6.2.1 of the paper say of executions beside what is expected of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.bags.campaign import FEW, Setting, measured
from simplugin.bags.campaign_summary import DEVIATION, POLICIES, deviations, listed
from simplugin.bags.instances import SEEDS, TASKS, TREES
from simplugin.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

SEED = SEEDS[0]
# The policies that expect a throughput, and ten times the buffers and tasks.
EXPECTING = POLICIES[:3]
LARGER = 10
DEVIATION_LARGER = 0.00334
# How many trees buffers of 100 have; in the quick run, which.
_OF_LARGER, _QUICK_LARGER = 60, (0, 1, 2, 5, 6)
# On a few small trees, so many times the tasks.
LARGEST, _FEW = 60, (0, 1, 5, 6, 10, 11)
# How far deviations may be from the paper's.
_LIKE, _LIKE_LARGER = 0.03, 0.01
# Who is given ten times the tasks, where, and what may change.
LONGER = ("lp", "data_centric", "cgbc", "fcfs")
_LONG, _QUICK_LONG, _ONE_PERCENT = tuple(range(15)), (0, 5, 10), 0.01


def deviation(quick: bool) -> list[Claim]:
    """Return how far executions stay below what is expected, with usual and large buffers."""
    numbers = FEW if quick else range(TREES)
    usual = _expecting(numbers, Setting(""))
    return [
        Claim(
            "With ten slots, throughputs stay below what LP, DATA-CENTRIC and CGBC expect by",
            DEVIATION.paper,
            _mean(usual),
            abs(_mean(usual) - DEVIATION.paper) <= _LIKE,
            f"mean of 1 - measured / expected; {_each(usual)}. Agrees within {_LIKE} of the"
            " paper's",
            "section 6.2.1, Figure 5",
            optimum=0.0,
            provenance=_provenance(numbers),
        ),
        _with_larger_buffers(_QUICK_LARGER if quick else tuple(range(_OF_LARGER)), quick),
    ]


def _with_larger_buffers(numbers: Sequence[int], quick: bool) -> Claim:
    """Return how far they stay below with ten times the buffers and tasks."""
    setting = Setting("", buffer=10 * LARGER, count=TASKS * LARGER)
    more, by_slope = (_expecting(numbers, setting, by) for by in ("fair", "slope"))
    before = _expecting(numbers, Setting(""))
    return Claim(
        f"With ten times the buffers and tasks, by less; on {len(numbers)} of the {TREES} trees",
        DEVIATION_LARGER,
        _mean(more),
        abs(_mean(more) - DEVIATION_LARGER) <= _LIKE_LARGER,
        f"{_each(more)}; with ten slots the same trees have {_mean(before):.4f}. Agrees within"
        f" {_LIKE_LARGER} of the paper's. By the slope between 10 and 90 % of completions"
        f" {_mean(by_slope):.4f} remains, which filling and draining the buffers does not explain"
        f"{'' if quick else _many_tasks()}",
        "section 6.2.1",
        optimum=0.0,
        provenance=_provenance(numbers, buffer=10 * LARGER, tasks=TASKS * LARGER),
    )


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


def enough_tasks(quick: bool) -> list[Claim]:
    """Return whether ten times the tasks give the same throughput."""
    numbers = _QUICK_LONG if quick else _LONG
    changes = {name: _changes(name, numbers) for name in LONGER}
    together = np.concatenate(list(changes.values()))
    within = int(np.sum(together <= _ONE_PERCENT))
    means = ", ".join(
        f"{name} {np.median(each):.1%}, {np.max(each):.1%}" for name, each in changes.items()
    )
    return [
        Claim(
            f"{TASKS} tasks of each application are enough: with ten times as many, throughputs"
            " stay within 1 %",
            "for all configurations",
            f"for {within} of {len(together)}",
            within == len(together),
            "change of the fair throughput by the formula, reading A, median and largest:"
            f" {means}. Agrees if all are within 1 %",
            "section 6.1.4",
            provenance=_provenance(numbers, tasks=TASKS * LARGER),
        )
    ]


def _changes(policy: str, numbers: Sequence[int]) -> NDArray[np.float64]:
    """Return by what part ten times the tasks change a policy's throughput, on each tree."""
    few, many = (
        np.array([measured("A", SEED, n, Setting(policy, count=count)).fair for n in numbers])
        for count in (TASKS, TASKS * LARGER)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.abs(many / few - 1)
    return np.asarray(np.where(few == many, 0.0, change))


def _provenance(numbers: Sequence[int], **more: Any) -> dict[str, Any]:
    """Return what determines the measurements."""
    return {"seed": SEED, "trees": listed(numbers), **more}


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "deviation": deviation,
    "enough tasks": enough_tasks,
}
