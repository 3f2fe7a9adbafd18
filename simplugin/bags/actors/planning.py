"""Negotiation of plans over mailboxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from simplugin.bags.policy import (
    BagPolicy,
    Choice,
    NegotiatedRates,
    Negotiator,
    NodeKnowledge,
    NodePlan,
    NodeState,
    TreePosition,
    count_numbers,
    expected_time,
    message_size,
    time_between_looks,
)
from simplugin.simulation.api import Actor
from simplugin.workloads.applications import Bags

# Approximate size of the messages of a negotiation on a link [byte].
_NEGOTIATION = 1e3


@dataclass(slots=True)
class NegotiatedPlan:
    """Result of a node's negotiation.

    Attributes
    ----------
    node : Negotiator
        The node at the end.
    messages : int
        Number of messages that it sent.
    bytes : float
        Their length [byte].
    duration : float
        From its first message, received or sent, to its last [s].
    """

    node: Negotiator
    messages: int
    bytes: float
    duration: float

    @property
    def plan(self) -> NodePlan:
        """Return the plan of the node."""
        plan = self.node.plan
        assert plan is not None
        return plan


class Neighbourhood:
    """The neighbours with which a node negotiates: all but children with very slow links.

    Such a link cannot carry a task and a negotiation within the policy's horizon; since they
    share one port, all these links together carry less than one task in that time. The root
    keeps all children if all their links are that slow.
    """

    def __init__(self, policy: BagPolicy, place: TreePosition, known: NodeKnowledge) -> None:
        least = max(min(known.byte), _NEGOTIATION)
        widths = list(enumerate(known.bandwidth))
        near = [child for child, width in widths if width * policy.horizon >= least]
        if place.parent is None and not near:
            near = [child for child, _ in widths]
        self._policy, self._whole, self._near = policy, place, near
        self.place = replace(place, children=tuple(place.children[child] for child in near))

    def known(self, known: NodeKnowledge) -> NodeKnowledge:
        """Return a copy of the node's knowledge, restricted to these neighbours."""
        return replace(known, bandwidth=[known.bandwidth[child] for child in self._near])

    async def plan(self, me: Actor, known: NodeKnowledge) -> NodePlan:
        """Negotiate; return a plan with rates of 0 for all other children."""
        assert self._policy.planner is not None
        who = f"the plan of policy {self._policy.name!r} for {self.place.name!r}"
        plan = NodePlan.checked(who, await self._policy.planner(me, self.place, known), known)
        rates = dict(zip(self._near, plan.rates[1:], strict=True))
        nothing = (0.0,) * len(known.flop)
        below = [rates.get(child, nothing) for child in range(len(self._whole.children))]
        return replace(plan, rates=(plan.rates[0], *below))


def negotiated_policy(
    name: str,
    decide: Callable[[NodeState], Choice | None],
    make: Callable[..., Negotiator],
    bags: Bags,
    found: NegotiatedRates,
    *,
    decentralised: bool,
    period: float | None,
) -> BagPolicy:
    """Return a policy whose nodes follow negotiated plans.

    Parameters
    ----------
    name, decide
        As of `BagPolicy`.
    make : callable
        ``(known, is_root=...) -> Negotiator``.
    bags : Bags
        The applications.
    found : NegotiatedRates
        Result of the negotiation without a simulation.
    decentralised : bool
        True if nodes negotiate by messages; False if they get the rates that were found.
    period : float, optional
        As for `time_between_looks`.
    """
    if not decentralised:
        return BagPolicy(name, decide, plans=found.plans, expected_throughput=found.fair)
    return BagPolicy(
        name,
        decide,
        planner=partial(_planned, make=make),
        period=time_between_looks(period, bags, found.fair),
        expected_throughput=found.fair,
        horizon=expected_time(bags, found.fair),
    )


async def _planned(
    me: Actor, place: TreePosition, known: NodeKnowledge, *, make: Callable[..., Negotiator]
) -> NodePlan:
    """Negotiate with the neighbours; return the node's own plan."""
    return (await negotiate(me, place, make(known, is_root=place.parent is None))).plan


async def negotiate(me: Actor, place: TreePosition, node: Negotiator) -> NegotiatedPlan:
    """Negotiate with the neighbours; all nodes of a tree call it, the root begins."""
    found = NegotiatedPlan(node, 0, 0.0, 0.0)
    start = me.now if place.parent is None else -1.0
    # Of the parent and of the children: where their messages come in, and where those to them go.
    neighbours = [(f"plan down {place.name}", f"plan up {place.name}")]
    neighbours += [(f"plan up {child}", f"plan down {child}") for child in place.children]
    inlets = [me.mailbox(inlet) for inlet, _ in neighbours]
    outlets = [me.mailbox(outlet) for _, outlet in neighbours]
    posts = node.begin()
    while True:
        activities = []
        for target, message in posts:
            size = message_size(count_numbers(message))
            found.messages, found.bytes = found.messages + 1, found.bytes + size
            activity = outlets[target].put_async(message, size, label="plan")
            if node.together:
                activities.append(activity)
            else:
                await activity
        for activity in activities:
            await activity
        if node.plan is not None:
            found.duration = me.now - start
            return found
        source = node.awaits
        message = await inlets[source].get()
        start = me.now if start < 0 else start
        posts = node.hear(source, message)
