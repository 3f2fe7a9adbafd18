"""``simplugin --version``."""

from __future__ import annotations

import platform

import simplugin


def version_text() -> str:
    """Name the versions of simplugin, SimGrid and Python."""
    return (
        f"simplugin {simplugin.__version__}, SimGrid {_simgrid_version()}, "
        f"Python {platform.python_version()}"
    )


def _simgrid_version() -> str:
    """Ask SimGrid, in a process of its own."""
    from simplugin.errors import SimpluginError
    from simplugin.platforms import Host, Platform, Zone
    from simplugin.simulation import simulate

    somewhere = Platform((Zone("somewhere", "Full", (Host("anywhere", 1.0),)),))
    try:
        return str(simulate(somewhere, [], trace=False).provenance["simgrid"])
    except SimpluginError as error:
        return f"missing ({error})"
