"""Generators of task graphs by name, of regular shape, and combinations that share a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import Parameter, signature
from typing import Any, Literal, get_args

import numpy as np

from simplugin.core.errors import WorkloadError
from simplugin.workloads.daggen import daggen
from simplugin.workloads.parameter_ranges import MOST, one_of, whole
from simplugin.workloads.task_costs import SCENARIOS, CostLaw, Sizes, TaskCosts, complexity
from simplugin.workloads.task_graphs import TaskGraph


def fft(
    points: int,
    generator: np.random.Generator,
    *,
    costs: CostLaw | None = None,
    name: str = "fft",
) -> TaskGraph:
    """Return the task graph of a fast Fourier transform of m points.

    A binary tree of 2 m - 1 tasks splits the points; log2(m) rows of m butterflies combine them:
    task j of row r gets data from tasks j and j with bit r - 1 flipped of the row before, the
    leaves of the tree being row 0. All tasks of a level cost the same. The paper's [1]_ graphs of
    4, 8 and 16 points have 15, 39 and 95 tasks; its text has 37 for the second.

    Parameters
    ----------
    points : int
        m, a power of two from 2 on.
    generator : numpy.random.Generator
        Of the costs.
    costs : CostLaw, optional
        Of costs, drawn once for each level; the default one without.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        The number of points is no power of two, or 1.

    References
    ----------
    .. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """
    points = whole("points", points, 2, MOST)
    if points & (points - 1):
        raise WorkloadError(f"points is {points!r}; give a power of two, such as 4, 8 or 16")
    depth = points.bit_length() - 1
    sizes = [*(2**level for level in range(depth + 1)), *([points] * depth)]
    first = np.cumsum([0, *sizes]).tolist()
    edges = [(task, 2 * task + side) for task in range(points - 1) for side in (1, 2)]
    for row in range(depth):
        here, below = first[depth + row], first[depth + row + 1]
        edges += [(here + j, below + k) for j in range(points) for k in (j, j ^ 1 << row)]
    tasks = [
        f"split {level}.{j}" if level <= depth else f"combine {level - depth}.{j}"
        for level, size in enumerate(sizes)
        for j in range(size)
    ]
    level_costs = (costs or CostLaw()).draw(len(sizes), generator)
    return level_costs.of(np.repeat(np.arange(len(sizes)), sizes)).graph(name, tasks, edges)


Counting = Literal["real", "scaled", "drawn"]
Sums = Literal["chain", "tree"]

# Tasks that a task gets data from; those without get quadrants of the two matrices only.
_ADDITIONS = {f"S{number}": () for number in range(1, 11)}
_PRODUCTS: dict[str, tuple[str, ...]] = {
    "M1": ("S1", "S2"),
    "M2": ("S3",),
    "M3": ("S4",),
    "M4": ("S5",),
    "M5": ("S6",),
    "M6": ("S7", "S8"),
    "M7": ("S9", "S10"),
}
_TWO_TERMS = {"C12": ("M3", "M5"), "C21": ("M2", "M4")}
_SUMS: dict[Sums, dict[str, tuple[str, ...]]] = {
    "chain": {
        "C11a": ("M1", "M4"),
        **_TWO_TERMS,
        "C22a": ("M1", "M2"),
        "C11b": ("C11a", "M5"),
        "C22b": ("C22a", "M3"),
        "C11": ("C11b", "M7"),
        "C22": ("C22b", "M6"),
    },
    "tree": {
        "C11a": ("M1", "M4"),
        "C11b": ("M7", "M5"),
        **_TWO_TERMS,
        "C22a": ("M1", "M2"),
        "C22b": ("M3", "M6"),
        "C11": ("C11a", "C11b"),
        "C22": ("C22a", "C22b"),
    },
}


def strassen(
    generator: np.random.Generator,
    *,
    counting: Counting = "real",
    sums: Sums = "chain",
    costs: CostLaw | None = None,
    name: str = "strassen",
) -> TaskGraph:
    """Return the task graph of one step of Strassen's matrix multiplication [1]_.

    It has 10 additions S of quadrants, 7 products M, and 8 additions C of products, 25 tasks as in
    the paper [2]_::

        S1 = A11 + A22    S2 = B11 + B22    M1 = S1 S2     C11 = M1 + M4 - M5 + M7
        S3 = A21 + A22                      M2 = S3 B11    C12 = M3 + M5
        S4 = B12 - B22                      M3 = A11 S4    C21 = M2 + M4
        S5 = B21 - B11                      M4 = A22 S5    C22 = M1 - M2 + M3 + M6
        S6 = A11 + A12                      M5 = S6 B22
        S7 = A21 - A11    S8 = B11 + B12    M6 = S7 S8
        S9 = A12 - A22    S10 = B21 + B22   M7 = S9 S10

    Parameters
    ----------
    generator : numpy.random.Generator
        Of the costs.
    counting : {"real", "scaled", "drawn"}
        ``"real"``: one size d of a quadrant is drawn for the graph; an addition takes d flop, a
        product 2 d^1.5. ``"scaled"``: an addition takes a d flop, with a factor a drawn for each.
        ``"drawn"``: every task is drawn like one of a random graph. Alpha is drawn for each task.
    sums : {"chain", "tree"}
        ``"chain"`` if C11 and C22 add their terms from left to right, ``"tree"`` if in pairs.
    costs : CostLaw, optional
        Distribution of costs; by default that of `CostLaw()`. Its scenario applies to
        ``"drawn"`` only.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        `counting` or `sums` has another value.

    References
    ----------
    .. [1] V. Strassen (1969). Gaussian elimination is not optimal. Numerische Mathematik 13.
    .. [2] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """
    one_of("counting", counting, get_args(Counting))
    one_of("sums", sums, get_args(Sums))
    sources = _ADDITIONS | _PRODUCTS | _SUMS[sums]
    number = {task: place for place, task in enumerate(sources)}
    edges = [(number[each], number[task]) for task in sources for each in sources[task]]
    drawn = (costs or CostLaw()).draw(len(sources), generator)
    if counting != "drawn":
        elements = np.full(len(sources), drawn.elements[0])
        factor = 1.0 if counting == "real" else drawn.factor
        flop = complexity("linear", elements, factor)
        products = [number[task] for task in _PRODUCTS]
        flop[products] = 2 * complexity("power", elements[products])
        drawn = TaskCosts(elements, drawn.factor, flop, drawn.alpha)
    return drawn.graph(name, list(sources), edges)


def chain(
    n_tasks: int,
    generator: np.random.Generator,
    *,
    costs: CostLaw | None = None,
    name: str = "chain",
) -> TaskGraph:
    """Return tasks one after the other.

    Parameters
    ----------
    n_tasks : int
        Number of tasks.
    generator : numpy.random.Generator
        Of the costs.
    costs : CostLaw, optional
        Of costs; the default one without.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        There is no task.
    """
    n_tasks = whole("n_tasks", n_tasks, most=MOST)
    tasks = [str(task + 1) for task in range(n_tasks)]
    edges = [(task, task + 1) for task in range(n_tasks - 1)]
    return (costs or CostLaw()).draw(n_tasks, generator).graph(name, tasks, edges)


def fork_join(
    width: int,
    generator: np.random.Generator,
    *,
    stages: int = 1,
    costs: CostLaw | None = None,
    name: str = "fork_join",
) -> TaskGraph:
    """Return stages of tasks side by side, a single task before, between and after them.

    Parameters
    ----------
    width : int
        Tasks side by side.
    generator : numpy.random.Generator
        Of the costs.
    stages : int
        Number of times they fork and join.
    costs : CostLaw, optional
        Of costs; the default one without.
    name : str
        Of the graph.

    Raises
    ------
    WorkloadError
        There is no stage, or no task in it.
    """
    width, stages = whole("width", width), whole("stages", stages)
    whole("width times stages", width * stages, most=MOST)
    tasks, edges = ["join 0"], []
    for stage in range(stages):
        fork = len(tasks) - 1
        join = fork + width + 1
        edges += [(fork, task) for task in range(fork + 1, join)]
        edges += [(task, join) for task in range(fork + 1, join)]
        tasks += [f"task {stage + 1}.{place}" for place in range(width)] + [f"join {stage + 1}"]
    return (costs or CostLaw()).draw(len(tasks), generator).graph(name, tasks, edges)


_COSTS = tuple(field.name for field in fields(CostLaw))
DRAWS: tuple[Callable[..., TaskGraph], ...] = (daggen, fft, strassen, chain, fork_join)
GENERATORS: dict[str, Callable[..., TaskGraph]] = {draw.__name__: draw for draw in DRAWS}


def graph_named(kind: str, generator: np.random.Generator, **parameters: Any) -> TaskGraph:
    """Return a graph that a generator draws.

    Parameters
    ----------
    kind : str
        A key of `GENERATORS`.
    generator : numpy.random.Generator
        Of all draws.
    **parameters
        Of the generator, and of `CostLaw`.

    Raises
    ------
    WorkloadError
        There is no such generator, or a parameter is unknown, missing or out of its range.
    """
    if kind not in GENERATORS:
        raise WorkloadError(f"no generator is called {kind!r}; give one of {', '.join(GENERATORS)}")
    draw = GENERATORS[kind]
    own = {
        name: each
        for name, each in signature(draw).parameters.items()
        if name not in ("generator", "costs")
    }
    known = [*own, *_COSTS]
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise WorkloadError(
            f"{kind} has no parameter {unknown!r}; its parameters are {', '.join(known)}"
        )
    for name, each in own.items():
        if each.default is Parameter.empty and name not in parameters:
            raise WorkloadError(f"{kind} has no {name}; give it")
    costs = CostLaw(**{name: parameters.pop(name) for name in _COSTS if name in parameters})
    return draw(generator=generator, costs=costs, **parameters)


Family = Literal["random", "fft", "strassen"]
Drawn = Literal["each", "same", "mixed"]
FAMILIES: tuple[Family, ...] = ("random", "fft", "strassen")

# Parameters of random graphs, section 2, and points of FFT graphs, section 7.
RANDOM: dict[str, tuple[Any, ...]] = {
    "n_tasks": (10, 20, 50),
    "width": (0.2, 0.5, 0.8),
    "regularity": (0.2, 0.8),
    "density": (0.2, 0.8),
    "jump": (1, 2, 4),
}
POINTS = (4, 8, 16)


def combination(
    family: Family,
    count: int,
    seed: int | Sequence[int],
    *,
    scenario: Drawn = "each",
    sizes: Sizes = "daggen",
    counting: Counting = "real",
) -> tuple[TaskGraph, ...]:
    """Return graphs of a family, each one's parameters drawn on their own, as in section 7 of [1]_.

    The same family, count and seed give the same graphs, and shapes are the same whatever the
    keywords.

    Parameters
    ----------
    family : {"random", "fft", "strassen"}
        Random graphs draw the parameters of `RANDOM` and one of the four scenarios of costs; FFT
        graphs draw one of `POINTS` and a scenario.
    count : int
        Number of graphs; the paper has 2, 4, 6, 8 and 10.
    seed : int or sequence of int
        Numbers from 0 on; for instance, that of the campaign and that of the combination.
    scenario : {"each", "same", "mixed"}
        The scenario of costs of random and FFT graphs: each draws its own, all have that of the
        first one, or all are "mixed".
    sizes : {"daggen", "uniform"}
        See `CostLaw`.
    counting : {"real", "scaled", "drawn"}
        See `strassen`.

    Returns
    -------
    tuple of TaskGraph
        Called "random-1", "random-2" and so on.

    Raises
    ------
    WorkloadError
        There is no such family, or no graph, or a seed is negative.

    References
    ----------
    .. [1] N. N'takpé, F. Suter (2008). Concurrent Scheduling of Parallel Task Graphs on
       Multi-Clusters Using Constrained Resource Allocations. INRIA research report 6774.
    """
    one_of("family", family, FAMILIES)
    count = whole("count", count, most=MOST)
    seeds = [whole("seed", each, 0) for each in np.atleast_1d(np.asarray(seed, dtype=object))]
    # With their number, since numpy takes 1 and (1, 0) for the same.
    entropy = [FAMILIES.index(family), count, len(seeds), *seeds]
    sources = np.random.SeedSequence(entropy).spawn(count)
    generators = [np.random.default_rng(source) for source in sources]
    names = [f"{family}-{number}" for number in range(1, count + 1)]
    one_of("scenario", scenario, get_args(Drawn))
    if family == "strassen":
        law = CostLaw(sizes=sizes)
        return tuple(
            strassen(generator, counting=counting, costs=law, name=name)
            for generator, name in zip(generators, names, strict=True)
        )
    values = RANDOM if family == "random" else {"points": POINTS}
    drawn = [random_parameters(generator, values) for generator in generators]
    kinds = [parameters.pop("scenario") for parameters in drawn]
    if scenario != "each":
        kinds = ["mixed" if scenario == "mixed" else kinds[0]] * count
    draw: Callable[..., TaskGraph] = daggen if family == "random" else fft
    return tuple(
        draw(**parameters, generator=generator, costs=CostLaw(kind, sizes), name=name)
        for generator, name, parameters, kind in zip(generators, names, drawn, kinds, strict=True)
    )


def random_parameters(
    generator: np.random.Generator, values: Mapping[str, tuple[Any, ...]] = RANDOM
) -> dict[str, Any]:
    """Return parameters of a graph of the campaign: one of each of the values, and a scenario.

    Each is drawn uniformly and on its own, and named as `graph_named` takes it.
    """
    drawn_from = {**values, "scenario": SCENARIOS}
    return {name: each[generator.integers(len(each))] for name, each in drawn_from.items()}
