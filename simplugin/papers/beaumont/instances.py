"""Seeded trees and applications of the campaign of section 6, by how its text is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from simplugin.core.elementary import exp, log
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_graphs import BANDWIDTHS, random_tree
from simplugin.workloads.applications import Bags

# The campaign's seed; and another, on which nothing was tuned and no choice of ours depends.
SEEDS = (2008, 4711)

# Maximum numbers of nodes and of children of trees, ten trees of each in turn. Hence the first 15
# have all shapes, and the first 30 all shapes with two and with three applications.
NODES = (5, 10, 20, 50, 100)
DEGREES = (2, 5, 15)
TREES = 150

# The product of two square matrices of 3,500 rows [flop], and two of them in single precision,
# section 6.1.3 [byte].
SIDE = 3500
FLOP, BYTE = 2.0 * SIDE**3, 2.0 * 4.0 * SIDE**2

# The least communication-to-computation ratio, and the range of the largest [byte/flop].
LEAST_RATIO = 0.001
LARGEST_RATIO = (0.002, 4.6)

# Of each application.
TASKS = 200


@dataclass(frozen=True)
class InstanceAssumptions:
    """Choices that section 6.1 leaves open.

    Attributes
    ----------
    root_computes : bool
        True if the root computes, False if it only distributes.
    alike : {"flop", "byte", "neither"}
        The common quantity of the tasks of all applications, so that the ratio decides the other;
        "neither" divides computation and multiplies data by the square root of the ratio.
    ratio_unit : float
        Unit of the ratios in byte/flop: 8 is the same as bandwidths in bits.
    ratio_law, bandwidth_law : {"log-uniform", "uniform"}
        Distributions of the largest ratio and of bandwidths.
    latency : pair of float, optional
        Least and largest of a link, log-uniform [s]; none without.
    n_applications : int, optional
        Number of applications; 2 and 3 in turn by default.
    root_counts : bool
        True if the root is one of the nodes that are counted.
    """

    root_computes: bool = True
    alike: Literal["flop", "byte", "neither"] = "flop"
    ratio_unit: float = 1.0
    ratio_law: Literal["log-uniform", "uniform"] = "log-uniform"
    bandwidth_law: Literal["log-uniform", "uniform"] = "log-uniform"
    latency: tuple[float, float] | None = None
    n_applications: int | None = None
    root_counts: bool = True


# The four main readings, and variants of them with one change each. A is
# the default by the text: linear program (1) counts tasks that the root computes, section 5.5
# trades tasks on it, and section 6.1.3 characterises applications by their ratio, without sizes
# of their own, as tasks of equal computation are. Its example, that the least and the largest ratio
# belong to the product and the sum of the same matrices, speaks for C instead; so nothing is told
# that the four readings do not agree on. Speeds are those of an example platform of SimGrid, whose
# bandwidths are in bytes, though the paper has "Kbps": variants have bits.
MAIN: dict[str, InstanceAssumptions] = {
    "A": InstanceAssumptions(),
    "B": InstanceAssumptions(root_computes=False),
    "C": InstanceAssumptions(alike="byte"),
    "D": InstanceAssumptions(root_computes=False, alike="byte"),
}
READINGS: dict[str, InstanceAssumptions] = {
    **MAIN,
    "E": InstanceAssumptions(alike="neither"),
    **{
        f"{name}, {words}": replace(MAIN[name], **{field: value})  # type: ignore[arg-type] # by name
        for name, field, value, words in (
            *((name, "ratio_unit", 8.0, "kilobits") for name in MAIN),
            ("A", "ratio_unit", 0.1, "ratios / 10"),
            ("A", "ratio_unit", 0.01, "ratios / 100"),
            ("B", "ratio_unit", 0.3, "ratios x 0.3"),
            ("A", "ratio_law", "uniform", "uniform ratios"),
            ("A", "bandwidth_law", "uniform", "uniform bandwidths"),
            ("B", "bandwidth_law", "uniform", "uniform bandwidths"),
            ("A", "latency", (6e-3, 10.0), "6 ms to 10 s"),
            ("A", "n_applications", 2, "two applications"),
            ("A", "n_applications", 3, "three applications"),
            ("A", "root_counts", False, "n workers"),
        )
    },
}


def instance(reading: str, seed: int, number: int, *, count: int = TASKS) -> tuple[Tree, Bags]:
    """Return a tree and its applications.

    A number stands for the same tree in all readings, but for what they change, and for the same
    draw of the largest ratio.

    Parameters
    ----------
    reading : str
        A key of `READINGS`.
    seed : int
        Of the draws; the campaign's are `SEEDS`.
    number : int
        From 0 to `TREES` - 1.
    count : int
        Tasks of each application.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5),
       section 6.1.
    """
    return _tree(READINGS[reading], seed, number), _bags(READINGS[reading], seed, number, count)


def _tree(reading: InstanceAssumptions, seed: int, number: int) -> Tree:
    """Return the tree; readings do not affect the other draws."""
    tree = random_tree(
        NODES[number % len(NODES)] + (not reading.root_counts),
        DEGREES[number // len(NODES) % len(DEGREES)],
        np.random.default_rng([seed, number, 0]),
        bandwidths=BANDWIDTHS,
        bandwidth_law=reading.bandwidth_law,
        root_computes=reading.root_computes,
    )
    if reading.latency is None:
        return tree
    draws = np.random.default_rng([seed, number, 1])
    low, high = log(reading.latency).tolist()
    latency = exp(draws.uniform(low, high, tree.n_hosts))
    latency[0] = 0.0
    return replace(tree, latency=latency)


def _bags(reading: InstanceAssumptions, seed: int, number: int, count: int) -> Bags:
    """Return the applications, by rising ratio."""
    draws = np.random.default_rng([seed, number, 2])
    low, high = LARGEST_RATIO
    if reading.ratio_law == "uniform":
        largest = float(draws.uniform(low, high))
    else:
        largest = exp(draws.uniform(log(low), log(high)))
    applications = reading.n_applications or 2 + number % 2
    ratio = np.linspace(LEAST_RATIO, largest, applications) * reading.ratio_unit
    flop, byte = np.full(applications, FLOP), FLOP * ratio
    if reading.alike == "byte":
        flop, byte = BYTE / ratio, np.full(applications, BYTE)
    elif reading.alike == "neither":
        root = np.sqrt(ratio / LEAST_RATIO)
        flop, byte = FLOP / root, FLOP * ratio / root
    names = tuple(f"a{each}" for each in range(applications))
    return Bags(names, flop, byte, np.ones(applications), np.full(applications, count))
