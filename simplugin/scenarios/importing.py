"""Import of modules in the directory of a scenario."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from simplugin.inputs.named_files import names_beside
from simplugin.inputs.references import look_again
from simplugin.simulation.process.environment import modules_from


@contextmanager
def importable(directory: Path, modules: Iterable[str]) -> Iterator[None]:
    """Make modules in the directory of a scenario importable, with their own imports there.

    None of them replaces an installed module. At the end the modules of `directory` are removed
    from ``sys.modules``, so that another scenario can have modules of the same names. They are
    compiled from their source; cached byte code is not used.

    Parameters
    ----------
    directory : Path
        Of the scenario.
    modules : iterable of str
        Those that it names.
    """
    names = names_beside(str(directory.resolve()), modules)
    if not names:
        yield
        return
    inside = directory.resolve()
    others = {
        name: module for name, module in _loaded(names).items() if not _is_inside(module, inside)
    }
    for name in others:
        del sys.modules[name]
    before = _loaded(names).keys()
    look_again(directory)
    try:
        with modules_from(directory, names):
            yield
    finally:
        for name in _loaded(names).keys() - before:
            del sys.modules[name]
        sys.modules.update(others)


def _loaded(names: frozenset[str]) -> dict[str, ModuleType]:
    """Return the modules that are imported under some names, and below."""
    below = tuple(f"{name}." for name in names)
    found = [name for name in sys.modules if name in names or name.startswith(below)]
    return {name: sys.modules[name] for name in found}


def _is_inside(module: ModuleType, directory: Path) -> bool:
    """Return True if a module comes from a file under a directory, or is a directory there."""
    file = getattr(module, "__file__", None)
    places = [file] if file else getattr(module, "__path__", ())
    return any(Path(str(each)).resolve().is_relative_to(directory) for each in places)
