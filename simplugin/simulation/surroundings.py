"""What decides which module an import finds, and what that module does."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields

from simplugin.simulation import fresh_modules

# pytest changes it with every test; no module reads it when imported.
_VOLATILE = frozenset({"PYTEST_CURRENT_TEST"})


@dataclass(frozen=True)
class Surroundings:
    """Import path, command line, current directory and environment of a process.

    Attributes
    ----------
    fresh : tuple of str
        Directories whose modules are compiled each time, see `fresh_modules`.
    keeps_byte_code : bool
        Whether imports write byte code.
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
        return cls(
            path,
            list(sys.argv),
            directory,
            environment,
            fresh_modules.directories(),
            not sys.dont_write_bytecode,
        )

    def packed(self) -> bytes:
        """Write it down."""
        return pickle.dumps(tuple(getattr(self, each.name) for each in fields(self)))


def same_environment(packed: bytes, other: bytes) -> bool:
    """Whether two processes' surroundings have the same variables, which modules may read."""
    return bool(pickle.loads(packed)[3] == pickle.loads(other)[3])


def lead_to(files: Iterable[tuple[str, str]]) -> bool:
    """Whether an import of modules, here and now, would find them in the same files.

    Parameters
    ----------
    files : iterable of (str, str)
        Names of modules, and the file that each came from elsewhere.
    """
    places: dict[str, tuple[str, ...]] = {}
    for name, file in files:
        package = name.partition(".")[0]
        if package not in places:
            places[package] = _places_of(package)
        if not file.startswith(places[package]):
            return False
    return True


def _places_of(package: str) -> tuple[str, ...]:
    """Return the file of a module, or the directories of a package, that an import would find."""
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None:
            inside = spec.submodule_search_locations
            return (spec.origin or "",) if inside is None else tuple(f"{each}/" for each in inside)
    return ()


_adopted = b""


def adopt(packed: bytes) -> None:
    """Make the surroundings of another process those of this one."""
    global _adopted
    # Mostly the server has done it, and a child need not touch the memory that they share.
    if packed == _adopted:
        return
    path, argv, directory, environment, fresh, keeps_byte_code = pickle.loads(packed)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = path
    sys.argv[:] = argv
    with contextlib.suppress(OSError):
        os.chdir(directory)
    fresh_modules.use(fresh)
    sys.dont_write_bytecode = not keeps_byte_code
    importlib.invalidate_caches()
    _adopted = packed
