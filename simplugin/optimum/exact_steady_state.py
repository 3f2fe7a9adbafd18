"""Fairest steady state in exact rational numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import InfeasibleError, PlatformError, WorkloadError
from simplugin.optimum.steady_state import Port, SteadyProgram, TreeFlows
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

Rates = tuple[tuple[Fraction, ...], ...]
Sparse = dict[int, dict[int, Fraction]]

# Of any type for arrays of objects.
_NONE: Any = Fraction(0)
# Relative difference of quantities that are equal but for rounding.
_ROUNDING = Fraction(1, 10**12)

# Of tasks in a period, or a second.
Number = TypeVar("Number", int, Fraction)


@dataclass(frozen=True, eq=False)
class ExactState:
    """Exactly feasible rates, and exact prices that prove them.

    Attributes
    ----------
    compute, sent : tuple of tuple of Fraction, shape (n_hosts, n_types)
        As in `SteadyState` [tasks/s].
    throughput : tuple of Fraction, shape (n_types,)
        Of each application [tasks/s].
    fair : Fraction
        The smallest throughput per weight [tasks/s]; the prices prove that none is larger, or where
        quantities are equal but for rounding, by more than 1e-12 of it.
    cpu_price, port_price : tuple of Fraction, shape (n_hosts,)
        As in `SteadyState`.
    """

    compute: Rates
    sent: Rates
    throughput: tuple[Fraction, ...]
    fair: Fraction
    cpu_price: tuple[Fraction, ...]
    port_price: tuple[Fraction, ...]


def exact_steady_state(
    tree: Tree, bags: Bags, *, port: Port = "single", max_denominator: int | None = None
) -> ExactState:
    """Return the fairest steady state of least communication in rational numbers.

    HiGHS finds an optimal basis of program (1); the equations of that basis are solved again in
    rational numbers, in which all constraints are checked. The prices are checked to prove that
    the smallest throughput per weight is optimal. Not proven are the stages after it: that
    applications without data reach their largest throughputs, and that communication
    is least; these rest on HiGHS.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    port : {"single", "multi"}
        ``single``: the sends of a host share one port; ``multi``: each link is used apart.
    max_denominator : int, optional
        If given, each quantity is the nearest fraction of at most this denominator, so
        that 1/3 can be given as a float. The result is that of the rounded quantities: where
        rounding raised a capacity or made a task smaller, the tree as given cannot do as much.
        None takes floats as exact numbers; rates then have denominators as long as the
        product of many of them.

    Returns
    -------
    ExactState
        Rates and prices.

    Raises
    ------
    InfeasibleError
        No host computes an application, or the basis is only optimal to a tolerance above 1e-12.
    PlatformError, WorkloadError
        The port is unknown, or `max_denominator` rounds a quantity to 0; the message names it.
    """
    if max_denominator is not None:
        _check_rounding(tree, bags, max_denominator)
    flows = TreeFlows(tree, bags, port)
    program = SteadyProgram(flows)
    program.fairest()
    system = _System(flows, max_denominator)
    level = [Fraction(-1)] * bags.n_applications
    for basis, stopped in program.stages:
        value = system.primal(basis, level)
        for kind in stopped:
            level[kind] = value[flows.fair]
    program.chosen(least_communication=True)
    compute = system.feasible(system.primal(program.solver.getBasis(), level))
    sent = gathered(tree, compute)
    fair = min(sent[0] / system.exacts(bags.weight))
    cpu_price, port_price = system.prices(program.stages[0][0])
    system.check(sent[0], level, fair, cpu_price, port_price)
    return ExactState(compute, sent, sent[0], fair, tuple(cpu_price), tuple(port_price))


class _System:
    """The program's matrix in fractions."""

    def __init__(self, flows: TreeFlows, max_denominator: int | None) -> None:
        self.flows = flows
        self.limit = max_denominator
        entries = flows.entries
        share = self.exacts(entries.demand) / self.exacts(entries.capacity)
        self.rows: Sparse = defaultdict(dict)
        for row, column, x in zip(
            entries.row.tolist(), entries.column.tolist(), share, strict=True
        ):
            self.rows[row][column] = x

    def exact(self, number: float) -> Fraction:
        """Return the fraction of a float."""
        fraction = Fraction(number)
        return fraction if self.limit is None else fraction.limit_denominator(self.limit)

    def exacts(self, numbers: NDArray[np.float64]) -> NDArray[np.object_]:
        """Return the fractions of floats."""
        # Many are alike.
        values, places = np.unique(numbers, return_inverse=True)
        return np.array([self.exact(value) for value in values.tolist()], dtype=object)[places]

    def primal(self, basis: Any, level: list[Fraction]) -> dict[int, Fraction]:
        """Return the basic columns of a basis; levels of -1 are those still to be raised."""
        flows = self.flows
        columns, tight = self._basic(basis, level)
        equations: Sparse = {}
        right: dict[int, Fraction] = {}
        for row in tight:
            held = row >= flows.first_throughput and level[row - flows.first_throughput] >= 0
            equations[row] = {
                column: x
                for column, x in self.rows[row].items()
                if column in columns and not (held and column == flows.fair)
            }
            share = Fraction(int(row < flows.first_balance))
            right[row] = level[row - flows.first_throughput] if held else share
        return _solve(equations, right)

    def _basic(self, basis: Any, level: list[Fraction]) -> tuple[set[int], list[int]]:
        """Return the columns that may be positive, and the rows that hold with equality."""
        import highspy

        basic = highspy.HighsBasisStatus.kBasic
        columns = {j for j, status in enumerate(basis.col_status) if status == basic}
        tight = [i for i, status in enumerate(basis.row_status) if status != basic]
        if all(x >= 0 for x in level):
            columns.discard(self.flows.fair)
        return columns, tight

    def prices(self, basis: Any) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return the prices of CPUs and ports at the first basis, not negative."""
        flows, tree = self.flows, self.flows.tree
        columns, tight = self._basic(basis, [Fraction(-1)])
        # One equation per basic column: the cost of its usage equals its objective.
        equations: Sparse = {column: {} for column in columns}
        for row in tight:
            for column, x in self.rows[row].items():
                if column in columns:
                    equations[column][row] = x
        right = {column: Fraction(int(column == flows.fair)) for column in columns}
        dual = _solve(equations, right)
        cpu, port = (np.full(tree.n_hosts, _NONE) for _ in range(2))
        for at, host in enumerate(flows.computing.tolist()):
            cpu[host] = dual.get(at, _NONE) / self.exact(tree.speed[host])
        for at, host in enumerate(flows.port_of_row.tolist(), flows.first_port):
            port[host] = dual.get(at, _NONE)
        return np.maximum(cpu, _NONE), np.maximum(port, _NONE)

    @property
    def _payer(self) -> NDArray[np.int64]:
        """The host that owns the port to each host."""
        tree = self.flows.tree
        return tree.parent if self.flows.port == "single" else np.arange(tree.n_hosts)

    def feasible(self, value: dict[int, Fraction]) -> Rates:
        """Return what each host computes of each type, not negative and without any overload.

        Where quantities are equal but for rounding, those of the basis can miss that by as much.
        """
        tree, bags = self.flows.tree, self.flows.bags
        rows = [[value.get(column, _NONE) for column in row] for row in self.flows.column.tolist()]
        compute = np.maximum(rows, _NONE)
        sent = np.array(gathered(tree, compute.tolist()))
        times = sent[1:] @ self.exacts(bags.byte) / self.exacts(tree.bandwidth[1:])
        busy = np.full(tree.n_hosts, _NONE)
        np.add.at(busy, self._payer[1:], times)
        fast = tree.speed > 0
        used = compute[fast] @ self.exacts(bags.flop) / self.exacts(tree.speed[fast])
        return tuple(map(tuple, compute / max(Fraction(1), *used, *busy)))

    def check(
        self,
        throughput: Sequence[Fraction],
        level: list[Fraction],
        fair: Fraction,
        cpu_price: NDArray[np.object_],
        port_price: NDArray[np.object_],
    ) -> None:
        """Raise if only a tolerance makes throughputs feasible, or the smallest level optimal."""
        tree, bags, allowed = self.flows.tree, self.flows.bags, self.flows.allowed
        weight = self.exacts(bags.weight)
        # Price of a byte on its path to each host.
        way = np.full(tree.n_hosts, _NONE)
        of_link = port_price[self._payer[1:]] / self.exacts(tree.bandwidth[1:])
        for host, price in enumerate(of_link, 1):
            way[host] = way[tree.parent[host]] + price
        price = np.outer(cpu_price, self.exacts(bags.flop)) + np.outer(way, self.exacts(bags.byte))
        cheapest = [min(column[may]) for column, may in zip(price.T, allowed.T, strict=True)]
        wanted = weight * level
        fits = np.all(np.abs(throughput - wanted) <= _ROUNDING * wanted)
        income = cpu_price @ self.exacts(tree.speed) + sum(port_price)
        if not fits or income > fair * (cheapest @ weight) * (1 + _ROUNDING):
            remedy = "max_denominator" if self.limit is None else "a larger max_denominator"
            raise InfeasibleError(
                f"the basis found for the tree of {tree.hosts[0]!r} is optimal to a tolerance"
                f" only; give {remedy}, or quantities closer to one another"
            )


def _check_rounding(tree: Tree, bags: Bags, limit: int) -> None:
    """Raise if a denominator rounds a positive quantity to 0."""
    if limit < 1:
        raise WorkloadError(f"max_denominator is {limit!r}; give a whole number from 1 on")
    of_hosts = {"speed": tree.speed, "bandwidth": tree.bandwidth}
    of_types = {"flop": bags.flop, "byte": bags.byte, "weight": bags.weight}
    for error, names, quantities in (
        (PlatformError, tree.hosts, of_hosts),
        (WorkloadError, bags.names, of_types),
    ):
        for quantity, values in quantities.items():
            for name, value in zip(names, values.tolist(), strict=True):
                if 0 < value < 1 and not Fraction(value).limit_denominator(limit):
                    raise error(
                        f"{quantity} of {name!r} is {value!r}, which max_denominator {limit} makes"
                        " 0; give a larger one"
                    )


def gathered(tree: Tree, compute: Sequence[Sequence[Number]]) -> tuple[tuple[Number, ...], ...]:
    """Return what each host receives for itself and all below.

    Parameters
    ----------
    tree : Tree
        The platform.
    compute : sequence of sequence of int or Fraction, shape (n_hosts, n_types)
        Tasks of each type that each host computes.

    Returns
    -------
    tuple of tuple of int or Fraction, shape (n_hosts, n_types)
        Without any rounding; in the root's row, all that it hands out.
    """
    total = [list(row) for row in compute]
    for host in range(tree.n_hosts - 1, 0, -1):
        above = total[tree.parent[host]]
        for kind, tasks in enumerate(total[host]):
            above[kind] += tasks
    return tuple(map(tuple, total))


def _solve(rows: Sparse, right: dict[int, Fraction]) -> dict[int, Fraction]:
    """Solve sparse equations by elimination; both arguments are used up."""
    where: dict[int, set[int]] = defaultdict(set)
    for row, entries in rows.items():
        for column in entries:
            where[column].add(row)
    # Columns in one equation need no elimination; after these the shortest equation goes first.
    alone = [column for column, found in where.items() if len(found) == 1]
    short = [(len(entries), row) for row, entries in rows.items()]
    heapify(short)
    order: list[tuple[int, dict[int, Fraction], Fraction]] = []
    while rows:
        while alone and len(where[alone[-1]]) != 1:
            alone.pop()
        if alone:
            pivot = alone.pop()
            (row,) = where[pivot]
        else:
            length, row = heappop(short)
            if row not in rows or len(rows[row]) != length:
                continue
            if not length:
                if right.pop(row):
                    raise InfeasibleError(
                        "the basis found is singular; give quantities closer together"
                    )
                del rows[row]
                continue
            pivot = min(rows[row], key=lambda column: len(where[column]))
        entries, value = rows.pop(row), right.pop(row)
        for column in entries:
            where[column].discard(row)
        for other in list(where[pivot]):
            reduced = rows[other]
            factor = reduced[pivot] / entries[pivot]
            right[other] -= factor * value
            for column, x in entries.items():
                left = reduced.get(column, Fraction(0)) - factor * x
                if left:
                    reduced[column] = left
                    where[column].add(other)
                else:
                    reduced.pop(column, None)
                    where[column].discard(other)
            heappush(short, (len(reduced), other))
        alone += [column for column in entries if len(where[column]) == 1]
        order.append((pivot, entries, value))
    # Only unknowns of later equations are left in each.
    solution: dict[int, Fraction] = {}
    for pivot, entries, value in reversed(order):
        factor = entries.pop(pivot)
        known = sum((x * solution[j] for j, x in entries.items() if j in solution), Fraction(0))
        solution[pivot] = (value - known) / factor
    return solution
