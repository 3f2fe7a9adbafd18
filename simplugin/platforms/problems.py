"""A fault of a platform as a whole: what, in which part, how to right it."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong between the parts of a platform.

    Attributes
    ----------
    message : str
        What is wrong, naming the culprit.
    remedy : str
        How to right it.
    part : object
        The part concerned: a host, a route, a link of a route, ...; None for the whole.
    severity : str
        ``error``: SimGrid refuses the platform, or it cannot mean what it says. ``warning``:
        SimGrid loads it, and a simulation may find out too late.
    """

    message: str
    remedy: str
    part: object = None
    severity: str = ERROR
