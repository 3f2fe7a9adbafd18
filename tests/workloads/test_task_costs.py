"""Costs of tasks, section 2 of the paper: sizes, complexities, Amdahl's fraction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.workloads.task_costs import COMPLEXITIES, CostLaw, complexity

COUNT = 4000


def drawn(seed: int = 1, **law: Any):
    """Return costs of many tasks."""
    return CostLaw(**law).draw(COUNT, np.random.default_rng(seed))


def test_complexities():
    side = 2.0**11
    d = np.array([side * side])
    assert complexity("linear", d, 64.0).tolist() == [2.0**28]
    assert complexity("log", d, 64.0).tolist() == [2.0**28 * 22]
    assert complexity("power", d, 64.0).tolist() == [2.0**33]
    with pytest.raises(WorkloadError, match="complexity is 'mixed'; give one of 'linear'"):
        complexity("mixed", d)  # type: ignore[arg-type]


def test_sides_are_those_that_daggen_draws():
    side = np.sqrt(drawn().elements) / 1024
    values, counts = np.unique(side, return_counts=True)
    assert drawn().byte.tolist() == (8 * drawn().elements).tolist()
    assert values.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    # Nine alike: a share has a standard deviation of sqrt(8) / 9 / sqrt(COUNT).
    assert np.all(np.abs(counts / COUNT - 1 / 9) < 4 * np.sqrt(8) / 9 / np.sqrt(COUNT))


def test_uniform_sizes():
    million = 1024**2
    elements = drawn(sizes="uniform").elements / million
    assert np.min(elements) == pytest.approx(4, abs=0.2)
    assert np.max(elements) == pytest.approx(121, abs=0.2)
    assert np.min(elements) >= 4
    assert np.max(elements) <= 121
    assert np.mean(elements) == pytest.approx(62.5, abs=4 * 117 / np.sqrt(12 * COUNT))


@pytest.mark.parametrize("max_alpha", [0.25, 1.0, 0.0])
def test_alpha(max_alpha):
    alpha = drawn(max_alpha=max_alpha).alpha
    assert np.all((alpha >= 0) & (alpha <= max_alpha))
    assert np.mean(alpha) == pytest.approx(max_alpha / 2, abs=4 * max_alpha / np.sqrt(12 * COUNT))


def test_scenarios_differ_in_the_complexity_only():
    mixed = drawn()
    each = {kind: drawn(scenario=kind) for kind in COMPLEXITIES}
    for costs in each.values():
        assert costs.elements.tolist() == mixed.elements.tolist()
        assert costs.alpha.tolist() == mixed.alpha.tolist()
    d = mixed.elements
    a = each["linear"].flop / d
    assert 64 <= np.min(a) < 65
    assert 511 < np.max(a) < 512
    assert np.allclose(each["log"].flop, a * d * np.log2(d), rtol=1e-12)
    assert np.allclose(each["power"].flop, d**1.5, rtol=1e-12)
    same = np.array([mixed.flop == each[kind].flop for kind in COMPLEXITIES])
    assert np.all(np.sum(same, axis=0) == 1)
    # Three alike: a share has a standard deviation of sqrt(2) / 3 / sqrt(COUNT).
    shares = np.mean(same, axis=1)
    assert np.all(np.abs(shares - 1 / 3) < 4 * np.sqrt(2) / 3 / np.sqrt(COUNT))


def test_a_graph_hands_on_the_data_of_the_source():
    costs = drawn().of(np.array([5, 7, 5]))
    graph = costs.graph("g", ["a", "b", "c"], [(1, 0), (2, 1)])
    assert graph.byte[0] == graph.byte[2] != graph.byte[1]
    assert graph.edge_byte.tolist() == [graph.byte[1], graph.byte[2]]
    assert graph.flop.tolist() == costs.flop.tolist()
