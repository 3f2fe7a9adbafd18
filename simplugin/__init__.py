"""A laboratory for scheduling on grids and multi-clusters, built on SimGrid.

Names are loaded when first used: importing this package alone costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simplugin.errors import SimpluginError
    from simplugin.platforms import Cluster, Deployment, Host, Link, Platform, Route, Zone
    from simplugin.simulation import Placement, Result, SimGridOptions
    from simplugin.simulation.simulate import simulate

    __version__: str

__all__ = [
    "Cluster",
    "Deployment",
    "Host",
    "Link",
    "Placement",
    "Platform",
    "Result",
    "Route",
    "SimGridOptions",
    "SimpluginError",
    "Zone",
    "__version__",
    "simulate",
]

_HOMES = {
    "Cluster": "platforms",
    "Deployment": "platforms",
    "Host": "platforms",
    "Link": "platforms",
    "Placement": "simulation",
    "Platform": "platforms",
    "Result": "simulation",
    "Route": "platforms",
    "SimGridOptions": "simulation",
    "SimpluginError": "errors",
    "Zone": "platforms",
    "simulate": "simulation",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the subpackage that defines it."""
    if name == "__version__":
        value = import_module("importlib.metadata").version("simplugin")
    elif name in _HOMES:
        value = getattr(import_module(f"simplugin.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'simplugin' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
