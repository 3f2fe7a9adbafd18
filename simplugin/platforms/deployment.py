"""Deployments: actors with the hosts and dates at which they start."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from simplugin.errors import DeploymentError, PlatformError
from simplugin.platforms.validation import require_name, require_properties, require_text

DIE = "DIE"
RESTART = "RESTART"


@dataclass(frozen=True, slots=True)
class DeployedActor:
    """An actor of a deployment.

    Attributes
    ----------
    host : str
        Where it starts.
    function : str
        Name of what it runs.
    arguments : tuple of str
        Arguments of its function.
    start_time : float
        When it starts [s].
    kill_time : float, optional
        When it is killed if it still runs [s]; None for never.
    on_failure : str
        Fate of it when its host fails and comes back: ``DIE`` or ``RESTART``.
    properties : mapping of str to str
        Free annotations.

    Raises
    ------
    DeploymentError
        A name is empty, or a date out of range; the message names the actor.
    """

    host: str
    function: str
    arguments: tuple[str, ...] = ()
    start_time: float = 0.0
    kill_time: float | None = None
    on_failure: str = DIE
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "arguments", tuple(self.arguments))
        what = f"actor {self.function!r} on host {self.host!r}"
        try:
            require_name("the host of an actor", self.host)
            require_name("the function of an actor", self.function)
            for argument in self.arguments:
                require_text(f"an argument of {what}", argument)
            properties = require_properties(f"the properties of {what}", self.properties)
        except PlatformError as error:
            raise DeploymentError(error.message, remedy=error.remedy) from None
        object.__setattr__(self, "properties", properties)
        if not 0 <= self.start_time < math.inf:
            raise DeploymentError(
                f"{what} starts at {self.start_time!r} s", remedy="give 0 or a later date"
            )
        if self.kill_time is not None and not self.start_time < self.kill_time < math.inf:
            raise DeploymentError(
                f"{what} is killed at {self.kill_time!r} s and starts at {self.start_time!r} s",
                remedy="give a kill time after the start time, or none",
            )
        if self.on_failure not in {DIE, RESTART}:
            raise DeploymentError(
                f"what becomes of {what} on failure is {self.on_failure!r}",
                remedy=f"choose {DIE} or {RESTART}",
            )


@dataclass(frozen=True, slots=True)
class Deployment:
    """The actors that a simulation starts with, in order.

    Attributes
    ----------
    actors : tuple of DeployedActor
        In the order in which they start at equal dates.
    """

    actors: tuple[DeployedActor, ...] = ()

    def __post_init__(self) -> None:
        """Make the actors a tuple."""
        object.__setattr__(self, "actors", tuple(self.actors))
