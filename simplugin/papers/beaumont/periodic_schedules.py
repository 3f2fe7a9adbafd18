"""Experiments of section 4: slices of stars, and periodic schedules executed on SimGrid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simplugin.bags.execution import execute_periodic
from simplugin.bags.periodic import periodic_schedule
from simplugin.core.elementary import exp, log
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.heuristics import SEED, listed
from simplugin.papers.beaumont.instances import FLOP, LARGEST_RATIO, LEAST_RATIO, TASKS, instance
from simplugin.papers.statements import Quantity
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_graphs import BANDWIDTHS, SPEEDS
from simplugin.workloads.applications import Bags

STARS, QUICK_STARS = 200, 40
# Trees whose schedules are executed, tasks of each application in a period, and numbers of periods
# beyond those in which the tree fills.
SCHEDULED_TREES, QUICK_TREES = (0, 1, 2, 3, 5, 6, 7), (0, 1)
PERIOD_TASKS, QUICK_TASKS = (50, 500), (100,)
PERIODS = (1, 8, 32)
# Trees of small whole numbers.
WHOLE, WHOLE_TREES, QUICK_WHOLE = (1, 2, 4), 20, 4
# Share of an application below which a host does not execute it.
NONE = 1e-6


def star(generator: np.random.Generator) -> tuple[Tree, Bags]:
    """Return a star of 2 to 20 children and 2 to 4 applications, from the campaign's ranges."""
    count = int(generator.integers(3, 22))
    low, high = log(BANDWIDTHS).tolist()
    bandwidth = exp(generator.uniform(low, high, count))
    bandwidth[0] = np.inf
    tree = Tree(
        tuple(f"n{host}" for host in range(count)),
        np.array([-1] + [0] * (count - 1)),
        generator.uniform(SPEEDS[0], SPEEDS[1], count),
        bandwidth,
        np.zeros(count),
    )
    kinds = int(generator.integers(2, 5))
    low, high = log((LEAST_RATIO, LARGEST_RATIO[1])).tolist()
    ratio = exp(generator.uniform(low, high, kinds))
    flop = FLOP * exp(generator.uniform(-1, 1, kinds))
    names = tuple(f"a{kind}" for kind in range(kinds))
    return tree, Bags(names, flop, ratio * flop, np.ones(kinds), np.full(kinds, TASKS))


def is_sliced(tree: Tree, bags: Bags, compute: NDArray[np.float64]) -> bool:
    """Return True if applications of higher ratio run on hosts of higher bandwidth.

    Parameters
    ----------
    tree : Tree
        A star.
    bags : Bags
        The applications.
    compute : float64, shape (n_hosts, n_applications)
        Tasks of each that each host computes [tasks/s].
    """
    hosts = np.argsort(-tree.bandwidth, kind="stable")
    kinds = np.argsort(-bags.ratio, kind="stable")
    done = compute[np.ix_(hosts, kinds)]
    used = done > NONE * done.sum(axis=0)
    last = -1
    for column in used.T:
        places = np.flatnonzero(column)
        if places[0] < last:
            return False
        last = int(places[-1])
    return True


def slices(quick: bool) -> dict[str, Quantity]:
    """Return the share of stars with slices in the optimum, Proposition 1."""
    chosen = anyone = 0
    stars = QUICK_STARS if quick else STARS
    for number in range(stars):
        tree, bags = star(np.random.default_rng([SEED, number]))
        chosen += is_sliced(tree, bags, steady_state(tree, bags).compute)
        first = steady_state(tree, bags, least_communication=False)
        anyone += is_sliced(tree, bags, first.compute)
    note = (
        f"{chosen} of {stars} stars, the optimum that communicates least; of the first optimum that"
        f" is found it holds on {anyone}"
    )
    return {
        "sliced": Quantity(chosen / stars, note=note, provenance={"seed": SEED, "stars": stars})
    }


def whole_tree(number: int) -> tuple[Tree, Bags]:
    """Return a tree and two applications in small whole numbers, with a short natural period.

    Parameters
    ----------
    number : int
        Of the draw.
    """
    draws = np.random.default_rng([SEED, number])
    parent = np.array([-1, 0, 0, 1, 1, 2])
    count = len(parent)
    bandwidth = draws.choice(WHOLE, count).astype(float)
    bandwidth[0] = np.inf
    names = tuple(f"n{host}" for host in range(count))
    tree = Tree(names, parent, draws.choice(WHOLE, count) * 1.0, bandwidth, np.zeros(count))
    flop, byte = draws.choice(WHOLE, 2) * 1.0, draws.choice(WHOLE, 2) * 1.0
    return tree, Bags(("a0", "a1"), flop, byte, np.ones(2), np.full(2, TASKS))


def natural(quick: bool) -> dict[str, Quantity]:
    """Return the tasks that schedules of natural length lose to the optimum, in units of z."""
    numbers = range(QUICK_WHOLE if quick else WHOLE_TREES)
    found = [_periods(*whole_tree(number), None) for number in numbers]
    is_right = all(each.constant and each.is_optimal for each in found)
    note = (
        f"{len(found)} schedules in natural periods, of trees and tasks in small whole numbers;"
        f" {_constant(found)} of them at the optimum's rates; z is the number of tasks in as many"
        " periods as the tree is deep"
    )
    provenance = {"seed": SEED, "trees": listed(numbers)}
    return {"short": _short(found, is_right, note, provenance)}


def rounded(quick: bool) -> dict[str, Quantity]:
    """Return the tasks that rounded schedules lose to their own rates, in units of z."""
    numbers = QUICK_TREES if quick else SCHEDULED_TREES
    lengths = QUICK_TASKS if quick else PERIOD_TASKS
    instances = [instance("A", SEED, number) for number in numbers]
    found = [_periods(*each, tasks) for each in instances for tasks in lengths]
    share = ", ".join(f"{np.mean([each.reached[n] for each in found]):.4f}" for n in range(3))
    note = (
        f"{len(found)} schedules, whose periods have about {' or '.join(map(str, lengths))} tasks"
        f" of each application, rounded down; {_constant(found)}; after"
        f" {', '.join(map(str, PERIODS))} periods past those in which the tree fills, {share} of"
        " the optimal number are done, on average"
    )
    provenance = {"seed": SEED, "reading": "A", "trees": listed(numbers)}
    is_constant = all(each.constant for each in found)
    return {"short": _short(found, is_constant, note, provenance)}


def _short(
    found: Sequence[_Periods], is_right: bool, note: str, provenance: Mapping[str, Any]
) -> Quantity:
    """Return the most missing tasks over z; infinite if their number is not constant."""
    short = max(each.short for each in found)
    return Quantity(short if is_right else math.inf, note=note, provenance=provenance)


def _constant(found: Sequence[_Periods]) -> str:
    """Return on how many schedules the same number of tasks is missing after every period."""
    constant = sum(each.constant for each in found)
    return f"the same number is missing after each of {max(PERIODS)} periods of {constant}"


class _Periods(NamedTuple):
    """Result of an execution of a periodic schedule.

    Attributes
    ----------
    short : float
        Tasks missing at the end for the schedule's throughput, over z; of the worst application.
    constant : bool
        True if as many were missing after every period of the steady state.
    is_optimal : bool
        True if the schedule's throughput is exactly the optimum's.
    reached : tuple of float
        Tasks done over the optimal number, after each of `PERIODS`.
    """

    short: float
    constant: bool
    is_optimal: bool
    reached: tuple[float, ...]


def _periods(tree: Tree, bags: Bags, tasks: int | None) -> _Periods:
    """Execute a schedule in a period of about a number of tasks of each, or the natural one."""
    state = exact_steady_state(tree, bags)
    length = None if tasks is None else tasks / state.fair
    schedule = periodic_schedule(tree, bags, state=state, period=length)
    last = schedule.depth + max(PERIODS)
    done = execute_periodic(schedule, last, trace=False)
    period, each = float(schedule.period), np.array(schedule.sent[0])
    missing = np.array([n * each - done.done(n * period) for n in range(schedule.depth, last + 1)])
    optimum = np.array([float(rate) for rate in schedule.optimum])
    dates = [(schedule.depth + n) * period for n in PERIODS]
    return _Periods(
        float(np.max(missing[-1] / np.maximum(schedule.startup, 1))),
        bool(np.all(missing == missing[0])),
        not any(schedule.lost),
        tuple(float(np.min(done.done(date) / (optimum * date))) for date in dates),
    )
