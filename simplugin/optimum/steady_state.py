"""Fairest steady state of bags of tasks on a tree, as a well-scaled linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.bandwidth_centric import bandwidth_centric
from simplugin.optimum.solvers import ACCEPTED, build_highs, certify, solve_highs
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

Port = Literal["single", "multi"]


@dataclass(frozen=True, eq=False)
class Entries:
    """Nonzero coefficients ``demand / capacity``, both unscaled.

    Attributes
    ----------
    row, column : int64, shape (n_entries,)
        The capacity that they take it from.
    demand, capacity : float64, shape (n_entries,)
        Demand of a task, and the capacity that it uses.
    """

    row: Integers
    column: Integers
    demand: Floats
    capacity: Floats


class TreeFlows:
    """Program (1) of Beaumont et al. with the rows and columns that matter.

    Columns are the tasks of each type that each host computes, those that each host with useful
    children receives, and, last, the fair throughput [tasks/s]; a leaf computes all that it
    receives. Rows, in this order: one per CPU and one per port, at most 1; one per type and
    receiving host, 0: tasks received are computed or sent on; one per type: the root's throughput
    per weight, less the fair throughput, is at least 0.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    port : {"single", "multi"}
        ``single``: the sends of a host share one port; ``multi``: each link is used apart.

    Raises
    ------
    InfeasibleError
        No host computes, or none of those that may compute an application.
    WorkloadError
        An application is restricted to a host that is not in the tree.

    Attributes
    ----------
    levels : list of int64
        Hosts of each depth with a computing host in their subtree.
    allowed : bool, shape (n_hosts, n_types)
        True where a host has a speed and may compute the type.
    computing : int64, shape (n_computing,)
        Hosts that compute some type.
    column, flow : int64, shape (n_hosts, n_types)
        Columns of computing and of receiving; -1 for none, as where no host of a subtree may
        compute a type.
    entries : Entries
        Of the matrix.
    unit : float64, shape (n_columns,)
        Unit of each column of the scaled program [tasks/s].
    port_of_row : int64, shape (n_ports,)
        The host of each port row (with "multi", of each row of a link from the parent).
    """

    def __init__(self, tree: Tree, bags: Bags, port: Port = "single") -> None:
        self.tree, self.bags, self.port = tree, bags, port
        order = np.argsort(tree.depth, kind="stable")
        self.levels = np.split(order, np.flatnonzero(np.diff(tree.depth[order])) + 1)
        self.allowed = bags.allowed(tree.hosts, tree.speed)
        self.computing = np.flatnonzero(self.allowed.any(axis=1))
        power = self.gather(np.where(self.allowed, tree.speed[:, None], 0.0))
        self.useful = np.asarray(power > 0)
        of_any = np.asarray(self.useful.any(axis=1))
        self.levels = [level[of_any[level]] for level in self.levels]
        self.edges = np.flatnonzero(of_any[1:]) + 1
        branching = np.zeros(tree.n_hosts, dtype=bool)
        branching[tree.parent[self.edges]] = True
        self.branching = branching
        self._number()
        self.entries = self._entries()
        self._units(power)

    @property
    def n_columns(self) -> int:
        """Number of columns, that of the fair throughput included."""
        return self.fair + 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.first_throughput + self.bags.n_applications

    def gather(self, values: Floats) -> Floats:
        """Return the sum over the subtree of each host; shape of `values`, hosts first."""
        total = values.astype(np.float64, copy=True)
        for level in reversed(self.levels[1:]):
            np.add.at(total, self.tree.parent[level], total[level])
        return total

    def _number(self) -> None:
        """Give columns and rows their numbers."""
        tree, types = self.tree, self.bags.n_applications
        self.column = np.full((tree.n_hosts, types), -1, dtype=np.int64)
        n_rates = int(self.allowed.sum())
        self.column[self.allowed] = np.arange(n_rates)
        self.receiving = self.edges[self.branching[self.edges]]
        self.flow = self.column.copy()
        self.flow[0] = -1
        passing = self.useful & self.branching[:, None]
        passing[0] = False
        n_flows = int(passing.sum())
        self.flow[passing] = n_rates + np.arange(n_flows)
        self.passing = passing
        self.fair = n_rates + n_flows
        of_edge = tree.parent[self.edges] if self.port == "single" else self.edges
        self.port_of_row, at = np.unique(of_edge, return_inverse=True)
        self.first_port = len(self.computing)
        self.first_balance = self.first_port + len(self.port_of_row)
        self.first_throughput = self.first_balance + n_flows
        self._port_row = self.first_port + at

    def _entries(self) -> Entries:
        """Return the coefficients."""
        tree, bags = self.tree, self.bags
        types = bags.n_applications
        kinds = np.arange(types)
        computing, edges, receiving = self.computing, self.edges, self.receiving
        # The balance row of each host; the root's are the throughputs.
        spent = np.full((tree.n_hosts, types), -1, dtype=np.int64)
        spent[self.passing] = np.arange(self.first_balance, self.first_throughput)
        spent[0] = self.first_throughput + kinds
        weight = np.ones((tree.n_hosts, types))
        weight[0] = bags.weight
        sign = np.where(np.arange(tree.n_hosts) == 0, 1.0, -1.0)[:, None] + np.zeros(types)
        mine = computing[(computing == 0) | self.branching[computing]]
        above = tree.parent[edges]
        row = np.arange(len(computing))[:, None] + 0 * kinds
        block = [
            (row, self.column[computing], bags.flop + 0 * row, tree.speed[computing, None]),
            (
                self._port_row[:, None] + 0 * kinds,
                self.flow[edges],
                bags.byte + np.zeros((len(edges), 1)),
                tree.bandwidth[edges, None],
            ),
            (spent[receiving], self.flow[receiving], np.ones((len(receiving), types)), 1.0),
            (spent[mine], self.column[mine], sign[mine], weight[mine]),
            (spent[above], self.flow[edges], sign[above], weight[above]),
            (spent[:1], np.full((1, types), self.fair), -np.ones((1, types)), 1.0),
        ]
        parts = [
            tuple(np.broadcast_to(part, rows.shape).ravel() for part in (rows, *rest))
            for rows, *rest in block
        ]
        row, column, demand, capacity = (np.concatenate(each) for each in zip(*parts, strict=True))
        kept = (demand != 0) & (row >= 0) & (column >= 0)
        return Entries(row[kept], column[kept], demand[kept], capacity[kept])

    def _units(self, power: Floats) -> None:
        """Choose units so that the columns of an optimum are about 1."""
        tree, bags = self.tree, self.bags
        self.lower = self._fair()
        with np.errstate(divide="ignore"):
            through = tree.bandwidth[:, None] / bags.byte
        through = np.minimum(through, power / bags.flop)
        through[0] = np.minimum(through[0], self.lower * bags.weight)
        for level in self.levels[1:]:
            through[level] = np.minimum(through[level], through[tree.parent[level]])
        alone = np.minimum(through, tree.speed[:, None] / bags.flop)
        self.unit = np.full(self.n_columns, self.lower)
        self.unit[self.column[self.allowed]] = alone[self.allowed]
        self.unit[self.flow[self.passing]] = through[self.passing]

    def _fair(self) -> float:
        """Return a throughput per weight that is fair, if not the fairest."""
        tree, bags, port = self.tree, self.bags, self.port
        if bags.hosts is None:
            # In rounds of one task of each application.
            weight = bags.weight
            flop, byte = float(np.sum(weight * bags.flop)), float(np.sum(weight * bags.byte))
            return bandwidth_centric(tree, flop, byte, port=port)
        # One application after the other.
        alone = [
            bandwidth_centric(tree, flop, byte, port=port, hosts=hosts)
            for flop, byte, hosts in zip(
                bags.flop.tolist(), bags.byte.tolist(), bags.hosts, strict=True
            )
        ]
        return 1 / float(np.sum(bags.weight / np.array(alone)))

    def scaled(self) -> tuple[Integers, Integers, Floats]:
        """Return rows, columns and values of the matrix in its units, each row near 1."""
        entries = self.entries
        value = entries.demand * self.unit[entries.column] / entries.capacity
        # Of each row: none for shares, tasks/s for balances.
        unit = np.ones(self.n_rows)
        unit[self.first_balance : self.first_throughput] = self.unit[self.flow[self.passing]]
        unit[self.first_throughput :] = self.lower
        return entries.row, entries.column, value / unit[entries.row]

    def rates(self, values: Floats) -> Floats:
        """Return the tasks that each host computes [tasks/s] from the scaled columns."""
        rate = np.zeros((self.tree.n_hosts, self.bags.n_applications))
        column = self.column[self.allowed]
        rate[self.allowed] = np.maximum(values[column] * self.unit[column], 0.0)
        return rate

    def load(self, sent: Floats, compute: Floats) -> float:
        """Return the largest share of a CPU or port that rates take."""
        tree, bags = self.tree, self.bags
        used = (compute[self.computing] * bags.flop).sum(axis=1) / tree.speed[self.computing]
        times = (sent[self.edges] * bags.byte).sum(axis=1) / tree.bandwidth[self.edges]
        busy = np.bincount(self._port_row - self.first_port, times)
        return float(max(used.max(), busy.max(initial=0.0)))


# Share of the value of all capacity under which the price of an application is rounding.
UNPRICED = 1e-9
# Share of a throughput for which it is worth to solve once more, and how often at most.
WORTH = 1e-9
RESOLVES = 4
# Share of a throughput that may be lost where it cannot be reached again.
YIELD = 1e-9


@dataclass(frozen=True, eq=False)
class SteadyState:
    """Rates that a tree can keep up for ever, and the prices that prove them the fairest.

    Attributes
    ----------
    tree : Tree
        The platform.
    compute : float64, shape (n_hosts, n_types)
        Tasks of each type that each host computes [tasks/s].
    sent : float64, shape (n_hosts, n_types)
        Tasks that each host receives from its parent [tasks/s]; in the root's row, all that it
        hands out, to itself or others. Each row is the sum of the tasks that the host computes
        and of the rows of its children, to the last bit.
    throughput : float64, shape (n_types,)
        Of each application [tasks/s].
    fair : float
        The smallest throughput per weight [tasks/s].
    bound : float
        Upper bound of the smallest throughput per weight, proven by the prices [tasks/s].
    cpu_price : float64, shape (n_hosts,)
        By how much `fair` grows with each host's speed [tasks/s per flop/s].
    port_price : float64, shape (n_hosts,)
        By how much `fair` grows with the time that each host's port (with the multi-port model,
        each host's link from its parent) can be busy [tasks/s per second of each second].
    """

    tree: Tree
    compute: Floats
    sent: Floats
    throughput: Floats
    fair: float
    bound: float
    cpu_price: Floats
    port_price: Floats

    @property
    def gap(self) -> float:
        """By how much `fair` may be too small, relative to `bound`."""
        return max(0.0, 1 - self.fair / self.bound)

    def rates(self, host: int) -> tuple[tuple[float, ...], ...]:
        """Return what each target of a host gets, its worker first and then its children.

        Parameters
        ----------
        host : int
            Index in the tree.

        Returns
        -------
        tuple of tuple of float, shape (1 + n_children, n_types)
            Tasks of each type [tasks/s].
        """
        rows = [self.compute[host], *self.sent[list(self.tree.children[host])]]
        return tuple(tuple(row.tolist()) for row in rows)


def steady_state(
    tree: Tree,
    bags: Bags,
    *,
    port: Port = "single",
    cut: float = 1e-9,
    least_communication: bool = True,
) -> SteadyState:
    """Return the max-min fair steady state that communicates least.

    Linear program (1) of [1]_ with priority weights. The smallest throughput per weight is
    maximised, then, as in section 4.1, the smallest of the applications that are not held back
    yet, until all are. On a tree all throughputs per weight end up equal unless only some
    tasks have data, or some hosts may not compute some applications.

    Many optima share the same throughputs. Of these, one is chosen that keeps ports busy for the
    least time in total, over all links. It is the one for which Proposition 1 holds on stars (a
    swap of work that the proposition forbids saves port time), it sends no task further than
    it must, and the port time that it leaves free is what refills small buffers
    after a long transfer.

    Parameters
    ----------
    tree : Tree
        The platform; latencies do not count.
    bags : Bags
        The applications; their counts do not matter.
    port : {"single", "multi"}
        ``single``: the sends of a host share one port; ``multi``: each link is used apart.
    cut : float
        Flows under this share of their application's throughput, divided by the number of hosts,
        are not used: the program is solved again without them, a few times at most. Throughputs
        lose at most ten times this share, as a rule nothing.
    least_communication : bool
        True to choose among the optima; otherwise the first that is found is returned.

    Returns
    -------
    SteadyState
        Rates and prices; no CPU or port is used beyond its capacity, to rounding.

    Raises
    ------
    InfeasibleError
        No host computes an application, or `cut` or the quantities are out of range.
    UncertifiedError
        `fair` is more than 1e-6, and ten times `cut`, under `bound`.
    WorkloadError
        The port is unknown.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    if not 0 <= cut < 0.5:
        raise InfeasibleError(f"cut is {cut!r}; give a share from 0 on, under 0.5")
    program = SteadyProgram(TreeFlows(tree, bags, port))
    program.fairest()
    cpu_price, port_price, bound = program.prices()
    compute = program.chosen(least_communication)
    for again in range(RESOLVES + 1):
        # Pairs of host and type that are cut, with all the subtree of a flow that is.
        carried = program.flows.gather(compute)
        least = cut * carried[0] / program.flows.tree.n_hosts
        tiny: NDArray[np.bool_] = carried < least
        for level in program.flows.levels[1:]:
            tiny[level] |= tiny[program.flows.tree.parent[level]]
        tiny |= compute < least
        lost = np.where(tiny, compute, 0.0).sum(axis=0) / compute.sum(axis=0)
        if again == RESOLVES or float(np.max(lost)) < WORTH:
            break
        # Others make their tasks once all of them are forbidden, or the loss is small.
        program.forbid(tiny & (compute > 0))
        program.fairest()
        compute = program.chosen(least_communication)
    compute[tiny] = 0.0
    sent = program.flows.gather(compute)
    # No rounding of the solver may let a capacity be exceeded.
    over = program.flows.load(sent, compute)
    if over > 1:
        compute = compute / over
        sent = program.flows.gather(compute)
    throughput = sent[0]
    fair = float(np.min(throughput / bags.weight))
    certify(
        (bound - fair) / bound,
        f"the steady state of the tree of {tree.hosts[0]!r}",
        "give quantities closer to one another, or exact_steady_state",
        ACCEPTED + 10 * cut,
    )
    return SteadyState(tree, compute, sent, throughput, fair, bound, cpu_price, port_price)


class SteadyProgram:
    """The program in the hands of HiGHS, solved in stages.

    Parameters
    ----------
    flows : TreeFlows
        Its rows and columns.

    Raises
    ------
    WorkloadError
        The port of `flows` is unknown.

    Attributes
    ----------
    level : float64, shape (n_types,)
        Throughput per weight that each application has reached, in the program's unit.
    dual : float64, shape (n_rows,)
        Of the smallest throughput.
    stages : list of tuple
        Of each stage of the last `fairest`: HiGHS's basis at its end, and which applications, by
        index, it left without any hope of more.
    """

    def __init__(self, flows: TreeFlows) -> None:
        if flows.port not in get_args(Port):
            ports = " or ".join(map(repr, get_args(Port)))
            raise WorkloadError(f"port is {flows.port!r}; give {ports}")
        from scipy.sparse import coo_array

        self.flows = flows
        self.level = np.zeros(flows.bags.n_applications)
        self.dual = np.zeros(flows.n_rows)
        self.stages: list[tuple[Any, list[int]]] = []
        rows, columns, values = flows.scaled()
        matrix = coo_array((values, (rows, columns)), shape=(flows.n_rows, flows.n_columns)).tocsc()
        lower, upper = np.zeros(flows.n_rows), np.zeros(flows.n_rows)
        lower[: flows.first_balance] = -np.inf
        upper[: flows.first_balance] = 1.0
        upper[flows.first_throughput :] = np.inf
        self.solver = build_highs(matrix, np.zeros(flows.n_columns), lower, upper)

    def fairest(self) -> None:
        """Raise the smallest throughput, then the next, until all applications are held back."""
        flows, solver = self.flows, self.solver
        first = flows.first_throughput
        held = np.zeros(flows.bags.n_applications, dtype=bool)
        # On a tree, a host where one type with data is free of charge is so for all types: only
        # those without data can be free while others are not. Rounding must not say otherwise.
        priced = (flows.bags.byte > 0) | bool(np.all(flows.bags.byte == 0))
        # Nor are hosts alike for all types where some may not compute some of them.
        priced &= flows.bags.hosts is None
        for kind in range(len(held)):
            solver.changeCoeff(first + kind, flows.fair, -1.0)
            solver.changeRowBounds(first + kind, 0.0, np.inf)
        _set_costs(flows, solver, rising=True)
        self.stages = []
        while not np.all(held):
            solution = self._solved(held)
            dual = np.asarray(solution.row_dual)
            if not np.any(held):
                self.dual = dual
            reached = float(solution.col_value[flows.fair])
            price = np.where(held, -np.inf, np.abs(dual[first:]))
            # An application with a price is held back in every optimum of this stage.
            stopped = ~held & (priced | (price >= min(UNPRICED, price.max())))
            self.level[stopped] = reached
            held |= stopped
            self.stages.append((solver.getBasis(), np.flatnonzero(stopped).tolist()))
            for kind in np.flatnonzero(stopped).tolist():
                solver.changeCoeff(first + kind, flows.fair, 0.0)
                solver.changeRowBounds(first + kind, reached, reached)

    def chosen(self, least_communication: bool) -> Floats:
        """Return rates [tasks/s] that make the throughputs reached, shape (n_hosts, n_types)."""
        solver = self.solver
        if least_communication:
            _set_costs(self.flows, solver, rising=False)
            held = np.ones(len(self.level), dtype=bool)
            return self.flows.rates(np.asarray(self._solved(held).col_value))
        return self.flows.rates(np.asarray(solver.getSolution().col_value))

    def forbid(self, tiny: NDArray[np.bool_]) -> None:
        """Fix the columns of some pairs of host and type at 0."""
        columns = self.flows.column[tiny]
        columns = columns[columns >= 0].astype(np.int32)
        zero = np.zeros(len(columns))
        self.solver.changeColsBounds(len(columns), columns, zero, zero)

    def _solved(self, held: NDArray[np.bool_]) -> Any:
        """Run HiGHS with some throughputs held, and return its solution."""
        try:
            return solve_highs(self.solver)
        except InfeasibleError:
            # Rounding can put a level that was reached out of reach.
            first = self.flows.first_throughput
            for kind in np.flatnonzero(held).tolist():
                level = self.level[kind]
                self.solver.changeRowBounds(first + kind, level * (1 - YIELD), level)
            return solve_highs(self.solver)

    def prices(self) -> tuple[Floats, Floats, float]:
        """Return the prices of CPUs and ports that hold the smallest throughput back.

        Returns
        -------
        cpu_price, port_price : float64, shape (n_hosts,)
            As in `SteadyState`.
        bound : float
            On the smallest throughput per weight [tasks/s], whatever the prices' errors.
        """
        flows = self.flows
        tree, bags = flows.tree, flows.bags
        value = np.maximum(-self.dual, 0.0)
        cpu_price, port_price = np.zeros(tree.n_hosts), np.zeros(tree.n_hosts)
        cpu_price[flows.computing] = value[: flows.first_port] / tree.speed[flows.computing]
        port_price[flows.port_of_row] = value[flows.first_port : flows.first_balance]
        of_edge = port_price[tree.parent] if flows.port == "single" else port_price
        # Price of a byte on its path to each host.
        way = np.zeros(tree.n_hosts)
        for level in flows.levels[1:]:
            way[level] = way[tree.parent[level]] + of_edge[level] / tree.bandwidth[level]
        at = flows.computing
        price = np.outer(cpu_price[at], bags.flop) + np.outer(way[at], bags.byte)
        price[~flows.allowed[at]] = np.inf
        size = float(np.sum(bags.weight * price.min(axis=0)))
        cpu_price, port_price = cpu_price / size, port_price / size
        return cpu_price, port_price, float(np.sum(cpu_price * tree.speed) + port_price.sum())


def _set_costs(flows: TreeFlows, solver: Any, *, rising: bool) -> None:
    """Set the costs: maximise the fair throughput, or minimise the port time of all links."""
    cost = np.zeros(flows.n_columns)
    if rising:
        cost[flows.fair] = -1.0
    else:
        edges = flows.edges
        time = flows.bags.byte / flows.tree.bandwidth[edges, None]
        column, exists = flows.flow[edges], flows.useful[edges]
        cost[column[exists]] = time[exists] * flows.unit[column[exists]]
    # The first rates of all are far from any optimum; the fairest ones are feasible already.
    solver.setOptionValue("simplex_strategy", 1 if rising else 4)
    solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
