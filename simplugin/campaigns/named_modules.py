"""The modules that a function named by a scenario consists of, those that it imports included."""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.machinery import all_suffixes
from itertools import chain
from pathlib import Path

from simplugin.campaigns.file_states import Remembered, entries, file_digest

_SUFFIXES = tuple(all_suffixes())
_SOURCE = ".py"
# Who uses these may import what no import statement names, or load it in another way.
_DYNAMIC_MODULES = {"importlib", "imp", "pkgutil", "runpy", "zipimport", "ctypes", "cffi"}
_DYNAMIC_NAMES = {"__import__", "exec", "eval"}
_DYNAMIC_OF_SYS = {"path", "modules", "meta_path", "path_hooks"}
_ALL = "*"
# A directory with this file is an environment of installed packages.
_ENVIRONMENT = "pyvenv.cfg"

# Where installed packages are, by name; this does not change under way.
_places: dict[str, tuple[str, ...]] = {}


def modules_beside(directory: str, name: str) -> list[str]:
    """Return the files that make up a module in a directory.

    Parameters
    ----------
    directory : str
        Where modules are looked for; absolute.
    name : str
        Of the module, with dots.

    Returns
    -------
    list of str
        The module's file, those of the packages around it, and those of all modules in `directory`
        that it imports, at whichever depth. If one of them is no Python that can be read, or uses
        means to import what no statement names, all modules in `directory` and below. Empty if the
        module is elsewhere.
    """
    found: dict[str, None] = {}
    left = _located(directory, name)
    while left:
        path = left.pop()
        if path in found:
            continue
        found[path] = None
        imported = _imports(path)
        if imported is None:
            return sorted(_every(directory))
        inside = os.path.relpath(path, directory).split(os.sep)[:-1]
        left += chain.from_iterable(
            _located(directory, each) for each in _absolute(imported, inside)
        )
    return sorted(found)


def is_plain_directory(directory: str, name: str) -> bool:
    """Return True if a module is a directory without ``__init__.py``; others may precede it."""
    top = name.partition(".")[0]
    known = entries(directory)
    is_directory = top in known and known[top].is_directory
    return is_directory and not (
        _of_stem(directory, top) or _of_stem(os.path.join(directory, top), "__init__")
    )


def installed_digest(name: str) -> str:
    """Return the digest of the modules of an installed package, ``none`` if there is no such."""
    if name not in _places:
        places = _found(name)
        if not places:
            return "none"
        _places[name] = places
    total = sha256()
    for place in _places[name]:
        root = place if os.path.isdir(place) else os.path.dirname(place)
        for path in sorted(_every(place)) if root == place else (place,):
            total.update(f"{os.path.relpath(path, root)}\0{file_digest(path)}\n".encode())
    return total.hexdigest()


def _found(name: str) -> tuple[str, ...]:
    """Return where a package is installed: its directories, or its only file."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(spec.submodule_search_locations)
    return (spec.origin,) if spec.origin is not None and Path(spec.origin).is_file() else ()


def _located(directory: str, name: str) -> list[str]:
    """Return the files that importing a module reads, as far as they are in a directory."""
    found: list[str] = []
    place = directory
    for part in name.split("."):
        if part == _ALL:
            return found + list(_every(place) if place != directory else ())
        known, inner = entries(place), os.path.join(place, part)
        is_directory = part in known and known[part].is_directory
        package = _of_stem(inner, "__init__") if is_directory else []
        module = [] if package else _of_stem(place, part)
        found += package or module
        if module or not is_directory:
            break
        place = inner
    return found


def _of_stem(directory: str, stem: str) -> list[str]:
    """Return the files of a module in a directory; of several all, since one of them is it."""
    known = entries(directory)
    names = (f"{stem}{suffix}" for suffix in _SUFFIXES)
    return [os.path.join(directory, name) for name in names if name in known]


def _every(directory: str, seen: set[str] | None = None) -> Iterator[str]:
    """Yield all modules in a directory and below."""
    seen = set() if seen is None else seen
    known = entries(directory)
    place = os.path.realpath(directory)
    if place in seen or _ENVIRONMENT in known:
        return
    seen.add(place)
    for name, entry in known.items():
        path = os.path.join(directory, name)
        if entry.is_file and name.endswith(_SUFFIXES):
            yield path
        # Others cannot be packages.
        elif entry.is_directory and name.isidentifier() and name != "__pycache__":
            yield from _every(path, seen)


def _absolute(imported: Iterable[str], package: list[str]) -> Iterator[str]:
    """Yield names of modules from the directory on, those that begin with dots resolved."""
    for name in imported:
        rest = name.lstrip(".")
        level = len(name) - len(rest)
        if not level:
            yield name
        elif level - 1 <= len(package):
            yield ".".join([*package[: len(package) - (level - 1)], *([rest] if rest else [])])


def _read_imports(path: str) -> frozenset[str] | None:
    """Return what a module imports, as it writes it; None if this is unknown."""
    if not path.endswith(_SOURCE):
        return None
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: set[str] = set()
    for node in ast.walk(tree):
        if _is_dynamic(node):
            return None
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            joint = "" if base.endswith(".") else "."
            # What is imported from a package may be a module of it.
            found |= {base, *(f"{base}{joint}{each.name}" for each in node.names)}
    return frozenset(found - {""})


def _is_dynamic(node: ast.AST) -> bool:
    """Return True if something may import what no statement names."""
    if isinstance(node, ast.Import):
        return any(each.name.partition(".")[0] in _DYNAMIC_MODULES for each in node.names)
    if isinstance(node, ast.ImportFrom):
        names = {each.name for each in node.names}
        top = (node.module or "").partition(".")[0]
        return not node.level and (
            top in _DYNAMIC_MODULES or (top == "sys" and bool(names & {*_DYNAMIC_OF_SYS, _ALL}))
        )
    if isinstance(node, ast.Attribute):
        of_sys = isinstance(node.value, ast.Name) and node.value.id == "sys"
        return of_sys and node.attr in _DYNAMIC_OF_SYS
    return isinstance(node, ast.Name) and node.id in _DYNAMIC_NAMES


_imports = Remembered(_read_imports)
