"""A node of the tree: its buffer, its requests and its choices; its actors share it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simplugin.bags.nodes import WORKER, NodeState

if TYPE_CHECKING:
    from simplugin.bags.nodes import Known, NodePlan, Place, Policy
    from simplugin.bags.parcels import Parcel, Supply
    from simplugin.simulation.api import Actor


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
    """

    place: Place
    line: int
    known: Known
    capacity: int
    supply: Supply | None
    bias: tuple[float, ...]
    delay: float
    plan: NodePlan | None


@dataclass
class Deeds:
    """What a node has done.

    Attributes
    ----------
    done : list of (int, float)
        The application of each task computed here, and when it ended [s].
    sent : list of list of int, shape (n_children, n_types)
        Parcels sent to each child.
    port_busy : float
        How long its port was sending [s].
    first : float
        When it handed out its first task [s]; inf for never.
    most : int
        Most parcels that its buffer held.
    dropped : list of int, shape (n_types,)
        Of the root: tasks that its plan gives to nobody.
    """

    done: list[tuple[int, float]] = field(default_factory=list)
    sent: list[list[int]] = field(default_factory=list)
    port_busy: float = 0.0
    first: float = float("inf")
    most: int = 0
    dropped: list[int] = field(default_factory=list)


class Node:
    """The scheduler of a node: whatever happens, it looks whom it can serve.

    Its actors tell it what happens and wait on its semaphores. Nobody else touches it.
    """

    def __init__(self, me: Actor, station: Station, policy: Policy) -> None:
        self.station, self.policy, self.me = station, policy, me
        supply = station.supply
        types = len(station.known.flop)
        stock = [0] * types if supply is None else supply.stock
        self.state = NodeState(
            station.known, supply is not None, station.capacity, stock, station.plan
        )
        self.deeds = Deeds(sent=[[0] * types for _ in station.place.children], dropped=[0] * types)
        self.parcels: list[deque[Parcel]] = [deque() for _ in range(types)]
        self.handed = [0] * types
        # Requested and not arrived, by type if requests are typed, else under type 0.
        self.pending = [0] * types
        self.in_hand: Parcel | None = None
        self.outgoing: tuple[int, Parcel] | None = None
        self.told = [False] * types
        self.is_open = False
        self.work, self.port, self.ask, self.over, self.ready = (me.semaphore(0) for _ in range(5))
        self.is_asking = True

    # ---- what happens ----

    def open(self) -> None:
        """Begin: the worker asks for its first task."""
        self.is_open = True
        if self.state.known.speed > 0:
            self._request(WORKER)
        self._drop_what_nobody_gets()
        self.look()

    def adopt(self, plan: NodePlan) -> None:
        """Follow a new plan."""
        state = self.state
        state.plan = plan
        state.given = [[0] * len(row) for row in state.given]
        if self.is_open:
            self.look()
        else:
            self.ready.release()

    def hear(self, target: int, asked: list[int]) -> None:
        """Note what a child requests."""
        state = self.state
        for kind, number in enumerate(asked):
            state.wanted[target][kind] += number
            for _ in range(number):
                self._request(target)
        self._learn("request")
        self.look()

    def arrive(self, parcel: Parcel) -> None:
        """Take in a task from the parent."""
        state = self.state
        kind = parcel.kind
        self.pending[self._request_type(kind)] -= 1
        self.parcels[kind].append(parcel)
        state.stock[kind] += 1
        state.arrivals.append(kind)
        state.tag = parcel.tag
        self.deeds.most = max(self.deeds.most, self._held())
        self.look()

    def end(self, kind: int) -> None:
        """Take note that no task of a type will come any more."""
        self.state.ended[kind] = True
        self.look()

    def worked(self, duration: float) -> None:
        """Note that the worker is idle."""
        parcel = self.in_hand
        assert parcel is not None
        self.in_hand = None
        flop = sum(part[1] for part in parcel.parts)
        if duration > 0 and not self.policy.parallel:
            self.state.known.speed = flop / duration * self.station.bias[WORKER]
        self._request(WORKER)
        self.look()

    def sent(self, duration: float) -> None:
        """Note that the port is free."""
        assert self.outgoing is not None
        target, parcel = self.outgoing
        self.outgoing = None
        self.state.port_free = True
        self.deeds.port_busy += duration
        self.deeds.sent[target - 1][parcel.kind] += 1
        if duration > 0 and parcel.byte > 0 and not self.policy.parallel:
            measured = parcel.byte / duration * self.station.bias[target]
            self.state.known.bandwidth[target - 1] = measured
        self._learn("sent")
        self.look()

    # ---- what it does ----

    def look(self) -> None:
        """Serve whom it can, ask for what there is room for, and see whether all is over."""
        state = self.state
        state.now = self.me.now
        if self.is_open and not (self.policy.planner and state.plan is None):
            while (choice := self.policy.decide(state)) is not None:
                self._serve(*choice)
        if self.is_asking is False and any(self.needs()):
            self.is_asking = True
            self.ask.release()
        self._tell_ends()
        if self.in_hand is None and self.outgoing is None and all(self.told):
            self.over.release()

    def needs(self) -> list[int]:
        """Return how many tasks to request, by type if requests are typed."""
        state = self.state
        if state.is_root or not self.is_open or all(state.ended):
            return [0]
        if state.plan is None or not state.plan.slots:
            return [max(state.capacity - self._held() - self.pending[0], 0)]
        held = list(state.stock)
        if self.outgoing is not None:
            held[self.outgoing[1].kind] += 1
        slots = self._slots()
        return [
            0 if over else max(room - have - coming, 0)
            for room, have, coming, over in zip(slots, held, self.pending, state.ended, strict=True)
        ]

    def requested(self) -> list[int]:
        """Return what to request now, and count it as requested."""
        needs = self.needs()
        for kind, number in enumerate(needs):
            self.pending[kind] += number
        return needs

    def _serve(self, target: int, kind: int) -> None:
        """Hand a task of a type to the worker or to the port."""
        state = self.state
        parcel = self._take(kind)
        state.stock[kind] -= 1
        if not state.is_root:
            state.arrivals.remove(kind)
        elif not state.stock[kind]:
            state.ended[kind] = True
        state.asked[target] -= 1
        state.queue.remove(target)
        state.given[target][kind] += 1
        self.deeds.first = min(self.deeds.first, state.now)
        if target == WORKER:
            self.in_hand = parcel
            self.work.release()
            return
        if self._typed():
            state.wanted[target][kind] -= 1
        state.port_free = False
        self.outgoing = (target, parcel)
        self.port.release()

    def _take(self, kind: int) -> Parcel:
        """Return the oldest task of a type; the root makes it."""
        supply = self.station.supply
        if supply is None:
            return self.parcels[kind].popleft()
        if self.policy.tag is not None:
            self.state.tag = tuple(self.policy.tag(self.state))
        self.handed[kind] += 1
        return supply.parcel(kind, self.handed[kind] - 1, self.state.tag)

    def _tell_ends(self) -> None:
        """Tell the children which types have ended, once the last task of each has left."""
        state = self.state
        sending = -1 if self.outgoing is None else self.outgoing[1].kind
        for kind, over in enumerate(state.ended):
            if over and not self.told[kind] and not state.stock[kind] and kind != sending:
                self.told[kind] = True
                for child in self.station.place.children:
                    box = self.me.mailbox(tasks_for(child, self.station.line))
                    box.put_detached(kind, END_SIZE)

    def _request(self, target: int) -> None:
        """Count a request."""
        self.state.asked[target] += 1
        self.state.queue.append(target)

    def _learn(self, event: str) -> None:
        """Let the policy keep its number."""
        if self.policy.learn is not None:
            self.state.leaning = self.policy.learn(self.state, event)

    def _held(self) -> int:
        """Return how many slots of the buffer are taken; a task being sent takes one."""
        return sum(self.state.stock) + (self.outgoing is not None)

    def _typed(self) -> bool:
        """Whether requests name a type."""
        return self.state.plan is not None and bool(self.state.plan.slots)

    def _request_type(self, kind: int) -> int:
        """Return the type under which a task was requested."""
        return kind if self._typed() else 0

    def _slots(self) -> list[int]:
        """Return the slots of each type; those of types that have ended go to the others."""
        assert self.state.plan is not None
        slots = list(self.state.plan.slots)
        ended = self.state.ended
        going = [kind for kind, room in enumerate(slots) if room and not ended[kind]]
        if going and any(ended):
            spare = sum(room for room, over in zip(slots, ended, strict=True) if over)
            for number in range(spare):
                slots[going[number % len(going)]] += 1
        return slots

    def _drop_what_nobody_gets(self) -> None:
        """Do without the tasks of the root that its plan has no rate for."""
        state = self.state
        if not state.is_root or state.plan is None:
            return
        for kind, column in enumerate(zip(*state.plan.rates, strict=True)):
            if not any(rate > 0 for rate in column):
                self.deeds.dropped[kind], state.stock[kind] = state.stock[kind], 0
                state.ended[kind] = True


# The message that a type has ended: a number, and headers of 40 as TCP and IP have them [byte].
END_SIZE = 48.0


def tasks_for(name: str, line: int) -> str:
    """Return the mailbox in which a node gets its tasks."""
    return f"tasks for {name}" if not line else f"tasks for {name}, {line}"


def requests_of(name: str, line: int) -> str:
    """Return the mailbox in which a parent gets a node's requests."""
    return f"requests of {name}" if not line else f"requests of {name}, {line}"
