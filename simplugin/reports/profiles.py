"""Performance profiles: how often a policy is how close to the best of all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.errors import SimpluginError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.reports.comparisons import Values


@dataclass(frozen=True, eq=False)
class Profiles:
    """How far each group is from the best group, instance by instance.

    Attributes
    ----------
    ratios : mapping of str to float64, shape (n,)
        Of each group, how many times worse than the best it is on each instance, sorted, 1 at
        least; infinite where it has no value.
    n : int
        Instances that all groups were tried on and that at least one of them has a value of.
    apart : int
        Instances left out because not all groups were tried on them.
    unsolved : int
        Instances left out because no group has a value.
    """

    ratios: Mapping[str, NDArray[np.float64]]
    n: int
    apart: int
    unsolved: int


def profiles(groups: Mapping[str, Values], *, sense: Literal["min", "max"] = "min") -> Profiles:
    """Compute performance profiles.

    Parameters
    ----------
    groups : mapping of str to mapping of key to float or None
        What each group gave on each instance, above 0. None and what is not finite stands for a
        failure, which is within no factor of the best.
    sense : {"min", "max"}
        Whether less or more is better.

    Returns
    -------
    Profiles
        Over the instances that are in all groups.

    Raises
    ------
    SimpluginError
        A value is not above 0, so that it has no ratio.

    References
    ----------
    .. [1] E. D. Dolan and J. J. More (2002). Benchmarking optimization software with performance
       profiles. Mathematical Programming 91, 201-213.
    """
    every = {key: None for values in groups.values() for key in values}
    shared = [key for key in every if all(key in values for values in groups.values())]
    table = np.array(
        [[_cost(name, values[key], sense) for key in shared] for name, values in groups.items()]
    ).reshape(len(groups), len(shared))
    best = table.min(axis=0) if len(groups) else np.zeros(0)
    solved = np.isfinite(best)
    with np.errstate(over="ignore"):
        ratios = table[:, solved] / best[solved]
    # However far from the best, a value is no failure.
    ratios[np.isfinite(table[:, solved]) & np.isinf(ratios)] = np.finfo(float).max
    ratios.sort(axis=1)
    count = int(solved.sum())
    return Profiles(
        dict(zip(groups, ratios, strict=True)), count, len(every) - len(shared), len(shared) - count
    )


def _cost(group: str, value: float | int | None, sense: Literal["min", "max"]) -> float:
    """Return a value such that less is better, infinite for a failure."""
    if value is None or not math.isfinite(value):
        return math.inf
    if value <= 0:
        raise SimpluginError(
            f"group {group!r} has a value of {value:g}, which has no ratio to others; profiles"
            " need values above 0"
        )
    return float(value) if sense == "min" else 1.0 / float(value)
