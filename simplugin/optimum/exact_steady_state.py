"""Fairest steady state in exact rational numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Any, TypeVar

import numpy as np

from simplugin.core.errors import InfeasibleError, PlatformError, WorkloadError
from simplugin.optimum.steady_state import Port, SteadyProgram, TreeFlows
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

Rates = tuple[tuple[Fraction, ...], ...]
Sparse = dict[int, dict[int, Fraction]]

_NONE = Fraction(0)
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
    prices: tuple[list[Fraction], list[Fraction]] | None = None
    for basis, stopped in program.stages:
        value = system.primal(basis, level)
        if prices is None:
            prices = system.prices(basis)
        for kind in stopped:
            level[kind] = value[flows.fair]
    program.chosen(least_communication=True)
    value = system.primal(program.solver.getBasis(), level)
    assert prices is not None
    prices = [max(x, _NONE) for x in prices[0]], [max(x, _NONE) for x in prices[1]]
    compute = system.feasible(system.compute(value))
    sent = gathered(tree, compute)
    throughput = sent[0]
    fair = min(x / system.exact(w) for x, w in zip(throughput, bags.weight, strict=True))
    system.check(throughput, fair, level, prices)
    return ExactState(compute, sent, throughput, fair, tuple(prices[0]), tuple(prices[1]))


class _System:
    """The program's matrix in fractions."""

    def __init__(self, flows: TreeFlows, max_denominator: int | None) -> None:
        self.flows = flows
        self.limit = max_denominator
        known: dict[float, Fraction] = {}
        entries = flows.entries
        self.rows: Sparse = defaultdict(dict)
        for row, column, *quantities in zip(
            entries.row.tolist(),
            entries.column.tolist(),
            entries.demand.tolist(),
            entries.capacity.tolist(),
            strict=True,
        ):
            for x in quantities:
                if x not in known:
                    known[x] = self.exact(x)
            self.rows[row][column] = known[quantities[0]] / known[quantities[1]]

    def exact(self, number: float) -> Fraction:
        """Return the fraction of a float."""
        fraction = Fraction(number)
        return fraction if self.limit is None else fraction.limit_denominator(self.limit)

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
            if row < flows.first_balance:
                right[row] = Fraction(1)
            elif held:
                right[row] = level[row - flows.first_throughput]
            else:
                right[row] = Fraction(0)
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

    def prices(self, basis: Any) -> tuple[list[Fraction], list[Fraction]]:
        """Return the prices of CPUs and ports at the first basis."""
        flows = self.flows
        columns, tight = self._basic(basis, [Fraction(-1)])
        # One equation per basic column: the cost of its usage equals its objective.
        equations: Sparse = {column: {} for column in columns}
        for row in tight:
            for column, x in self.rows[row].items():
                if column in columns:
                    equations[column][row] = x
        right = {column: Fraction(int(column == flows.fair)) for column in columns}
        dual = _solve(equations, right)
        n_hosts = flows.tree.n_hosts
        cpu, port = [Fraction(0)] * n_hosts, [Fraction(0)] * n_hosts
        for at, host in enumerate(flows.computing.tolist()):
            cpu[host] = dual.get(at, Fraction(0)) / self.exact(flows.tree.speed[host])
        for at, host in enumerate(flows.port_of_row.tolist(), flows.first_port):
            port[host] = dual.get(at, Fraction(0))
        return cpu, port

    def compute(self, value: dict[int, Fraction]) -> Rates:
        """Return what each host computes of each type."""
        return tuple(
            tuple(value.get(column, Fraction(0)) for column in row)
            for row in self.flows.column.tolist()
        )

    def _payer(self, host: int) -> int:
        """Return the host that owns the port to a host."""
        return int(self.flows.tree.parent[host]) if self.flows.port == "single" else host

    def feasible(self, compute: Rates) -> Rates:
        """Return nonnegative rates without any overload.

        Where quantities are equal but for rounding, those of the basis can miss that by as much.
        """
        tree, bags, exact = self.flows.tree, self.flows.bags, self.exact
        flop, byte = ([exact(x) for x in each.tolist()] for each in (bags.flop, bags.byte))
        compute = tuple(tuple(max(x, _NONE) for x in row) for row in compute)
        sent, busy, most = gathered(tree, compute), [_NONE] * tree.n_hosts, Fraction(1)
        for host, speed in enumerate(map(exact, tree.speed.tolist())):
            if speed:
                most = max(most, _dot(compute[host], flop) / speed)
            if host:
                busy[self._payer(host)] += _dot(sent[host], byte) / exact(tree.bandwidth[host])
        most = max(most, *busy)
        return tuple(tuple(x / most for x in row) for row in compute)

    def check(
        self,
        throughput: Sequence[Fraction],
        fair: Fraction,
        level: list[Fraction],
        prices: tuple[list[Fraction], list[Fraction]],
    ) -> None:
        """Raise if only a tolerance makes throughputs feasible, or the smallest level optimal."""
        tree, bags, exact = self.flows.tree, self.flows.bags, self.exact
        flop, byte, weight = (
            [exact(x) for x in each.tolist()] for each in (bags.flop, bags.byte, bags.weight)
        )
        # Price of a byte on its path to each host.
        way = [_NONE] * tree.n_hosts
        cheapest: list[Fraction | None] = [None] * len(flop)
        for host, parent in enumerate(tree.parent.tolist()):
            if host:
                price = prices[1][self._payer(host)]
                way[host] = way[parent] + price / exact(tree.bandwidth[host])
            if tree.speed[host]:
                for kind in np.flatnonzero(self.flows.allowed[host]).tolist():
                    price = flop[kind] * prices[0][host] + byte[kind] * way[host]
                    so_far = cheapest[kind]
                    cheapest[kind] = price if so_far is None else min(so_far, price)
        wanted = [w * y for w, y in zip(weight, level, strict=True)]
        fits = all(abs(x - y) <= _ROUNDING * y for x, y in zip(throughput, wanted, strict=True))
        income = sum(prices[1], _dot(prices[0], [exact(x) for x in tree.speed.tolist()]))
        spent = _dot([x or _NONE for x in cheapest], weight)
        if not fits or income > fair * spent * (1 + _ROUNDING):
            remedy = "max_denominator" if self.limit is None else "a larger max_denominator"
            raise InfeasibleError(
                f"the basis found for the tree of {tree.hosts[0]!r} is optimal to a tolerance"
                f" only; give {remedy}, or quantities closer to one another"
            )


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((x * y for x, y in zip(left, right, strict=True) if x), Fraction(0))


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
