"""The environment of a process: import path, command line, directory and variables."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

from simplugin.core.errors import SimulationError
from simplugin.inputs.references import is_installed

# pytest changes it with every test; no module reads it when imported.
_VOLATILE = frozenset({"PYTEST_CURRENT_TEST"})
# A directory, and the names of modules in it.
Beside = tuple[str, frozenset[str]]


@dataclass(frozen=True)
class ProcessEnvironment:
    """Import path, command line, current directory and environment of a process.

    Imports depend on them: which module is found, and what it does.

    Attributes
    ----------
    beside : tuple of (str, frozenset of str)
        Directories that are not in the path, and the names of modules that are imported from them.
    keeps_byte_code : bool
        True if imports write byte code.
    """

    path: list[str]
    argv: list[str]
    directory: str
    environment: dict[str, str]
    beside: tuple[Beside, ...]
    keeps_byte_code: bool

    @classmethod
    def current(cls) -> ProcessEnvironment:
        """Return the environment of this process."""
        try:
            directory = os.getcwd()
        except FileNotFoundError:  # it was deleted
            directory = "/"
        environment = {key: value for key, value in os.environ.items() if key not in _VOLATILE}
        path = [str(entry) for entry in sys.path]
        keeps_byte_code = not sys.dont_write_bytecode
        return cls(path, list(sys.argv), directory, environment, _beside, keeps_byte_code)


def adopt(environment: ProcessEnvironment) -> None:
    """Make the environment of another process that of this one."""
    if environment == ProcessEnvironment.current():
        return
    os.environ.clear()
    os.environ.update(environment.environment)
    sys.path[:] = environment.path
    sys.argv[:] = environment.argv
    with contextlib.suppress(OSError):
        os.chdir(environment.directory)
    _look_beside(environment.beside)
    sys.dont_write_bytecode = not environment.keeps_byte_code
    importlib.invalidate_caches()


# ---- modules outside the path ---------------------------------------------------------------
#
# They are compiled each time. Python uses byte code if size and date, in whole seconds, of the
# source match. Where a program writes several variants of a module, or an archive gives all files
# one date, it would execute another source than the one in the file.

_beside: tuple[Beside, ...] = ()


class _BesideFinder:
    """Finds the named modules of directories outside the path."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a top-level module; None if it is not one of the names."""
        if path is None:
            for directory, names in reversed(_beside):
                if name in names:
                    return PathFinder.find_spec(name, [directory])
        return None


def modules_beside_path() -> tuple[Beside, ...]:
    """Return the directories outside the path, with the names of their modules."""
    return _beside


@contextmanager
def modules_from(directory: Path, names: frozenset[str]) -> Iterator[None]:
    """Have modules of these names imported from a directory, and those there compiled each time.

    The caller has seen to it that no installed module has one of the names.
    """
    before = _beside
    _look_beside((*before, (str(directory.resolve()), names)))
    try:
        yield
    finally:
        _look_beside(before)


def _look_beside(chosen: tuple[Beside, ...]) -> None:
    """Import modules from these resolved directories outside the path, and from no others."""
    global _beside
    _beside = chosen
    if _BesideFinder not in sys.meta_path:
        sys.meta_path.insert(0, _BesideFinder)
    SourceFileLoader.path_stats = _path_stats  # type: ignore[method-assign, assignment]


_original_path_stats = SourceFileLoader.path_stats


def _path_stats(loader: SourceFileLoader, path: str) -> Mapping[str, Any]:
    """Return date and size of a source; raise OSError if byte code must not be used.

    Python neither reads nor writes byte code of a source without a date.
    """
    place = _resolved(os.path.dirname(path)) if _beside else ""
    if any(_is_below(place, each) for each, _ in _beside) and not is_installed(place):
        raise OSError(f"{path}: byte code is not used")
    return _original_path_stats(loader, path)


@lru_cache(maxsize=1024)
def _resolved(entry: str) -> str:
    """Return the real path of a directory, cached."""
    return os.path.realpath(entry)


def _is_below(place: str, directory: str) -> bool:
    """Return True if a path is a directory, or in it."""
    return place == directory or place.startswith(f"{directory.rstrip(os.sep)}{os.sep}")


# ---- processes that a simulation starts from ------------------------------------------------

_forbidden: str | None = None


def forbid_simulations(reason: str | None) -> None:
    """Forbid simulations in this process and say why; None allows them again.

    Otherwise a script with actors that also simulates when imported would start a simulation in
    each of its simulations.
    """
    global _forbidden
    _forbidden = reason


def check_simulations_may_start() -> None:
    """Raise if simulations are forbidden.

    Raises
    ------
    SimulationError
        A simulation's process is importing modules.
    """
    if _forbidden is not None:
        raise SimulationError(
            f"{_forbidden}; put the call under `if __name__ == '__main__':` or in a function"
        )
