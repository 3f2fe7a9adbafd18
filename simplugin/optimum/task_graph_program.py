"""The relaxation of schedules of task graphs in cvxpy, with all its choices and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.optimum.solvers import solve_by_clarabel
from simplugin.optimum.task_graph_arcs import Choices

if TYPE_CHECKING:
    from simplugin.platforms.sites import Site
    from simplugin.workloads.graph_sets import GraphSet


def relaxation_program(graphs: GraphSet, site: Site, *, transfers: bool = False) -> float:
    r"""Minimise the makespan of divided tasks by cvxpy and Clarabel.

    The program of `simplugin.optimum.task_graph_bounds.relaxation` in the order of its
    description, with :math:`x_{vkp}` as `share`. It grows with the processors of a cluster and
    with the square of the number of tasks: it is there to check the other one.

    Parameters
    ----------
    graphs, site, transfers
        As for `simplugin.optimum.task_graph_bounds.relaxation`.

    Returns
    -------
    float
        The least makespan [s], to about 1e-8 of it.

    Raises
    ------
    InfeasibleError
        Clarabel gave up.
    UncertifiedError
        It stopped short of its accuracy.
    """
    import cvxpy

    # Its stubs export no functions.
    functions: Any = cvxpy
    choices = Choices(graphs, site, transfers)
    path = float(np.max(choices.earliest + choices.least_time + choices.rest))
    unit = max(path, float(np.sum(graphs.flop)) / site.power) or 1.0
    n, edges = graphs.n_tasks, graphs.edges
    start: Any = cvxpy.Variable(n)
    makespan: Any = cvxpy.Variable()
    # Of each cluster the shares of all its numbers of processors.
    share: list[Any] = [
        cvxpy.Variable((n, processors), nonneg=True) for processors in site.processors.tolist()
    ]

    def total(values: Any, of: Any = slice(None)) -> Any:
        """Return the sum of values over all choices of each task, or of the first of each edge."""
        return sum(
            functions.sum(functions.multiply(x[of], values[:, k, : x.shape[1]] / unit), axis=1)
            for k, x in enumerate(share)
        )

    end = start + total(choices.time)
    constraints = [
        sum(functions.sum(x, axis=1) for x in share) == 1,
        start >= graphs.release[graphs.graph_of] / unit,
        end <= makespan,
    ]
    if len(edges):
        source, target = edges.T
        constraints += [
            start[target] >= end[source] + total(choices.sending, source),
            start[target] >= end[source] + total(choices.receiving, target),
        ]
    margin, member = _windows(choices)
    for k, x in enumerate(share):
        load = functions.sum(functions.multiply(x, choices.load[:, k, : x.shape[1]] / unit), axis=1)
        constraints.append(margin / unit + member @ load <= makespan)
    problem: Any = cvxpy.Problem(cvxpy.Minimize(makespan), constraints)
    solve_by_clarabel(
        problem, "the relaxation", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    return float(makespan.value) * unit


def _windows(choices: Choices) -> tuple[Any, Any]:
    """Return the seconds outside of each window, and which tasks run in it, without empty ones."""
    windows = [
        (first + rest, (choices.earliest >= first) & (choices.rest >= rest))
        for first in np.unique(choices.earliest)
        for rest in np.unique(choices.rest)
    ]
    full = [(margin, member) for margin, member in windows if np.any(member)]
    margins, members = zip(*full, strict=True)
    return np.array(margins), np.array(members, dtype=np.float64)
