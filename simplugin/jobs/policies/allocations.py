"""Choices of nodes for a job among the free ones."""

from __future__ import annotations

from typing import Literal

from simplugin.jobs.nodes import NodeMask, contiguous, lowest
from simplugin.jobs.policies.profiles import Allocation

AllocationName = Literal["lowest", "contiguous"]


def lowest_nodes(free: NodeMask, size: int) -> NodeMask:
    """Return the lowest free nodes."""
    return lowest(free, size)


ALLOCATIONS: dict[AllocationName, Allocation] = {"lowest": lowest_nodes, "contiguous": contiguous}
