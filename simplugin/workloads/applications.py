"""Bags of tasks: applications of independent tasks of equal size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simplugin.errors import WorkloadError


@dataclass(frozen=True, slots=True)
class Application:
    """A bag of independent tasks of equal size, whose data start at one host.

    Attributes
    ----------
    name : str
        Unlike that of any other application.
    master : str
        The host that holds the data of all tasks.
    flop : float
        Computation of one task, ``w_k`` [flop].
    byte : float
        Data of one task, ``b_k`` [byte]; 0 if a task needs none.
    weight : float
        How much its utility counts.
    hosts : tuple of str, optional
        The hosts that may compute its tasks, the others only forward; None for all.
    start : float
        When it arrives [s].
    end : float
        When it leaves [s].
    count : int, optional
        How many tasks it has; None for as many as are wanted.

    Raises
    ------
    WorkloadError
        A field is out of its range; the message names the application.
    """

    name: str
    master: str
    flop: float
    byte: float
    weight: float = 1.0
    hosts: tuple[str, ...] | None = None
    start: float = 0.0
    end: float = math.inf
    count: int | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        if not self.name:
            raise WorkloadError("an application has an empty name; give it one")
        for name in ("flop", "weight"):
            value = getattr(self, name)
            if not (0 < value < math.inf):
                raise WorkloadError(
                    f"{name} of application {self.name!r} is {value!r}; give a positive number"
                )
        if not 0 <= self.byte < math.inf:
            raise WorkloadError(
                f"byte of application {self.name!r} is {self.byte!r}; give a number from 0 on"
            )
        if not 0 <= self.start < self.end:
            raise WorkloadError(
                f"application {self.name!r} starts at {self.start!r} and ends at {self.end!r};"
                " it must start at 0 or later, and end after that"
            )
        if self.count is not None and self.count < 1:
            raise WorkloadError(
                f"count of application {self.name!r} is {self.count!r}; give a number from 1 on"
            )
        if isinstance(self.hosts, str):
            raise WorkloadError(
                f"hosts of application {self.name!r} is {self.hosts!r}; give a tuple of names"
            )
        if self.hosts is not None:
            object.__setattr__(self, "hosts", tuple(self.hosts))


# The applications on `simplugin.platforms.topologies.five_hosts` in R. Bertin, A. Legrand,
# C. Touati (2007), section 5.1.3.
FIVE_HOSTS_APPLICATIONS = (
    Application("1", "D", flop=5000.0, byte=1000.0),
    Application("2", "A", flop=800.0, byte=2000.0),
    Application("3", "C", flop=1500.0, byte=1500.0),
)
