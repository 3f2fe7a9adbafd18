"""Lower bounds on the makespan of task graphs on a site, which every schedule can be held to.

Bounds are rounded down by more than sums of as many terms can be wrong: a makespan in floating
point, whatever the order of its sums, is at least the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.optimum.task_graph_choices import Choices
from simplugin.optimum.task_graph_relaxation import relaxation, rounded_down
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
    kind : {"area", "critical path", "network", "relaxation"}
        What proves it.
    """

    value: float
    kind: Literal["area", "critical path", "network", "relaxation"]


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
    return Bound(rounded_down(float(max(ends)), graphs), "area")


def critical_path_bound(graphs: GraphSet, site: Site, *, transfers: bool = False) -> Bound:
    """Return when all graphs could be completed if each task had the best cluster for itself.

    Parameters
    ----------
    graphs, site, transfers
        As for `relaxation_bound`.
    """
    choices = Choices(graphs, site, transfers)
    ends = choices.earliest + choices.least_time + choices.rest
    return Bound(rounded_down(float(np.max(ends)), graphs), "critical path")


def network_bound(graphs: GraphSet, site: Site) -> Bound:
    """Return when all data could have passed the switches if these were never idle.

    Whatever the mapping, the data of each edge pass at least one switch: what stays in a cluster
    that of the cluster, what does not, two. All switches together carry so much a second. What
    cannot set out in the first seconds of a schedule and not arrive in the last ones has to pass
    between them: all sets of edges are tried that set out no earlier than some edge can, and after
    which no less remains to be done than after some edge.

    It holds only for schedules in which data that stay on their hosts pass the switch as well, as
    in SimGrid's clusters with ``local="sent"``, and on sites whose ``switch`` and diagonal of
    ``shared`` are what the network has, as those of `simplugin.platforms.multi_clusters`.

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
    graphs, site, tolerance
        As for `relaxation_bound`.
    transfers : bool
        Likewise; with it the bound of the switches counts as well, see `network_bound` for where
        it holds.
    """
    simple = _simple_bound(graphs, site, transfers)
    if transfers:
        network = network_bound(graphs, site)
        simple = network if network.value > simple.value else simple
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
        As for `makespan_bound`.
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
