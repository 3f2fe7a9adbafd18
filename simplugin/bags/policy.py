"""Knowledge and decisions of the nodes of a tree: the protocol of a policy."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown
from simplugin.platforms.graphs import Tree
from simplugin.simulation.api import Actor
from simplugin.workloads.applications import Bags

# The target that is the node's own worker; its children are 1, 2, ... in their order.
WORKER = 0

# Tasks that a node's buffer holds, section 6.2.1.
BUFFER = 10

# Default number of checks for changes in a run.
LOOKS = 20

# A target, and the type of the task that it gets.
Choice = tuple[int, int]

# Headers of a message as TCP and IP have them, and a number [byte].
HEADERS, NUMBER = 40.0, 8.0

# The parent as sender or receiver of a negotiator's messages; children are 1, 2, ...
PARENT = 0


@dataclass(frozen=True, slots=True)
class TreePosition:
    """Position of a node in the tree: the names of its host and of those next to it.

    Attributes
    ----------
    name : str
        Of its host.
    parent : str, optional
        None for the root.
    children : tuple of str
        In the order of its targets.
    """

    name: str
    parent: str | None
    children: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree, host: int) -> TreePosition:
        """Return the place of a host in a tree."""
        parent = int(tree.parent[host])
        children = tuple(tree.hosts[child] for child in tree.children[host])
        return cls(tree.hosts[host], None if parent < 0 else tree.hosts[parent], children)


@dataclass(slots=True)
class NodeKnowledge:
    """Knowledge of a node: the types of tasks, and its own measurements.

    Attributes
    ----------
    flop, byte, weight : list of float, shape (n_types,)
        Of a task of each type [flop, byte].
    speed : float
        Of its own host [flop/s]; 0 if it only distributes.
    bandwidth : list of float, shape (n_children,)
        To each child [byte/s].
    allowed : list of bool, shape (n_types,)
        True for each type that its own host may compute; all by default.
    restricted : bool
        True if some hosts may not compute some types.
    """

    flop: list[float]
    byte: list[float]
    weight: list[float]
    speed: float
    bandwidth: list[float]
    allowed: list[bool] = field(default_factory=list)
    restricted: bool = False

    def __post_init__(self) -> None:
        """Allow all types by default."""
        self.allowed = self.allowed or [True] * len(self.flop)

    @property
    def computes(self) -> bool:
        """True if its host computes tasks of some type."""
        return self.speed > 0 and any(self.allowed)

    @classmethod
    def of(cls, tree: Tree, bags: Bags, host: int) -> NodeKnowledge:
        """Return the knowledge of a host's node, measured without error."""
        return cls(
            bags.flop.tolist(),
            bags.byte.tolist(),
            bags.weight.tolist(),
            float(tree.speed[host]),
            tree.bandwidth[list(tree.children[host])].tolist(),
            bags.may_compute(tree.hosts[host]),
            bags.hosts is not None,
        )

    def differs(self, other: NodeKnowledge, tolerance: float) -> bool:
        """Return True if its speed or a bandwidth differs by more than a part `tolerance`."""
        pairs = zip((self.speed, *self.bandwidth), (other.speed, *other.bandwidth), strict=True)
        return any(abs(new - old) > tolerance * old for new, old in pairs)


@dataclass(frozen=True)
class NodePlan:
    """Plan of a node, given in advance or negotiated.

    Attributes
    ----------
    rates : tuple of tuple of float, shape (1 + n_children, n_types)
        Planned tasks of each type for each target [tasks/s].
    slots : tuple of int, shape (n_types,)
        With typed requests: slots of the node's buffer for each type. Empty if requests name no
        types.
    """

    rates: tuple[tuple[float, ...], ...]
    slots: tuple[int, ...] = ()

    @classmethod
    def checked(cls, who: str, plan: object, known: NodeKnowledge) -> NodePlan:
        """Return a plan; raise WorkloadError, about who made it, unless it is one of the node."""
        if not isinstance(plan, cls):
            raise WorkloadError(f"{who} is {shown(plan)}; give a NodePlan")
        shape = 1 + len(known.bandwidth), len(known.flop)
        rule = f"numbers from 0 on, for {shape[0]} targets and {shape[1]} types of tasks"
        decided(f"{who} has rates", plan.rates, rule, shape, least=0.0)
        slots: object = plan.slots
        if not (isinstance(slots, tuple) and not slots):
            rule = f"whole numbers from 0 on, for {shape[1]} types of tasks"
            decided(f"{who} has slots", plan.slots, rule, shape[1:], whole=True, least=0)
        return plan

    @cached_property
    def planned(self) -> list[bool]:
        """Return True for each type with a rate for some target."""
        return [max(column) > 0 for column in zip(*self.rates, strict=True)]


@dataclass(slots=True)
class NodeState:
    """State on which a policy decides. Policies read it; only the node's actors write.

    Attributes
    ----------
    known : NodeKnowledge
        Its latest measurements.
    is_root : bool
        True if it holds all tasks at the start.
    capacity : int
        Slots of its buffer; the root's is not bounded.
    plan : NodePlan, optional
        The plan, if the policy has one.
    now : float
        Simulated date [s].
    stock : list of int, shape (n_types,)
        Tasks of each type in its buffer, except the one being sent.
    arrivals : deque of int
        Types of the tasks in stock, the oldest first; empty for the root.
    passed : deque of int
        For each of these tasks, the number of later ones that left before it, at this node and at
        earlier ones.
    asked : list of int, shape (1 + n_children,)
        Pending requests of each target; 1 for an idle worker.
    wanted : list of list of int, shape (1 + n_children, n_types)
        Pending requests that name a type. The others, and the worker's, accept any type that the
        target `can` have.
    can : list of list of bool, shape (1 + n_children, n_types)
        True for each type known to be computed in the target's subtree; all unless the types are
        restricted. A node learns it from plans, and from requests, which then name types.
    queue : deque of int
        Targets of the pending requests, the oldest first.
    given : list of list of float, shape (1 + n_children, n_types)
        Tasks that each target got since the current plan was made, less the fraction of a task
        owed by the plan before it.
    handed : list of float, shape (n_types,)
        The sum of `given` over all targets.
    ended : list of bool, shape (n_types,)
        True for each type without further tasks.
    away : list of bool, shape (1 + n_children,)
        True for each target that counts as failed, or has reported all types as closed; its
        requests are forgotten.
    port_free : bool
        True if no task is being sent.
    tag : tuple of float
        Numbers on the latest task; at the root, those that its policy put on it.
    """

    known: NodeKnowledge
    is_root: bool
    capacity: int
    stock: list[int]
    plan: NodePlan | None = None
    now: float = 0.0
    arrivals: deque[int] = field(default_factory=deque)
    passed: deque[int] = field(default_factory=deque)
    asked: list[int] = field(default_factory=list)
    wanted: list[list[int]] = field(default_factory=list)
    can: list[list[bool]] = field(default_factory=list)
    queue: deque[int] = field(default_factory=deque)
    given: list[list[float]] = field(default_factory=list)
    handed: list[float] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)
    away: list[bool] = field(default_factory=list)
    port_free: bool = True
    tag: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Fill the fields that are not given."""
        targets, types = 1 + len(self.known.bandwidth), len(self.known.flop)
        self.asked = self.asked or [0] * targets
        self.wanted = self.wanted or [[0] * types for _ in range(targets)]
        below = not self.known.restricted
        self.can = self.can or [self.known.allowed] + [[below] * types for _ in range(targets - 1)]
        self.given = self.given or [[0] * types for _ in range(targets)]
        self.handed = self.handed or list(map(sum, zip(*self.given, strict=True)))
        self.ended = self.ended or [False] * types
        self.away = self.away or [False] * targets

    def give(self, target: int, kind: int, tasks: int = 1) -> None:
        """Count tasks that a target got; negative if they came back."""
        self.given[target][kind] += tasks
        self.handed[kind] += tasks


def servable(state: NodeState) -> Iterator[Choice]:
    """Yield the pairs that can be served now: a target with a request, and a type in stock.

    A child can be served only while the port is free. Policies that only choose among these
    pairs, and never wait for another one, cannot deadlock small buffers.
    """
    stock = [kind for kind, tasks in enumerate(state.stock) if tasks]
    if not stock:
        return
    for target, requests in enumerate(state.asked):
        if target != WORKER and not state.port_free:
            return
        if requests:
            can, wanted = state.can[target], state.wanted[target]
            untyped = requests > sum(wanted)
            for kind in stock:
                if can[kind] and (untyped or wanted[kind] or is_unplanned(state, kind)):
                    yield target, kind


def suits(state: NodeState, target: int, kind: int) -> bool:
    """Return True if a task of a type serves a request of a target with pending requests."""
    if not state.can[target][kind]:
        return False
    wanted = state.wanted[target]
    return bool(wanted[kind]) or state.asked[target] > sum(wanted) or is_unplanned(state, kind)


def is_unplanned(state: NodeState, kind: int) -> bool:
    """Return True if the plan has no rate for a type; an earlier plan may have left tasks of it.

    No request names it then; it may serve any request.
    """
    return state.plan is not None and not state.plan.planned[kind]


def owed(state: NodeState) -> list[list[float]]:
    """Return the fraction of a task by which each pair is behind its plan, or ahead if negative.

    A new plan starts from there. Otherwise, with short-lived plans, a pair with a rate of less
    than a task per plan would never get one.

    Returns
    -------
    list of list of float, shape (1 + n_children, n_types)
        From -1 to 1; 0 without a plan.
    """
    if state.plan is None or not sum(map(sum, state.plan.rates)):
        return [[0.0] * len(row) for row in state.given]
    progress = sum(map(sum, state.given)) / sum(map(sum, state.plan.rates))
    return [
        [min(max(rate * progress - got, -1.0), 1.0) for rate, got in zip(*rows, strict=True)]
        for rows in zip(state.plan.rates, state.given, strict=True)
    ]


def expected_time(bags: Bags, fair: float) -> float:
    """Return the time of the slowest bag at a fair throughput [s]; inf if none is served."""
    most = float((bags.count / bags.weight).max())
    return most / fair if most > 0 and 0 < fair < math.inf else math.inf


def time_between_looks(period: float | None, bags: Bags, fair: float) -> float:
    """Return the interval between checks for renegotiation [s].

    Parameters
    ----------
    period : float, optional
        The interval; by default a twentieth of the time of the slowest bag, inf if none is served.
    bags : Bags
        The bags.
    fair : float
        Fair throughput of the bags [tasks/s, per unit of weight].

    Raises
    ------
    WorkloadError
        The period is not positive.
    """
    if period is None:
        return expected_time(bags, fair) / LOOKS
    if not period > 0:
        raise WorkloadError(f"period is {period!r}; give a positive time [s], inf for never again")
    return period


def message_size(numbers: int) -> float:
    """Return the length of a message of some numbers [byte]."""
    return HEADERS + NUMBER * numbers


def count_numbers(message: object) -> int:
    """Return the length of a message in numbers: of a number, an array, a tuple or a data class."""
    if isinstance(message, np.ndarray):
        return message.size
    if isinstance(message, int | float):
        return 1
    names = getattr(message, "__dataclass_fields__", ())
    parts: Any = [getattr(message, name) for name in names] if names else message
    return sum(map(count_numbers, parts))


# Messages, each with its receiver.
Posts = list[tuple[int, Any]]


class Negotiator(Protocol):
    """A node that negotiates its plan: a state machine, without a simulator.

    Messages are tuples or data classes of numbers, see `count_numbers`.

    Attributes
    ----------
    together : bool
        True if its messages are sent at the same time, False if one after the other.
    """

    together: bool

    @property
    def plan(self) -> NodePlan | None:
        """Return the plan; None before the end."""

    @property
    def awaits(self) -> int:
        """Return the neighbour of the next message: `PARENT`, or a child."""

    def begin(self) -> Posts:
        """Return the first messages, each with its receiver; only the root has some."""

    def hear(self, source: int, message: Any) -> Posts:
        """Return the messages that answer one of a neighbour."""


Negotiating = TypeVar("Negotiating", bound=Negotiator)


def converse(
    tree: Tree, bags: Bags, make: Callable[..., Negotiating]
) -> tuple[list[Negotiating], int]:
    """Let the nodes of a tree negotiate until there are no messages, without simulating them.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    make : callable
        ``(known, is_root=...) -> Negotiator``.

    Returns
    -------
    nodes : list of Negotiator, shape (n_hosts,)
        The negotiators of the hosts at the end.
    messages : int
        Number of messages.

    Raises
    ------
    InfeasibleError
        No host computes an application.
    """
    bags.allowed(tree.hosts, tree.speed)
    nodes = [
        make(NodeKnowledge.of(tree, bags, host), is_root=host == 0) for host in range(tree.n_hosts)
    ]
    # Number of each host among the children of its parent.
    place = {child: at for row in tree.children for at, child in enumerate(row, 1)}
    waiting = deque([(0, nodes[0].begin())])
    count = 0
    while waiting:
        host, posts = waiting.popleft()
        count += len(posts)
        for target, message in posts:
            if target == PARENT:
                to, source = int(tree.parent[host]), place[host]
            else:
                to, source = tree.children[host][target - 1], PARENT
            waiting.append((to, nodes[to].hear(source, message)))
    return nodes, count


@dataclass(frozen=True, eq=False)
class NegotiatedRates:
    """Rates that the nodes of a tree agreed on.

    Attributes
    ----------
    compute : float64, shape (n_hosts, n_applications)
        Tasks that each host is to compute [tasks/s].
    sent : float64, shape (n_hosts, n_applications)
        Tasks that each host is to get from its parent [tasks/s]; the root's row is all that it
        releases.
    fair : float
        The smallest throughput over weight [tasks/s].
    plans : tuple of NodePlan, shape (n_hosts,)
        The same rates as each node has them.
    """

    compute: NDArray[np.float64]
    sent: NDArray[np.float64]
    fair: float
    plans: tuple[NodePlan, ...]

    @property
    def throughput(self) -> NDArray[np.float64]:
        """Of each application [tasks/s], shape (n_applications,)."""
        released: NDArray[np.float64] = self.sent[0]
        return released


def rates_of(
    tree: Tree, nodes: Sequence[Negotiator]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[NodePlan, ...]]:
    """Return `compute`, `sent` and `plans` of `NegotiatedRates` from nodes that have plans."""
    plans = tuple(plan for node in nodes if (plan := node.plan) is not None)
    compute = np.array([plan.rates[0] for plan in plans])
    sent = np.zeros_like(compute)
    for children, plan in zip(tree.children, plans, strict=True):
        for child, row in zip(children, plan.rates[1:], strict=True):
            sent[child] = row
    sent[0] = compute[0] + sent[list(tree.children[0])].sum(axis=0)
    return compute, sent, plans


class Planner(Protocol):
    """Negotiates a node's plan with its parent and children, by messages."""

    def __call__(self, me: Actor, place: TreePosition, known: NodeKnowledge) -> Awaitable[NodePlan]:
        """Return the plan of this node.

        All nodes call it once, and with a `BagPolicy.period` again each time that the root learns
        of changes. It may use only its arguments and messages.

        Parameters
        ----------
        me : Actor
            An actor on the node's host.
        place : TreePosition
            Names of its neighbours, for the names of mailboxes.
        known : NodeKnowledge
            Measurements of the node.
        """


@dataclass(frozen=True)
class BagPolicy:
    """Policy of the nodes of a tree.

    Attributes
    ----------
    name : str
        Its name.
    decide : callable
        ``(NodeState) -> (target, type) | None``: the pair to serve, one of `servable`, or None to
        wait. A pure function.
    plans : tuple of NodePlan, shape (n_hosts,)
        The plans of the nodes if they are given in advance; else empty.
    planner : Planner, optional
        The negotiation of plans instead.
    period : float
        Interval between checks for renegotiation [s]; inf for none. After twice the `horizon` it
        is at least a fortieth of the date, to limit the number of checks.
    tolerance : float
        Nodes renegotiate if a measured speed, or bandwidth to a child, differs from that of the
        current plan by more than this fraction of it; below 0, at each check.
    tag : callable, optional
        ``(NodeState) -> tuple of float``: numbers that the root puts on a task and that travel
        with it.
    bundled : bool
        True if tasks travel as macro-tasks, one of each application (in proportion to weights).
    parallel : bool
        True if each application has separate schedulers and workers, which share ports and CPUs
        in equal time.
    buffer_per_application : bool
        With `parallel`: True if each application has all slots of a buffer to itself; else its
        part of them.
    expected_throughput : float
        Fair throughput that the policy expects [tasks/s, per unit of weight]; nan if unknown.
    horizon : float
        Expected duration of the run [s]. A child with a link that cannot carry a task and a
        negotiation in this time takes no part in negotiations, and gets no tasks.
    """

    name: str
    decide: Callable[[NodeState], Choice | None]
    plans: tuple[NodePlan, ...] = ()
    planner: Planner | None = None
    period: float = math.inf
    tolerance: float = 0.1
    tag: Callable[[NodeState], tuple[float, ...]] | None = None
    bundled: bool = False
    parallel: bool = False
    buffer_per_application: bool = False
    expected_throughput: float = math.nan
    horizon: float = math.inf
