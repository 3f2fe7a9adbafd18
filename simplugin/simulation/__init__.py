"""Running actors on a simulated platform.

Names are loaded when first used, so that importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not lazily: a later import of the module `simulate` would take the function's name.
from simplugin.simulation.simulate import simulate

if TYPE_CHECKING:
    from simplugin.simulation.api import Activity, Actor, Mailbox, MessageQueue
    from simplugin.simulation.options import SimGridOptions
    from simplugin.simulation.placement import Placement
    from simplugin.simulation.result import HostTotals, LinkTotals, Result, Returned
    from simplugin.simulation.trace import Trace

__all__ = [
    "Activity",
    "Actor",
    "HostTotals",
    "LinkTotals",
    "Mailbox",
    "MessageQueue",
    "Placement",
    "Result",
    "Returned",
    "SimGridOptions",
    "Trace",
    "simulate",
]

_HOMES = {
    "Activity": "api",
    "Actor": "api",
    "HostTotals": "result",
    "LinkTotals": "result",
    "Mailbox": "api",
    "MessageQueue": "api",
    "Placement": "placement",
    "Result": "result",
    "Returned": "result",
    "SimGridOptions": "options",
    "Trace": "trace",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
