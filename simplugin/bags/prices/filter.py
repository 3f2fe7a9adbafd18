"""Which transfers a buffer of a few tasks cannot hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simplugin.bags.nodes import Known


@dataclass(frozen=True, slots=True)
class Sieve:
    """How a parent judges its links: those to be banned bring less than they cost.

    A port is busy at most all the time. So where all tasks of a type cross one port, one of them
    lasts, on the fastest of its links there, no longer than it takes to make as many of each
    other type, and with `harsh` from 1 on that link is never banned. What goes are small flows
    over slow links, of types that mostly go elsewhere.

    Attributes
    ----------
    buffer : int
        Tasks that the buffer of a node holds.
    harsh : float
        How many times what a flow brings its loss must be for a ban.
    """

    buffer: int
    harsh: float = 1.0

    def judge(
        self, known: Known, rates: Sequence[Sequence[float]]
    ) -> tuple[tuple[float, ...], frozenset[tuple[int, int]]]:
        """Return what long transfers cost, and the links to ban.

        While a task of type k travels to a child, no child gets another one, and each uses up the
        tasks that it has: all slots of its buffer but one, at its planned rate. What it could
        have used after that is lost.

        Parameters
        ----------
        known : Known
            What the node has measured.
        rates : sequence of sequence of float, shape (1 + n_children, n_types)
            What the node is to give each target [tasks/s].

        Returns
        -------
        tuple of float, shape (n_types,)
            Tasks of each type that children lose [tasks/s].
        frozenset of (int, int)
            Children, from 0 on, and the types that must not go to them.
        """
        flows = [(row, (self.buffer - 1) / sum(row)) for row in rates[1:] if sum(row) > 0]
        total, found = [0.0] * len(known.flop), set()
        for child, row in enumerate(rates[1:]):
            for kind, rate in enumerate(row):
                if rate <= 0:
                    continue
                long = known.byte[kind] / known.bandwidth[child]
                lost = [0.0] * len(total)
                for other, lasts in flows:
                    if long > lasts:
                        lost = [x + y * (long - lasts) for x, y in zip(lost, other, strict=True)]
                total = [x + rate * y for x, y in zip(total, lost, strict=True)]
                worst = max(x / weight for x, weight in zip(lost, known.weight, strict=True))
                if worst * known.weight[kind] > self.harsh:
                    found.add((child, kind))
        return tuple(total), frozenset(found)
