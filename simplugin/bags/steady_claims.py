"""What section 4 of the paper says of steady states and periodic schedules, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.campaign_summary import listed
from simplugin.bags.instances import FLOP, LARGEST_RATIO, LEAST_RATIO, SEEDS, TASKS, instance
from simplugin.bags.periodic import periodic_schedule
from simplugin.bags.periodic_execution import execute_periodic
from simplugin.claims import Claim
from simplugin.elementary import exp, log
from simplugin.optimum.exact_steady_state import exact_steady_state
from simplugin.optimum.steady_state import steady_state
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import BANDWIDTHS, SPEEDS
from simplugin.workloads.applications import Bags

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SEED = SEEDS[0]
_STARS = 200
_QUICK_STARS = 40
# Trees whose schedules are executed, tasks of each application in a period, and how many periods
# are looked at, beyond those in which the tree fills.
_TREES, _QUICK_TREES = (0, 1, 2, 3, 5, 6, 7), (0, 1)
_PERIOD_TASKS, _QUICK_TASKS = (50, 500), (100,)
_PERIODS = (1, 8, 32)
# Trees of small whole numbers.
_WHOLE, _WHOLE_TREES, _QUICK_WHOLE = (1, 2, 4), 20, 4
# Shares of an application below which a host does not execute it.
_NONE = 1e-6


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
    """Whether applications of higher ratio run on hosts of higher bandwidth, Proposition 1.

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
    used = done > _NONE * done.sum(axis=0)
    last = -1
    for column in used.T:
        places = np.flatnonzero(column)
        if places[0] < last:
            return False
        last = int(places[-1])
    return True


def proposition1(quick: bool) -> list[Claim]:
    """Return whether optima on stars have slices."""
    chosen = anyone = 0
    stars = _QUICK_STARS if quick else _STARS
    for number in range(stars):
        tree, bags = star(np.random.default_rng([SEED, number]))
        chosen += is_sliced(tree, bags, steady_state(tree, bags).compute)
        first = steady_state(tree, bags, least_communication=False)
        anyone += is_sliced(tree, bags, first.compute)
    return [
        Claim(
            "On stars, applications of higher ratio run on slices of higher bandwidth",
            "in the optimal solution",
            f"on {chosen} of {stars} stars",
            chosen == stars,
            "the optimum that communicates least; there are others, and of the first that is found"
            f" it holds on {anyone}. Agrees if it holds on all",
            "Proposition 1",
            provenance={"seed": SEED, "stars": stars},
        )
    ]


def whole_tree(number: int) -> tuple[Tree, Bags]:
    """Return a tree and two applications in small whole numbers, whose natural period is short.

    Parameters
    ----------
    number : int
        Of the draw.
    """
    draws = np.random.default_rng([SEED, number])
    parent = np.array([-1, 0, 0, 1, 1, 2])
    count = len(parent)
    bandwidth = draws.choice(_WHOLE, count).astype(float)
    bandwidth[0] = np.inf
    names = tuple(f"n{host}" for host in range(count))
    tree = Tree(names, parent, draws.choice(_WHOLE, count) * 1.0, bandwidth, np.zeros(count))
    flop, byte = draws.choice(_WHOLE, 2) * 1.0, draws.choice(_WHOLE, 2) * 1.0
    return tree, Bags(("a0", "a1"), flop, byte, np.ones(2), np.full(2, TASKS))


def optimal(quick: bool) -> list[Claim]:
    """Return whether schedules of natural length on SimGrid lose a constant to the optimum."""
    numbers = range(_QUICK_WHOLE if quick else _WHOLE_TREES)
    found = [_periods(*whole_tree(number), None) for number in numbers]
    short = max(each.short for each in found)
    return [
        Claim(
            "A periodic schedule computes as many tasks as the optimum, but for a constant number",
            "up to z fewer",
            f"{short:.2f} z fewer at most",
            all(each.constant and each.is_optimal for each in found) and short <= 1,
            f"executions on SimGrid of {len(found)} schedules in natural periods, of trees and"
            " tasks in small whole numbers, as rates of the optimum are whole tasks there; z is"
            " what the steady state computes in as many periods as the tree is deep. Agrees if"
            f" the same number is missing after each of {max(_PERIODS)} periods, and z at most",
            "section 4.2",
            provenance={"seed": SEED, "trees": listed(numbers)},
        )
    ]


def periodic(quick: bool) -> list[Claim]:
    """Return whether periodic schedules of any length lose no more than their first tasks."""
    numbers = _QUICK_TREES if quick else _TREES
    lengths = _QUICK_TASKS if quick else _PERIOD_TASKS
    found = [_campaign_periods(number, tasks) for number in numbers for tasks in lengths]
    short = max(each.short for each in found)
    share = ", ".join(f"{np.mean([each.reached[n] for each in found]):.4f}" for n in range(3))
    return [
        Claim(
            "In rounded periods it computes as many as its own rates say, but for such a number",
            "up to z fewer",
            f"{short:.2f} z fewer at most",
            all(each.constant for each in found) and short <= 1,
            f"executions of {len(found)} schedules on SimGrid, whose periods have about"
            f" {' or '.join(map(str, lengths))} tasks of each application, rounded down to whole"
            f" ones. After {', '.join(map(str, _PERIODS))} periods past those in which the tree"
            f" fills, {share} of the optimal number are done, on average. Agrees if what is missing"
            " for the schedule's throughput is the same after every period, and z at most",
            "section 4.2",
            provenance={"seed": SEED, "reading": "A", "trees": listed(numbers)},
        )
    ]


@dataclass(frozen=True)
class _Periods:
    """What an execution of a periodic schedule came to.

    Attributes
    ----------
    short : float
        Tasks missing at the end for the schedule's throughput, over z; of the worst application.
    constant : bool
        Whether as many were missing after every period of the steady state.
    is_optimal : bool
        Whether the schedule's throughput is the optimum's, exactly.
    reached : tuple of float
        Tasks done over the optimal number, after each of `_PERIODS`.
    """

    short: float
    constant: bool
    is_optimal: bool
    reached: tuple[float, ...]


def _campaign_periods(number: int, tasks: int) -> _Periods:
    """Execute a schedule whose period has about so many tasks of each application."""
    tree, bags = instance("A", SEED, number)
    return _periods(tree, bags, tasks)


def _periods(tree: Tree, bags: Bags, tasks: int | None) -> _Periods:
    """Execute a schedule in a period with about so many tasks of each, or the natural one."""
    state = exact_steady_state(tree, bags)
    length = None if tasks is None else tasks / state.fair
    schedule = periodic_schedule(tree, bags, state=state, period=length)
    last = schedule.depth + max(_PERIODS)
    done = execute_periodic(schedule, last, trace=False)
    period, each = float(schedule.period), np.array(schedule.sent[0])
    missing = np.array([n * each - done.done(n * period) for n in range(schedule.depth, last + 1)])
    optimum = np.array([float(rate) for rate in schedule.optimum])
    dates = [(schedule.depth + n) * period for n in _PERIODS]
    return _Periods(
        float(np.max(missing[-1] / np.maximum(schedule.startup, 1))),
        bool(np.all(missing == missing[0])),
        not any(schedule.lost),
        tuple(float(np.min(done.done(date) / (optimum * date))) for date in dates),
    )


PARTS: dict[str, Callable[[bool], list[Claim]]] = {
    "Proposition 1": proposition1,
    "periodic schedules": optimal,
    "rounded periodic schedules": periodic,
}
