"""Workloads of kind "taskgraphs": task graphs that share a site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, Strict, model_validator

from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.core.formatting import numbered
from simplugin.formats.task_graph_files import read_task_graph
from simplugin.formats.task_graph_structure import DEFAULT_SPEED
from simplugin.inputs.decisions import listed
from simplugin.inputs.files import unpacked_name
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.parameters import product_of_counts
from simplugin.inputs.quantities import NOT_NEGATIVE, POSITIVE, Size, Speed, Time, Work
from simplugin.inputs.references import place_of_failure
from simplugin.inputs.sections import ExistingFile, Section
from simplugin.inputs.validation import one_of
from simplugin.optimum.task_graph_bounds import Bound, makespan_bound, own_bounds
from simplugin.optimum.verification import makespan_optimum
from simplugin.platforms import Platform
from simplugin.platforms.sites import Site
from simplugin.scenarios.scenario import Scenario, ScenarioResult, Schedulers, WorkloadKind
from simplugin.scenarios.schedulers import PARAMETERS, read_scheduler
from simplugin.simulation.options import SimGridOptions, SimulationOptions
from simplugin.simulation.prepared import PreparedSimulation
from simplugin.simulation.resolve import resolve
from simplugin.taskgraphs.assessment import GraphAssessment
from simplugin.taskgraphs.assumptions import ModelAssumptions
from simplugin.taskgraphs.execution import GraphExecution, last_completion
from simplugin.taskgraphs.execution import prepare as prepare_execution
from simplugin.taskgraphs.platform_sites import site_of
from simplugin.taskgraphs.policies.allocation import Allocation, Allocator, check_allocations
from simplugin.taskgraphs.policies.lists import global_ordering
from simplugin.taskgraphs.policies.mapping import OnlineMapper, Revision, plan
from simplugin.taskgraphs.policies.revisions import Rebalanced, Revised
from simplugin.taskgraphs.policies.shares import checked_shares
from simplugin.taskgraphs.policies.shipped import POLICIES, SCHEDULERS
from simplugin.taskgraphs.schedule import Schedule, checked, violations
from simplugin.workloads.graph_generators import GENERATORS, graph_named
from simplugin.workloads.parameter_ranges import MOST
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

# The site of these generators describes the network exactly, and data take it in any case.
_KNOWN_NETWORKS = ("multi_cluster", "grid5000_subset")
# The keys that go with each source of graphs.
_KEYS = {
    "file": ("alpha", "speed", "lenient"),
    "generator": ("parameters", "seed"),
    "flop": ("alpha", "edges"),
}
_GRAPHS = ("workload", "graphs")
# Maximum number of tasks for which bounds are computed by linear programs by default.
_MOST_IN_PROGRAM = 300
_REVISIONS = ("none", "arrival", "event", "rebalanced")


def _revision(name: str) -> str:
    """Return the name of a revision; raise ValueError if it is unknown."""
    if name not in _REVISIONS and ":" not in name:
        known = ", ".join(map(repr, _REVISIONS))
        raise ValueError(f"give {known}, or 'module:function'")
    return name


class GraphTable(Section):
    """``[[workload.graphs]]``: one or several task graphs of the same origin.

    Attributes
    ----------
    file : path, optional
        A DOT, DAX or WfFormat file.
    alpha : float, optional
        Sequential part of tasks if the file does not give it; by default 0 for tasks that the file
        has on several cores, and 1 for all others, which are no faster on several processors.
    speed : float
        Speed of the processors on which times in the file were measured [flop/s].
    lenient : bool
        True if negative sizes in the file are read as 0, and not refused.
    generator : str, optional
        Instead of a file: a key of `simplugin.workloads.graph_generators.GENERATORS`.
    parameters : dict
        Keyword arguments of the generator.
    seed : int, optional
        Seed of the generator; by default it follows from that of the simulation.
    flop : list of float, optional
        Instead of both, a graph that is written out: the computation of each task [flop].
    edges : list of (int, int, float)
        Its edges: numbers of the two tasks, from 0 on, and the data that go from one to the other
        [byte].
    name : str, optional
        By default that of the file or generator, or "graph".
    release : float
        Date of submission [s].
    count : int
        Number of graphs; a generator draws them one after the other.
    """

    file: ExistingFile | None = None
    alpha: Annotated[float, Field(ge=0, le=1)] | None = None
    speed: Annotated[Speed, POSITIVE] = DEFAULT_SPEED
    lenient: bool = False
    generator: Annotated[str, one_of(GENERATORS, "there are")] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] | None = None
    flop: Annotated[list[Annotated[Work, NOT_NEGATIVE]], Field(min_length=1)] | None = None
    edges: list[Annotated[tuple[int, int, Annotated[Size, NOT_NEGATIVE]], Strict(False)]] = Field(
        default_factory=list
    )
    name: Annotated[str, Field(min_length=1)] | None = None
    release: Annotated[Time, NOT_NEGATIVE] = 0.0
    count: Annotated[int, Field(ge=1, le=MOST)] = 1

    @model_validator(mode="after")
    def _one_source(self) -> GraphTable:
        """Raise ValueError unless there is one source, with its own keys."""
        sources = [each for each in _KEYS if getattr(self, each) is not None]
        if len(sources) != 1:
            raise ValueError("give either a file, a generator or flop")
        for other, keys in _KEYS.items():
            for key in self.model_fields_set.intersection(keys).difference(_KEYS[sources[0]]):
                message = f"{{key}} goes with a {other}, not with a {sources[0]}"
                raise InvalidValueError(message, "remove it", (key,))
        if self.generator is not None and product_of_counts(self.parameters) > MOST:
            try:
                # It counts its tasks before it draws them.
                graph_named(self.generator, np.random.default_rng(0), **self.parameters)
            except WorkloadError as error:
                raise InvalidValueError(f"{{key}}: {error}", path=("parameters",)) from None
        return self


class TaskGraphsWorkload(Section):
    """``[workload]`` of kind "taskgraphs".

    Attributes
    ----------
    graphs : list of GraphTable
        At least one.
    """

    graphs: Annotated[list[GraphTable], Field(min_length=1)]


class GraphSchedulerSection(Section, ModelAssumptions):  # type: ignore[misc] # both are frozen
    """The parameters of the scheduler other than those of the policy and `ModelAssumptions`.

    Attributes
    ----------
    decides : {"shares", "allocations", "schedule", "mapping"}
        The kind of a user's function: a `SharingPolicy`, a function of graphs and a site that
        returns an `Allocation` for each, or one of a graph set and a site that returns a `Schedule`
        or an `OnlineMapper`.
    mode : {"online", "planned"}
        Map tasks when they become ready, or as planned before the start.
    pattern
        As in `simplugin.taskgraphs.execution.execute`.
    local : {"sent", "kept"}, optional
        Data that stay on a processor pass the network as others do, or cost nothing, in estimates
        and in the execution; by default that of a scheduler with such a parameter, else "sent".
    procedure : {"scrap_max", "scrap", "hcpa"}
        Allocation procedure.
    ordering : {"ready", "global"}
        Map tasks when they are ready, or all in the order of one list.
    bounds : {"auto", "simple", "program"}
        Lower bounds of makespans: by critical paths, work and switches, or also by linear programs,
        which take minutes for 1,000 tasks; auto has these up to 300 tasks.
    revision : {"none", "arrival", "event", "rebalanced"} or str
        Revision of shares while tasks run; or ``module:function`` of a user's own, a function of a
        graph set and a site that returns a `Revision`.
    """

    decides: Literal["shares", "allocations", "schedule", "mapping"] = "shares"
    mode: Literal["online", "planned"] = "online"
    procedure: Literal["scrap_max", "scrap", "hcpa"] = "scrap_max"
    ordering: Literal["ready", "global"] = "ready"
    pattern: Literal["block", "uniform"] = "block"
    local: Literal["sent", "kept"] | None = None
    bounds: Literal["auto", "simple", "program"] = "auto"
    revision: Annotated[str, AfterValidator(_revision)] = "none"

    @property
    def assumptions(self) -> ModelAssumptions:
        """The choices that the report leaves open."""
        return ModelAssumptions(
            **{each.name: getattr(self, each.name) for each in fields(ModelAssumptions)}
        )


@dataclass(frozen=True, eq=False)
class Scheduler:
    """The scheduler of a scenario.

    Attributes
    ----------
    scenario : Scenario
        The scenario.
    decides : {"shares", "allocations", "schedule", "mapping"}
        The decision of the function, see `GraphSchedulerSection`.
    function : callable
        Called with graphs, a site and the parameters.
    settings : GraphSchedulerSection
        Parameters of the execution.
    parameters : dict
        Parameters of the function.
    """

    scenario: Scenario
    decides: str
    function: Callable[..., Any]
    settings: GraphSchedulerSection
    parameters: dict[str, Any]

    @contextmanager
    def errors_at_scheduler(
        self, graphs: Sequence[TaskGraph], revision: str = ""
    ) -> Iterator[None]:
        """Locate the errors of the function, or of that of a revision, in the scenario."""
        try:
            yield
        except Exception as error:
            known = isinstance(error, WorkloadError | InfeasibleError)
            reason = str(error) if known else f"it raises {type(error).__name__}: {error}"
            reason += "" if known else place_of_failure(error)
            message = f"{revision or self.scenario.scheduler.name!r} cannot be used: {reason}"
            idle = [graph.name for graph in graphs if graph.work == 0]
            if idle:
                message += f" (graph {idle[0]!r} has nothing to compute)"
            key = PARAMETERS if self.parameters else ("scheduler", "name")
            place = (*PARAMETERS, "revision") if revision else key
            own = ":" in self.scenario.scheduler.name and self.decides == "shares" and not known
            remedy = (
                "shares are asked for: is 'decides' missing in its parameters?" if own else None
            )
            raise self.scenario.error(message, *place, remedy=remedy) from error

    def shares(self, graphs: Sequence[TaskGraph], site: Site) -> NDArray[np.float64]:
        """Return the shares of graphs."""
        with self.errors_at_scheduler(graphs):
            found = self.function(graphs, site, **self.parameters)
            return checked_shares(found, len(graphs), repr(self.scenario.scheduler.name))

    def schedule(self, graphs: GraphSet, site: Site) -> Schedule:
        """Return the schedule of graphs."""
        with self.errors_at_scheduler(graphs.graphs):
            found = checked(self.function(graphs, site, **self.parameters), graphs, site)
            # A plan may count more time for tasks, and none for redistributions.
            for wrong in violations(found, transfers=False, exact=False)[:1]:
                raise WorkloadError(f"{wrong}; plan within the model")
            return found

    def allocations(
        self, graphs: Sequence[TaskGraph], site: Site, shares: NDArray[np.float64]
    ) -> list[Allocation]:
        """Return the allocations of graphs under shares, or those of the user's own function."""
        assumptions = self.settings.assumptions
        if self.decides == "allocations":
            with self.errors_at_scheduler(graphs):
                given = self.function(graphs, site, **self.parameters)
                found = listed("it returns", given, "a list of allocations")
                if [type(each) for each in found] != [Allocation] * len(graphs):
                    raise WorkloadError(f"return an Allocation for each of {len(graphs)} graphs")
                check_allocations(GraphSet(tuple(graphs)), found, site)
                return found
        allocators = [Allocator(graph, site, assumptions) for graph in graphs]
        if self.settings.procedure == "hcpa":
            return [each.hcpa() for each in allocators]
        allocate = Allocator.scrap if self.settings.procedure == "scrap" else Allocator.scrap_max
        pairs = zip(allocators, shares.tolist(), strict=True)
        return [allocate(each, share) for each, share in pairs]

    def revision(self, graphs: GraphSet, site: Site) -> Revision | None:
        """Return the revision of shares, None if there is none."""
        when, assumptions = self.settings.revision, self.settings.assumptions
        if when == "none":
            return None
        if ":" in when:
            with self.errors_at_scheduler(graphs.graphs, when):
                own: Revision = self._user_revision()(graphs, site)
                if not callable(own):
                    raise WorkloadError(f"it returns {type(own).__name__}; return a Revision")
                return own
        if when == "rebalanced":
            return Rebalanced(
                graphs, site, assumptions=assumptions, local=self.settings.local or "sent"
            )
        revised: Any = when
        return Revised(
            graphs, site, partial(self.function, **self.parameters), revised, assumptions
        )

    def execution(
        self,
        graphs: GraphSet,
        site: Site,
        allocations: Sequence[Allocation] | None,
        platform: Platform | Path,
        simulation: SimulationOptions,
        *,
        choices: bool = False,
    ) -> PreparedSimulation[GraphExecution]:
        """Return the execution of graphs with allocations; None if the scheduler decides all."""
        settings, assumptions = self.settings, self.settings.assumptions
        local = settings.local or "sent"
        decisions: Schedule | Sequence[Allocation] | Callable[[], OnlineMapper]
        if self.decides == "mapping":
            decisions = partial(self.function, graphs, site, **self.parameters)
        elif allocations is None:
            decisions = self.schedule(graphs, site)
        elif settings.ordering == "global":
            decisions = global_ordering(
                graphs,
                allocations,
                site,
                transfers=settings.transfers,
                redistribution=settings.redistribution,
                local=local,
            )
        elif settings.mode == "planned":
            decisions = plan(graphs, allocations, site, assumptions=assumptions, local=local)
        else:
            decisions = allocations
        return prepare_execution(
            graphs,
            site,
            decisions,
            assumptions=assumptions,
            revise=self.revision(graphs, site),
            pattern=settings.pattern,
            local=settings.local,
            platform=platform,
            choices=choices,
            **simulation.keywords(),
        )

    def _user_revision(self) -> Callable[..., Any]:
        """Return the function that makes the user's own revision."""
        return self.scenario.function(self.settings.revision, *PARAMETERS, "revision")


def check(scenario: Scenario) -> Scheduler:
    """Return the scheduler of a scenario.

    Raises
    ------
    ScenarioError
        A parameter is unknown or invalid, or has no effect.
    """
    chosen = read_scheduler(scenario, SHIPPED)
    function, settings = chosen.policy, chosen.settings
    decides: str = settings.decides
    if ":" not in scenario.scheduler.name:
        decides = "schedule" if function in SCHEDULERS.values() else "shares"
    scheduler = Scheduler(scenario, decides, function, settings, chosen.parameters)
    if ":" in settings.revision:
        scheduler._user_revision()
    for key, message, remedy in _conflicts(scheduler):
        raise scenario.error(message, *PARAMETERS, key, remedy=remedy)
    return scheduler


def _conflicts(scheduler: Scheduler) -> Iterator[tuple[str, str, str]]:
    """Yield parameters without effect or in contradiction: key, message, remedy."""
    settings, given = scheduler.settings, scheduler.scenario.scheduler.parameters
    name = scheduler.scenario.scheduler.name
    own_revision = ":" in settings.revision
    useful = {*scheduler.parameters, "decides", "mode", "pattern", "local", "bounds"}
    if scheduler.decides == "mapping" and own_revision:
        useful.add("revision")
    if scheduler.decides == "allocations":
        useful = {*given} - {"procedure"}
    for key in given if scheduler.decides != "shares" else ():
        if key not in useful:
            yield key, f"scheduler.parameters.{key} has no effect with {name!r}", "remove it"
    if "decides" in given and ":" not in name:
        yield "decides", f"scheduler.parameters.decides has no effect with {name!r}", "remove it"
    if settings.procedure == "hcpa" and name != "taskgraphs.s":
        message = "procedure 'hcpa' knows no shares of the site"
        remedy = "give the scheduler's name as 'taskgraphs.s', or another procedure"
        yield "procedure", message, remedy
    planned = scheduler.decides == "schedule" or settings.ordering == "global"
    if given.get("mode") == "online" and planned:
        remedy = "remove it, or choose another scheduler or ordering"
        yield "mode", "mode is 'online', but the schedule is planned", remedy
    if given.get("mode") == "planned" and scheduler.decides == "mapping":
        yield "mode", "mode is 'planned', but a mapper decides online", "remove it"
    if settings.revision == "none":
        return
    rebalanced = settings.revision == "rebalanced"
    ineffective = {
        "mode is 'planned', so that nothing is revised": settings.mode == "planned",
        "ordering is 'global', so that nothing is revised": settings.ordering == "global",
        "own makespans are under shares that are revised": settings.baseline == "share",
        "there are no shares to revise": scheduler.decides == "allocations" and not own_revision,
        "revisions allocate with procedure 'scrap_max'": (
            settings.procedure != "scrap_max" and not own_revision
        ),
        "only 'taskgraphs.balanced' is rebalanced": rebalanced and name != "taskgraphs.balanced",
    }
    for reason, applies in ineffective.items():
        if applies:
            message = f"scheduler.parameters.revision is {settings.revision!r}, but {reason}"
            yield "revision", message, "remove one of the two"
    for key in scheduler.parameters if rebalanced else ():
        message = f"scheduler.parameters.{key} has no effect with shares that are rebalanced"
        yield key, message, "remove it"


def run(scenario: Scenario) -> ScenarioResult:
    """Execute all graphs together and each alone, and compare with bounds.

    Bounds count the least times of redistributions on the platforms of this package's generators
    of multi-clusters, as long as data that stay on their hosts are sent as well. Elsewhere data
    take no time: the site of another platform is an estimate, and proves nothing of the network.
    """
    return prepare(scenario).run()


def prepare(scenario: Scenario, *, choices: bool = False) -> PreparedSimulation[ScenarioResult]:
    """Return the execution of all graphs together, ready to start; it is compared as by `run`.

    With choices, its tasks may go elsewhere than the scheduler decides, those of graphs alone not.
    """
    scheduler = check(scenario)
    settings, graphs = scheduler.settings, graph_set(scenario)
    platform = scenario.make_platform()
    site = site_of(platform)
    options: SimGridOptions = scenario.simulation.options
    if options.host_model not in (None, "ptask_L07"):
        message = f"simulation.options.host_model is {options.host_model!r}"
        remedy = "remove it: parallel tasks need 'ptask_L07'"
        raise scenario.error(message, "simulation", "options", "host_model", remedy=remedy)
    watched = replace(
        scenario.traced_on_demand("trace"),
        options=replace(options, host_model="ptask_L07"),
        chooser=scenario.rollout("scheduler", last_completion),
    )
    # Alone, graphs are executed without looking ahead.
    simulation = replace(watched, trace=False, progress=None, chooser=None)
    shares, allocations = None, None
    if scheduler.decides == "shares":
        shares = scheduler.shares(graphs.graphs, site)
    selfish = np.ones(graphs.n_graphs)
    if scheduler.decides in ("shares", "allocations"):
        given = selfish if shares is None else shares
        allocations = scheduler.allocations(graphs.graphs, site, given)
    revised = settings.procedure == "hcpa" or settings.revision != "none"
    program = settings.bounds == "program"
    program |= settings.bounds == "auto" and graphs.n_tasks <= _MOST_IN_PROGRAM

    @cache
    def own_makespans() -> NDArray[np.float64]:
        """Return the makespan of each graph alone."""
        own = []
        for number, graph in enumerate(graphs.graphs):
            alone = None
            if allocations is not None and settings.baseline == "share":
                alone = [allocations[number]]
            elif allocations is not None:
                alone = scheduler.allocations([graph], site, selfish[:1])
            there = scheduler.execution(GraphSet((graph,)), site, alone, platform, simulation)
            own.append(there.run().makespan)
        return np.array(own)

    @cache
    def bounds(transfers: bool) -> tuple[Bound, ...]:
        """Return the bounds of each graph, and that of all together at the end."""
        own = own_bounds(graphs, site, transfers=transfers, program=program)
        if graphs.n_graphs == 1 and graphs.release[0] == 0:
            return (*own, own[0])
        return (*own, makespan_bound(graphs, site, transfers=transfers, program=program))

    @cache
    def most_cores() -> NDArray[np.int64]:
        """Return the largest number of cores of a host of each cluster."""
        cores = {host.name: host.cores for host in resolve(platform).hosts}
        return np.array([max(map(cores.__getitem__, hosts)) for hosts in site.hosts])

    def assessed(done: GraphExecution) -> ScenarioResult:
        """Compare an execution with graphs alone, and with bounds."""
        own = own_makespans()
        moved = (
            scenario.platform.generator in _KNOWN_NETWORKS
            and done.schedule.local == "sent"
            and replace(options, host_model=None) == SimGridOptions()
        )
        *each_bound, together = bounds(moved)
        bound_of = partial(makespan_optimum, site=site, transfers=moved, program=program)
        optima = [bound_of(graphs, bound=together, name="bound of makespan")]
        if graphs.n_graphs > 1:
            optima += [
                bound_of(GraphSet((graph,)), bound=bound, name=f"bound of {graph.name}")
                for graph, bound in zip(graphs.graphs, each_bound, strict=True)
            ]
        least = together.value, np.array([each.value for each in each_bound])
        # Revised shares vary over time.
        known = None if revised else shares
        found = GraphAssessment(done, own, *least, known, most_cores(), program)
        return replace(
            ScenarioResult.of(found, done.result, optima=tuple(optima)),
            schedule=found.chart(scenario.title),
            graphs=found.graph_charts(),
        )

    choices = choices or watched.chooser is not None
    together = scheduler.execution(graphs, site, allocations, platform, watched, choices=choices)
    return together.then(assessed)


def graph_set(scenario: Scenario) -> GraphSet:
    """Return the graphs of a scenario.

    The name of a graph is that of its table, by default that of its file or generator; graphs of
    the same name are numbered. Seeds follow from that of the simulation and the place of the table.

    Raises
    ------
    ScenarioError
        A generator refuses its parameters, or a file has no use for an option.
    WorkloadFileError
        A file is invalid.
    """
    workload: TaskGraphsWorkload = scenario.workload
    graphs: list[TaskGraph] = []
    release: list[float] = []
    for place, table in enumerate(workload.graphs):
        make = _written if table.flop is not None else _drawn if table.generator else _read
        graphs += make(scenario, place, table)
        release += [table.release] * table.count
    names = numbered(graph.name for graph in graphs)
    with scenario.errors_at(*_GRAPHS, of=WorkloadError):
        named = (replace(graph, name=name) for graph, name in zip(graphs, names, strict=True))
        return GraphSet(tuple(named), np.array(release))


def _read(scenario: Scenario, place: int, table: GraphTable) -> list[TaskGraph]:
    """Return the graphs of a file."""
    assert table.file is not None
    name = table.name or unpacked_name(table.file).stem
    # Keys that are not given are assumptions, which are stated.
    given = table.model_dump(include={"alpha", "speed", "lenient"}, exclude_unset=True)
    with scenario.errors_at(*_GRAPHS, place, of=WorkloadError):
        graph = read_task_graph(table.file, name=name, **given)
    return [graph] * table.count


def _written(scenario: Scenario, place: int, table: GraphTable) -> list[TaskGraph]:
    """Return the graphs that are written out in the scenario."""
    assert table.flop is not None
    count = len(table.flop)
    alpha = np.full(count, 1.0 if table.alpha is None else table.alpha)
    ends = np.array([each[:2] for each in table.edges], dtype=np.int64).reshape(-1, 2)
    sizes = np.array([size for _, _, size in table.edges])
    tasks, flop = tuple(map(str, range(count))), np.array(table.flop)
    with scenario.errors_at(*_GRAPHS, place, of=WorkloadError):
        name = table.name or "graph"
        graph = TaskGraph(name, tasks, flop, alpha, np.zeros(count), ends, sizes)
    return [graph] * table.count


def _drawn(scenario: Scenario, place: int, table: GraphTable) -> list[TaskGraph]:
    """Return the graphs of a generator."""
    assert table.generator is not None
    seed = (scenario.simulation.seed, place) if table.seed is None else table.seed
    generator = np.random.default_rng(seed)
    name = {"name": table.name or table.generator}
    key = (*_GRAPHS, place, "parameters" if table.parameters else "generator")
    reason = "refused its parameters" if table.parameters else "cannot be used"
    refused = f"generator {table.generator!r} {reason}: "
    with scenario.errors_at(*key, of=(WorkloadError, TypeError, ValueError), before=refused):
        return [
            graph_named(table.generator, generator, **(name | table.parameters))
            for _ in range(table.count)
        ]


SHIPPED = Schedulers("taskgraphs", {**POLICIES, **SCHEDULERS}, GraphSchedulerSection, by_position=2)
OUTPUTS = ("result", "gantt", "graphs")
KIND = WorkloadKind(
    TaskGraphsWorkload, run, SHIPPED, check, OUTPUTS, need_trace=("trace",), prepare=prepare
)
