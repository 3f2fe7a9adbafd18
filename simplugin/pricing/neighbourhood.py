"""Neighbours and initial knowledge of agents and price managers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from simplugin.workloads.applications import Application
from simplugin.workloads.shared_deployment import SharedDeployment

ABOVE, BELOW, ACROSS = "above", "below", "across"


def inbox(number: int | str, side: str) -> str:
    """Return the name of the mailbox and of the message queue of a role."""
    return f"{number} {side}"


class Address(NamedTuple):
    """Address of a role.

    Attributes
    ----------
    number : int
        Of the role: agents first, then managers of hosts, then those of links.
    name : str
        Of its mailbox, and of its message queue. One is for messages from below (of an
        agent's children, a manager's members), one for those from above (of an agent's parent and
        managers), because the next message from above may overtake the last from below, and one
        for messages between masters of different applications.
    local : bool
        True if it is on the host of the owner of the address.
    """

    number: int
    name: str
    local: bool


class Circle(tuple[Address, ...]):
    """Addresses that a role waits for together.

    Attributes
    ----------
    local, remote : int
        Numbers of those on the host of the owner of the addresses, and of the others.
    """

    local: int
    remote: int

    def __new__(cls, addresses: Iterable[Address | None] = ()) -> Circle:
        """Return the circle of the addresses that are not None."""
        self = super().__new__(cls, (each for each in addresses if each))
        self.local = sum(each.local for each in self)
        self.remote = len(self) - self.local
        return self


NOBODY = Circle()


@dataclass(frozen=True, slots=True)
class AgentNeighbourhood:
    """Initial knowledge of an application's agent.

    Attributes
    ----------
    number : int
        Its own, which its messages bear.
    application : int
        Of its application.
    flop, byte, weight : float
        Of its application: computation [flop] and data [byte] of a task, weight of the utility.
    computes : bool
        True if its application may compute on its host.
    parent : Address or None
        The agent that data come from; None for a master's.
    children : Circle
        The agents that data go to, in order.
    host_manager : Address or None
        Manager of its host; None if it does not compute.
    link_manager : Address or None
        Manager of the link to it; None for a master's.
    start, end : float
        When the application is present [s]; only its master's agent knows.
    gathers : bool
        True if it belongs to the tree in which sums over all applications are made: the first
        that has an agent on the host of every master.
    served : Circle
        The masters on its host for which it passes on such sums, if it is the one to do so.
    relay : Address or None
        A master's: the agent that does it for it; None in that tree, or if there is none.
    parents, managers, above : Circle
        Its parent, the managers of its host and of the link to it, and all three.
    """

    number: int
    application: int
    flop: float
    byte: float
    weight: float
    computes: bool
    parent: Address | None
    children: Circle
    host_manager: Address | None
    link_manager: Address | None
    start: float = 0.0
    end: float = math.inf
    gathers: bool = False
    served: Circle = NOBODY
    relay: Address | None = None
    parents: Circle = field(init=False)
    managers: Circle = field(init=False)
    above: Circle = field(init=False)

    def __post_init__(self) -> None:
        """Join the addresses of those above."""
        managers = self.host_manager, self.link_manager
        object.__setattr__(self, "parents", Circle([self.parent]))
        object.__setattr__(self, "managers", Circle(managers))
        object.__setattr__(self, "above", Circle([self.parent, *managers]))


@dataclass(frozen=True, slots=True)
class ManagerNeighbourhood:
    """Initial knowledge of the price manager of a host or link.

    Attributes
    ----------
    number : int
        Its own.
    is_host : bool
        True for a manager of a host.
    resource : int
        The number of its host or link.
    members : Circle
        The agents that use the resource, in order.
    """

    number: int
    is_host: bool
    resource: int
    members: Circle


@dataclass(frozen=True)
class Neighbourhoods:
    """All roles of a deployment, by number: agents, managers of hosts, managers of links.

    Attributes
    ----------
    agents : tuple of AgentNeighbourhood
        One an agent.
    managers : tuple of ManagerNeighbourhood
        One for each host on which an agent computes and for each link that an agent uses.
    host : tuple of int
        Host of each role, the unused managers included. A link's manager is on the host of the
        first agent that receives data through the link; if possible, on a host that never fails.
    """

    agents: tuple[AgentNeighbourhood, ...]
    managers: tuple[ManagerNeighbourhood, ...]
    host: tuple[int, ...]


def neighbourhoods(
    sharing: SharedDeployment,
    applications: Sequence[Application] = (),
    failing: Collection[int] = (),
    prefix: str = "",
) -> Neighbourhoods:
    """Return the neighbours of all roles.

    Parameters
    ----------
    sharing : SharedDeployment
        The deployment.
    applications : sequence of Application, optional
        The same applications, for their dates.
    failing : collection of int, optional
        Hosts that fail or are cut off at some time.
    prefix : str
        Of the names of all mailboxes.

    Returns
    -------
    Neighbourhoods
        Of every agent and every manager that has something to do.
    """
    agents, hosts = sharing.n_agents, sharing.n_hosts
    stands = [*sharing.host.tolist(), *range(hosts), *[-1] * sharing.n_links]
    children: list[list[int]] = [[] for _ in range(agents)]
    members: list[list[int]] = [[] for _ in range(hosts + sharing.n_links)]
    for agent in range(agents):
        parent, link = int(sharing.parent[agent]), int(sharing.link[agent])
        if parent >= 0:
            children[parent].append(agent)
            members[hosts + link].append(agent)
            stood = stands[agents + hosts + link]
            if stood < 0 or (stood in failing and stands[agent] not in failing):
                stands[agents + hosts + link] = stands[agent]
        if sharing.computes[agent]:
            members[int(sharing.host[agent])].append(agent)

    def address(of: int, seen_from: int) -> Address:
        # Managers are above agents, and parents, with smaller numbers, above their children.
        from_above = of < agents and (seen_from >= agents or seen_from < of)
        side = ABOVE if from_above else BELOW
        return Address(of, prefix + inbox(of, side), stands[of] == stands[seen_from])

    seats = [_seat(sharing, agent, children[agent], address) for agent in range(agents)]
    for application, master in zip(applications, sharing.masters.tolist(), strict=False):
        seats[master] = replace(seats[master], start=application.start, end=application.end)
    _join_masters(sharing, seats, prefix)
    managers = []
    for resource, users in enumerate(members):
        number, place = agents + resource, resource if resource < hosts else resource - hosts
        circle = Circle(address(agent, number) for agent in users)
        if users:
            managers.append(ManagerNeighbourhood(number, resource < hosts, place, circle))
    return Neighbourhoods(tuple(seats), tuple(managers), tuple(stands))


def _seat(
    sharing: SharedDeployment,
    agent: int,
    children: list[int],
    address: Callable[[int, int], Address],
) -> AgentNeighbourhood:
    """Return the initial knowledge of one agent."""
    application = int(sharing.application[agent])
    parent, computes = int(sharing.parent[agent]), bool(sharing.computes[agent])
    host = sharing.n_agents + int(sharing.host[agent])
    link = sharing.n_agents + sharing.n_hosts + int(sharing.link[agent])
    flop, byte = float(sharing.flop[application]), float(sharing.byte[application])
    weight, below = float(sharing.weight[application]), Circle(address(k, agent) for k in children)
    above = address(parent, agent) if parent >= 0 else None
    host_manager = address(host, agent) if computes else None
    link_manager = address(link, agent) if parent >= 0 else None
    own = agent, application, flop, byte, weight, computes
    return AgentNeighbourhood(*own, above, below, host_manager, link_manager)


def _join_masters(sharing: SharedDeployment, seats: list[AgentNeighbourhood], prefix: str) -> None:
    """Choose the tree through which masters make sums, if one has an agent on the host of each."""
    homes = sharing.host[sharing.masters].tolist()
    first: dict[tuple[int, int], int] = {}
    for agent, place in enumerate(
        zip(sharing.application.tolist(), sharing.host.tolist(), strict=True)
    ):
        first.setdefault(place, agent)
    for tree in range(sharing.n_applications):
        if all((tree, home) in first for home in homes):
            break
    else:
        return
    for number, seat in enumerate(seats):
        if seat.application == tree:
            seats[number] = replace(seat, gathers=True)
    for application, master in enumerate(sharing.masters.tolist()):
        if application == tree:
            continue
        relay = first[tree, homes[application]]
        to_relay = Address(relay, prefix + inbox(relay, ACROSS), True)
        to_master = Address(master, prefix + inbox(master, ACROSS), True)
        seats[master] = replace(seats[master], relay=to_relay)
        seats[relay] = replace(seats[relay], served=Circle([*seats[relay].served, to_master]))
