"""Simulated annealing of instances: numbers in ranges, and the edges of task graphs.

References
----------
.. [1] J. Coleman, B. Krishnamachari (2024). Comparing Task Graph Scheduling Algorithms: An
   Adversarial Approach (PISA). arXiv:2403.07120.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import networkx as nx
import numpy as np

from simplugin.scenarios.ranges import ParameterTable

# Greatest change of a number, as a share of its range. That of [1]_, a ninth, finds smaller ratios.
STEP = 0.5
# Temperatures of the first and the last step, in logarithms of ratios.
_FIRST, _LAST = 0.1, 0.002


# Ends of an edge, or nothing, and a share of a range.
Entry = tuple[tuple[int, ...], float]
# Entries by variable.
Instance = tuple[tuple[Entry, ...], ...]


@dataclass(frozen=True)
class Variable:
    """A key of a scenario that an instance sets: a number, an array, or the edges of a graph.

    Attributes
    ----------
    table : ParameterTable
        Range of each of its numbers.
    ends : tuple of tuple of int
        Of each of its first numbers: the two tasks of an edge, else nothing.
    is_array : bool
        True for arrays, also for edges.
    n_tasks : int
        Of edges, tasks of their graph; 0 for other keys.
    """

    table: ParameterTable
    ends: tuple[tuple[int, ...], ...] = ((),)
    is_array: bool = False
    n_tasks: int = 0

    def value(self, entries: Sequence[Entry]) -> Any:
        """Return the value of the key."""
        if self.n_tasks:
            return [[*ends, self.table.value(share)] for ends, share in entries]
        values = [self.table.value(share) for _, share in entries]
        return values if self.is_array else values[0]


@dataclass(frozen=True)
class InstanceSpace:
    """Instances that a search moves in.

    Attributes
    ----------
    variables : mapping of str to Variable
        By dotted key.
    step : float
        Greatest change of a number, as a share of its range.
    """

    variables: Mapping[str, Variable]
    step: float = STEP

    @property
    def dimensions(self) -> int:
        """Numbers of an instance, with the edges of the scenario."""
        return sum(len(each.ends) for each in self.variables.values())

    def values(self, instance: Instance) -> dict[str, Any]:
        """Return the values of the keys."""
        pairs = zip(self.variables.items(), instance, strict=True)
        return {key: variable.value(entries) for (key, variable), entries in pairs}

    def at(self, point: Iterable[float]) -> Instance:
        """Return the instance at a point of the unit cube, with the edges of the scenario."""
        shares = iter(point)
        return tuple(
            tuple((ends, next(shares)) for ends in each.ends) for each in self.variables.values()
        )

    def neighbour(self, instance: Instance, random: np.random.Generator) -> Instance:
        """Return an instance after a move: a changed number, or an edge more or less.

        Moves are those of [1]_, each as probable; one that is impossible changes nothing.
        """
        variables = list(self.variables.values())
        moves = [(at, kind) for at, one in enumerate(variables) for kind in _moves(one)]
        at, kind = moves[random.integers(len(moves))]
        entries, table = list(instance[at]), variables[at].table
        if kind == "add":
            new = _addable([ends for ends, _ in entries], variables[at].n_tasks)
            if new:
                entries.append((new[random.integers(len(new))], float(random.random())))
        elif entries:
            place = int(random.integers(len(entries)))
            ends, share = entries.pop(place)
            if kind == "change":
                moved = share + random.uniform(-self.step, self.step)
                if not table.is_continuous:
                    moved = random.random()
                entries.insert(place, (ends, float(min(max(moved, 0.0), 1.0))))
        return (*instance[:at], tuple(entries), *instance[at + 1 :])


def _moves(variable: Variable) -> tuple[str, ...]:
    """Return the kinds of moves of a variable."""
    return ("change", "add", "remove") if variable.n_tasks else ("change",)


def _addable(edges: Sequence[tuple[int, ...]], n_tasks: int) -> list[tuple[int, int]]:
    """Return the edges that a graph lacks and that close no cycle."""
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(n_tasks))
    before = {task: nx.ancestors(graph, task) | {task} for task in range(n_tasks)}
    pairs = product(range(n_tasks), repeat=2)
    return [(a, b) for a, b in pairs if b not in before[a] and not graph.has_edge(a, b)]


@dataclass(frozen=True)
class Restart:
    """One search.

    Attributes
    ----------
    instance : Instance
        The best that it found.
    history : tuple of float
        Ratios of all instances, in their order; minus infinity where a run failed.
    """

    instance: Instance
    history: tuple[float, ...]


def anneal(
    space: InstanceSpace,
    starts: Sequence[tuple[Instance, float]],
    ratios: Callable[[Sequence[Instance]], Sequence[float]],
    *,
    evaluations: int,
    seed: int,
    spent: Callable[[], bool] = lambda: False,
) -> list[Restart]:
    """Search for instances of a large ratio, from several starts side by side.

    A move to a smaller ratio is accepted with the probability of Metropolis on logarithms of
    ratios; temperatures fall geometrically.

    Parameters
    ----------
    space : InstanceSpace
        The instances.
    starts : sequence of (Instance, float)
        First instance of each search, and its ratio.
    ratios : callable
        Return the ratios of instances, above 0; minus infinity where there is none.
    evaluations : int
        Of all searches together.
    seed : int
        Of the moves.
    spent : callable
        True to end the search.
    """
    randoms = [np.random.default_rng([seed, number]) for number in range(len(starts))]
    now, best = list(starts), list(starts)
    history = [[ratio] for _, ratio in starts]
    steps = evaluations // len(starts)
    for step in range(steps):
        if spent():
            break
        temperature = _FIRST * (_LAST / _FIRST) ** (step / max(1, steps - 1))
        pairs = zip(now, randoms, strict=True)
        tried = [space.neighbour(instance, random) for (instance, _), random in pairs]
        for number, found in enumerate(zip(tried, ratios(tried), strict=True)):
            history[number].append(found[1])
            gain = _logarithm(found[1]) - _logarithm(now[number][1])
            if randoms[number].random() < math.exp(min(0.0, gain) / temperature):
                now[number] = found
            best[number] = max(best[number], found, key=lambda pair: pair[1])
    return [Restart(each[0], tuple(seen)) for each, seen in zip(best, history, strict=True)]


def _logarithm(ratio: float) -> float:
    """Return the logarithm of a ratio; minus infinity where there is none."""
    return math.log(ratio) if ratio > 0 else -math.inf
