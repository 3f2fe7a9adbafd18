"""Lower bounds on the makespan of task graphs on a site, which every schedule can be held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.optimum.task_graph_choices import Choices
from simplugin.optimum.task_graph_relaxation import relaxation
from simplugin.workloads.graph_sets import GraphSet

if TYPE_CHECKING:
    from simplugin.platforms.sites import Site


@dataclass(frozen=True)
class Bound:
    """A date before which no schedule completes all graphs.

    Attributes
    ----------
    value : float
        The date [s].
    kind : {"area", "critical path", "relaxation"}
        What proves it.
    """

    value: float
    kind: Literal["area", "critical path", "relaxation"]


def area_bound(graphs: GraphSet, site: Site) -> Bound:
    """Return when all work could be done if all processors always computed.

    By Amdahl's law a task keeps processors busy for least on one of them: it takes what the site
    can do, at least for its flop. Work that is released late counts from then on.

    Parameters
    ----------
    graphs : GraphSet
        What.
    site : Site
        Where.
    """
    work = np.array([graph.work for graph in graphs.graphs])
    ends = [date + work[graphs.release >= date].sum() / site.power for date in graphs.release]
    return Bound(float(max(ends)), "area")


def critical_path_bound(graphs: GraphSet, site: Site, *, transfers: bool = False) -> Bound:
    """Return when all graphs could be completed if each task had the best cluster for itself.

    Parameters
    ----------
    graphs, site, transfers
        As for `relaxation_bound`.
    """
    choices = Choices(graphs, site, transfers)
    ends = choices.earliest + choices.least_time + choices.rest
    return Bound(float(np.max(ends)), "critical path")


def relaxation_bound(
    graphs: GraphSet, site: Site, *, transfers: bool = False, tolerance: float = 1e-6
) -> Bound:
    """Return the bound of a linear program that weighs time against area.

    It is never less than the other two, which it contains, see
    `simplugin.optimum.task_graph_relaxation.relaxation`.

    Parameters
    ----------
    graphs : GraphSet
        What; no graph starts before its release.
    site : Site
        Where.
    transfers : bool
        Whether data take time even on an idle network, those that stay on their hosts as well;
        the bound holds only for schedules of which this is true.
    tolerance : float
        How far the bound may stay under the program's optimum, relative to it.

    Raises
    ------
    InfeasibleError
        HiGHS gave up.
    WorkloadError
        The tolerance is out of its range.
    """
    relaxed = relaxation(graphs, site, transfers=transfers, tolerance=tolerance).value
    simple = _simple_bound(graphs, site, transfers)
    return Bound(max(relaxed, simple.value), "relaxation")


def makespan_bound(
    graphs: GraphSet, site: Site, *, transfers: bool = False, tolerance: float = 1e-6
) -> Bound:
    """Return the best bound on the completion of all graphs, and the simplest that proves it.

    Parameters
    ----------
    graphs, site, transfers, tolerance
        As for `relaxation_bound`.
    """
    simple = _simple_bound(graphs, site, transfers)
    relaxed = relaxation_bound(graphs, site, transfers=transfers, tolerance=tolerance)
    return relaxed if relaxed.value > simple.value * (1 + tolerance) else simple


def own_bounds(
    graphs: GraphSet, site: Site, *, transfers: bool = False, tolerance: float = 1e-6
) -> tuple[Bound, ...]:
    """Return the best bound on the makespan of each graph, counted from its release.

    It holds for a graph alone on the site, hence also among others.

    Parameters
    ----------
    graphs, site, transfers, tolerance
        As for `relaxation_bound`.
    """
    return tuple(
        makespan_bound(GraphSet((graph,)), site, transfers=transfers, tolerance=tolerance)
        for graph in graphs.graphs
    )


def _simple_bound(graphs: GraphSet, site: Site, transfers: bool) -> Bound:
    """Return the larger of the bounds that need no solver; if equal, the critical path's."""
    path = critical_path_bound(graphs, site, transfers=transfers)
    area = area_bound(graphs, site)
    return area if area.value > path.value else path
