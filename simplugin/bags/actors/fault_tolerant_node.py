"""Nodes and actors of hosts that may go off and come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from simplugin.bags.actors.hosts import next_message, run_nodes
from simplugin.bags.actors.messages import (
    ANY,
    HostSetup,
    NodeLog,
    NodeSetup,
    Parcel,
    Shipment,
    requests_of,
)
from simplugin.bags.actors.node import NodeScheduler
from simplugin.bags.actors.planning import Neighbourhood
from simplugin.bags.policy import BagPolicy, NodePlan, message_size, servable
from simplugin.core.errors import ActivityError, TimeoutException, WorkloadError
from simplugin.simulation.api import Actor

# A parcel: its type and its number.
Identity = tuple[int, int]

# Logs of the nodes of each host, one entry per incarnation; for the result only.
NodeLogs = list[tuple[str, list[NodeLog]]]
_LOGS = "node logs"
# Idle checks (one per `patience`) before reporting a policy that serves no request.
_MOST_IDLE_LOOKS = 1000


@dataclass(frozen=True, slots=True)
class Notice:
    """Message: a parcel has been computed.

    Attributes
    ----------
    identity : (int, int)
        Which one.
    host : str
        Where.
    parts : tuple of (int, int, float)
        The application of each task in it, its number there, and when it ended [s].
    """

    identity: Identity
    host: str
    parts: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, slots=True)
class NodeReport:
    """Report of a node to its parent.

    Attributes
    ----------
    asked : list of int
        Its requests, see `NodeScheduler.needs`.
    done : tuple of Notice
        Parcels that were computed in its subtree.
    lost : tuple of Identity
        Parcels that its subtree got and lost.
    holds : frozenset of Identity, optional
        Known parcels in its subtree. If present, `asked` replaces all earlier requests.
    closed : tuple of bool, shape (n_types,)
        True for each type that is not computed in its subtree: neither by its own host, nor by a
        child that is on, requests tasks and has the type open.
    date : float
        When it was written [s].
    """

    asked: list[int]
    done: tuple[Notice, ...]
    lost: tuple[Identity, ...]
    holds: frozenset[Identity] | None
    closed: tuple[bool, ...]
    date: float

    @property
    def numbers(self) -> int:
        """Return the length in numbers; an identity counts as one."""
        parts = sum(2 + len(each.parts) for each in self.done)
        return 2 + len(self.asked) + parts + len(self.lost) + len(self.holds or ())


class FaultTolerantNode(NodeScheduler):
    """A node that records which parcels its children's subtrees hold.

    Only the root can recreate parcels: it distributes those again that are reported lost. Other
    nodes store identities only, which take no space in their buffers.

    Attributes
    ----------
    patience : float
        Time without an answer after which a child counts as failed [s].
    is_new : bool
        False if its host came back after a failure.
    below : list of dict of Identity to float
        Parcels in each child's subtree, and when the child got them [s]; the worker's place stays
        empty.
    off : list of bool
        True for each child that counts as failed; its requests are ignored.
    takes : list of list of bool, shape (1 + n_children, n_types)
        True for each child that is on and requests tasks, and each type that it has open.
    shut : list of tuple of bool, shape (1 + n_children, n_types)
        Types that each child has reported as closed.
    closed : tuple of bool, shape (n_types,)
        Types that this node reports as closed.
    notices : dict of Identity to Notice
        Of the root: all computed parcels.
    """

    survives = True

    def __init__(
        self, me: Actor, setup: NodeSetup, policy: BagPolicy, patience: float, *, is_new: bool
    ) -> None:
        super().__init__(me, setup, policy)
        self.patience, self.is_new = patience, is_new
        targets, types = len(self.state.asked), len(self.announced)
        self.whole_plan = self.state.plan
        self.below: list[dict[Identity, float]] = [{} for _ in range(targets)]
        # After a failure, the node and its parent do not know each other's parcels.
        self.off = [False] + [not is_new] * (targets - 1)
        self.takes = [[False] * types for _ in range(targets)]
        self.shut = [(False,) * types for _ in range(targets)]
        self.closed = self._closed()
        self.tells_all = not is_new and not self.state.is_root
        self.done: list[Notice] = []
        self.lost: list[Identity] = []
        self.heard = [me.now] * targets
        self.notices: dict[Identity, Notice] = {}
        self.again: list[deque[int]] = [deque() for _ in range(types)]
        self.left = list(self.state.stock)
        self.counted = me.semaphore(0)
        self.idle_looks = 0
        self._exclude_failed_children()

    # ---- events ----

    def adopt(self, plan: NodePlan) -> None:
        """Follow a new plan."""
        super().adopt(plan)
        self.whole_plan = self.state.plan
        self._exclude_failed_children()

    def worked(self, duration: float) -> None:
        """Note that the worker is idle, and report the computed parcel."""
        parcel = self.in_hand
        assert parcel is not None
        parts = tuple(self.log.done[len(self.log.done) - len(parcel.parts) :])
        self._note(Notice((parcel.kind, parcel.number), self.setup.place.name, parts))
        super().worked(duration)

    def arrive(self, shipment: Shipment) -> None:
        """Take in a task from the parent."""
        super().arrive(shipment)
        self._close_or_open()

    def sent(self, duration: float) -> None:
        """Note that the port is free, and that the child has the parcel."""
        assert self.outgoing is not None
        parcel = self.outgoing.parcel
        self.below[self.outgoing.target][parcel.kind, parcel.number] = self.me.now
        super().sent(duration)

    def undelivered(self) -> None:
        """Take back the parcel that could not be sent."""
        assert self.outgoing is not None
        target, parcel = self.outgoing.target, self.outgoing.parcel
        kind, state, passed = parcel.kind, self.state, self.outgoing.passed
        self.outgoing = None
        state.port_free = True
        state.give(target, kind, -1)
        if state.is_root:
            self._restock((kind, parcel.number))
        else:
            self.parcels[kind].appendleft(parcel)
            state.stock[kind] += 1
            state.arrivals.appendleft(kind)
            state.passed.appendleft(passed)
        self.mark_failed(target)

    def mark_failed(self, target: int) -> None:
        """Mark a child as failed: all parcels in its subtree may be lost."""
        self.off[target] = True
        self._note_open(target, [False] * len(self.announced))
        self._forget_requests(target)
        missing, self.below[target] = self.below[target], {}
        self._miss(sorted(missing))
        if self.outgoing is not None and self.outgoing.target == target and self.transfer:
            self.transfer.cancel()
        self._exclude_failed_children()
        self._close_or_open()
        self.look()

    def learn_of(self, target: int, report: NodeReport) -> None:
        """Process a message of a child."""
        self.heard[target] = self.me.now
        for notice in report.done:
            self._note(notice)
        for identity in report.lost:
            self.below[target].pop(identity, None)
        self._miss(report.lost)
        asked = report.asked
        if report.holds is not None:
            asked = self._recount(target, report, report.holds)
        if report.closed != self.shut[target]:
            self.shut[target] = report.closed
            self._exclude_failed_children()
        if not self.off[target]:
            asks = any(self.takes[target]) or any(report.asked)
            self._note_open(target, [asks and not closed for closed in report.closed])
            self._close_or_open()
            self.hear(target, asked)
        else:
            self.look()

    def hear(self, target: int, asked: list[int]) -> None:
        """Count the requests of a child; announce ended types again to one that was off."""
        for kind, number in enumerate(asked):
            if len(asked) > 1 and number and self.announced[kind]:
                self._announce(target, kind)
        super().hear(target, asked)

    def _recount(self, target: int, report: NodeReport, holds: frozenset[Identity]) -> list[int]:
        """Record all parcels of a child, and return its further requests."""
        self._forget_requests(target)
        before = self.below[target]
        # Parcels that reached it since then, and those in transit, have served requests.
        late = {
            identity: date
            for identity, date in before.items()
            if date >= report.date and identity not in holds
        }
        self.below[target] = dict.fromkeys(holds - self.notices.keys(), report.date) | late
        self._find(holds)
        self._miss(sorted(before.keys() - self.below[target].keys()))
        asked = report.asked
        coming = self.outgoing is not None and self.outgoing.target == target
        for _ in range(len(late) + coming):
            asked = _without_one(asked, self.outgoing.asked if self.outgoing else ANY)
        if self.off[target]:
            self.off[target] = False
            self.counted.release()
            self._exclude_failed_children()
        return asked

    def called(self, tells_all: bool) -> None:
        """Answer the parent's call, which may request a complete report."""
        if tells_all:
            self.tells_all = True
            self.look()

    # ---- messages ----

    def report(self) -> NodeReport:
        """Return the message for the parent."""
        holds = None
        if self.tells_all:
            self.tells_all, self.pending = False, [0] * len(self.pending)
            holds = frozenset(self._holds())
        news = tuple(self.done), tuple(self.lost)
        report = NodeReport(self.requested(), *news, holds, self.closed, self.me.now)
        self.done, self.lost = [], []
        return report

    def unsaid(self, report: NodeReport) -> None:
        """Keep a report that could not be sent."""
        self.done = [*report.done, *self.done]
        self.lost = [*report.lost, *self.lost]
        self.tells_all = True

    def require_service(self) -> None:
        """Raise if the policy has long left the root idle while tasks could be served."""
        idle = self.in_hand is None and self.outgoing is None and not any(self.below)
        if not (self.state.is_root and idle and any(servable(self.state))):
            self.idle_looks = 0
            return
        self.idle_looks += 1
        if self.idle_looks > _MOST_IDLE_LOOKS:
            raise WorkloadError(
                f"policy {self.policy.name!r} never serves: at {self.setup.place.name!r} it still"
                f" returns None at {self.me.now:g} s, with nothing under way; let it return one of"
                " servable(state)"
            )

    def _has_to_ask(self) -> bool:
        """Return True if there is a message for the parent."""
        return bool(self.done or self.lost or self.tells_all) or super()._has_to_ask()

    # ---- actions ----

    def _take(self, kind: int) -> Parcel:
        """Return the oldest parcel of a type; the root distributes lost parcels first."""
        supply = self.setup.supply
        if supply is None:
            return super()._take(kind)
        self.put_tag()
        if self.again[kind]:
            self.log.again += 1
            return supply.parcel(kind, self.again[kind].popleft(), self.state.tag)
        self.handed[kind] += 1
        return supply.parcel(kind, self.handed[kind] - 1, self.state.tag)

    def _note(self, notice: Notice) -> None:
        """Report that a parcel has been computed; the root counts each once."""
        for held in self.below:
            held.pop(notice.identity, None)
        if not self.state.is_root:
            self.done.append(notice)
            return
        if notice.identity in self.notices:
            return
        self.notices[notice.identity] = notice
        self._find([notice.identity])
        kind = notice.identity[0]
        self.left[kind] -= 1
        if not self.left[kind]:
            self.state.ended[kind] = True

    def _miss(self, missing: Iterable[Identity]) -> None:
        """Report lost parcels; the root takes them back into its stock."""
        held = self._holds()
        for identity in missing:
            if identity in held:
                continue
            if self.state.is_root:
                self._restock(identity)
            else:
                self.lost.append(identity)

    def _restock(self, identity: Identity) -> None:
        """Take a task back into the root's stock."""
        kind, number = identity
        if identity not in self.notices and number not in self.again[kind]:
            self.again[kind].append(number)
            self.state.stock[kind] += 1

    def _find(self, found: Iterable[Identity]) -> None:
        """Remove parcels that were not lost, or are done, from the root's stock."""
        for kind, number in found:
            if number in self.again[kind]:
                self.again[kind].remove(number)
                self.state.stock[kind] -= 1

    def _holds(self) -> set[Identity]:
        """Return the known parcels of this node and its subtree."""
        held = set().union(*self.below)
        here = [parcel for parcels in self.parcels for parcel in parcels]
        if self.in_hand is not None:
            here.append(self.in_hand)
        if self.outgoing is not None:
            here.append(self.outgoing.parcel)
        return held | {(parcel.kind, parcel.number) for parcel in here}

    def _note_open(self, target: int, types: list[bool]) -> None:
        """Record the types that are computed in a child's subtree."""
        self.takes[target] = types
        if self.state.known.restricted:
            self.state.can[target] = list(types)

    def _closed(self) -> tuple[bool, ...]:
        """Return True for each type that is not computed in the subtree; never at the root."""
        state = self.state
        mine = state.is_root or state.known.speed > 0
        return tuple(
            not ((mine and (may or state.is_root)) or any(below))
            for may, below in zip(state.known.allowed, zip(*self.takes, strict=True), strict=True)
        )

    def _close_or_open(self) -> None:
        """Update the closed types; report the parcels of newly closed types as lost."""
        state = self.state
        before, self.closed = self.closed, self._closed()
        if not (state.is_root or state.known.computes):
            self.was_asked = not all(self.closed)
        if state.known.restricted and any(
            was and not now for was, now in zip(before, self.closed, strict=True)
        ):
            self.tells_all = not state.is_root
        gone = [
            kind
            for kind, (was, now) in enumerate(zip(before, self.closed, strict=True))
            if now and (not was or state.stock[kind])
        ]
        if not gone:
            return
        for kind in gone:
            self.lost += [(kind, parcel.number) for parcel in self.parcels[kind]]
            self.parcels[kind].clear()
            state.stock[kind] = 0
        waiting = zip(state.arrivals, state.passed, strict=True)
        left = [each for each in waiting if each[0] not in gone]
        state.arrivals = deque(kind for kind, _ in left)
        state.passed = deque(passed for _, passed in left)
        self.tells_all = True
        self.look()

    def _forget_requests(self, target: int) -> None:
        """Forget the requests of a child."""
        state = self.state
        state.asked[target] = 0
        state.wanted[target] = [0] * len(self.announced)
        self.loose[target].clear()
        state.queue = deque(each for each in state.queue if each != target)

    def _exclude_failed_children(self) -> None:
        """Set the planned rates of failed children, and of closed types, to 0."""
        state = self.state
        state.away = [off or all(shut) for off, shut in zip(self.off, self.shut, strict=True)]
        plan = self.whole_plan
        if plan is None:
            return
        rates = tuple(
            tuple(0.0 if off or closed else rate for rate, closed in zip(row, shut, strict=True))
            for row, off, shut in zip(plan.rates, self.off, self.shut, strict=True)
        )
        self.state.plan = NodePlan(rates, plan.slots)
        self.state.given = [[0] * len(row) for row in rates]

    def _drop_unplanned(self) -> None:
        """Drop the root's tasks of types without a rate in the plan for all children."""
        plan, self.state.plan = self.state.plan, self.whole_plan
        super()._drop_unplanned()
        self.state.plan = plan
        self.left = [
            left - dropped for left, dropped in zip(self.left, self.log.dropped, strict=True)
        ]


def _without_one(asked: list[int], kind: int) -> list[int]:
    """Return requests with one less: of a type if it is requested, else of the most requested."""
    fewer = list(asked)
    place = kind if kind != ANY and len(asked) > 1 and asked[kind] else asked.index(max(asked))
    fewer[place] = max(fewer[place] - 1, 0)
    return fewer


async def run_fault_tolerant_host(
    me: Actor, host: HostSetup
) -> tuple[NodeLogs, list[Notice]] | None:
    """Run the nodes of a host, one for each line, while the host is on.

    The root returns when all tasks are reported done; the actors of other hosts are daemons.
    """
    logs: NodeLogs = []
    is_root = host.nodes[0].place.parent is None
    if is_root:
        me.spawn(_collect_logs, logs, name="collects logs", daemon=True)
    is_new = me.now == 0
    nodes = [
        FaultTolerantNode(me, setup, host.policy, host.patience, is_new=is_new)
        for setup in host.nodes
    ]
    me.message_queue(_LOGS).put_detached((me.host.name, [node.log for node in nodes]))
    await run_nodes(me, nodes, _plan, _schedule, _watch, _answer)
    return (logs, [each for node in nodes for each in node.notices.values()]) if is_root else None


async def _collect_logs(me: Actor, logs: NodeLogs) -> None:
    """Collect the logs of each incarnation."""
    while True:
        logs.append(await me.message_queue(_LOGS).get())


async def _plan(me: Actor, node: FaultTolerantNode) -> None:
    """Negotiate the node's plan, once; read it from the disk after a failure."""
    disk, known = node.setup.disk, node.state.known
    if not disk:
        place = node.setup.place
        near = Neighbourhood(node.policy, place, known)
        try:
            if not node.is_new:
                raise ActivityError(f"host {place.name!r} came back without a plan")
            disk.append(await near.plan(me, near.known(known)))
        except ActivityError as error:
            raise WorkloadError(
                f"a failure interrupts the negotiation of {node.policy.name!r}: {error}; let"
                " failures begin later, or choose a policy that does not negotiate"
            ) from None
    node.adopt(disk[0])


async def _schedule(me: Actor, node: FaultTolerantNode) -> None:
    """Open the node when it has its plan and its children's parcels, then report to the parent."""
    place = node.setup.place
    if node.policy.planner is not None:
        await node.ready.acquire()
    if node.is_new:
        await me.sleep_for(node.setup.delay)
    else:
        await _take_stock(me, node)
    node.is_asking = place.parent is None
    node.open()
    box = me.mailbox(requests_of(place.name, node.setup.line))
    while place.parent is not None:
        await node.ask.acquire()
        report = node.report()
        try:
            await box.put(report, message_size(report.numbers), label="request")
        except ActivityError:
            node.unsaid(report)
            await me.sleep_for(node.patience)
        node.is_asking = False
        node.look()


async def _take_stock(me: Actor, node: FaultTolerantNode) -> None:
    """Wait for the complete reports of all children, for `patience` at most."""
    end = me.now + node.patience
    for _ in node.setup.place.children:
        try:
            await node.counted.acquire(timeout=max(end - me.now, 0.0))
        except TimeoutException:
            return


async def _watch(me: Actor, node: FaultTolerantNode, target: int, child: str) -> None:
    """Call a child that is silent; mark it as failed unless it answers."""
    box = me.mailbox(_calls_for(child, node.setup.line))
    while True:
        away = node.off[target]
        quiet = me.now - node.heard[target] >= node.patience
        busy = bool(node.below[target]) or (
            node.outgoing is not None and node.outgoing.target == target
        )
        if away or (quiet and busy):
            try:
                await box.put(away, message_size(1), timeout=node.patience, label="call")
                node.heard[target] = me.now
            except ActivityError:
                if not node.off[target]:
                    node.mark_failed(target)
        await me.sleep_for(node.patience)
        node.require_service()


async def _answer(me: Actor, node: FaultTolerantNode) -> None:
    """Answer the parent's calls."""
    box = me.mailbox(_calls_for(node.setup.place.name, node.setup.line))
    while True:
        node.called(await next_message(node, box))


def _calls_for(name: str, line: int) -> str:
    """Return the name of the mailbox of a node's calls."""
    return f"calls for {name}" if not line else f"calls for {name}, {line}"
