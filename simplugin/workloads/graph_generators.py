"""Generators of task graphs by name, and combinations of graphs that share a site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from inspect import Parameter, signature
from typing import Any, Literal, Protocol, get_args

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.workloads.daggen import daggen
from simplugin.workloads.parameter_ranges import one_of, whole
from simplugin.workloads.regular_graphs import Counting, chain, fft, fork_join, strassen
from simplugin.workloads.task_costs import SCENARIOS, CostLaw, Sizes
from simplugin.workloads.task_graphs import TaskGraph


class GraphGenerator(Protocol):
    """Draws a task graph."""

    def __call__(self, generator: np.random.Generator, **parameters: Any) -> TaskGraph:
        """Return a graph.

        Parameters
        ----------
        generator : numpy.random.Generator
            Of all draws.
        **parameters
            Those of the function in `GENERATORS`; those of `CostLaw` are among them.

        Raises
        ------
        WorkloadError
            A parameter is unknown, missing or out of its range; the message names it.
        """


_COSTS = tuple(field.name for field in fields(CostLaw))


def _called(
    draw: Callable[..., TaskGraph], generator: np.random.Generator, **parameters: Any
) -> TaskGraph:
    """Call a generator, the parameters of costs put into one."""
    own = {
        name: each
        for name, each in signature(draw).parameters.items()
        if name not in ("generator", "costs")
    }
    known = [*own, *_COSTS]
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise WorkloadError(
            f"{draw.__name__} has no parameter {unknown!r}; its parameters are {', '.join(known)}"
        )
    for name, each in own.items():
        if each.default is Parameter.empty and name not in parameters:
            raise WorkloadError(f"{draw.__name__} has no {name}; give it")
    costs = CostLaw(**{name: parameters.pop(name) for name in _COSTS if name in parameters})
    return draw(generator=generator, costs=costs, **parameters)


DRAWS: tuple[Callable[..., TaskGraph], ...] = (daggen, fft, strassen, chain, fork_join)
GENERATORS: dict[str, GraphGenerator] = {draw.__name__: partial(_called, draw) for draw in DRAWS}


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
    return GENERATORS[kind](generator, **parameters)


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
    count = whole("count", count)
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
    drawn = [_DRAWN[family](generator) for generator in generators]
    kinds = [parameters.pop("scenario") for parameters in drawn]
    if scenario != "each":
        kinds = ["mixed" if scenario == "mixed" else kinds[0]] * count
    draw: Callable[..., TaskGraph] = daggen if family == "random" else fft
    return tuple(
        draw(**parameters, generator=generator, costs=CostLaw(kind, sizes), name=name)
        for generator, name, parameters, kind in zip(generators, names, drawn, kinds, strict=True)
    )


def random_parameters(generator: np.random.Generator) -> dict[str, Any]:
    """Return parameters of a random graph of the campaign, those of `RANDOM` and a scenario.

    Each is drawn uniformly and on its own, and named as `graph_named` takes it.
    """
    values = {**RANDOM, "scenario": SCENARIOS}
    return {name: each[generator.integers(len(each))] for name, each in values.items()}


def _fft_parameters(generator: np.random.Generator) -> dict[str, Any]:
    """Return parameters of an FFT graph of the campaign."""
    points = POINTS[generator.integers(len(POINTS))]
    return {"points": points, "scenario": SCENARIOS[generator.integers(len(SCENARIOS))]}


_DRAWN = {"random": random_parameters, "fft": _fft_parameters}
