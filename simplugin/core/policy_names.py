"""Policies by name: shipped ones, and functions of the user."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TypeVar, cast

from simplugin.core.errors import WorkloadError

Policy = TypeVar("Policy")


def policy_called(name: str, shipped: Mapping[str, Policy]) -> Policy:
    """Return a policy.

    Parameters
    ----------
    name : str
        Name of a shipped one, or ``module:function`` of the user.
    shipped : mapping of str to callable
        Those that a capability ships.

    Raises
    ------
    WorkloadError
        The policy does not exist.
    """
    if name in shipped:
        return shipped[name]
    module, _, function = name.partition(":")
    if not function:
        names = ", ".join(map(repr, shipped))
        raise WorkloadError(
            f"no policy is called {name!r}; give 'module:function', or one of {names}"
        )
    try:
        policy = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise WorkloadError(
            f"policy {name!r} cannot be loaded: {error}; check its module and its name"
        ) from error
    if not callable(policy):
        raise WorkloadError(f"policy {name!r} is no function; check its module and its name")
    return cast("Policy", policy)
