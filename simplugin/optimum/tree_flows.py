"""Flows of tasks down a tree, as a well-scaled linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.errors import InfeasibleError
from simplugin.optimum.bandwidth_centric import bandwidth_centric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simplugin.platforms.trees import Tree
    from simplugin.workloads.bags import Bags

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

Port = Literal["single", "multi"]


@dataclass(frozen=True, eq=False)
class Entries:
    """Nonzero coefficients ``demand / capacity``, both taken from the data as they are.

    Attributes
    ----------
    row, column : int64, shape (n_entries,)
        Where they stand.
    demand, capacity : float64, shape (n_entries,)
        What a task takes, and out of what.
    """

    row: Integers
    column: Integers
    demand: Floats
    capacity: Floats


class TreeFlows:
    """Program (1) of Beaumont et al. with the rows and columns that matter.

    Columns are the tasks of each type that each host computes, those that each host with useful
    children receives, and, last, the fair throughput [tasks/s]; a leaf computes what it receives.
    Rows, in this order: one per CPU and one per port, at most 1; one per type and receiving host,
    0: what comes is computed or sent on; one per type: what the root hands out per weight, less
    the fair throughput, is at least 0.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    port : {"single", "multi"}
        Whether the sends of a host share one port, or each link is used apart.

    Raises
    ------
    InfeasibleError
        No host computes.

    Attributes
    ----------
    levels : list of int64
        Hosts of each depth that compute or have descendants that do.
    computing : int64, shape (n_computing,)
        Hosts with a speed.
    column, flow : int64, shape (n_hosts, n_types)
        Columns of computing and of receiving; -1 for none.
    entries : Entries
        Of the matrix.
    unit : float64, shape (n_columns,)
        What one means in each column of the scaled program [tasks/s].
    port_of_row : int64, shape (n_ports,)
        The host whose port (or, with "multi", whose link from the parent) a row is.
    """

    def __init__(self, tree: Tree, bags: Bags, port: Port = "single") -> None:
        if not np.any(tree.speed > 0):
            raise InfeasibleError(
                f"no host of the tree of {tree.hosts[0]!r} computes; give one a speed above 0"
            )
        self.tree, self.bags, self.port = tree, bags, port
        self.levels = _levels(tree)
        self.computing = np.flatnonzero(tree.speed > 0)
        power = self.gather(tree.speed)
        self.useful = power > 0
        self.levels = [level[self.useful[level]] for level in self.levels]
        self.edges = np.flatnonzero(self.useful[1:]) + 1
        branching = np.zeros(tree.n_hosts, dtype=bool)
        branching[tree.parent[self.edges]] = True
        self.branching = branching
        self._number()
        self.entries = self._entries()
        self._units(power)

    @property
    def n_columns(self) -> int:
        """How many columns there are, that of the fair throughput included."""
        return self.fair + 1

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
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
        shape = (tree.n_hosts, types)
        self.column = np.full(shape, -1, dtype=np.int64)
        n_rates = len(self.computing) * types
        self.column[self.computing] = np.arange(n_rates).reshape(-1, types)
        self.receiving = self.edges[self.branching[self.edges]]
        n_flows = len(self.receiving) * types
        self.flow = np.where(self.useful[:, None], self.column, -1)
        self.flow[0] = -1
        self.flow[self.receiving] = n_rates + np.arange(n_flows).reshape(-1, types)
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
        # The row in which what a host receives is spent; the root's are the throughputs.
        spent = np.full((tree.n_hosts, types), -1, dtype=np.int64)
        spent[receiving] = self.first_balance + np.arange(len(receiving) * types).reshape(-1, types)
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
        kept = demand != 0
        return Entries(row[kept], column[kept], demand[kept], capacity[kept])

    def _units(self, power: Floats) -> None:
        """Choose units so that the columns of an optimum are about 1."""
        tree, bags = self.tree, self.bags
        flop, byte = float(np.sum(bags.weight * bags.flop)), float(np.sum(bags.weight * bags.byte))
        # One task of each application at a time is fair, if not the fairest.
        self.lower = bandwidth_centric(tree, flop, byte, port=self.port).throughput
        with np.errstate(divide="ignore"):
            through = tree.bandwidth[:, None] / bags.byte
        through = np.minimum(through, power[:, None] / bags.flop)
        through[0] = np.minimum(through[0], self.lower * bags.weight)
        for level in self.levels[1:]:
            through[level] = np.minimum(through[level], through[tree.parent[level]])
        alone = np.minimum(through, tree.speed[:, None] / bags.flop)
        self.unit = np.full(self.n_columns, self.lower)
        self.unit[self.column[self.computing]] = alone[self.computing]
        self.unit[self.flow[self.receiving]] = through[self.receiving]

    def scaled(self) -> tuple[Integers, Integers, Floats]:
        """Return rows, columns and values of the matrix in its units, each row near 1."""
        entries = self.entries
        value = entries.demand * self.unit[entries.column] / entries.capacity
        return entries.row, entries.column, value / self.row_unit[entries.row]

    @property
    def row_unit(self) -> Floats:
        """What one means in each row: nothing for shares, tasks/s for balances."""
        unit = np.ones(self.n_rows)
        unit[self.first_balance : self.first_throughput] = self.unit[
            self.flow[self.receiving].ravel()
        ]
        unit[self.first_throughput :] = self.lower
        return unit

    def rates(self, values: Floats) -> Floats:
        """Return the tasks that each host computes [tasks/s] from the scaled columns."""
        rate = np.zeros((self.tree.n_hosts, self.bags.n_applications))
        column = self.column[self.computing]
        rate[self.computing] = np.maximum(values[column] * self.unit[column], 0.0)
        return rate

    def load(self, sent: Floats, compute: Floats) -> float:
        """Return the largest share of a CPU or port that rates take."""
        tree, bags = self.tree, self.bags
        used = (compute[self.computing] * bags.flop).sum(axis=1) / tree.speed[self.computing]
        times = (sent[self.edges] * bags.byte).sum(axis=1) / tree.bandwidth[self.edges]
        busy = np.bincount(self._port_row - self.first_port, times)
        return float(max(used.max(), busy.max(initial=0.0)))


def _levels(tree: Tree) -> list[Integers]:
    """Return the hosts of each depth."""
    order = np.argsort(tree.depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(tree.depth[order])) + 1)
