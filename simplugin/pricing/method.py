"""The contract of a pricing method: its iteration over arrays, and its roles as actors.

**Iteration.** `start` returns the state before the first round, `round` the state after one more.
States have `rate`, `host_price` and `link_price`. This half needs no simulation; `iterate` runs it.

**Roles.** In a simulation every agent and every price manager of a host or link is an actor. What
it knows and decides is a `Role`; its actor delivers messages and posts the answers. Roles know
their neighbourhood (`AgentNeighbourhood`, `ManagerNeighbourhood`) and what messages bring them,
nothing else. A method that runs as actors derives from `Method` and defines

- `roles`, to run in synchronous rounds (`negotiate`). A role calls `wait` to name the neighbours
  that have to send it a message each, and its `decide` is called with these messages once all are
  received, or at once if it waits for none. The first call has no messages. The role adds 1 to
  `round` when its rate or price of a round is final, and sets `over` after its last message.
- `periodic_roles`, to run without rounds (`simulate_periodic`). `decide` is called once a period
  with the messages since the last call; `wait`, `round` and `over` are ignored.

A message is a tuple: the sender's number, any number that identifies the round, then the contents.
A manager also receives ``(SENSOR, 0, capacity)`` in each call, and a role without rounds
``(CLOCK, 0, date)``.

Optional parts: `check` refuses deployments that do not fit the method, `Role.inherit` lets roles
continue after a host has failed, `Role.resume` lets `negotiate` start from an iteration's state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from simplugin.core.errors import SimpluginError, WorkloadError
from simplugin.pricing.neighbourhood import (
    BELOW,
    Address,
    AgentNeighbourhood,
    Circle,
    ManagerNeighbourhood,
)
from simplugin.workloads.shared_deployment import AlphaFair, Floats, SharedDeployment

# The sender's number and its round, then numbers.
Message = tuple[Any, ...]
Posts = list[tuple[Address, Message]]
# The senders of readings of the local sensor and of the local clock.
SENSOR, CLOCK = -1, -2


class State(Protocol):
    """The common part of the states of all iterations."""

    @property
    def rate(self) -> Floats:
        """Tasks that each agent computes [tasks/s], shape (n_agents,)."""
        ...

    @property
    def host_price(self) -> Floats:
        """Price of computation on each host [utility/flop], shape (n_hosts,)."""
        ...

    @property
    def link_price(self) -> Floats:
        """Price of traffic on each link [utility/byte], shape (n_links,)."""
        ...


_State = TypeVar("_State", bound=State)


class Iteration(Protocol[_State]):
    """The pure half of a method: its start and its rounds."""

    def start(self, sharing: SharedDeployment, utility: AlphaFair) -> _State:
        """Return the state before the first round."""
        ...

    def round(self, sharing: SharedDeployment, utility: AlphaFair, state: _State) -> _State:
        """Return the state after one more round, without changing the given one."""
        ...


@dataclass(slots=True, kw_only=True)
class Role(ABC):
    """An agent or a price manager between two decisions.

    Attributes
    ----------
    side : str
        The side of the messages that it waits for: ABOVE, BELOW or ACROSS.
    local, remote : int
        The number of messages that it waits for, from its own host and from others.
    over : bool
        True if it has ended.
    round : int
        The number of rounds that it has ended.
    """

    side: str = BELOW
    local: int = 0
    remote: int = 0
    over: bool = False
    round: int = 0

    @abstractmethod
    def decide(self, messages: Sequence[Message]) -> Posts:
        """Update the state for the received messages; return those to send."""

    @property
    @abstractmethod
    def value(self) -> float:
        """Its rate [tasks/s] or price [utility/flop or utility/byte]; for the observer only."""

    @property
    def shares(self) -> tuple[float, ...]:
        """An agent's rate, and the flows into its children's subtrees [tasks/s].

        Tasks are dispatched by it; needed for `simulate_periodic` with a `grain` only.
        """
        raise WorkloadError(f"{type(self).__name__} has no shares; define its property shares")

    def wait(self, side: str, senders: Circle) -> None:
        """Wait for one message of each sender."""
        self.side, self.local, self.remote = side, senders.local, senders.remote

    def inherit(self, old: Any) -> None:
        """Take over rates or prices of the role that was ended here when a host failed.

        By default a role starts afresh.
        """
        del old

    def resume(self, state: Any) -> None:
        """Take over this role's part of a state of the iteration between two rounds.

        The arrays of a state are numbered as agents, hosts and links are; see `Address.number`.
        """
        del state
        raise WorkloadError(f"{type(self).__name__} cannot resume; define its method resume")


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a method.

    Attributes
    ----------
    agent, manager : callable
        Return the first role of an agent, or of a price manager, in its neighbourhood.
    """

    agent: Callable[[AgentNeighbourhood], Role]
    manager: Callable[[ManagerNeighbourhood], Role]


class Method(Iteration[_State]):
    """A method that runs as actors, too; the base class of the shipped ones and of the user's."""

    def check(self, sharing: SharedDeployment) -> None:
        """Raise WorkloadError if the method does not fit a deployment; by default all fit."""

    def roles(self, utility: AlphaFair, rounds: int) -> Roles:
        """Return the roles in synchronous rounds.

        Parameters
        ----------
        utility : AlphaFair
            Of every application.
        rounds : int
            Number of rounds.

        Raises
        ------
        SimpluginError
            The method has no such roles.
        """
        del utility, rounds
        raise SimpluginError(f"{type(self).__name__} has no agents; define its method roles")

    def periodic_roles(self, utility: AlphaFair, patience: int) -> Roles:
        """Return the roles without rounds.

        Parameters
        ----------
        utility : AlphaFair
            Of every application.
        patience : int
            Periods for which a neighbour may be silent; see `News`.

        Raises
        ------
        SimpluginError
            The method has no such roles.
        """
        del utility, patience
        raise SimpluginError(
            f"{type(self).__name__} has no agents without rounds; define its method periodic_roles"
        )


def require_method(method: object) -> Method[Any]:
    """Return the method; raise SimpluginError if it has an iteration only."""
    if not isinstance(method, Method):
        raise SimpluginError(
            f"{type(method).__name__} has no agents; derive it from simplugin.pricing.Method"
        )
    return method


def check_start(
    method: Method[Any], sharing: SharedDeployment, utility: AlphaFair, state: State
) -> None:
    """Raise WorkloadError if a state is of another method, or of another deployment."""
    expected = type(method.start(sharing, utility))
    if not isinstance(state, expected):
        raise WorkloadError(
            f"{type(method).__name__} cannot resume from a {type(state).__name__};"
            f" give a {expected.__name__}"
        )
    sizes = len(state.rate), len(state.host_price), len(state.link_price)
    if sizes != (sharing.n_agents, sharing.n_hosts, sharing.n_links):
        message = "the state is of {} agents, {} hosts and {} links, not of this deployment"
        raise WorkloadError(message.format(*sizes))
