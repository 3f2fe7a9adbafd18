"""Functions that an input names as ``module:function``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class UnresolvedError(ValueError):
    """A reference that names no function; the message says why."""


def resolve(reference: str, place: str = "beside the scenario") -> Callable[..., Any]:
    """Return the function that ``module:function`` names.

    Parameters
    ----------
    reference : str
        The names.
    place : str
        Where modules are looked for beside those that are installed, for messages.

    Raises
    ------
    UnresolvedError
        There is no such module or function, or the module cannot be imported.
    """
    module_name, _, path = reference.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise UnresolvedError(f"module {module_name!r} cannot be imported: {error}") from error
        raise UnresolvedError(
            f"there is no module {module_name!r}, neither {place} nor installed"
        ) from error
    except Exception as error:
        raise UnresolvedError(
            f"module {module_name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    for step in path.split("."):
        try:
            found = getattr(found, step)
        except AttributeError as error:
            raise UnresolvedError(f"module {module_name!r} has no {path!r}") from error
    if not callable(found):
        raise UnresolvedError(f"{reference!r} is no function but {found!r}")
    function: Callable[..., Any] = found
    return function
