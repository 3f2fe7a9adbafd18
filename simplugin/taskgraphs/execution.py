"""Execution of task graphs on SimGrid: tasks and redistributions as parallel tasks.

Every task computes on its processors, every edge is a redistribution over the network of the
platform, and all concurrent activities share links (SimGrid's model `ptask_L07`). A redistribution
starts when its source task has finished and its target task is mapped, also while the target's
processors still compute.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import (
    ActorError,
    DeploymentError,
    PlatformError,
    SimpluginError,
    WorkloadError,
)
from simplugin.inputs.locations import shown
from simplugin.platforms import Platform
from simplugin.platforms.sites import Site
from simplugin.simulation import Result, SimGridOptions
from simplugin.simulation.options import SimulationKeywords, SimulationOptions, with_defaults
from simplugin.simulation.placement import Placement
from simplugin.simulation.prepared import PreparedSimulation
from simplugin.simulation.trace import KINDS
from simplugin.taskgraphs.actors.conductor import ExecutionRecord, Orders, conduct, no_host
from simplugin.taskgraphs.assumptions import PAPER, ModelAssumptions
from simplugin.taskgraphs.policies.allocation import Allocation
from simplugin.taskgraphs.policies.mapping import Mapper, OnlineMapper, Revision, plan
from simplugin.taskgraphs.schedule import Schedule, checked
from simplugin.taskgraphs.timing import Local, Pattern
from simplugin.workloads.parameter_ranges import one_of
from simplugin.workloads.task_graphs import GraphSet


@dataclass(frozen=True, eq=False)
class GraphExecution:
    """An execution of task graphs.

    Attributes
    ----------
    schedule : Schedule
        The executed schedule.
    sent, arrived : float64, shape (n_edges,)
        Start and end of the redistribution of each edge of the graph set [s]; the same where there
        are no data.
    moved : float64, shape (n_edges,)
        Data of each edge that were sent over the network [byte].
    plan : Schedule or None
        The estimated schedule; None if another mapper decided.
    result : Result
        The result of the simulation.
    """

    schedule: Schedule
    sent: NDArray[np.float64]
    arrived: NDArray[np.float64]
    moved: NDArray[np.float64]
    plan: Schedule | None
    result: Result

    @property
    def makespan(self) -> float:
        """Completion of the last graph [s]."""
        return self.schedule.makespan

    @property
    def estimate(self) -> float:
        """Estimated completion of the last graph [s]; NaN if there is no estimate."""
        return float("nan") if self.plan is None else self.plan.makespan


def execute(
    graphs: GraphSet,
    site: Site,
    decisions: Schedule | Sequence[Allocation] | Callable[[], OnlineMapper],
    *,
    platform: Platform | str | os.PathLike[str],
    assumptions: ModelAssumptions = PAPER,
    revise: Revision | None = None,
    pattern: Pattern = "block",
    local: Local | None = None,
    choices: bool = False,
    **simulation: Unpack[SimulationKeywords],
) -> GraphExecution:
    """Execute task graphs on a simulated site.

    Parameters
    ----------
    graphs : GraphSet
        The graphs; no task starts before its graph is released.
    site : Site
        The site. Each host is one processor, regardless of its cores in the platform.
    decisions : Schedule, sequence of Allocation or callable
        An allocation for each graph: a `Mapper` maps tasks when they become ready, by estimates
        from past events. A schedule: each task starts as soon as its inputs have arrived and the
        tasks before it on its processors are done, possibly earlier or later than planned. A
        function without arguments: makes the mapper in the simulation's process.
    platform : Platform or path
        The simulated platform, which has the site's hosts.
    assumptions : ModelAssumptions
        For the mapping of allocations.
    revise : Revision, optional
        Returns new allocations whenever tasks have ended or graphs are submitted, before ready
        tasks are mapped. It works on a copy in the simulation's process.
    pattern : {"block", "uniform"}
        Pattern of redistributions, see `redistribution`.
    local : {"sent", "kept"}, optional
        Treatment of data that stay on a processor, see `redistribution`; by default that of the
        schedule, and "sent" if that leaves it open.
    choices : bool
        True to offer a choice for each task where the site has several clusters: the processors
        that the scheduler decides, or the best ones on each other cluster, by their ends, as
        `Assignment` with estimated dates; it has a `MappingObservation`, and the task's name as
        label. Tasks of a schedule choose when their graph is submitted or their first data leave,
        and keep their place in its order; a mapper hears of other processors by
        `DeviatingMapper.deviate`.
    **simulation
        Options of the simulation, fields of `simplugin.simulation.SimulationOptions`. `options`
        need the host model ptask_L07, the default here. SimGrid's TCP window limits each message
        to 4 MiB a round trip, which estimates ignore, but matters only where latencies are long;
        ``tcp_gamma=0`` turns it off. `trace`, False by default, records tasks and redistributions
        with labels ``graph:task`` and ``graph:task->task``.

    Raises
    ------
    SimpluginError
        The options have another host model.
    WorkloadError
        Arguments are invalid or contradict each other, or the schedule can never be executed.
    PlatformError
        The platform has not all hosts of the site.
    ActorError
        A host or a link failed, or the mapper did.
    """
    return prepare(
        graphs,
        site,
        decisions,
        platform=platform,
        assumptions=assumptions,
        revise=revise,
        pattern=pattern,
        local=local,
        choices=choices,
        **simulation,
    ).run()


def prepare(
    graphs: GraphSet,
    site: Site,
    decisions: Schedule | Sequence[Allocation] | Callable[[], OnlineMapper],
    *,
    platform: Platform | str | os.PathLike[str],
    assumptions: ModelAssumptions = PAPER,
    revise: Revision | None = None,
    pattern: Pattern = "block",
    local: Local | None = None,
    choices: bool = False,
    **simulation: Unpack[SimulationKeywords],
) -> PreparedSimulation[GraphExecution]:
    """Return an execution that is ready to start; parameters and errors as in `execute`."""
    simulation = with_defaults(simulation, SimGridOptions(host_model="ptask_L07"))
    options = simulation["options"]
    if options.host_model != "ptask_L07":
        raise SimpluginError(
            f"host_model is {options.host_model!r}, which has no parallel tasks;"
            " write SimGridOptions(host_model='ptask_L07')"
        )
    one_of("pattern", pattern, get_args(Pattern))
    schedule: Schedule | None = None
    mapper: Callable[[], OnlineMapper] | None = None
    if isinstance(decisions, Schedule):
        if revise is not None:
            raise WorkloadError("a schedule cannot be revised; give allocations or a mapper")
        schedule = checked(decisions, graphs, site)
        if None not in (local, schedule.local) and local != schedule.local:
            raise WorkloadError(
                f"the schedule counts on local = {schedule.local!r}, but local is {local!r};"
                " schedule and execute with the same"
            )
        local = schedule.local or local
    elif callable(decisions):
        mapper = decisions
    elif isinstance(decisions, Sequence):
        local = local or "sent"
        mapper = partial(Mapper, graphs, decisions, site, assumptions, local)
        schedule = plan(graphs, decisions, site, assumptions=assumptions, local=local)
    else:
        raise WorkloadError(
            f"decisions is {shown(decisions)}; give allocations, a Schedule or a function that"
            " makes a mapper"
        )
    local = local or "sent"
    shortest = float(graphs.flop[graphs.flop > 0].min(initial=np.inf) / site.speed.max())
    orders = Orders(
        graphs=graphs,
        site=site,
        schedule=schedule if mapper is None else None,
        mapper=mapper,
        revise=revise,
        pattern=pattern,
        local=local,
        labelled=simulation["trace"],
        choices=choices,
        shortest_pause=min(1e-9, 1e-6 * shortest),
    )
    first = site.names[0]

    def outcome(result: Result) -> GraphExecution:
        """Return the execution that the conductor recorded."""
        result = _without_pauses(result)
        record: ExecutionRecord = result.returned[0].value
        dates = record.start, record.finish
        done = Schedule.of(site, graphs, record.processors, *dates, record.order, local)
        return GraphExecution(done, record.sent, record.arrived, record.moved, schedule, result)

    return PreparedSimulation(
        platform,
        [Placement(first, conduct, (orders,))],
        SimulationOptions(**simulation),
        outcome,
        partial(_errors_for_caller, site),
    )


@contextmanager
def _errors_for_caller(site: Site) -> Iterator[None]:
    """Translate errors of the conductor: those of the arguments are for the caller."""
    try:
        yield
    except DeploymentError as error:
        raise no_host(site, site.names[0]) from error
    except ActorError as error:
        if isinstance(error.__cause__, PlatformError | WorkloadError):
            raise error.__cause__ from None
        raise


def last_completion(result: Result) -> float:
    """Return the date at which the last task ended [s]."""
    record: ExecutionRecord = result.returned[0].value
    return float(record.finish.max())


def _without_pauses(result: Result) -> Result:
    """Return a result without the conductor's own pauses in the trace."""
    trace = result.trace
    kept = trace.kind_code != KINDS.index("sleep")
    if np.all(kept):
        return result
    columns = {name: getattr(trace, name)[kept] for name in trace.dtypes}
    return replace(result, trace=replace(trace, **columns))
