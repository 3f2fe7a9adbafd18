"""The versions of what has a part in a run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("simplugin", "numpy", "scipy", "cvxpy", "highspy", "clarabel")


def versions(provenance: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the versions of Python, this package, numpy, the solvers and SimGrid.

    Parameters
    ----------
    provenance : mapping, optional
        Of the run; it tells SimGrid's version, which is not asked for here.
    """
    found = dict(_installed())
    simgrid = (provenance or {}).get("simgrid")
    if isinstance(simgrid, str):
        found["simgrid"] = simgrid
    return found


@cache
def _installed() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
