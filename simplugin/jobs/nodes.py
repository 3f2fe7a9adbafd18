"""Sets of nodes as bit masks: bit i of a whole number stands for node i."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

NodeMask: TypeAlias = int


def mask_of(nodes: Iterable[int]) -> NodeMask:
    """Return the set of some nodes."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def nodes_of(mask: NodeMask) -> tuple[int, ...]:
    """Return the nodes of a set, in order."""
    if mask.bit_count() <= 8:
        nodes = []
        while mask:
            lowest = mask & -mask
            nodes.append(lowest.bit_length() - 1)
            mask ^= lowest
        return tuple(nodes)
    data = np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    return tuple(np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist())


def lowest(mask: NodeMask, count: int) -> NodeMask:
    """Return the `count` lowest nodes of a set that has as many."""
    if count == 1:
        return mask & -mask
    excess = mask.bit_count() - count
    if excess == 0:
        return mask
    # Bisect for the number of leading bits that hold the nodes.
    least, most = count, mask.bit_length()
    while least < most:
        middle = (least + most) // 2
        if (mask & ((1 << middle) - 1)).bit_count() < count:
            least = middle + 1
        else:
            most = middle
    return mask & ((1 << least) - 1)


def contiguous(mask: NodeMask, count: int) -> NodeMask | None:
    """Return the lowest `count` nodes of a set that follow each other; None if there are none."""
    # Bit i of `runs` is set if nodes i to i + length - 1 are in the set.
    runs, length = mask, 1
    while length < count and runs:
        step = min(length, count - length)
        runs &= runs >> step
        length += step
    return ((1 << count) - 1) * (runs & -runs) if runs else None


def node_text(mask: NodeMask) -> str:
    """Return nodes as text: ``"0-3 7"``."""
    parts = []
    position = 0
    while mask:
        skipped = (mask & -mask).bit_length() - 1
        mask >>= skipped
        length = (~mask & (mask + 1)).bit_length() - 1
        first, last = position + skipped, position + skipped + length - 1
        parts.append(str(first) if first == last else f"{first}-{last}")
        mask >>= length
        position = last + 1
    return " ".join(parts)
