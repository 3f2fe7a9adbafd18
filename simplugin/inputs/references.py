"""Functions that an input names as ``module:function``, and the modules that a file may name."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, TypeVar, cast

from simplugin.core.errors import WorkloadError
from simplugin.core.name_suggestions import did_you_mean

GROUP = "simplugin.functions"
"""Entry points by which an installed package declares modules that scenarios may name."""

_OWN = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_PATHS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_INSTALLED = tuple(f"{place}{os.sep}" for place in {*map(os.path.realpath, _PATHS), _OWN})
_SITE_PACKAGES = {"site-packages", "dist-packages"}

# Modules of this package with policies or generators of platforms.
_SHIPPED = (
    "simplugin.bags.policies",
    "simplugin.market.policies",
    "simplugin.platforms.topologies",
    "simplugin.pricing.methods",
    "simplugin.scenarios.generators.peers",
    "simplugin.scenarios.generators.sites",
    "simplugin.scenarios.generators.topologies",
    "simplugin.taskgraphs.policies",
)

Policy = TypeVar("Policy")


class UnresolvedError(ValueError):
    """A reference that names no function, or one that may not be named; the message says why.

    Parameters
    ----------
    message : str
        Why.
    remedy : str
        How to correct it.
    """

    def __init__(
        self,
        message: str,
        remedy: str = "write 'module:function', of a module beside the file or a declared one",
    ) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True)
class References:
    """The functions that a file may name.

    They are defined in modules in its directory or below, or in modules that installed packages
    declare as entry points of the group `GROUP`, as the policies and generators of this package
    are; trusted modules may also provide functions that they import.

    Attributes
    ----------
    directory : Path
        Of the file.
    trust : tuple of str
        Trusted modules and packages.
    """

    directory: Path
    trust: tuple[str, ...] = ()

    def find(self, reference: str) -> None:
        """Raise unless the module is allowed and exists; import nothing.

        Raises
        ------
        UnresolvedError
            It may not be named, or is missing.
        """
        module = reference.partition(":")[0]
        look_again(self.directory)
        if self._is_beside(module) and not is_taken(module):
            return
        counts = self._is_trusted(module) or _is_declared(module)
        if self._is_beside(module) and not counts:
            top = module.partition(".")[0]
            raise UnresolvedError(
                f"module {top!r} beside the scenario has the name of an installed one, which it"
                " would replace",
                f"rename {top}.py, or the directory {top}, and write the new name here",
            )
        if find_spec(module) is None:
            raise UnresolvedError(
                f"there is no module {module!r}, neither beside the scenario nor installed"
            )
        if not counts:
            raise UnresolvedError(
                f"module {module!r} is neither beside the scenario nor declared by its package",
                f"name a function of a module beside the file; or trust it: --trust {module}",
            )

    def resolve(self, reference: str) -> Callable[..., Any]:
        """Return the function that ``module:function`` names.

        Raises
        ------
        UnresolvedError
            It may not be named, there is no such module or function, or the module cannot be
            imported.
        """
        self.find(reference)
        module = reference.partition(":")[0]
        steps = _steps(reference)
        for step in () if self._is_trusted(module) else steps:
            home = _home(step)
            top = module.partition(".")[0]
            if home is None or (top != "simplugin" and top == home.partition(".")[0]):
                continue
            beside = self._is_beside(home) and not is_taken(home)
            if not (beside or self._is_trusted(home) or _is_declared(home)):
                raise UnresolvedError(
                    f"{reference!r} is not defined in {module!r} but in {home!r}",
                    f"define a function in {module!r}; or trust all that it imports:"
                    f" --trust {module}",
                )
        return _function(reference, steps[-1])

    def _is_beside(self, module: str) -> bool:
        """Return True if the file of a module is in the directory or below."""
        directory = os.path.abspath(self.directory)
        spec = find_spec(module, [directory])
        # The origin of what Python brings, "frozen" or "built-in", is no file.
        file = spec.origin if spec is not None and spec.has_location else None
        return file is not None and Path(os.path.abspath(file)).is_relative_to(directory)

    def _is_trusted(self, module: str) -> bool:
        """Return True if a module, or a package around it, is among those that are trusted."""
        return _is_within(module, self.trust)


def resolve(reference: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names, without the rules for files.

    Parameters
    ----------
    reference : str
        The names.

    Raises
    ------
    UnresolvedError
        There is no such module or function, or the module cannot be imported.
    """
    return _function(reference, _steps(reference)[-1])


def named_policy(name: str, shipped: Mapping[str, Policy]) -> Policy:
    """Return a policy by its name in a program.

    Parameters
    ----------
    name : str
        Name of a shipped policy, or ``module:function`` of a user's policy.
    shipped : mapping of str to callable
        The policies of the capability.

    Raises
    ------
    WorkloadError
        The policy does not exist.
    """
    if name in shipped:
        return shipped[name]
    if ":" not in name:
        names = ", ".join(map(repr, shipped))
        remedy = f"give 'module:function', or one of {names}"
        raise WorkloadError(f"no policy is called {name!r}; {remedy}")
    try:
        return cast("Policy", resolve(name))
    except UnresolvedError as error:
        message = f"policy {name!r} cannot be loaded: {error}; {error.remedy}"
        raise WorkloadError(message) from error


def find_spec(name: str, path: Sequence[str] | None = None) -> ModuleSpec | None:
    """Find a module as `importlib.util.find_spec` does, but never in ``sys.modules``.

    Nothing is imported, not even the packages around it.

    Parameters
    ----------
    name : str
        Of the module, with dots.
    path : sequence of str, optional
        Where it, or the outermost package, is looked for instead of ``sys.path``.
    """
    parent, _, _ = name.rpartition(".")
    if parent:
        package = find_spec(parent, path)
        if package is None or package.submodule_search_locations is None:
            return None
        path = list(package.submodule_search_locations)
    for finder in sys.meta_path:
        # pytest's finder is not there in a fresh interpreter, and finds nothing of its own.
        if type(finder).__module__.startswith("_pytest"):
            continue
        try:
            spec = finder.find_spec(name, path)
        except Exception:  # a finder of the user's; the next one may do
            continue
        if spec is not None:
            return spec
    return None


def is_installed(path: str) -> bool:
    """Return True if a file or directory belongs to Python or an installed package."""
    return _is_installed(os.path.abspath(path))


@lru_cache(maxsize=4096)  # asked for each entry of the path, again and again
def _is_installed(path: str) -> bool:
    """Return `is_installed` of an absolute path."""
    place = os.path.realpath(path)
    return f"{place}{os.sep}".startswith(_INSTALLED) or not _SITE_PACKAGES.isdisjoint(
        place.split(os.sep)
    )


def look_again(directory: Path) -> None:
    """Let imports find modules that have just been written into a directory or below.

    Python notices other changes by the dates of directories, which may be coarse.
    """
    for place in {os.path.abspath(directory), os.path.realpath(directory)}:
        for known, finder in list(sys.path_importer_cache.items()):
            if finder is not None and (known == place or known.startswith(f"{place}{os.sep}")):
                finder.invalidate_caches()  # type: ignore[attr-defined]


def is_taken(module: str) -> bool:
    """Return True if Python or an installed package has the name of a module, or of its package."""
    top = module.partition(".")[0]
    installed = [each for each in sys.path if is_installed(each)]
    known = top in sys.stdlib_module_names or top in ("simplugin", "__main__")
    return known or find_spec(top, installed) is not None


def _steps(reference: str) -> list[Any]:
    """Return what each name of ``module:name.name`` stands for, without the module."""
    module, _, path = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UnresolvedError(f"module {module!r} cannot be imported: {error}") from error
        raise UnresolvedError(f"there is no module {module!r}") from error
    except (Exception, SystemExit) as error:
        raise UnresolvedError(
            f"module {module!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    steps = []
    for step in path.split("."):
        try:
            found = getattr(found, step)
        except AttributeError as error:
            message = f"module {module!r} has no {path!r}"
            question = did_you_mean(step, dir(found))
            raise UnresolvedError(message, *([question] if question else [])) from error
        steps.append(found)
    return steps


def _function(reference: str, found: Any) -> Callable[..., Any]:
    """Return the function of a reference; raise UnresolvedError if it is not callable."""
    if not callable(found):
        raise UnresolvedError(f"{reference!r} is no function but {found!r}")
    return cast("Callable[..., Any]", found)


def _home(found: Any) -> str | None:
    """Return the module that defines a function or class, or that is one; None for values."""
    if inspect.ismodule(found):
        return found.__name__
    named = inspect.isroutine(found) or inspect.isclass(found)
    return getattr(found, "__module__", None) if named else None


def _is_declared(module: str) -> bool:
    """Return True if the package of a module declares it."""
    return _is_within(module, _SHIPPED) or _is_within(module, _declared())


@cache
def _declared() -> tuple[str, ...]:
    """Return the modules and packages that installed packages declare."""
    from importlib.metadata import entry_points

    return tuple(each.module for each in entry_points(group=GROUP))


def _is_within(module: str, packages: Sequence[str]) -> bool:
    """Return True if a module is one of some, or in one of them."""
    return any(f"{module}.".startswith(f"{each}.") for each in packages)


def place_of_failure(error: Exception) -> str:
    """Return ``(file:line)`` of the innermost frame in the user's file."""
    # The first frames are those of this package.
    places = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_globals.get("__name__", "").startswith("simplugin.")
    ]
    own = [line for file, line in places if file == places[0][0]]
    return f" ({places[0][0]}:{own[-1]})" if own else ""
