"""Lower bounds on the makespan of task graphs on a site, for every schedule.

Bounds are rounded down by more than sums of as many terms can be wrong: a makespan in floating
point, whatever the order of its sums, is at least the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.optimum.solvers import build_highs, solve_highs
from simplugin.optimum.task_graph_arcs import Arcs, Choices, Window
from simplugin.platforms.sites import Site
from simplugin.workloads.task_graphs import GraphSet

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Maximum number of rounds of added choices and windows; the result is a bound at any round.
ROUNDS = 200


@dataclass(frozen=True)
class GraphRelaxation:
    """A bound, and by how much others of its kind can be better.

    Attributes
    ----------
    value : float
        No schedule ends earlier [s]; rounded down.
    limit : float
        No prices of this kind prove more [s]; inf if that is not known.
    """

    value: float
    limit: float


def relaxation(
    graphs: GraphSet, site: Site, *, transfers: bool = False, tolerance: float = 1e-6
) -> GraphRelaxation:
    r"""Return the relaxation that lets tasks be divided among clusters and numbers of processors.

    A schedule gives task v to :math:`p` processors of cluster :math:`k`: :math:`x_{vkp} = 1`, and
    0 for all others. Its makespan is at least the length of every chain of arcs (see
    `simplugin.optimum.task_graph_arcs.Arcs`), all linear in x. A flow of one through the arcs is
    a mean of chains; in its mean length, task v counts with one of the prices
    :math:`c_{vkp}` of its choices, hence at least with the least of them, and

    .. math:: C_{max} \ge constant + \sum_v \min_{k, p} c_{vkp}

    for any flow. The largest such bound is the optimum of the linear program in which
    :math:`x \ge 0` with :math:`\sum_{k, p} x_{vkp} = 1` need not be whole. Between two
    neighbouring numbers of processors x draws a chord of the area as a function of the time,
    which is convex and falls (Amdahl's law): no allocation of whole processors lies under it,
    and it lies above all tangents.

    Choices and windows are added to the program on demand. Whatever the errors of the
    solver, `value` is computed from a flow alone.

    Parameters
    ----------
    graphs : GraphSet
        What; no graph starts before its release.
    site : Site
        Where.
    transfers : bool
        True if each edge takes the time of its data on an idle network, spread evenly over the
        processors of either task; all data pass their links and the network's, also between the
        same hosts. Otherwise data take no time, which no schedule contradicts.
    tolerance : float
        Largest distance of `value` under `limit`, relative to it.

    Returns
    -------
    GraphRelaxation
        The bound.

    Raises
    ------
    InfeasibleError
        HiGHS gave up.
    WorkloadError
        The tolerance is out of its range.
    """
    if not 1e-9 <= tolerance < 1:
        raise WorkloadError(f"tolerance is {tolerance!r}; give a share from 1e-9 on, under 1")
    choices = Choices(graphs, site, transfers)
    path = float(np.max(choices.earliest + choices.least_time + choices.rest))
    if path == 0:
        return GraphRelaxation(0.0, 0.0)
    arcs = Arcs(choices, max(path, float(np.sum(graphs.flop)) / site.power))
    return _search(arcs, tolerance)


def _search(arcs: Arcs, tolerance: float) -> GraphRelaxation:
    """Add choices and windows until the best bound is near the program's optimum."""
    program = _Program(arcs)
    n = arcs.n_tasks
    best, limit = -np.inf, np.inf
    for _ in range(ROUNDS):
        makespan, dual, load = program.solved()
        flow = arcs.unit_flow(np.maximum(dual[n:], 0.0))
        price = arcs.prices(flow)
        best = max(best, float(arcs.constant @ flow + price.min(axis=(1, 2)).sum()))
        # Windows carry at most one unit of flow, which limits their contribution.
        lack = tolerance * makespan / 2
        windows = arcs.violated(load, makespan, lack)
        if not windows:
            limit = min(limit, makespan + lack)
        if limit * (1 - tolerance) <= best:
            break
        added = program.add_choices(price, dual[:n], tolerance)
        if not windows and not added:
            break
        program.add_windows(windows)
    value = rounded_down(best * arcs.unit, arcs.choices.graphs)
    return GraphRelaxation(value, limit * arcs.unit)


def rounded_down(value: float, graphs: GraphSet) -> float:
    """Return a bound less what rounding can add to it, or take from the makespan of a schedule.

    Both are sums of positive terms, at most one a task and two an edge on each way; each sum and
    each term is rounded a few times.

    Parameters
    ----------
    value : float
        The bound as computed [s].
    graphs : GraphSet
        The tasks.
    """
    terms = graphs.n_tasks + 2 * len(graphs.edges) + 4
    return value * (1 - 4 * terms * float(np.finfo(np.float64).eps))


class _Program:
    """The program in the hands of HiGHS, over some of the choices.

    Columns are the dates of the events, then the choices; rows the tasks, then the arcs.
    """

    def __init__(self, arcs: Arcs) -> None:
        from scipy.sparse import csc_array

        self.arcs = arcs
        n, events, n_arcs = arcs.n_tasks, arcs.n_events, len(arcs.tail)
        self.chosen = np.zeros(arcs.time.shape, dtype=bool)
        self.task, self.cluster, self.index = (np.zeros(0, dtype=np.int64) for _ in range(3))
        cost = np.zeros(events)
        cost[arcs.last] = 1.0
        row = n + np.arange(n_arcs)
        one = np.ones(n_arcs)
        ends = np.concatenate([arcs.head, arcs.tail])
        matrix = csc_array(
            (np.concatenate([one, -one]), (np.concatenate([row, row]), ends)),
            shape=(n + n_arcs, events),
        )
        lower = np.concatenate([np.ones(n), arcs.constant])
        upper = np.concatenate([np.ones(n), np.full(n_arcs, np.inf)])
        self.solver = build_highs(matrix, cost, lower, upper)
        # Dates of all events but the first are free: that all arcs hold is enough.
        free = np.append(0.0, np.full(events - 1, np.inf))
        self.solver.changeColsBounds(events, np.arange(events, dtype=np.int32), -free, free)
        first = np.zeros(self.chosen.shape, dtype=bool)
        for cluster, processors in enumerate(arcs.choices.site.processors.tolist()):
            powers = [2**i - 1 for i in range(int(processors).bit_length())]
            first[:, cluster, [*powers, processors - 1]] = True
        self._add(first)

    def solved(self) -> tuple[float, Floats, Floats]:
        """Return the makespan, the duals of the rows, and for how long tasks keep clusters busy."""
        arcs = self.arcs
        solution = solve_highs(self.solver)
        value = np.asarray(solution.col_value)
        share = value[arcs.n_events :]
        load = np.zeros(arcs.time.shape[:2])
        used = share * arcs.load[self.task, self.cluster, self.index]
        np.add.at(load, (self.task, self.cluster), used)
        return float(value[arcs.last]), np.asarray(solution.row_dual), load

    def add_choices(self, price: Floats, paid: Floats, tolerance: float) -> bool:
        """Add the best choice on each cluster where it is cheaper than the dual of its task."""
        index = price.argmin(axis=2)
        least = np.take_along_axis(price, index[:, :, None], axis=2)[:, :, 0]
        task, cluster = np.nonzero(least < paid[:, None] - tolerance / (100 * len(paid)))
        new = np.zeros(self.chosen.shape, dtype=bool)
        new[task, cluster, index[task, cluster]] = True
        return self._add(new & ~self.chosen)

    def _add(self, new: NDArray[np.bool_]) -> bool:
        """Add columns of choices, and return whether there were any."""
        from scipy.sparse import csc_array

        task, cluster, index = np.nonzero(new)
        count = len(task)
        if not count:
            return False
        arcs, n = self.arcs, self.arcs.n_tasks
        arc, choice, length = arcs.lengths(task, cluster, index)
        window, inside, load = arcs.window_lengths(arcs.windows, task, cluster, index)
        rows = np.concatenate([task, n + arc, n + arcs.first_window + window])
        columns = np.concatenate([np.arange(count), choice, inside])
        values = np.concatenate([np.ones(count), -length, -load])
        matrix = csc_array((values, (rows, columns)), shape=(n + len(arcs.tail), count))
        zero = np.zeros(count)
        self.solver.addCols(count, zero, zero, np.full(count, np.inf), *_sparse(matrix))
        self.task = np.append(self.task, task)
        self.cluster = np.append(self.cluster, cluster)
        self.index = np.append(self.index, index)
        self.chosen |= new
        return True

    def add_windows(self, windows: list[Window]) -> None:
        """Add rows of windows."""
        from scipy.sparse import csr_array

        if not windows:
            return
        arcs, count = self.arcs, len(windows)
        row, choice, load = arcs.window_lengths(windows, self.task, self.cluster, self.index)
        arcs.add(windows)
        rows = np.concatenate([row, np.arange(count)])
        columns = np.concatenate([arcs.n_events + choice, np.full(count, arcs.last)])
        values = np.concatenate([-load, np.ones(count)])
        shape = (count, arcs.n_events + len(self.task))
        matrix = csr_array((values, (rows, columns)), shape=shape)
        self.solver.addRows(count, arcs.constant[-count:], np.full(count, np.inf), *_sparse(matrix))


def _sparse(matrix: Any) -> tuple[int, NDArray[np.int32], NDArray[np.int32], Floats]:
    """Return a matrix as HiGHS takes it."""
    start, index = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
    return matrix.nnz, start, index, matrix.data


@dataclass(frozen=True)
class Bound:
    """A date before which no schedule completes all graphs.

    Attributes
    ----------
    value : float
        The date [s].
    kind : {"area", "critical path", "network", "relaxation"}
        The proof.
    """

    value: float
    kind: Literal["area", "critical path", "network", "relaxation"]


def area_bound(graphs: GraphSet, site: Site) -> Bound:
    """Return when all work could be done if all processors always computed.

    By Amdahl's law a task keeps processors busy for least on one of them: all tasks take at least
    their flop at the speed of the whole site. Work that is released late counts from then on.

    Parameters
    ----------
    graphs : GraphSet
        What.
    site : Site
        Where.
    """
    work = np.array([graph.work for graph in graphs.graphs])
    ends = [date + work[graphs.release >= date].sum() / site.power for date in graphs.release]
    return Bound(rounded_down(float(max(ends)), graphs), "area")


def critical_path_bound(graphs: GraphSet, site: Site, *, transfers: bool = False) -> Bound:
    """Return when all graphs could be completed if each task had the best cluster for itself.

    Parameters
    ----------
    graphs, site, transfers
        As for `relaxation`.
    """
    choices = Choices(graphs, site, transfers)
    ends = choices.earliest + choices.least_time + choices.rest
    return Bound(rounded_down(float(np.max(ends)), graphs), "critical path")


def network_bound(graphs: GraphSet, site: Site) -> Bound:
    """Return the least date by which switches that are never idle can have passed all data.

    Whatever the mapping, the data of each edge pass at least one switch: what stays in a cluster
    that of the cluster, what does not, two. All switches together carry so much a second. What
    cannot set out in the first seconds of a schedule and not arrive in the last ones has to pass
    between them: all sets of edges are tried that set out no earlier than some edge can, and after
    which no less remains to be done than after some edge.

    It holds only for schedules in which data that stay on their hosts pass the switch as well, as
    in SimGrid's clusters with ``local="sent"``, and on sites with the true ``switch`` and diagonal
    of ``shared`` of their networks, as those of `simplugin.platforms.sites`.

    Parameters
    ----------
    graphs : GraphSet
        What.
    site : Site
        Where; it limits nothing if a switch does not.
    """
    choices = Choices(graphs, site, transfers=True)
    carried = np.zeros(site.n_clusters)
    np.maximum.at(carried, site.switch, np.diag(site.shared))
    edges = np.flatnonzero(choices.moved)
    if not edges.size:
        return Bound(0.0, "network")
    source, target = graphs.edges[edges].T
    time = choices.moved[edges] / carried.sum()
    before = (choices.earliest + choices.least_time)[source]
    after = (choices.least_time + choices.rest)[target]
    order = np.argsort(-after, kind="stable")
    time, before, after = time[order], before[order], after[order]
    ends = []
    for date in np.unique(before).tolist():
        inside = before >= date
        ends.append(date + float(np.max(np.cumsum(time[inside]) + after[inside])))
    return Bound(rounded_down(max(ends), graphs), "network")


def makespan_bound(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = False,
    tolerance: float = 1e-6,
    program: bool = True,
) -> Bound:
    """Return the best bound on the completion of all graphs, and the simplest that proves it.

    Parameters
    ----------
    graphs, site, tolerance
        As for `relaxation`.
    transfers : bool
        True if data take time even on an idle network, those that stay on their hosts as well; the
        bound holds only for such schedules. The bound of the switches counts as well, see
        `network_bound` for where it holds.
    program : bool
        False leaves out `relaxation`, which is slow for many tasks.
    """
    # The first of equal ones.
    bounds = [critical_path_bound(graphs, site, transfers=transfers), area_bound(graphs, site)]
    if transfers:
        bounds.append(network_bound(graphs, site))
    simple = max(bounds, key=lambda each: each.value)
    if not program:
        return simple
    relaxed = relaxation(graphs, site, transfers=transfers, tolerance=tolerance).value
    return Bound(relaxed, "relaxation") if relaxed > simple.value * (1 + tolerance) else simple


def own_bounds(
    graphs: GraphSet,
    site: Site,
    *,
    transfers: bool = False,
    tolerance: float = 1e-6,
    program: bool = True,
) -> tuple[Bound, ...]:
    """Return the best bound on the makespan of each graph, counted from its release.

    It holds for a graph alone on the site, hence also among others.

    Parameters
    ----------
    graphs, site, transfers, tolerance, program
        As for `makespan_bound`.
    """
    return tuple(
        makespan_bound(
            GraphSet((graph,)), site, transfers=transfers, tolerance=tolerance, program=program
        )
        for graph in graphs.graphs
    )
