"""A policy for bags of tasks on a tree: serve the type with the least sent tasks for its weight."""

import math
from pathlib import Path

from simplugin.bags import BagPolicy, NodeState, servable
from simplugin.platforms import Tree
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.workloads import Bags


def least_first(tree: Tree, bags: Bags, *, widest: bool = True) -> BagPolicy:
    """Return the policy; of several children, the one with the widest link is served first."""

    def decide(state: NodeState) -> tuple[int, int] | None:
        """Return a target (0 computes here, 1, 2, ... are children) and a type; None to wait."""
        handed = [sum(column) for column in zip(*state.given, strict=True)]

        def order(pair: tuple[int, int]) -> tuple[float, float]:
            target, kind = pair
            width = state.known.bandwidth[target - 1] if target else math.inf
            return handed[kind] / state.known.weight[kind], -width if widest else 0.0

        return min(servable(state), key=order, default=None)

    return BagPolicy("least first", decide)


def test_the_throughput_is_near_the_optimum():
    row = run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row
    assert -0.05 < row.gap < 0.25
