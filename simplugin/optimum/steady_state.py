"""Fairest steady state of bags of tasks on a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.optimum.certificates import ACCEPTED, certified
from simplugin.optimum.linear_programs import loaded, solved
from simplugin.optimum.tree_flows import Port, TreeFlows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.trees import Tree
    from simplugin.workloads.bags import Bags

    Floats = NDArray[np.float64]

# Share of the value of all capacity under which the price of an application is rounding.
UNPRICED = 1e-9
# Share of a throughput for which it is worth to solve once more, and how often at most.
WORTH = 1e-9
RESOLVES = 4
# Share of a throughput that is given up where it cannot be reached again.
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
        hands out, to itself or others. Each row is the sum of what the host computes and of the
        rows of its children, to the last bit.
    throughput : float64, shape (n_types,)
        Of each application [tasks/s].
    fair : float
        The smallest throughput per weight [tasks/s].
    bound : float
        What the prices prove that no smallest throughput per weight can exceed [tasks/s].
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
    yet, until all are. On a tree all throughputs per weight end up equal unless some
    tasks have no data and others do.

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
        Whether the sends of a host share one port, or each link is used apart.
    cut : float
        Flows under this share of their application's throughput, divided by the number of hosts,
        are not used: the program is solved again without them, a few times at most. Throughputs
        lose at most ten times this share, as a rule nothing.
    least_communication : bool
        Whether to choose among the optima; otherwise the first that is found.

    Returns
    -------
    SteadyState
        Rates and prices; no CPU or port is used beyond its capacity, to rounding.

    Raises
    ------
    InfeasibleError
        No host computes, or `cut` or the quantities are out of range.
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
        tiny = _tiny(program.flows, compute, cut)
        if again == RESOLVES or _lost(compute, tiny) < WORTH:
            break
        # Without all of them at once, what they made is made by others, or hardly missed.
        program.forbid(tiny & (compute > 0))
        program.fairest()
        compute = program.chosen(least_communication)
    compute[tiny] = 0.0
    compute, sent = _fitting(program.flows, compute)
    throughput = sent[0]
    fair = float(np.min(throughput / bags.weight))
    certified(
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
        self.flows = flows
        self.level = np.zeros(flows.bags.n_applications)
        self.dual = np.zeros(flows.n_rows)
        self.stages: list[tuple[Any, list[int]]] = []
        self.solver = _highs(flows)

    def fairest(self) -> None:
        """Raise the smallest throughput, then the next, until all applications are held back."""
        flows, solver = self.flows, self.solver
        first = flows.first_throughput
        held = np.zeros(flows.bags.n_applications, dtype=bool)
        # On a tree, a host where one type with data is free of charge is so for all types: only
        # those without data can be free while others are not. Rounding must not say otherwise.
        priced = (flows.bags.byte > 0) | bool(np.all(flows.bags.byte == 0))
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
        """Do without the columns of some pairs of host and type."""
        columns = self.flows.column[tiny]
        columns = columns[columns >= 0].astype(np.int32)
        zero = np.zeros(len(columns))
        self.solver.changeColsBounds(len(columns), columns, zero, zero)

    def _solved(self, held: NDArray[np.bool_]) -> Any:
        """Run HiGHS with some throughputs held, and return its solution."""
        try:
            return solved(self.solver)
        except InfeasibleError:
            # Rounding can put a level that was reached out of reach.
            first = self.flows.first_throughput
            for kind in np.flatnonzero(held).tolist():
                level = self.level[kind]
                self.solver.changeRowBounds(first + kind, level * (1 - YIELD), level)
            return solved(self.solver)

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
        # What one byte costs on its way down to each host.
        way = np.zeros(tree.n_hosts)
        for level in flows.levels[1:]:
            way[level] = way[tree.parent[level]] + of_edge[level] / tree.bandwidth[level]
        at = flows.computing
        price = np.outer(cpu_price[at], bags.flop) + np.outer(way[at], bags.byte)
        size = float(np.sum(bags.weight * price.min(axis=0)))
        cpu_price, port_price = cpu_price / size, port_price / size
        return cpu_price, port_price, float(np.sum(cpu_price * tree.speed) + port_price.sum())


def _tiny(flows: TreeFlows, compute: Floats, cut: float) -> NDArray[np.bool_]:
    """Return which pairs of host and type are cut, with all the subtree of a flow that is."""
    sent = flows.gather(compute)
    least = cut * sent[0] / flows.tree.n_hosts
    tiny: NDArray[np.bool_] = sent < least
    for level in flows.levels[1:]:
        tiny[level] |= tiny[flows.tree.parent[level]]
    tiny |= compute < least
    return tiny


def _lost(compute: Floats, tiny: NDArray[np.bool_]) -> float:
    """Return the largest share of a throughput that would be lost without some pairs."""
    return float(np.max(np.where(tiny, compute, 0.0).sum(axis=0) / compute.sum(axis=0)))


def _fitting(flows: TreeFlows, compute: Floats) -> tuple[Floats, Floats]:
    """Return rates that no rounding of the solver lets exceed a capacity, and the flows."""
    sent = flows.gather(compute)
    over = flows.load(sent, compute)
    if over > 1:
        compute = compute / over
        sent = flows.gather(compute)
    return compute, sent


def _set_costs(flows: TreeFlows, solver: Any, *, rising: bool) -> None:
    """Have HiGHS maximise the fair throughput, or minimise the port time of all links."""
    cost = np.zeros(flows.n_columns)
    if rising:
        cost[flows.fair] = -1.0
    else:
        edges = flows.edges
        time = flows.bags.byte / flows.tree.bandwidth[edges, None]
        column = flows.flow[edges]
        cost[column] = time * flows.unit[column]
    # The first rates of all are far from any optimum; the fairest ones are feasible already.
    solver.setOptionValue("simplex_strategy", 1 if rising else 4)
    solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)


def _highs(flows: TreeFlows) -> Any:
    """Return HiGHS with the matrix and the bounds."""
    from scipy.sparse import coo_array

    rows, columns, values = flows.scaled()
    matrix = coo_array((values, (rows, columns)), shape=(flows.n_rows, flows.n_columns)).tocsc()
    lower, upper = np.zeros(flows.n_rows), np.zeros(flows.n_rows)
    lower[: flows.first_balance] = -np.inf
    upper[: flows.first_balance] = 1.0
    upper[flows.first_throughput :] = np.inf
    return loaded(matrix, np.zeros(flows.n_columns), lower, upper)
