"""What decides which module an import finds, and what that module does."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import sys
from dataclasses import dataclass

# pytest changes it with every test; no module reads it when imported.
_VOLATILE = frozenset({"PYTEST_CURRENT_TEST"})


@dataclass(frozen=True)
class Surroundings:
    """Import path, command line, current directory and environment of a process."""

    path: list[str]
    argv: list[str]
    directory: str
    environment: dict[str, str]

    @classmethod
    def current(cls) -> Surroundings:
        """Look at this process."""
        try:
            directory = os.getcwd()
        except FileNotFoundError:  # it was deleted
            directory = "/"
        environment = {key: value for key, value in os.environ.items() if key not in _VOLATILE}
        return cls([str(entry) for entry in sys.path], list(sys.argv), directory, environment)

    def packed(self) -> bytes:
        """Write it down."""
        return pickle.dumps((self.path, self.argv, self.directory, self.environment))


_adopted = b""


def adopt(packed: bytes) -> None:
    """Make the surroundings of another process those of this one."""
    global _adopted
    # Mostly the server has done it, and a child need not touch the memory that they share.
    if packed == _adopted:
        return
    path, argv, directory, environment = pickle.loads(packed)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = path
    sys.argv[:] = argv
    with contextlib.suppress(OSError):
        os.chdir(directory)
    importlib.invalidate_caches()
    _adopted = packed
