"""Functions that an input names as ``module:function``."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from typing import Any


class UnresolvedError(ValueError):
    """A reference that names no function; the message says why."""


def resolve(reference: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names.

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
            f"there is no module {module_name!r}, neither beside the scenario nor installed"
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


def place_of_failure(error: Exception) -> str:
    """Return the last line of the function's file that its exception passed, in words."""
    # The first frame is that of the caller.
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own else ""
