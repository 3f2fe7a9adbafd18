from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.pricing.seeded_instances import instance
from simplugin.scenarios.importing import importable

with importable(Path(__file__).parent):
    from convex_programs import convex_program


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("number", [6, 53, 110, 147, 195])
def test_the_interior_point_agrees_with_the_exact_optimum(number: int, alpha: float) -> None:
    problem = instance(number).sharing
    best, interior = fair_sharing(problem, alpha), convex_program(problem, alpha)
    assert interior.throughput == pytest.approx(best.throughput, rel=2e-3)
    # What all capacity is worth is what all throughputs are worth.
    capacity = np.concatenate([problem.speed, problem.bandwidth])
    worth = problem.weight @ best.throughput ** (1 - alpha)
    assert interior.price @ capacity == pytest.approx(worth, rel=1e-3)
    assert best.gap < 1e-9
