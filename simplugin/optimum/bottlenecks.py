"""Bottlenecks that keep throughputs from growing, and the largest sum of throughputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.optimum.flows import Flows, Program
from simplugin.optimum.solvers import build_highs, solve_highs

Floats = NDArray[np.float64]

# By how much a way may be dearer than the weight, relative to it, and still be the cheapest.
EQUAL = 1e-9
# Columns of a program that HiGHS does not presolve.
LARGE = 20_000


@dataclass(frozen=True, eq=False)
class LargestTotal:
    """The largest weighted sum of throughputs.

    Attributes
    ----------
    price : float64, shape (n_hosts + n_links,)
        Shadow prices of a flop on each host, then of a byte on each link: no path of a task costs
        less than its application's weight, and what all capacity brings in is the sum.
    served : bool, shape (n_applications,)
        True for applications with a positive throughput.
    equal : float64, shape (n_groups, n_applications)
        The sum is reached if and only if ``equal @ throughput`` is 1 and the bounds hold. An
        equation for each group of applications with cheapest paths that share no resource
        with those of others, so that small ones do not drown in the sum.
    """

    price: Floats
    served: NDArray[np.bool_]
    equal: Floats


def largest_total(flows: Flows) -> LargestTotal:
    """Return the largest weighted sum of throughputs, by HiGHS.

    Parameters
    ----------
    flows : Flows
        The ways that tasks can take.
    """
    sharing = flows.sharing
    # One unit of utility in each column: reduced costs are relative to each weight.
    worth = float(np.median(sharing.weight * flows.most[sharing.masters]))
    program = flows.program(worth / sharing.weight, capped=False)
    solver = highs(program)
    load = len(program.unit)
    columns = np.append(program.master, load).astype(np.int32)
    cost = np.append(-np.ones(sharing.n_applications), 0.0)
    solver.changeColsCost(len(columns), columns, cost)
    solver.changeColBounds(load, 1.0, 1.0)
    # Prices are in units of `worth`.
    price = program.prices(solve_highs(solver).row_dual)
    price = flows.mended(price, sharing.weight / worth)
    # Utility per flop and byte; no way may be cheaper than its weight, not even by rounding.
    return _face(flows, price * float(np.max(sharing.weight / flows.cheapest(price))))


def _face(flows: Flows, price: Floats) -> LargestTotal:
    """Return what complementary slackness says of all optima."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sharing = flows.sharing
    application = sharing.application
    cheap = flows.computes & (flows.ways(price) <= sharing.weight[application] * (1 + EQUAL))
    income = price * flows.capacity
    priced = income > NOISE * income.sum()
    below = sharing.gather(cheap.astype(np.float64)) > 0
    on_host = np.flatnonzero(cheap & priced[sharing.host])
    on_link = np.flatnonzero(below & flows.carries)
    on_link = on_link[priced[sharing.n_hosts + sharing.link[on_link]]]
    users = np.concatenate([application[on_host], application[on_link]])
    used = np.concatenate([sharing.host[on_host], sharing.n_hosts + sharing.link[on_link]])
    size = sharing.n_applications + len(income)
    graph = coo_array(
        (np.ones(len(users)), (users, sharing.n_applications + used)), shape=(size, size)
    )
    _, group = connected_components(graph, directed=False)
    served = np.zeros(sharing.n_applications, dtype=bool)
    served[users] = True
    groups, of = np.unique(group[: sharing.n_applications][served], return_inverse=True)
    sums = np.bincount(group[sharing.n_applications :], income, minlength=int(group.max()) + 1)
    equal = np.zeros((len(groups), sharing.n_applications))
    equal[of, np.flatnonzero(served)] = sharing.weight[served] / sums[groups][of]
    return LargestTotal(price, served, equal)


# Share of the value of all capacity under which that of a resource is rounding.
NOISE = 1e-13


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """Prices of resources, and the bound ``price @ throughput <= 1`` that they prove.

    Attributes
    ----------
    price : float64, shape (n_applications,)
        Of a task of each application along its cheapest way [s/task].
    of_resources : float64, shape (n_hosts + n_links,)
        Of a flop on each host, then of a byte on each link [s/flop], [s/byte].
    """

    price: Floats
    of_resources: Floats


class Bottlenecks:
    """Finds the bottleneck of given throughputs; each search starts where the last one ended.

    Parameters
    ----------
    flows : Flows
        The ways that tasks can take.
    """

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self.searches = 0
        self._scale = flows.most[flows.sharing.masters]
        self._program: Program | None = None
        self._solver: Any = None

    def bottleneck(self, price: Floats, worth: Floats | None = None) -> Bottleneck:
        """Return the bound that prices prove, whatever they are.

        With prices of hosts and links that bring in 1 when all capacity is sold, no throughputs
        can cost more than 1 along their cheapest ways.

        Parameters
        ----------
        price : float64, shape (n_hosts + n_links,)
            Of a flop on each host, then of a byte on each link, in any unit.
        worth : float64, shape (n_applications,), optional
            Least price of a task, in the same unit.
        """
        income = price * self.flows.capacity
        price = np.where(income > NOISE * income.sum(), price, 0.0)
        if worth is not None:
            price = self.flows.mended(price, worth)
        price = price / float(price @ self.flows.capacity)
        return Bottleneck(self.flows.cheapest(price), price)

    def search(self, throughput: Floats) -> tuple[Floats, Bottleneck]:
        """Return rates that make throughputs with the least load, and what bounds them.

        Parameters
        ----------
        throughput : float64, shape (n_applications,)
            Of each application [tasks/s].

        Returns
        -------
        rate : float64, shape (n_agents,)
            Tasks that each agent computes [tasks/s]; the largest load, relative to capacity, is
            the least possible.
        bottleneck : Bottleneck
            The bound that forbids any smaller load.
        """
        self._load(throughput)
        program, solver = self._program, self._solver
        assert program is not None
        demand = throughput / program.unit[program.master]
        columns = program.master.astype(np.int32)
        solver.changeColsBounds(len(columns), columns, demand, demand)
        self.searches += 1
        solution = solve_highs(solver)
        # Increase of the load by one more task.
        worth = np.asarray(solution.col_dual)[program.master] / program.unit[program.master]
        bottleneck = self.bottleneck(program.prices(solution.row_dual), worth)
        return program.rates(solution.col_value), bottleneck

    def _load(self, throughput: Floats) -> None:
        """Give the solver a program that suits the throughputs, unless the one it has does."""
        with np.errstate(divide="ignore"):
            off = np.abs(np.log(throughput) - np.log(self._scale))
        if self._solver is not None and np.all((off < 3) | (throughput == 0)):
            return
        self._scale = np.where(throughput > 0, throughput, self._scale)
        self._program = self.flows.program(self._scale)
        basis = None if self._solver is None else self._solver.getBasis()
        self._solver = highs(self._program)
        if basis is not None:
            self._solver.setBasis(basis)


def highs(program: Program) -> Any:
    """Return HiGHS with the program to minimise the largest load, its last column."""
    from scipy.sparse import block_array, coo_array

    n_rows, n_columns = program.usage.shape
    n_balances = program.balance.shape[0]
    load = coo_array(-np.ones((n_rows, 1)))
    matrix = block_array([[program.usage, load], [program.balance, None]], format="csc")
    solver = build_highs(
        matrix,
        np.append(np.zeros(n_columns), 1.0),
        np.concatenate([np.full(n_rows, -np.inf), np.zeros(n_balances)]),
        np.zeros(n_rows + n_balances),
    )
    # Without it a vertex may be less exact; but it takes seconds where dozens of steps do.
    solver.setOptionValue("presolve", "choose" if n_columns < LARGE else "off")
    return solver
