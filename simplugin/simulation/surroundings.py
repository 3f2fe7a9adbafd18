"""The surroundings of a process: its import path and its environment."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from simplugin.errors import SimulationError

# pytest changes it with every test; no module reads it when imported.
_VOLATILE = frozenset({"PYTEST_CURRENT_TEST"})
# What is installed does not change while it is used.
_INSTALLED = (str(Path(__file__).parents[1]), os.path.dirname(os.path.realpath(os.__file__)))
_SITE_PACKAGES = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class Surroundings:
    """Import path, command line, current directory and environment of a process.

    They decide which module an import finds, and what that module does.

    Attributes
    ----------
    fresh : tuple of str
        Directories whose modules are compiled each time.
    keeps_byte_code : bool
        True if imports write byte code.
    """

    path: list[str]
    argv: list[str]
    directory: str
    environment: dict[str, str]
    fresh: tuple[str, ...]
    keeps_byte_code: bool

    @classmethod
    def current(cls) -> Surroundings:
        """Look at this process."""
        try:
            directory = os.getcwd()
        except FileNotFoundError:  # it was deleted
            directory = "/"
        environment = {key: value for key, value in os.environ.items() if key not in _VOLATILE}
        path = [str(entry) for entry in sys.path]
        keeps_byte_code = not sys.dont_write_bytecode
        return cls(path, list(sys.argv), directory, environment, _directories, keeps_byte_code)


_adopted: Surroundings | None = None


def adopt(given: Surroundings) -> None:
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
    _compile_each_time(given.fresh)
    sys.dont_write_bytecode = not given.keeps_byte_code
    importlib.invalidate_caches()
    _adopted = given


# ---- modules that are compiled each time ----------------------------------------------------
#
# Python takes byte code for that of a source that has its size and its date in whole seconds.
# Where a program writes one variant of a module after the other, or an archive gives all files one
# date, it would execute another source than the one in the file.

_directories: tuple[str, ...] = ()


@contextmanager
def compiled_each_time(directory: Path) -> Iterator[None]:
    """Have modules in a directory and below compiled each time; installed packages are not."""
    before = _directories
    _compile_each_time((*before, str(directory.resolve())))
    try:
        yield
    finally:
        _compile_each_time(before)


def _compile_each_time(chosen: tuple[str, ...]) -> None:
    """Have modules in these resolved directories and below compiled each time, and no others."""
    global _directories
    _directories = chosen
    SourceFileLoader.path_stats = _path_stats  # type: ignore[method-assign, assignment]


_original_path_stats = SourceFileLoader.path_stats


def _path_stats(loader: SourceFileLoader, path: str) -> Mapping[str, Any]:
    """Return date and size of a source; raise where it is to be compiled each time.

    Python neither reads nor writes byte code of a source without a date.
    """
    place = _resolved(os.path.dirname(path)) if _directories else ""
    if (
        any(_is_below(place, each) for each in _directories)
        and not any(_is_below(place, each) for each in _INSTALLED)
        and not _SITE_PACKAGES.intersection(Path(place).parts)
    ):
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
