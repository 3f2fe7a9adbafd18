"""The state of a simulation that pauses, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from simplugin.core.errors import BlockedActor
from simplugin.simulation.digests import digest


@dataclass(frozen=True, slots=True)
class HostState:
    """A host at a pause.

    Attributes
    ----------
    name : str
        Its name.
    is_on : bool
        True if it is on.
    speed : float
        Of a core, as its profile leaves it [flop/s]; NaN under ``cpu/optim:TI``, where SimGrid
        gives neither this nor the next two.
    load : float
        Speed in use [flop/s].
    flops : float
        Work computed so far [flop].
    executions : int
        Executions in progress.
    """

    name: str
    is_on: bool
    speed: float
    load: float
    flops: float
    executions: int


@dataclass(frozen=True, slots=True)
class LinkState:
    """A link at a pause.

    Attributes
    ----------
    name : str
        Its name.
    is_on : bool
        True if it is on.
    bandwidth : float
        As its profile leaves it [byte/s].
    load : float
        Bandwidth in use [byte/s].
    """

    name: str
    is_on: bool
    bandwidth: float
    load: float


@dataclass(frozen=True, slots=True)
class ActivityState:
    """An execution, a parallel task or a transfer in progress.

    Attributes
    ----------
    kind, actor, resource, label, start
        As in `simplugin.simulation.trace.Trace`; actor and label are None without.
    amount : float
        Of all [flop or byte].
    remaining : float
        Remaining amount [flop or byte]; NaN if SimGrid does not tell.
    """

    kind: str
    actor: str | None
    resource: str
    label: str | None
    start: float
    amount: float
    remaining: float


@dataclass(frozen=True, slots=True)
class PausedState:
    """All that is known about a simulation at a pause.

    Attributes
    ----------
    clock : float
        Simulated date [s].
    hosts : tuple of HostState
        All hosts.
    links : tuple of LinkState
        All links.
    activities : tuple of ActivityState
        All activities on hosts and links, in order of creation.
    actors : tuple of BlockedActor
        All living actors.
    """

    clock: float
    hosts: tuple[HostState, ...]
    links: tuple[LinkState, ...]
    activities: tuple[ActivityState, ...]
    actors: tuple[BlockedActor, ...]

    def digest(self) -> str:
        """Return a digest that does not depend on where the files of the actors are."""
        actors = [(each.name, each.host, each.waits_for, each.since) for each in self.actors]
        return digest((self.clock, self.hosts, self.links, self.activities, actors))

    @classmethod
    def of_rows(
        cls,
        clock: float,
        hosts: Iterable[tuple[Any, ...]],
        links: Iterable[tuple[Any, ...]],
        activities: Iterable[tuple[Any, ...]],
        actors: tuple[BlockedActor, ...],
    ) -> Self:
        """Make it from rows of the compiled driver."""
        return cls(
            clock,
            tuple(HostState(*row) for row in hosts),
            tuple(LinkState(*row) for row in links),
            tuple(ActivityState(*row) for row in activities),
            actors,
        )
