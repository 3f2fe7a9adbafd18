"""Generators by their names: all of them, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.workloads.daggen import daggen
from simplugin.workloads.graph_generators import GENERATORS, graph_named
from simplugin.workloads.task_costs import CostLaw

# Parameters without which a generator cannot be called.
NEEDED: dict[str, dict[str, Any]] = {
    "daggen": {"n_tasks": 30},
    "fft": {"points": 8},
    "strassen": {},
    "chain": {"n_tasks": 5},
    "fork_join": {"width": 4},
}


def test_all_are_tried_here() -> None:
    assert set(GENERATORS) == set(NEEDED)


@pytest.mark.parametrize("kind", GENERATORS)
class TestEach:
    def test_seeded(self, kind: str) -> None:
        graphs = [
            graph_named(kind, np.random.default_rng(seed), **NEEDED[kind], name="g")
            for seed in (1, 1, 2)
        ]
        assert graphs[0] == graphs[1] != graphs[2]
        assert graphs[0].name == "g"
        assert graph_named(kind, np.random.default_rng(1), **NEEDED[kind]).name == kind

    def test_costs(self, kind: str) -> None:
        parameters = NEEDED[kind] | {"sizes": "uniform", "max_alpha": 0.5}
        graph = GENERATORS[kind](np.random.default_rng(1), **parameters)
        assert 0.25 < np.max(graph.alpha) <= 0.5
        sides = np.sqrt(graph.byte / 8) / 1024
        assert not np.any(sides == np.round(sides))

    def test_unknown_parameter(self, kind: str) -> None:
        with pytest.raises(WorkloadError, match=f"{kind} has no parameter 'fat'; its parameters"):
            graph_named(kind, np.random.default_rng(1), **NEEDED[kind], fat=0.5)
        with pytest.raises(WorkloadError, match=f"{kind} has no parameter 'costs'"):
            graph_named(kind, np.random.default_rng(1), **NEEDED[kind], costs=CostLaw())

    def test_missing_parameter(self, kind: str) -> None:
        for name in NEEDED[kind]:
            with pytest.raises(WorkloadError, match=f"{kind} has no {name}; give it"):
                graph_named(kind, np.random.default_rng(1))

    def test_out_of_range(self, kind: str) -> None:
        with pytest.raises(WorkloadError, match="max_alpha is 2; give a number from 0 to 1"):
            graph_named(kind, np.random.default_rng(1), **NEEDED[kind], max_alpha=2)


def test_parameters_reach_the_generator() -> None:
    parameters = {"n_tasks": 20, "width": 0.8, "regularity": 0.2, "density": 0.8, "jump": 2}
    named = graph_named("daggen", np.random.default_rng(4), **parameters, scenario="log")
    law = CostLaw("log")
    assert named == daggen(**parameters, generator=np.random.default_rng(4), costs=law)  # type: ignore[arg-type]


def test_unknown_generator() -> None:
    with pytest.raises(WorkloadError, match="no generator is called 'tree'; give one of daggen, "):
        graph_named("tree", np.random.default_rng(1))
