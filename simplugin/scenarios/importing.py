"""Modules beside a scenario, which can be imported while it is loaded or run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from simplugin.simulation.surroundings import compiled_each_time


@contextmanager
def importable(directory: Path) -> Iterator[None]:
    """Let modules beside a scenario be imported, as those beside a script are.

    Another scenario's modules of the same names do not get in the way: what was imported from
    `directory` is forgotten at the end. It is compiled from its source, whatever byte code says.
    """
    place = str(directory.resolve())
    beside = {path.stem for path in directory.glob("*.py")}
    beside |= {path.parent.name for path in directory.glob("*/__init__.py")}
    beside -= {*sys.stdlib_module_names, "simplugin"}
    shadows = {
        name: module
        for name, module in sys.modules.items()
        if name.partition(".")[0] in beside and not _is_inside(module, directory)
    }
    for name in shadows:
        del sys.modules[name]
    before = set(sys.modules)
    forgettable = beside - before
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        with compiled_each_time(directory):
            yield
    finally:
        sys.path.remove(place)
        # Directories without `__init__.py` are packages too.
        plain = {
            name
            for name, module in list(sys.modules.items())
            if name not in before and _is_inside(module, directory / name.partition(".")[0])
        }
        for name in list(sys.modules):
            if name in plain or name.partition(".")[0] in forgettable:
                del sys.modules[name]
        sys.modules.update(shadows)


def _is_inside(module: ModuleType, directory: Path) -> bool:
    """Return True if a module comes from a file under a directory, or is a directory there."""
    file = getattr(module, "__file__", None)
    places = [file] if file else getattr(module, "__path__", ())
    return any(Path(str(each)).resolve().is_relative_to(directory.resolve()) for each in places)
