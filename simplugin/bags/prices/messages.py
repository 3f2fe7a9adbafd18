"""What parents and children tell each other when they negotiate by prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simplugin.bags.message_sizes import message_size

# Of a curve: bytes/s received, port time used [s/s], and tasks/s of each type.
Point = tuple[float, ...]
Points = Sequence[Point]


@dataclass(frozen=True, slots=True)
class Posted:
    """Down: what a task is worth, in one round.

    Attributes
    ----------
    round : int
        Counted from 0 in each negotiation.
    prices : tuple of float, shape (n_types,)
        Value of a task of each type; 0 for one that must not come here.
    rent : float
        Charge for a second of any port.
    most : float
        Bytes per second that can arrive at the very most: the bandwidth of the link from the
        parent, so that the few segments of an answer lie where they matter. The narrowest on the
        way from the root would save some rounds, but is nothing that neighbours know.
    segments : int
        How many segments an answer may have.
    """

    round: int
    prices: tuple[float, ...]
    rent: float
    most: float
    segments: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Up: what a subtree can make of bytes at the prices posted.

    Attributes
    ----------
    points : tuple of Point
        Of its curve.
    loss : float
        At most this value per second was lost in the subtree by leaving out points.
    """

    points: tuple[Point, ...]
    loss: float


@dataclass(frozen=True, slots=True)
class Award:
    """Down: what a subtree gets in the end.

    Attributes
    ----------
    shares : tuple of (int, float, float)
        Rounds, their weights, and the bytes per second of each.
    inflow : tuple of float, shape (n_types,)
        Tasks of each type that will arrive [tasks/s].
    least : tuple of float, shape (n_types,)
        Smaller flows are not worth having [tasks/s].
    last : bool
        Whether nothing will be changed any more.
    """

    shares: tuple[tuple[int, float, float], ...]
    inflow: tuple[float, ...]
    least: tuple[float, ...]
    last: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """Up: what the links of a subtree make of an award.

    Attributes
    ----------
    lost : tuple of float, shape (n_types,)
        Tasks of each type that will be lost there, as transfers last too long [tasks/s].
    banned : bool
        Whether a type was banned from a link there, so that another negotiation is needed.
    """

    lost: tuple[float, ...]
    banned: bool


@dataclass(frozen=True, slots=True)
class Settled:
    """Down: the end.

    Attributes
    ----------
    award : int
        Which award is to be followed, counted from 0.
    """

    award: int


Down = Posted | Award | Settled
Up = Offer | Verdict


def size_of(message: Down | Up) -> float:
    """Return how long a message is [byte]."""
    match message:
        case Posted():
            numbers = len(message.prices) + 4
        case Offer():
            numbers = sum(map(len, message.points)) + 1
        case Award():
            numbers = 3 * len(message.shares) + 2 * len(message.inflow) + 1
        case Verdict():
            numbers = len(message.lost) + 1
        case Settled():
            numbers = 1
    return message_size(numbers)
