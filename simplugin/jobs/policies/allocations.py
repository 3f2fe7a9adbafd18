"""Choices of nodes for a job among the free ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from simplugin.jobs.nodes import NodeMask, contiguous, lowest, mask_of, nodes_of

AllocationName = Literal["lowest", "contiguous"]
# Chooses nodes of a set; None if it has no suitable ones.
Allocation = Callable[[NodeMask, int], NodeMask | None]

ALLOCATIONS: Mapping[AllocationName, Allocation] = {"lowest": lowest, "contiguous": contiguous}


@dataclass(frozen=True)
class SwitchAllocation:
    """Nodes below as few switches as possible.

    A job gets nodes of the switch with the fewest free nodes among those with enough; where none
    has enough, all of the switch with most free ones, and the rest in the same way.

    Attributes
    ----------
    size : int
        Number of nodes below each switch: nodes 0 to size - 1 below the first one, and so on.
    """

    size: int

    def __call__(self, free: NodeMask, count: int) -> NodeMask | None:
        """Return nodes of a set; None if it has too few."""
        if free.bit_count() < count:
            return None
        below = (1 << self.size) - 1
        first = range(0, free.bit_length(), self.size)
        switches = [part for each in first if (part := free & (below << each))]
        switches.sort(key=int.bit_count)
        found: NodeMask = 0
        while (left := count - found.bit_count()) > 0:
            enough = (each for each in switches if each.bit_count() >= left)
            chosen = next(enough, switches[-1])
            switches.remove(chosen)
            found |= lowest(chosen, min(left, chosen.bit_count()))
        return found


@dataclass(frozen=True)
class RandomAllocation:
    """Nodes at random, the same ones for the same set and seed.

    Attributes
    ----------
    seed : int
        Seed.
    """

    seed: int = 0

    def __call__(self, free: NodeMask, count: int) -> NodeMask | None:
        """Return nodes of a set; None if it has too few."""
        nodes = nodes_of(free)
        if len(nodes) < count:
            return None
        return mask_of(Random(f"{self.seed} {count} {free:x}").sample(nodes, count))
