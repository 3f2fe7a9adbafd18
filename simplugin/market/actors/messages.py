"""Messages between the actors of a market, and names of their mailboxes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from simplugin.market.policies.negotiation import NUMBER, message_size
from simplugin.workloads.bundles import Bundle


@dataclass(frozen=True, slots=True)
class Submission:
    """A bundle in transit to its scheduler; its data stay where they are.

    Attributes
    ----------
    number : int
        Of the bundle.
    bundle : Bundle
        The tasks.
    """

    number: int
    bundle: Bundle


@dataclass(frozen=True, slots=True)
class Announcement:
    """The announcement of a bundle by a local scheduler to its peers, before they negotiate.

    A global scheduler sends the same to ask sites for their estimates.

    Attributes
    ----------
    number : int
        Of the bundle.
    flop, byte : float
        Size of a task, S_cp [flop] and S_cm [byte].
    m : int
        The number of tasks.
    """

    number: int
    flop: float
    byte: float
    m: int


@dataclass(frozen=True, slots=True)
class NegotiationMessage:
    """A message of a negotiation.

    Attributes
    ----------
    message : tuple
        Message as the negotiation defines it.
    answers : bool
        True if the peer's reply is to be sent back.
    """

    message: tuple[Any, ...]
    answers: bool


@dataclass(frozen=True, slots=True)
class Award:
    """The tasks that a peer has bought.

    Attributes
    ----------
    amount : int
        Number of tasks.
    payment : float
        Payment for all of them [price].
    """

    amount: int
    payment: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """Report of a peer of a grid's site to its local scheduler at the start.

    Attributes
    ----------
    speed, bandwidth : float
        Believed capacities, Cp [flop/s] and Cm [byte/s].
    setup : float
        Time of each task before its data are sent, t^setup [s].
    price_unit : float
        Price of a task that takes one second [price s].
    q : float
        1 - alpha with its discount rate.
    n_max : float
        Maximum number of tasks of a bundle; inf for no limit.
    discounts : tuple of float
        As `simplugin.market.model.MarketTerms.discounts`; empty for q.
    """

    speed: float
    bandwidth: float
    setup: float
    price_unit: float
    q: float
    n_max: float
    discounts: tuple[float, ...] = ()

    @property
    def size(self) -> float:
        """Its size in a message [byte]."""
        return CAPACITY + NUMBER * len(self.discounts)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A local scheduler's answer to a global scheduler.

    Attributes
    ----------
    number, site : int
        Of the bundle and of the site.
    seconds : float
        Time that the site would take; inf if it cannot take the bundle [s].
    """

    number: int
    site: int
    seconds: float


# Sizes of messages; a question of the global scheduler has the size of an announcement [byte].
ANNOUNCEMENT = message_size(("announcement", 0, 0.0, 0.0, 0))
AWARD = message_size(("award", 0, 0.0))
SUBMISSION = message_size(("submission", 0, 0.0, 0.0, 0))
REPORT = message_size(("report", 0))
CAPACITY = message_size(("capacity", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
ESTIMATE = message_size(("estimate", 0, 0, 0.0))


class MarketMailbox(StrEnum):
    """Mailboxes, and queues on the host of a scheduler, by the host that they are named after.

    Peers have an inbox and a box of tasks. Their local scheduler receives their replies,
    acknowledgements of tasks and capacities. Schedulers receive bundles, ends of bundles and, in a
    grid, questions and estimates.
    """

    INBOX = "inbox of"
    REPLIES = "replies of"
    TASKS = "tasks for"
    ENDS = "ends at"
    CAPACITY = "capacity of"
    BUNDLES = "bundles for"
    REPORTS = "reports of"
    QUESTIONS = "questions for"
    ESTIMATES = "estimates of"

    def of(self, host: str) -> str:
        """Return the name of the mailbox or queue."""
        return f"{self} {host}"
