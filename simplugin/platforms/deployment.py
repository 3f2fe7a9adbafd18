"""Deployments: actors with the hosts and dates at which they start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from simplugin.core.errors import DeploymentError, PlatformError
from simplugin.platforms.validation import Date, Name, Properties, Text, check_fields, choice

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
        Name of its function.
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

    host: Name
    function: Name
    arguments: tuple[Text, ...] = ()
    start_time: Date = 0.0
    kill_time: Date | None = None
    on_failure: Annotated[str, choice(DIE, RESTART)] = DIE
    properties: Properties = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        what = f"actor {self.function!r} on host {self.host!r}"
        _check(self, what)
        if self.kill_time is not None and not self.start_time < self.kill_time:
            raise DeploymentError(
                f"{what} is killed at {self.kill_time!r} s and starts at {self.start_time!r} s",
                remedy="give a kill time after the start time, or none",
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
        """Check the fields."""
        _check(self, "the deployment")


def _check(part: DeployedActor | Deployment, what: str) -> None:
    """Check the fields."""
    try:
        check_fields(part, what)
    except PlatformError as error:
        raise DeploymentError(error.message, remedy=error.remedy) from None
