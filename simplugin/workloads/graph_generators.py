"""The generators of task graphs by the names that scenarios give them."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Protocol

from simplugin.errors import WorkloadError
from simplugin.workloads.daggen import daggen
from simplugin.workloads.fft import fft
from simplugin.workloads.simple_graphs import chain, fork_join
from simplugin.workloads.strassen import strassen
from simplugin.workloads.task_costs import CostLaw

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

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
            Those of the function that stands in `GENERATORS`; those of `CostLaw` stand among them.

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


GENERATORS: dict[str, GraphGenerator] = {
    draw.__name__: partial(_called, draw) for draw in (daggen, fft, strassen, chain, fork_join)
}


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
