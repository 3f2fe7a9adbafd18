"""Periodic schedules: whole tasks in every period, at the rates of a steady state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from simplugin.core.errors import InfeasibleError
from simplugin.optimum.exact_steady_state import ExactState
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class PeriodicSchedule:
    """Whole tasks that each host computes and receives in every period.

    A host computes or forwards the tasks of a period in the next one, in any order, one after the
    other.

    Attributes
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    period : Fraction
        Length of a period [s].
    compute : tuple of tuple of int, shape (n_hosts, n_types)
        Tasks of each type that each host computes in a period.
    sent : tuple of tuple of int, shape (n_hosts, n_types)
        Tasks that each host receives from its parent in a period; in the root's row, all tasks
        that it distributes, to itself or others.
    optimum : tuple of Fraction, shape (n_types,)
        Throughput of the steady state [tasks/s], which no schedule exceeds; with a
        `max_denominator`, none on the tree of rounded quantities that it was found for.
    """

    tree: Tree
    bags: Bags
    period: Fraction
    compute: Counts
    sent: Counts
    optimum: tuple[Fraction, ...]

    @property
    def throughput(self) -> tuple[Fraction, ...]:
        """Throughput of each application [tasks/s]."""
        return tuple(tasks / self.period for tasks in self.sent[0])

    @property
    def lost(self) -> tuple[Fraction, ...]:
        """Loss of each application by rounding [task/s]: 0 in a period of natural length."""
        return tuple(a - b for a, b in zip(self.optimum, self.throughput, strict=True))

    @property
    def buffer(self) -> tuple[int, ...]:
        """Buffer of each host [tasks]: twice the tasks that it receives in a period."""
        return (0, *(2 * sum(row) for row in self.sent[1:]))

    @property
    def depth(self) -> int:
        """Depth of the deepest host that computes; after this number of periods all of them do."""
        return max(
            int(depth) for depth, row in zip(self.tree.depth, self.compute, strict=True) if any(row)
        )

    @property
    def startup(self) -> tuple[int, ...]:
        """Tasks of each type computed in `depth` periods, the `z` of section 4.2 of the paper.

        In any time from the start, the schedule is behind its throughput times that time by at
        most these tasks, plus those of one period that has not ended.
        """
        return tuple(self.depth * tasks for tasks in self.sent[0])


def periodic_schedule(
    tree: Tree,
    bags: Bags,
    *,
    period: float | Fraction | None = None,
    max_period: float | Fraction | None = None,
    max_denominator: int | None = None,
    state: ExactState | None = None,
) -> PeriodicSchedule:
    """Return the periodic schedule of the fairest steady state, section 4.2 of [1]_.

    The natural period is the shortest in which all rates are whole tasks (the paper takes the
    least common multiple of their denominators, a multiple of it). It can be longer than the age
    of the universe. In a period of any other length, each host computes the complete tasks of each
    type, and receives those of its subtree: no CPU or port is used more than before, and an
    application loses less than one task per period and host that computes it.

    Parameters
    ----------
    tree : Tree
        The platform; latencies are ignored.
    bags : Bags
        The applications; their counts are ignored.
    period : float or Fraction, optional
        Length of the period [s], instead of the natural one.
    max_period : float or Fraction, optional
        Length of the period if the natural one is longer [s].
    max_denominator : int, optional
        See `exact_steady_state`. If rounding raised a speed or a bandwidth, or made a task
        smaller, the schedule exceeds the capacities slightly, and its execution is late.
    state : ExactState, optional
        The steady state, if it is known already.

    Returns
    -------
    PeriodicSchedule
        The schedule.

    Raises
    ------
    InfeasibleError
        No host computes, or an application has no complete task in a period.
    PlatformError, WorkloadError
        `max_denominator` rounds a quantity to 0.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    from simplugin.optimum.exact_steady_state import exact_steady_state, gathered

    if state is None:
        state = exact_steady_state(tree, bags, max_denominator=max_denominator)
    for name, value in (("period", period), ("max_period", max_period)):
        if value is not None and not 0 < value < math.inf:
            raise InfeasibleError(f"{name} is {value!r}; give a number of seconds above 0")
    length = natural_period(state) if period is None else Fraction(period)
    if period is None and max_period is not None:
        length = min(length, Fraction(max_period))
    compute = tuple(tuple(math.floor(rate * length) for rate in row) for row in state.compute)
    sent = gathered(tree, compute)
    if 0 in sent[0]:
        name = bags.names[sent[0].index(0)]
        raise InfeasibleError(
            f"no host computes a whole task of {name!r} in a period of {float(length):g} s;"
            " give a longer one"
        )
    return PeriodicSchedule(tree, bags, length, compute, sent, state.throughput)


def natural_period(state: ExactState) -> Fraction:
    """Return the shortest time in which all rates of a steady state are whole tasks [s]."""
    rates = [rate for row in state.compute for rate in row if rate]
    return Fraction(
        math.lcm(*(rate.denominator for rate in rates)),
        math.gcd(*(rate.numerator for rate in rates)),
    )
