"""Environments of the kinds of workload: what an agent observes of their choices."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from simplugin.bags.policy import WORKER, NodeState
from simplugin.environments.environment import Observation, ScenarioEnvironment
from simplugin.scenarios import Scenario
from simplugin.simulation import Choice
from simplugin.taskgraphs.actors.alternatives import MappingObservation

GRAPH_FEATURES = ("start", "finish", "processors", "cluster", "flop", "byte", "ready")
"""Of each place of a task: time until it starts and ends there by estimates [s], number of
processors, number of the cluster; and of the task: work [flop], data of its inputs [byte], number
of ready tasks."""

BAG_FEATURES = ("waits", "seconds", "asked", "given", "stock", "flop", "byte")
"""Of each pair of a target and a type: 1 if instead nothing is sent; time to compute a task here or
to send it [s], requests of the target, tasks of the type that it got, tasks of the type in stock,
work [flop] and data [byte] of one."""

_EXAMPLES = Path(__file__).parent


def _graph_rows(choice: Choice) -> list[tuple[float, ...]]:
    """Return the features of each place of a task."""
    seen = cast(MappingObservation, choice.observation)
    of_task = seen.flop, seen.byte, float(seen.ready)
    return [
        (
            each.start - choice.date,
            each.finish - choice.date,
            float(len(each.processors)),
            float(each.cluster),
            *of_task,
        )
        for each in seen.options
    ]


def _bag_rows(choice: Choice) -> list[tuple[float, ...]]:
    """Return the features of each pair that a node can serve."""
    state = cast(NodeState, choice.observation)
    rows: list[tuple[float, ...]] = []
    for pair in choice.options:
        if pair is None:
            rows.append((1.0, *[0.0] * (len(BAG_FEATURES) - 1)))
            continue
        target, kind = pair
        known = state.known
        flop, byte = known.flop[kind], known.byte[kind]
        seconds = flop / known.speed if target == WORKER else byte / known.bandwidth[target - 1]
        counts = state.asked[target], state.given[target][kind], state.stock[kind]
        rows.append((0.0, seconds, *map(float, counts), flop, byte))
    return rows


def _padded(
    rows_of: Callable[[Choice], list[tuple[float, ...]]], most: int, width: int, choice: Choice
) -> NDArray[np.float64]:
    """Return the features of each option, and zeros for the actions beyond."""
    found = np.zeros((most, width))
    rows = rows_of(choice)
    # Estimates before the date are rounding.
    found[: len(rows)] = np.maximum(rows, 0.0)
    return found


class _FeaturesEnvironment(ScenarioEnvironment[NDArray[np.float64]]):
    """An environment that observes numbers of each option."""

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        rows_of: Callable[[Choice], list[tuple[float, ...]]],
        width: int,
        *,
        max_options: int,
        redraw: bool,
        render_mode: str | None,
    ) -> None:
        super().__init__(
            scenario,
            partial(_padded, rows_of, max_options, width),
            gymnasium.spaces.Box(
                0.0, float(np.finfo(np.float64).max), (max_options, width), np.float64
            ),
            max_options=max_options,
            redraw=redraw,
            render_mode=render_mode,
        )


class TaskGraphsEnvironment(_FeaturesEnvironment):
    """Place the tasks of graphs on clusters: ``simplugin/TaskGraphs-v0``.

    Each task is a choice between the place that the scheduler decides and the best one on each
    other cluster. Observations have a row an action with the numbers `GRAPH_FEATURES`, of zeros
    beyond the options. See `ScenarioEnvironment` for parameters, actions and rewards.
    """

    workload = "taskgraphs"

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] = _EXAMPLES / "taskgraphs.toml",
        *,
        max_options: int = 8,
        redraw: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            scenario,
            _graph_rows,
            len(GRAPH_FEATURES),
            max_options=max_options,
            redraw=redraw,
            render_mode=render_mode,
        )


class BagsEnvironment(_FeaturesEnvironment):
    """Serve the nodes of a tree with tasks of bags: ``simplugin/Bags-v0``.

    Each choice of a node is between what the policy decides and the other pairs of a target and a
    type of tasks. Observations have a row an action with the numbers `BAG_FEATURES`, of zeros
    beyond the options. See `ScenarioEnvironment` for parameters, actions and rewards.
    """

    workload = "bags"

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] = _EXAMPLES / "bags.toml",
        *,
        max_options: int = 16,
        redraw: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            scenario,
            _bag_rows,
            len(BAG_FEATURES),
            max_options=max_options,
            redraw=redraw,
            render_mode=render_mode,
        )


class ActorsEnvironment(ScenarioEnvironment[Observation]):
    """Decide for the user's own actors: ``simplugin/Actors-v0``; see `ScenarioEnvironment`."""
