"""A node of the tree: its buffer, its requests and its choices; its actors share it."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from simplugin.bags.actors.messages import (
    ANY,
    NodeLog,
    NodeSetup,
    Parcel,
    ReturnedResult,
    Shipment,
    tasks_for,
)
from simplugin.bags.policy import (
    WORKER,
    BagPolicy,
    Choice,
    NodePlan,
    NodeState,
    message_size,
    owed,
    servable,
)
from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown
from simplugin.simulation.api import Activity, Actor


class NodeScheduler:
    """The scheduler of a node: after each event it serves the targets that it can.

    Its actors report events and wait on its semaphores; nodes share nothing.

    Attributes
    ----------
    survives : bool
        True if lost messages are tolerated.
    """

    survives = False

    def __init__(self, me: Actor, setup: NodeSetup, policy: BagPolicy) -> None:
        self.setup, self.policy, self.me = setup, policy, me
        supply = setup.supply
        types = len(setup.known.flop)
        stock = [0] * types if supply is None else supply.stock
        self.state = NodeState(setup.known, supply is not None, setup.capacity, stock)
        self.log = NodeLog(dropped=[0] * types)
        self.parcels: list[deque[Parcel]] = [deque() for _ in range(types)]
        self.handed = [0] * types
        # Requested and not arrived, by type; the last entry is for requests without a type.
        self.pending = [0] * (types + 1)
        # Of each target, the types of the requests that any type serves.
        self.loose: list[deque[int]] = [deque() for _ in self.state.asked]
        self.in_hand: Parcel | None = None
        self.outgoing: Shipment | None = None
        self.transfer: Activity | None = None
        self.announced = [False] * types
        self.is_open = False
        self.work, self.port, self.ask, self.over, self.ready = (me.semaphore(0) for _ in range(5))
        self.settle, self.turns = me.semaphore(0), 0
        self.is_asking, self.was_asked = True, False
        # Results that wait for the parent's port, and the number of expected results.
        self.outbox: deque[ReturnedResult] = deque()
        self.missing = 0
        # Released when a result has left: both waiters check for room.
        self.out, self.worker_space, self.port_space = (me.semaphore(0) for _ in range(3))
        if setup.plan is not None:
            self.state.plan = fitted(setup.plan, setup.capacity)
            self._learn_from_plan()

    # ---- events ----

    def open(self) -> None:
        """Begin: the worker requests its first task."""
        self.is_open = True
        if self.state.known.computes:
            self._request(WORKER)
        self._drop_unplanned()
        self.look()

    def adopt(self, plan: NodePlan) -> None:
        """Follow a new plan."""
        state = self.state
        state.given = [[-each for each in row] for row in owed(state)]
        state.handed = list(map(sum, zip(*state.given, strict=True)))
        state.plan = fitted(plan, state.capacity)
        self._learn_from_plan()
        for target in range(1, len(state.asked)):
            self._loosen(target)
        if self.is_open:
            self.look()
        else:
            self.ready.release()

    def learn_of(self, target: int, message: Any) -> None:
        """Process a message of a child."""
        self.hear(target, message)

    def undelivered(self) -> None:
        """Take back the parcel that could not be sent."""
        raise NotImplementedError

    def hear(self, target: int, asked: list[int]) -> None:
        """Count the requests of a child: a number of tasks, or one for each type."""
        typed = len(asked) > 1
        for kind, number in enumerate(asked):
            if typed and self.announced[kind]:
                continue
            for _ in range(number):
                self._request(target)
            if number and len(asked) == len(self.announced):
                self.state.can[target][kind] = True
            if typed:
                self.state.wanted[target][kind] += number
            else:
                self.loose[target].extend([ANY] * number)
        self._loosen(target)
        self.look()

    def arrive(self, shipment: Shipment) -> None:
        """Store a task from the parent."""
        state = self.state
        parcel = shipment.parcel
        # Both ends forget the requests for a type that has ended; one may have been served.
        self.pending[shipment.asked] = max(self.pending[shipment.asked] - 1, 0)
        self.parcels[parcel.kind].append(parcel)
        state.stock[parcel.kind] += 1
        state.arrivals.append(parcel.kind)
        state.passed.append(shipment.passed)
        state.tag = parcel.tag
        if not self.setup.results:
            self.log.most = max(self.log.most, self._held())
        self.look()

    def end(self, kind: int) -> None:
        """Note that no further task of a type will arrive."""
        self.state.ended[kind] = True
        self.pending[kind] = 0
        self.look()

    def worked(self, duration: float) -> None:
        """Note that the worker is idle."""
        parcel = self.in_hand
        assert parcel is not None
        self.in_hand = None
        flop = sum(part[2] for part in parcel.parts)
        if duration > 0 and not self.policy.parallel:
            self.state.known.speed = flop / duration * self.setup.bias[WORKER]
        self._request(WORKER)
        self.look()

    def sent(self, duration: float) -> None:
        """Note that the port is free."""
        assert self.outgoing is not None
        target, parcel = self.outgoing.target, self.outgoing.parcel
        self.outgoing = None
        self.state.port_free = True
        self.log.port_busy += duration
        if duration > 0 and parcel.byte > 0 and not self.policy.parallel:
            measured = parcel.byte / duration * self.setup.bias[target]
            self.state.known.bandwidth[target - 1] = measured
        self.look()

    def collect(self, result: ReturnedResult, target: int, duration: float) -> None:
        """Store a result from a child."""
        self.missing -= 1
        self.log.port_busy += duration
        if duration > 0 and result.parcel.byte > 0:
            measured = result.parcel.byte / duration * self.setup.bias[target]
            self.state.known.bandwidth[target - 1] = measured
        self.keep(result)

    def keep(self, result: ReturnedResult) -> None:
        """Store a result: finally at the root, else for the parent."""
        if self.state.is_root:
            parts = [(each, number, self.me.now) for each, number, _ in result.parcel.parts]
            self.log.returned += [(result.host, part) for part in parts]
        else:
            self.outbox.append(result)
            self.log.most = max(self.log.most, len(self.outbox))
            self.out.release()
        self.look()

    def returned(self) -> None:
        """Note that the oldest result has left."""
        self.outbox.popleft()
        self.worker_space.release()
        self.port_space.release()
        self.look()

    @property
    def is_full(self) -> bool:
        """True if no further result has room; the root has room for all."""
        return not self.state.is_root and len(self.outbox) >= self.state.capacity

    # ---- actions ----

    def look(self) -> None:
        """Serve the targets that it can, request tasks, and check for the end.

        With free requests, it waits for all requests of this instant before it serves one.
        """
        self.state.now = self.me.now
        self.turns = self.setup.turns
        if self.turns:
            self.settle.release()
        self.decide()

    def decide(self) -> None:
        """Do the steps of `look`, without serving targets while turns are left to wait for."""
        state = self.state
        if self.is_open:
            while not self.turns and any(state.stock):
                if (choice := self._decided()) is None:
                    break
                self._serve(choice)
            if not self.is_asking and self._has_to_ask():
                self.is_asking = True
                self.ask.release()
        self._announce_ends()
        is_idle = self.in_hand is None and self.outgoing is None
        if is_idle and all(self.announced) and not self.outbox and not self.missing:
            self.over.release()

    def _decided(self) -> Choice | None:
        """Return the pair to serve: the policy's, or another one that a chooser prefers."""
        own = self.policy.decide(self.state)
        if not self.setup.choices:
            return own
        options = [own, *(pair for pair in servable(self.state) if pair != own)]
        if len(options) == 1:
            return own
        return options[_taken(self.me.choose(options, self.state, label=self.setup.place.name))]

    def needs(self) -> list[int]:
        """Return how many tasks to request: a single number, or one for each type."""
        state = self.state
        # A node that cannot compute requests tasks only for children that have requested some.
        if all(state.ended) or not (state.known.computes or self.was_asked):
            return [0]
        room = state.capacity - self._held() - sum(self.pending)
        if state.known.restricted and state.plan is None and len(state.ended) > 1:
            return self._needs_by_type(room)
        slots = self._slots()
        if not slots:
            return [max(room, 0)]
        held = list(state.stock)
        if self.outgoing is not None:
            held[self.outgoing.parcel.kind] += 1
        asked = []
        for kind, slot in enumerate(slots):
            free = 0 if state.ended[kind] else slot - held[kind] - self.pending[kind]
            asked.append(max(min(free, room), 0))
            room -= asked[kind]
        return asked

    def _needs_by_type(self, room: int) -> list[int]:
        """Return how many tasks to request of each type computed in the subtree, without a plan.

        The types get equal parts of the buffer, or a type that few hosts compute would fill it.
        Each type keeps one slot, including those that a child may request later, so that no type
        is blocked by another.
        """
        state = self.state
        rows = state.can if state.known.computes else state.can[1:]
        below = map(any, zip(*rows, strict=True))
        kinds = [kind for kind, can in enumerate(below) if can and not state.ended[kind]]
        if self.setup.place.children:
            room -= state.ended.count(False) - len(kinds)
        came = [x + y for x, y in zip(state.stock, state.handed, strict=True)]
        kinds.sort(key=lambda kind: (came[kind] + self.pending[kind]) / state.known.weight[kind])
        held = [x + y for x, y in zip(state.stock, self.pending, strict=False)]
        if self.outgoing is not None:
            held[self.outgoing.parcel.kind] += 1
        asked = [0] * len(held)
        for kind in kinds:
            if not held[kind] and room > 0:
                asked[kind], room = 1, room - 1
        total = room + sum(held[kind] + asked[kind] for kind in kinds)
        for place, kind in enumerate(kinds):
            slot = (total + len(kinds) - 1 - place) // len(kinds)
            more = max(min(slot - held[kind] - asked[kind], room), 0)
            asked[kind], room = asked[kind] + more, room - more
        return asked

    def requested(self) -> list[int]:
        """Return the requests to send now, and count them as pending."""
        needs = self.needs()
        if self.setup.single_requests:
            first = next((kind for kind, number in enumerate(needs) if number), -1)
            needs = [int(kind == first) for kind in range(len(needs))]
        if len(needs) == 1:
            self.pending[ANY] += needs[0]
            return needs
        for kind, number in enumerate(needs):
            self.pending[kind] += number
        return needs

    def _has_to_ask(self) -> bool:
        """Return True if there is a message for the parent."""
        return any(self.needs())

    def _serve(self, choice: Choice) -> None:
        """Give a task of a type to the worker or to the port."""
        state = self.state
        try:
            target, kind = choice
            free = target == WORKER or state.port_free
            right = min(choice) >= 0 and bool not in map(type, choice) and free
            right &= bool(state.stock[kind] and state.asked[target] and state.can[target][kind])
        except Exception:  # whatever numbers of a user's own do
            right = False
        if not right:
            raise WorkloadError(
                f"policy {self.policy.name!r} returns {shown(choice)} at"
                f" {self.setup.place.name!r}, which is no target and type that can be served now;"
                " let it return one of servable(state), or None"
            )
        parcel = self._take(kind)
        state.stock[kind] -= 1
        passed = 0 if state.is_root else self._pass(kind)
        state.asked[target] -= 1
        state.queue.remove(target)
        state.give(target, kind)
        self.log.first = min(self.log.first, state.now)
        if target == WORKER:
            self.in_hand = parcel
            self.work.release()
            return
        state.port_free = False
        self.missing += self.setup.results
        self.outgoing = Shipment(target, self._asked_for(target, kind), parcel, passed)
        self.port.release()

    def _pass(self, kind: int) -> int:
        """Let the oldest task of a type leave; return how many later tasks passed it."""
        state = self.state
        place = state.arrivals.index(kind)
        for earlier in range(place):
            state.passed[earlier] += 1
        passed = state.passed[place]
        del state.arrivals[place], state.passed[place]
        return passed

    def _take(self, kind: int) -> Parcel:
        """Return the oldest task of a type; the root makes it."""
        supply = self.setup.supply
        if supply is None:
            return self.parcels[kind].popleft()
        self.put_tag()
        self.handed[kind] += 1
        if self.state.stock[kind] == 1:
            self.state.ended[kind] = True
        return supply.parcel(kind, self.handed[kind] - 1, self.state.tag)

    def put_tag(self) -> None:
        """Store the policy's tag for the next task, if the policy has one."""
        if self.policy.tag is not None:
            who = f"policy {self.policy.name!r} tags tasks with"
            tag = decided(who, self.policy.tag(self.state), "a tuple of finite numbers", (-1,))
            self.state.tag = tuple(tag.tolist())

    def _asked_for(self, target: int, kind: int) -> int:
        """Return, and forget, the type of the child's request that a task of a type serves."""
        wanted = self.state.wanted[target]
        if wanted[kind]:
            wanted[kind] -= 1
            return kind
        if self.loose[target]:
            return self.loose[target].popleft()
        other = wanted.index(max(wanted))
        wanted[other] -= 1
        return other

    def _learn_from_plan(self) -> None:
        """With restricted types, record that children compute the types of their planned rates."""
        state = self.state
        if state.plan is None or not state.known.restricted:
            return
        for can, rates in zip(state.can[1:], state.plan.rates[1:], strict=True):
            can[:] = [known or rate > 0 for known, rate in zip(can, rates, strict=True)]

    def _loosen(self, target: int) -> None:
        """Let any type serve a child's requests for types without a rate in the plan.

        Parent and child change their plans at different dates.
        """
        plan, wanted = self.state.plan, self.state.wanted[target]
        if plan is None:
            return
        for kind, rate in enumerate(plan.rates[target]):
            if wanted[kind] and rate <= 0:
                self.loose[target].extend([kind] * wanted[kind])
                wanted[kind] = 0

    def _announce_ends(self) -> None:
        """Notify the children of each ended type, after its last task has left."""
        state = self.state
        sending = -1 if self.outgoing is None else self.outgoing.parcel.kind
        for kind, over in enumerate(state.ended):
            if over and not self.announced[kind] and not state.stock[kind] and kind != sending:
                self.announced[kind] = True
                for target in range(1, len(state.asked)):
                    # The child forgets these requests as well.
                    loose = self.loose[target]
                    for _ in range(state.wanted[target][kind] + loose.count(kind)):
                        state.asked[target] -= 1
                        state.queue.remove(target)
                    state.wanted[target][kind] = 0
                    self.loose[target] = deque(each for each in loose if each != kind)
                    self._announce(target, kind)

    def _announce(self, target: int, kind: int) -> None:
        """Notify a child that a type has ended."""
        child = self.setup.place.children[target - 1]
        box = self.me.mailbox(tasks_for(child, self.setup.line))
        box.put_detached(kind, message_size(1))

    def _request(self, target: int) -> None:
        """Count a request."""
        self.state.asked[target] += 1
        self.state.queue.append(target)
        self.was_asked = self.was_asked or target != WORKER

    def _held(self) -> int:
        """Return the number of occupied slots of the buffer, the outgoing task included."""
        return sum(self.state.stock) + (self.outgoing is not None) + len(self.outbox)

    def _slots(self) -> list[int]:
        """Return the slots of each type, with those of ended types given to the others.

        If no type with slots is left, the result is empty, and requests name no types: the parent
        may still have tasks of other types from an earlier plan.
        """
        plan, ended = self.state.plan, self.state.ended
        slots = [] if plan is None else list(plan.slots)
        going = [kind for kind, room in enumerate(slots) if room and not ended[kind]]
        if not going:
            return []
        if any(ended):
            spare = sum(room for room, over in zip(slots, ended, strict=True) if over)
            for number in range(spare):
                slots[going[number % len(going)]] += 1
        return slots

    def _drop_unplanned(self) -> None:
        """Drop the root's tasks of types without a rate in the plan."""
        state = self.state
        if not state.is_root or state.plan is None:
            return
        for kind, column in enumerate(zip(*state.plan.rates, strict=True)):
            if not any(rate > 0 for rate in column):
                self.log.dropped[kind], state.stock[kind] = state.stock[kind], 0
                state.ended[kind] = True


def _taken(decision: Awaitable[int]) -> int:
    """Return a decision, which is taken at once: nothing has to be awaited."""
    try:
        next(iter(decision.__await__()))
    except StopIteration as end:
        return int(end.value)
    raise AssertionError("a choice waits")


def fitted(plan: NodePlan, capacity: int) -> NodePlan:
    """Return a plan whose slots fit into the capacity of a buffer.

    The slots are empty, so that requests name no types, if there is not one slot for each type.
    """
    slots = list(plan.slots)
    if sum(map(bool, slots)) > capacity:
        return replace(plan, slots=())
    while sum(slots) > capacity:
        slots[slots.index(max(slots))] -= 1
    return replace(plan, slots=tuple(slots))
