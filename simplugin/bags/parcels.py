"""What travels through the tree: tasks, or macro-tasks of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.bags.nodes import Known

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplugin.workloads.applications import Bags


@dataclass(frozen=True, slots=True)
class Parcel:
    """A task, or a macro-task.

    Attributes
    ----------
    kind : int
        Its type.
    number : int
        Which one of its type, from 0 on.
    parts : tuple of (int, int, float)
        Of each task in it: its application, its number there and its computation [flop].
    byte : float
        Its data [byte].
    tag : tuple of float
        What the root put on it.
    """

    kind: int
    number: int
    parts: tuple[tuple[int, int, float], ...]
    byte: float
    tag: tuple[float, ...] = ()


@dataclass(frozen=True)
class Supply:
    """What the root hands out, type by type.

    Attributes
    ----------
    bags : Bags
        All applications.
    applications : tuple of int
        The application of each type; all of them for a single type of macro-tasks.
    bundled : bool
        Whether there is a single type, of macro-tasks.
    """

    bags: Bags
    applications: tuple[int, ...]
    bundled: bool = False

    @classmethod
    def lines(cls, bags: Bags, *, bundled: bool, parallel: bool) -> tuple[Supply, ...]:
        """Return the supplies of the trees of schedulers that run side by side: one, or K."""
        everything = tuple(range(bags.n_applications))
        if parallel:
            return tuple(cls(bags, (each,)) for each in everything)
        return (cls(bags, everything, bundled),)

    @property
    def stock(self) -> list[int]:
        """How many parcels of each type there are at the start."""
        count = self.bags.count
        if self.bundled:
            return [max(map(math.ceil, (count / self._share).tolist()))]
        return [int(count[each]) for each in self.applications]

    def known(self, speed: float, bandwidth: list[float]) -> Known:
        """Return what a node knows that has measured these."""
        bags = self.bags
        if self.bundled:
            share = self._share
            flop, byte = float((share * bags.flop).sum()), float((share * bags.byte).sum())
            return Known([flop], [byte], [1.0], speed, bandwidth)
        chosen = list(self.applications)
        flops, bytes_ = bags.flop[chosen].tolist(), bags.byte[chosen].tolist()
        return Known(flops, bytes_, bags.weight[chosen].tolist(), speed, bandwidth)

    def parcel(self, kind: int, number: int, tag: tuple[float, ...]) -> Parcel:
        """Return the parcel of a type with a number from 0 on."""
        if not self.bundled:
            application = self.applications[kind]
            flop, byte = float(self.bags.flop[application]), float(self.bags.byte[application])
            return Parcel(kind, number, ((application, number, flop),), byte, tag)
        parts: list[tuple[int, int, float]] = []
        byte = 0.0
        for application, share in enumerate(self._share.tolist()):
            most = int(self.bags.count[application])
            # What rounds to whole tasks over all macro-tasks so far.
            before, after = (min(math.floor(n * share), most) for n in (number, number + 1))
            if number + 1 == self.stock[0]:
                after = most
            flop = float(self.bags.flop[application])
            parts += [(application, task, flop) for task in range(before, after)]
            byte += float(self.bags.byte[application]) * (after - before)
        return Parcel(kind, number, tuple(parts), byte, tag)

    @property
    def _share(self) -> NDArray[np.float64]:
        """Return how many tasks of each application a macro-task holds on average."""
        share: NDArray[np.float64] = self.bags.weight / self.bags.weight.min()
        return share
