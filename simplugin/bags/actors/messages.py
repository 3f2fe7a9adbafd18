"""Parcels that travel through the tree, and the messages and records of nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simplugin.bags.policy import BagPolicy, NodeKnowledge, NodePlan, TreePosition
    from simplugin.workloads.applications import Bags

# The type of a request that names none.
ANY = -1


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
        Numbers that the root put on it.
    """

    kind: int
    number: int
    parts: tuple[tuple[int, int, float], ...]
    byte: float
    tag: tuple[float, ...] = ()


@dataclass(frozen=True)
class Supply:
    """The parcels that the root distributes, type by type.

    Attributes
    ----------
    bags : Bags
        All applications.
    applications : tuple of int
        The application of each type; all of them for a single type of macro-tasks.
    bundled : bool
        True if there is a single type, of macro-tasks.
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
        """Number of parcels of each type at the start."""
        count = self.bags.count
        if self.bundled:
            return [max(map(math.ceil, (count / self._share).tolist()))]
        return [int(count[each]) for each in self.applications]

    def known(self, whole: NodeKnowledge) -> NodeKnowledge:
        """Return the knowledge of the types, from that of all applications."""
        if not self.bundled:
            rows = {name: getattr(whole, name) for name in ("flop", "byte", "weight", "allowed")}
            chosen: dict[str, Any] = {
                name: [row[k] for k in self.applications] for name, row in rows.items()
            }
            return replace(whole, **chosen)
        share, bags = self._share, self.bags
        flop, byte = float((share * bags.flop).sum()), float((share * bags.byte).sum())
        return replace(whole, flop=[flop], byte=[byte], weight=[1.0], allowed=[all(whole.allowed)])

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
            # Whole tasks, rounded over all macro-tasks so far.
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


@dataclass(frozen=True)
class NodeSetup:
    """The data with which a node's actors start.

    Attributes
    ----------
    place : TreePosition
        Its neighbours.
    line : int
        Which of the trees of schedulers that run side by side it belongs to.
    known : NodeKnowledge
        Its first measurements.
    capacity : int
        Slots of its buffer.
    supply : Supply, optional
        The parcels of the root; None for all others.
    bias : tuple of float, shape (1 + n_children,)
        Factors of its measurements of its speed and bandwidths.
    delay : float
        When it sends its first request [s].
    plan : NodePlan, optional
        Its plan if it does not negotiate one.
    free_requests : bool
        True if requests arrive at once; else they are messages.
    single_requests : bool
        True if each request is for one task; else for all free slots.
    results : bool
        True if results travel, up to the root, in place of data.
    turns : int
        For how many turns of the actors it waits for more requests of an instant.
    choices : bool
        True if its decisions are choices.
    disk : list of NodePlan
        The negotiated plan, which outlives a failure of its host.
    """

    place: TreePosition
    line: int
    known: NodeKnowledge
    capacity: int
    supply: Supply | None
    bias: tuple[float, ...]
    delay: float
    plan: NodePlan | None
    free_requests: bool = False
    single_requests: bool = False
    results: bool = False
    turns: int = 0
    choices: bool = False
    disk: list[NodePlan] = field(default_factory=list)


@dataclass(frozen=True)
class HostSetup:
    """The data with which the actors of a host start.

    Attributes
    ----------
    nodes : tuple of NodeSetup
        Its nodes, one for each line.
    policy : BagPolicy
        Their policy, without the plans of other hosts.
    patience : float
        With failures: time without an answer after which a host counts as failed [s].
    """

    nodes: tuple[NodeSetup, ...]
    policy: BagPolicy
    patience: float

    @property
    def name(self) -> str:
        """Name of the host."""
        return self.nodes[0].place.name


@dataclass(frozen=True, slots=True)
class Shipment:
    """A task on its way to a child.

    Attributes
    ----------
    target : int
        The child.
    asked : int
        The type that the served request named, `ANY` if none.
    parcel : Parcel
        The task.
    passed : int
        Number of later tasks that left before it on its way, see `NodeState.passed`.
    """

    target: int
    asked: int
    parcel: Parcel
    passed: int = 0


@dataclass(frozen=True, slots=True)
class ReturnedResult:
    """A result on its way to the root.

    Attributes
    ----------
    host : str
        Where it was computed.
    parcel : Parcel
        The task, with the size of its result.
    child, line : str, int
        The node that sends it.
    date : float
        When that began to wait for its parent's port [s].
    """

    host: str
    parcel: Parcel
    child: str
    line: int
    date: float


@dataclass
class NodeLog:
    """Record of a node.

    Attributes
    ----------
    done : list of (int, int, float)
        Of each task computed here: its application, its number there, and when it ended [s].
    returned : list of (str, (int, int, float))
        Of the root, where results travel: of each task the host that computed it, and as in
        `done`, with the date at which its result was there [s].
    port_busy : float
        Time for which its port was sending, or receiving results [s].
    first : float
        Date at which its first task was served [s]; inf if none was.
    most : int
        Maximum number of parcels in its buffer.
    dropped : list of int, shape (n_types,)
        Of the root: parcels of types without a rate in the plan.
    again : int
        Of the root: parcels that were distributed again.
    """

    done: list[tuple[int, int, float]] = field(default_factory=list)
    returned: list[tuple[str, tuple[int, int, float]]] = field(default_factory=list)
    port_busy: float = 0.0
    first: float = float("inf")
    most: int = 0
    dropped: list[int] = field(default_factory=list)
    again: int = 0


def tasks_for(name: str, line: int) -> str:
    """Return the mailbox in which a node gets its tasks."""
    return f"tasks for {name}" if not line else f"tasks for {name}, {line}"


def requests_of(name: str, line: int) -> str:
    """Return the mailbox in which a parent gets a node's requests."""
    return f"requests of {name}" if not line else f"requests of {name}, {line}"


def results_for(name: str) -> str:
    """Return the mailbox in which a node gets results, of all lines."""
    return f"results for {name}"


def look_of(name: str) -> str:
    """Return the mailbox for requests of a check for changes, or a new negotiation."""
    return f"look of {name}"


def changes_at(name: str) -> str:
    """Return the mailbox of the answers to `look_of`: True if a node has seen changes."""
    return f"changes at {name}"
