"""Where simulations may not start: in a module that a simulation imports.

A script that simulates when imported, and whose functions are actors, would otherwise start a
simulation in each of its simulations, without end.
"""

from __future__ import annotations

from simplugin.errors import SimulationError

_reason: str | None = None


def forbid(reason: str) -> None:
    """Make `check` fail from now on."""
    global _reason
    _reason = reason


def allow() -> None:
    """Make `check` pass again."""
    global _reason
    _reason = None


def check() -> None:
    """Raise if no simulation may start here.

    Raises
    ------
    SimulationError
        A simulation's process is importing modules.
    """
    if _reason is not None:
        raise SimulationError(
            f"{_reason}; put the call under `if __name__ == '__main__':` or in a function"
        )
