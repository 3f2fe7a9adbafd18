"""Experiments that measure the quantities of the paper's statements, and of ours beyond it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simplugin.core.elementary import exp, log
from simplugin.papers.ntakpe import bicpa
from simplugin.papers.ntakpe.alternatives import about, readings
from simplugin.papers.ntakpe.arrivals import RHOS, RIVAL, arrivals, arriving
from simplugin.papers.ntakpe.averages import (
    BESIDE_RANDOM,
    MEASURES,
    Averages,
    averages,
    bend_of_sweep,
    beside,
    fairest_mu,
    opposite_trends,
    quantity,
    weighted,
)
from simplugin.papers.ntakpe.campaign import (
    BALANCED,
    EIGHT,
    FULL,
    PART,
    QUICK,
    QUICK_PART,
    REBALANCED,
    SEED,
    SLOW,
    STRATEGIES,
    TOGETHER,
    Case,
    Scope,
    SharingSetting,
    bound,
    executed,
    graphs_of,
    measured,
    own_makespans,
)
from simplugin.papers.ntakpe.trace_check import trace_violations
from simplugin.papers.statements import Quantity, determined_by, resampled
from simplugin.platforms.sites import SUBSETS, Site
from simplugin.results.curves import CurvePlot
from simplugin.taskgraphs.assumptions import PAPER
from simplugin.taskgraphs.execution import execute
from simplugin.taskgraphs.metrics import unfairness
from simplugin.taskgraphs.policies.allocation import Allocation, Allocator, scrap_max
from simplugin.taskgraphs.policies.lists import global_ordering
from simplugin.taskgraphs.policies.mapping import plan
from simplugin.taskgraphs.policies.shares import es
from simplugin.taskgraphs.schedule import Schedule
from simplugin.workloads.graph_generators import FAMILIES, Family
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

Quantities = dict[str, Quantity]
Series = Mapping[str, tuple[ArrayLike, ArrayLike]]
# Dates and power may be off by this part, for rounding.
_ROUNDING = 1e-9


def sharing(quick: bool, *, family: Family) -> Quantities:
    """Measure sections 7 and 8 for a family of graphs, our shares, and the distance to bounds."""
    scope = QUICK[family] if quick else FULL
    wanted = {each.quantity for each in about(family) if each.quick or not quick}
    found: Quantities = {}
    for key, measure in MEASURES[family].items():
        if key in wanted:
            here = averages(family, scope)
            there = averages("random", scope) if key in BESIDE_RANDOM else here
            found[key] = _of(scope, quantity(measure, here, there))
    if family == "random":
        found |= _weights(quick=quick)
    if family == "random" and not quick:
        found["estimates"] = _estimates()
    found["balanced"] = _ahead(family, BALANCED, scope)
    if not quick:
        found["rebalanced"] = _ahead(family, REBALANCED, SLOW)
    found["gap"] = _gap(family, quick=quick)
    return found


def _of(scope: Scope, measured_quantity: Quantity) -> Quantity:
    """Return a quantity with the provenance of its runs."""
    return replace(measured_quantity, provenance=scope.provenance())


def _weights(*, quick: bool) -> Quantities:
    """Measure the effect of the weight of equal shares: Figure 2, and the best weights."""
    scope = QUICK["random"] if quick else FULL
    sweep = averages("random", scope, weighted("wps_work", quick=quick))
    found = {
        "trends": _of(scope, quantity(opposite_trends, sweep, sweep)),
        "bend": _of(scope, quantity(bend_of_sweep, sweep, sweep)),
    }
    families: tuple[Family, ...] = () if quick else ("random", "fft")
    for family in families:
        sweep = averages(family, FULL, weighted("wps_width"))
        found[f"mu-{family}"] = _of(FULL, quantity(fairest_mu, sweep, sweep))
    return found


def _estimates() -> Quantity:
    """Measure the error of estimates that count contention over that of those that do not."""
    errors = []
    for setting in (SharingSetting(RIVAL), SharingSetting(RIVAL, readings=TOGETHER)):
        found = [measured(case, setting) for case in SLOW.cases("random")]
        errors.append(np.array([each.planned / each.makespan - 1 for each in found]))
    alone, together = (np.abs(each) for each in errors)
    means = [100 * np.mean(each) for each in (alone, together, *errors)]
    note = "off by {:.1f} %, together {:.1f} %; with signs {:+.1f} %, {:+.1f} %".format(*means)
    return _of(SLOW, _resampled(SLOW, lambda few: mean(together[few]) / mean(alone[few]), note))


def _resampled(scope: Scope, measure: Callable[[NDArray[np.int64]], float], note: str) -> Quantity:
    """Return a quantity of the runs of a scope, from their numbers, over its combinations."""
    runs = np.arange(len(scope.cases("random"))).reshape(-1, scope.combinations, len(scope.sites))
    return resampled(
        lambda few: measure(runs[:, few].ravel()), scope.combinations, note, over="combinations"
    )


def _ahead(family: Family, setting: SharingSetting, scope: Scope) -> Quantity:
    """Measure the unfairness and makespan of our shares over those of WPS-width, the larger."""
    found = beside(family, scope, {"ours": setting, **EIGHT})
    rival = found.names.index(RIVAL)
    fairer = found.values[0, :, :, 0] < found.values[0, :, :, rival]
    longer = found.values[2, :, :, 0] > found.values[2, :, :, rival]
    means = found.means[:2].mean(axis=2)
    words = (
        f"{means[0, 0]:.3f}, {means[1, 0]:.3f} against {means[0, rival]:.3f}, {means[1, rival]:.3f}"
        f"; of {fairer.size} runs fairer in {100 * np.mean(fairer):.0f} %, no longer in"
        f" {100 * np.mean(~longer):.0f} %"
    )

    def measure(each: Averages, _: Averages) -> tuple[float, str]:
        """Measure the larger of both ratios."""
        mean = each.means[:2].mean(axis=2)
        return float(np.max(mean[:, 0] / mean[:, rival])), ""

    return _of(scope, quantity(measure, found, found, words))


def _gap(family: Family, *, quick: bool) -> Quantity:
    """Measure how far makespans are above lower bounds, at least."""
    scope = QUICK_PART if quick else PART
    cases = scope.cases(family)
    bounds = np.array([bound(case, transfers=True, tolerance=1e-4) for case in cases])
    made = {
        name: np.array([measured(case, setting).makespan for case in cases])
        for name, setting in {**EIGHT, "balanced": BALANCED}.items()
        if name != "balanced" or (family == "random" and not quick)
    }
    made["best of eight"] = np.min([made[name] for name in EIGHT], axis=0)
    words = [f"mean bound {bounds.mean():.3f} s"]
    for name, makespans in made.items():
        above = 100 * (makespans / bounds - 1)
        words.append(
            f"{name} {makespans.mean():.3f} s ({above.mean():.1f} %,"
            f" {above.min():.1f} to {above.max():.1f} %)"
        )
    least = min(float(np.min(each / bounds)) for each in made.values()) - 1
    return _of(scope, Quantity(least, note="; ".join(words), optimum=0.0))


def sites(_quick: bool) -> dict[str, str | float]:
    """Measure the numbers of section 2, and the example of unfairness of section 7."""
    four = [SUBSETS[name].site() for name in ("lille", "nancy", "rennes", "sophia")]
    spreads = [100 * (np.max(site.speed) / np.min(site.speed) - 1) for site in four]
    return {
        "processors": ", ".join(str(site.n_processors) for site in four),
        "spreads": ", ".join(f"{each:.1f} %" for each in spreads),
        "unfairness": unfairness(np.array([1.0] * 8 + [0.2] * 2)),
    }


class Use(NamedTuple):
    """Use of a site by a graph alone under a constraint.

    Attributes
    ----------
    beta : float
        The constraint.
    makespan : float
        [s].
    mean, peak : float
        Power of the processors that tasks hold over the site's: over the makespan, and at most.
    late : int
        Tasks that waited for processors after the arrival of their data.
    tasks : int
        Number of tasks.
    """

    beta: float
    makespan: float
    mean: float
    peak: float
    late: int
    tasks: int


_PROCEDURES = {"SCRAP": Allocator.scrap, "SCRAP-MAX": Allocator.scrap_max}
# Constraints, and the least of those that are loose.
BETAS, LOOSE = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0), 0.8
ALONE = Scope((10,), 5)


@cache
def uses(procedure: str, scope: Scope = ALONE) -> tuple[Use, ...]:
    """Execute random graphs alone on sites, under each constraint."""
    return tuple(
        _use(procedure, case, graph, beta)
        for case in scope.cases("random")
        for graph in graphs_of(case)
        for beta in BETAS
    )


def _use(procedure: str, case: Case, graph: TaskGraph, beta: float) -> Use:
    """Execute a graph of a case alone."""
    site = SUBSETS[case.site].site()
    done = execute(
        GraphSet((graph,)),
        site,
        (_PROCEDURES[procedure](Allocator(graph, site), beta),),
        platform=SUBSETS[case.site].platform(),
    )
    mean, peak = power_in_use(done.schedule)
    ready = np.zeros(graph.n_tasks)
    np.maximum.at(ready, graph.edges[:, 1], done.arrived)
    late = np.count_nonzero(done.schedule.start > ready + _ROUNDING * done.makespan)
    return Use(beta, done.makespan, mean, peak, int(late), graph.n_tasks)


def power_in_use(schedule: Schedule) -> tuple[float, float]:
    """Return the part of the site's power that tasks hold: the mean over the makespan, the peak."""
    power = schedule.allocation * schedule.site.speed[schedule.cluster]
    mean = float(np.sum(power * (schedule.finish - schedule.start)) / schedule.makespan)
    # At equal dates, ends come before starts.
    dates = np.concatenate([schedule.finish, schedule.start])
    changes = np.concatenate([-power, power])[np.argsort(dates, kind="stable")]
    peak = float(np.max(np.cumsum(changes)))
    return mean / schedule.site.power, peak / schedule.site.power


def constrained(_quick: bool) -> Quantities:
    """Measure section 4: how SCRAP and SCRAP-MAX keep constraints on single graphs."""
    found = {name: uses(name) for name in _PROCEDURES}
    kept = {
        name: (
            100 * float(np.mean([use.mean <= use.beta + _ROUNDING for use in each])),
            100 * float(np.mean([use.peak <= use.beta + _ROUNDING for use in each])),
        )
        for name, each in found.items()
    }
    words = "; ".join(
        f"{name} {mean:.1f} % by mean power over the makespan, {peak:.1f} % at every instant"
        for name, (mean, peak) in kept.items()
    )
    ratios = {}
    for beta in BETAS:
        one, other = (
            np.array([use.makespan for use in each if use.beta == beta]) for each in found.values()
        )
        ratios[beta] = one / other
    many = np.stack([ratios[beta] for beta in BETAS if beta >= LOOSE])
    loose = many.ravel()
    # Cases come by combination and site, and graphs in each.
    runs = log(many).reshape(len(many), ALONE.combinations, len(ALONE.sites), -1)
    graphs = runs.swapaxes(2, 3).reshape(len(many), -1, len(ALONE.sites))
    by_beta = ", ".join(f"{beta:g}: {exp(np.mean(log(each))):.3f}" for beta, each in ratios.items())
    shorter, longer = (
        100 * float(np.mean(each)) for each in (loose > 1 + 1e-6, loose < 1 / (1 + 1e-6))
    )
    late = {
        name: 100 * sum(use.late for use in each) / sum(use.tasks for use in each)
        for name, each in found.items()
    }
    quantities = {
        "respected": Quantity(min(mean for mean, _ in kept.values()), note=words),
        "loose": resampled(
            lambda few: exp(mean(graphs[:, few])),
            graphs.shape[1],
            f"SCRAP-MAX shorter in {shorter:.0f} %, longer in {longer:.0f} %; {by_beta}",
            over="graphs",
        ),
        "postponed": Quantity(late["SCRAP-MAX"], note=f"under SCRAP {late['SCRAP']:.1f} %"),
    }
    return determined_by(ALONE.provenance() | {"beta": list(BETAS)}, quantities)


def mapping(quick: bool) -> Quantities:
    """Measure section 5: ready tasks against a global order, and packing."""
    scope = replace(QUICK_PART if quick else PART, counts=(4,) if quick else (10,))
    cases = scope.cases("random")
    found = {ready: [smallest(case, ready=ready) for case in cases] for ready in (True, False)}
    (waited, slow), (waited_by_list, slow_by_list) = (
        np.mean(each, axis=0).tolist() for each in found.values()
    )
    waits = np.array([wait for wait, _ in found[True]])
    words = (
        f"{waited:.2f} of its own makespan, {waited_by_list:.2f} by a global order; slowdown"
        f" {slow:.2f}, {slow_by_list:.2f} by the global order"
    )
    packed = QUICK_PART if quick else PART
    return {
        **_example(),
        "smallest": _of(scope, _resampled(scope, lambda few: mean(waits[few]), words)),
        "packing": _of(packed, _packing(packed, ("s",) if quick else _PACKED)),
    }


_PACKED = ("s", "es", "ps_work", "wps_width")


def _packing(scope: Scope, strategies: Sequence[str]) -> Quantity:
    """Measure how much longer makespans are without packing."""
    ratios = {}
    for strategy in strategies:
        loose = SharingSetting(strategy, readings=replace(PAPER, packing="off"))
        found = [
            measured(case, loose).makespan / measured(case, SharingSetting(strategy)).makespan
            for case in scope.cases("random")
        ]
        ratios[strategy] = log(np.array(found))
    words = ", ".join(f"{name} {exp(mean(each)):.3f} times" for name, each in ratios.items())
    return _resampled(
        scope, lambda few: exp(min(mean(each[few]) for each in ratios.values())), words
    )


def mean(values: NDArray[np.float64]) -> float:
    """Return a mean as a plain number."""
    return float(np.mean(values))


def smallest(case: Case, *, ready: bool) -> tuple[float, float]:
    """Return the wait and the slowdown of the smallest graph of a case under equal shares.

    The graph with the least own makespan waits until its first task starts, as a part of that
    makespan. Plans order ready tasks, or all tasks globally.
    """
    graphs = GraphSet(graphs_of(case))
    site, platform = SUBSETS[case.site].site(), SUBSETS[case.site].platform()
    shares = es(graphs.graphs, site).tolist()
    pairs = zip(graphs.graphs, shares, strict=True)
    allocations = [scrap_max(graph, site, share) for graph, share in pairs]
    own = np.array(own_makespans(case, "online", PAPER))
    schedule = (plan if ready else global_ordering)(graphs, allocations, site)
    done = execute(graphs, site, schedule, platform=platform).schedule
    least = int(np.argmin(own))
    tasks = slice(int(graphs.first[least]), int(graphs.first[least + 1]))
    return (
        float(np.min(done.start[tasks]) / own[least]),
        float(own[least] / done.makespans[least]),
    )


def _example() -> Quantities:
    """Schedule the two graphs of Figure 1 by both orders."""
    graphs, allocations, site = postponing_example()
    by_list = global_ordering(graphs, allocations, site)
    by_ready = plan(graphs, allocations, site)
    small = int(graphs.first[1])
    starts = [float(each.start[small]) for each in (by_list, by_ready)]
    note = f"starts at {starts[0]:g} s by the global order, at {starts[1]:g} s by ready tasks"
    makespans = f"{by_ready.makespan:g} s against {by_list.makespan:g} s"
    return {
        "postponed": Quantity(
            bool(starts[0] >= by_list.finish[0] and starts[1] == 0),
            note=f"{note}; the big graph's first task ends at {by_list.finish[0]:g} s",
        ),
        "efficient": Quantity(by_ready.makespan, note=makespans, optimum=10.0),
    }


def postponing_example() -> tuple[GraphSet, list[Allocation], Site]:
    """Return two graphs as in Figure 1, with allocations and a site.

    Each graph has one of two processors; all tasks of the small graph could run during the first
    task of the big one. Bottom levels are 10 and 4, and 4, 2, 1 and 1.
    """
    site = Site(
        "pair",
        ("cluster",),
        (("host-1", "host-2"),),
        np.array([1.0]),
        np.array([1.0]),
        np.zeros((1, 1)),
        np.full((1, 1), np.inf),
    )
    big = _sequential("big", [6.0, 4.0], [(0, 1)])
    small = _sequential("small", [2.0, 1.0, 1.0, 1.0], [(0, 1), (1, 2), (1, 3)])
    allocations = [
        Allocation(np.ones(n, dtype=np.int64), graph.flop, np.ones((1, n), dtype=np.int64))
        for graph, n in ((big, big.n_tasks), (small, small.n_tasks))
    ]
    return GraphSet((big, small)), allocations, site


def _sequential(name: str, flop: list[float], edges: list[tuple[int, int]]) -> TaskGraph:
    """Return a graph of sequential tasks without data."""
    count = len(flop)
    return TaskGraph(
        name,
        tuple(f"{name}-{number}" for number in range(1, count + 1)),
        np.array(flop),
        np.ones(count),
        np.zeros(count),
        np.array(edges),
        np.zeros(len(edges)),
    )


def traces(quick: bool) -> Quantities:
    """Count the activities in traces of the campaign that violate the model."""
    strategies = ("s", "es", RIVAL) if quick else (*EIGHT, "balanced")
    runs = (
        ((4, "sophia"),) if quick else ((2, "lille"), (6, "nancy"), (10, "rennes"), (10, "sophia"))
    )
    found: list[str] = []
    activities = 0
    for family, (count, site), strategy in product(FAMILIES, runs, strategies):
        done = executed(Case(family, count, 0, site), SharingSetting(strategy), trace=True)
        words = f"{strategy}, {count} {family} graphs on {site}"
        found += [f"{words}: {each}" for each in trace_violations(done)]
        activities += len(done.result.trace)
    note = (
        f"{len(found)} violations of {activities} activities in"
        f" {len(FAMILIES) * len(runs) * len(strategies)} runs of {len(strategies)} strategies"
    )
    provenance = {"seed": SEED, "strategies": list(strategies)}
    note = "; ".join([note, *found[:5]])
    return {"violations": Quantity(len(found), note=note, provenance=provenance)}


def published(_quick: bool) -> Quantities:
    """Compare CPA, and CPA that believes in smaller clusters, with biCPA's published output."""
    sizes = range(1, bicpa.CLUSTER.site().n_processors + 1)
    found = [bicpa.executed(size).schedule for size in sizes]
    cpa, makespans = found[-1], [each.makespan for each in found]
    traded = all(one.area <= other.area for one, other in pairwise(found))
    words = "; ".join(
        f"{size}: {each.makespan:.3f}, {each.area:.3f}"
        for size, each in zip(sizes, found, strict=True)
    )
    quantities = {
        "makespan": Quantity(cpa.makespan),
        "area": Quantity(cpa.area),
        # The processors that run a task, as biCPA counts.
        "peak": Quantity(len(np.unique(cpa.processor))),
        "traded": Quantity(
            traded and makespans[0] == max(makespans),
            note=f"makespan [s] and area [processor s] by the size believed in: {words}",
        ),
    }
    return determined_by({"graph": "daggen_ptg", "hosts": len(sizes)}, quantities)


# The strategies' names in the paper.
NAMES = dict(
    zip(
        STRATEGIES,
        ("S", "ES", "PS-cp", "PS-width", "PS-work", "WPS-cp", "WPS-width", "WPS-work"),
        strict=True,
    )
)
_NUMBERS: dict[Family, int] = {"random": 3, "fft": 4, "strassen": 5}
_WORDS = {"random": "random graphs", "fft": "FFT graphs", "strassen": "Strassen graphs"}
_WEIGHTED = ("wps_cp", "wps_width", "wps_work")
_UNFAIRNESS, _LENGTH = "unfairness", "mean relative makespan"


def figure2(quick: bool) -> list[CurvePlot]:
    """Return unfairness and makespan of WPS-work over mu, for each number of random graphs."""
    scope = QUICK["random"] if quick else FULL
    found = averages("random", scope, weighted("wps_work", quick=quick))
    mus = [float(mu) for mu in found.names]
    unfairness, makespan = (
        {f"{count} graphs": (mus, values[:, n]) for n, count in enumerate(found.counts)}
        for values in (found.unfairness, found.makespan)
    )
    title = "WPS-work by the weight of equal shares, random graphs"
    return _panels(2, title, "mu", unfairness, makespan, "mean makespan [s]")


def _panels(
    number: int, title: str, label: str, unfairness: Series, makespan: Series, length: str
) -> list[CurvePlot]:
    """Return the panels of unfairness and of makespans of a figure of the paper."""
    panels = (("unfairness", _UNFAIRNESS, unfairness), ("makespan", length, makespan))
    return [
        CurvePlot(f"figure{number}-{name}", f"Figure {number}: {title}", label, y_label, series)
        for name, y_label, series in panels
    ]


def curves(quick: bool, *, family: Family) -> list[CurvePlot]:
    """Return unfairness and relative makespan over the number of graphs, for each strategy."""
    scope = QUICK[family] if quick else FULL
    found, own = averages(family, scope), beside(family, scope, {"balanced": BALANCED})
    unfairness, makespan = (
        {
            **{NAMES[key]: (found.counts, values(found, key)) for key in found.names},
            "balanced (ours)": (own.counts, values(own, "balanced")),
        }
        for values in (Averages.unfair, Averages.length)
    )
    title = f"{_WORDS[family]}, {scope.runs} runs of each number"
    return _panels(_NUMBERS[family], title, "graphs", unfairness, makespan, _LENGTH)


def trade_off(quick: bool, *, family: Family) -> list[CurvePlot]:
    """Return all strategies as points between fairness and makespan, with the front of all."""
    # Quick runs reuse those of the other figures.
    scope = QUICK[family] if quick else PART
    own = {"balanced": BALANCED} if quick else {"balanced": BALANCED, "rebalanced": REBALANCED}
    paper, ours = _points(averages(family, scope)), _points(beside(family, scope, own))
    curves = {
        f"{NAMES[key]} by mu": _columns(_points(beside(family, PART, weighted(key))))
        for key in (() if quick else _WEIGHTED)
    }
    return [
        CurvePlot(
            f"trade-off-{family}",
            f"Between fairness and makespan: {_WORDS[family]}, {len(scope.cases(family))} runs",
            _LENGTH,
            f"mean {_UNFAIRNESS}",
            {
                "the paper's": _columns(paper),
                "ours": _columns(ours),
                "front": _columns(front([*paper, *ours])),
                **curves,
            },
            names={"the paper's": tuple(NAMES.values()), "ours": tuple(own)},
        )
    ]


def front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other one dominates, by their first coordinate."""
    kept: list[tuple[float, float]] = []
    for point in sorted(points):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return kept


def _points(found: Averages) -> list[tuple[float, float]]:
    """Return the mean relative makespan and the mean unfairness of each setting."""
    names = found.names
    return [(float(np.mean(found.length(n))), float(np.mean(found.unfair(n)))) for n in names]


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the coordinates of points."""
    return [x for x, _ in points], [y for _, y in points]


FIGURES: dict[str, Callable[[bool], list[CurvePlot]]] = {
    **{f"figure {number}": partial(curves, family=each) for each, number in _NUMBERS.items()},
    "figure 2": figure2,
    **{f"trade-off, {family}": partial(trade_off, family=family) for family in _NUMBERS},
    **{f"arrivals, trade-off, {rho:g}": partial(arriving, rho=rho) for rho in RHOS},
}


# The longest come first.
EXPERIMENTS: dict[str, Callable[[bool], Mapping[str, Quantity | float | bool | str]]] = {
    **{f"{family} graphs": partial(sharing, family=family) for family in FAMILIES},
    "arrivals": arrivals,
    "readings": readings,
    "constrained allocations": constrained,
    "mapping": mapping,
    "traces": traces,
    "biCPA": published,
    "sites": sites,
}
