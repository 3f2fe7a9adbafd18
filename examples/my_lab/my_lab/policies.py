"""Policies that know what a transfer costs."""

from simplugin.bags import BagPolicy, NodeState, servable
from simplugin.platforms import Tree
from simplugin.workloads import Bags


def shortest_transfer(tree: Tree, bags: Bags, *, tolerance: float = 0.1) -> BagPolicy:
    """Serve the application that is behind; of its requests, the one with the shortest transfer.

    Parameters
    ----------
    tolerance : float
        Applications count as equal whose numbers of tasks handed out, over their weights, differ
        by at most this part of the largest.
    """

    def decide(state: NodeState) -> tuple[int, int] | None:
        """Return a target (0 computes here, 1, 2, ... are children) and a type; None to wait."""
        handed = [sum(column) for column in zip(*state.given, strict=True)]
        weighted = [
            tasks / weight for tasks, weight in zip(handed, state.known.weight, strict=True)
        ]
        limit = min(weighted) + tolerance * max(weighted)

        def cost(pair: tuple[int, int]) -> tuple[bool, float]:
            target, kind = pair
            seconds = 0.0
            if target:
                seconds = state.known.byte[kind] / state.known.bandwidth[target - 1]
            return weighted[kind] > limit, seconds

        return min(servable(state), key=cost, default=None)

    return BagPolicy("shortest transfer", decide)
