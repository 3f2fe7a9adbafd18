"""The surroundings of a process: its import path and its environment."""

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

    They decide which module an import finds, and what that module does.

    Attributes
    ----------
    beside : tuple of (str, frozenset of str)
        Directories beside the path, and the names under which modules are imported from there.
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
        """Look at this process."""
        try:
            directory = os.getcwd()
        except FileNotFoundError:  # it was deleted
            directory = "/"
        environment = {key: value for key, value in os.environ.items() if key not in _VOLATILE}
        path = [str(entry) for entry in sys.path]
        keeps_byte_code = not sys.dont_write_bytecode
        return cls(path, list(sys.argv), directory, environment, _beside, keeps_byte_code)


_adopted: ProcessEnvironment | None = None


def adopt(given: ProcessEnvironment) -> None:
    """Make the surroundings of another process those of this one."""
    global _adopted
    # Mostly the server has done it, and a child need not touch the memory that they share.
    if given == _adopted:
        return
    os.environ.clear()
    os.environ.update(given.environment)
    sys.path[:] = given.path
    sys.argv[:] = given.argv
    with contextlib.suppress(OSError):
        os.chdir(given.directory)
    _look_beside(given.beside)
    sys.dont_write_bytecode = not given.keeps_byte_code
    importlib.invalidate_caches()
    _adopted = given


# ---- modules beside the path ----------------------------------------------------------------
#
# They are compiled each time. Python takes byte code for that of a source that has its size and its
# date in whole seconds. Where a program writes one variant of a module after the other, or an
# archive gives all files one date, it would execute another source than the one in the file.

_beside: tuple[Beside, ...] = ()


class _BesideFinder:
    """Finds modules beside the path, and only under the names that are given for each directory."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _: object = None
    ) -> ModuleSpec | None:
        """Return where a module is that is in no package; None if it is elsewhere."""
        if path is None:
            for directory, names in reversed(_beside):
                if name in names:
                    return PathFinder.find_spec(name, [directory])
        return None


def modules_beside_path() -> tuple[Beside, ...]:
    """Return where else than on the path modules are found, and which."""
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
    """Have modules imported from these resolved directories, and from no others."""
    global _beside
    _beside = chosen
    if _BesideFinder not in sys.meta_path:
        sys.meta_path.insert(0, _BesideFinder)
    SourceFileLoader.path_stats = _path_stats  # type: ignore[method-assign, assignment]


_original_path_stats = SourceFileLoader.path_stats


def _path_stats(loader: SourceFileLoader, path: str) -> Mapping[str, Any]:
    """Return date and size of a source; raise where it is to be compiled each time.

    Python neither reads nor writes byte code of a source without a date.
    """
    place = _resolved(os.path.dirname(path)) if _beside else ""
    if any(_is_below(place, each) for each, _ in _beside) and not is_installed(place):
        raise OSError(f"{path}: byte code is not used")
    return _original_path_stats(loader, path)


@lru_cache(maxsize=1024)
def _resolved(entry: str) -> str:
    """Return where a directory leads; it is asked again and again."""
    return os.path.realpath(entry)


def _is_below(place: str, directory: str) -> bool:
    """Return True if a path is a directory, or in it."""
    return place == directory or place.startswith(f"{directory.rstrip(os.sep)}{os.sep}")


# ---- processes that a simulation starts from ------------------------------------------------

_forbidden: str | None = None


def forbid_simulations(reason: str | None) -> None:
    """Let no simulation start in this process, for a reason; None lets them start again.

    A script that simulates when imported, and whose functions are actors, would otherwise start a
    simulation in each of its simulations, without end.
    """
    global _forbidden
    _forbidden = reason


def check_simulations_may_start() -> None:
    """Raise if no simulation may start here.

    Raises
    ------
    SimulationError
        A simulation's process is importing modules.
    """
    if _forbidden is not None:
        raise SimulationError(
            f"{_forbidden}; put the call under `if __name__ == '__main__':` or in a function"
        )
