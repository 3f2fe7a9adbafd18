"""What a node's actors are given, what they pass on, and what they leave behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simplugin.bags.nodes import Known, NodePlan, Place
    from simplugin.bags.parcels import Parcel, Supply

# What a request is for that names no type.
ANY = -1


@dataclass(frozen=True)
class Station:
    """What a node's actors are given when they start.

    Attributes
    ----------
    place : Place
        Its neighbours.
    line : int
        Which of the trees of schedulers that run side by side it belongs to.
    known : Known
        What was measured before.
    capacity : int
        Slots of its buffer.
    supply : Supply, optional
        What the root hands out; None for all others.
    bias : tuple of float, shape (1 + n_children,)
        What its measurements of its speed and bandwidths are multiplied by.
    delay : float
        When it sends its first request [s].
    plan : NodePlan, optional
        What it is told in advance.
    disk : list of NodePlan
        What outlives a failure of its host: the plan that it has negotiated.
    """

    place: Place
    line: int
    known: Known
    capacity: int
    supply: Supply | None
    bias: tuple[float, ...]
    delay: float
    plan: NodePlan | None
    disk: list[NodePlan] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Shipment:
    """A task on its way to a child.

    Attributes
    ----------
    target : int
        The child.
    asked : int
        The type that the child's request named, `ANY` if none: what is no longer requested.
    parcel : Parcel
        The task.
    passed : int
        How many later tasks have left before it on its way, see `NodeState.passed`.
    """

    target: int
    asked: int
    parcel: Parcel
    passed: int = 0


@dataclass
class Deeds:
    """What a node has done.

    Attributes
    ----------
    done : list of (int, int, float)
        Of each task computed here: its application, its number there, and when it ended [s].
    port_busy : float
        How long its port was sending [s].
    first : float
        When it handed out its first task [s]; inf for never.
    most : int
        Most parcels that its buffer held.
    dropped : list of int, shape (n_types,)
        Of the root: parcels that its plan gives to nobody.
    again : int
        Of the root: parcels that it has handed out again.
    """

    done: list[tuple[int, int, float]] = field(default_factory=list)
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


def look_of(name: str) -> str:
    """Return the mailbox in which a node is told to look for changes, or to negotiate anew."""
    return f"look of {name}"


def changes_at(name: str) -> str:
    """Return the mailbox in which a parent hears whether a node has seen changes."""
    return f"changes at {name}"
