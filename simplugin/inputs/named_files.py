"""Files and modules that plain data name, and the digests of their contents."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib.machinery import all_suffixes
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from simplugin.core.errors import ScenarioError
from simplugin.inputs.files import read_bytes, unpacked_name
from simplugin.inputs.references import find_spec, is_taken

# Tick of a file system's clock [s]; two changes within it get the same date.
SETTLED = 2.0
_DATABASE = b"SQLite format 3\0"
_REFERENCE = re.compile(r"^([A-Za-z_][\w.]*):[A-Za-z_][\w.]*$")
_PATTERN = re.compile(r"[*?[]")
_BELOW = "**"
# Attributes of hosts, links, clusters and traces of a platform that name a profile file.
_FILE_ATTRIBUTE = re.compile(rb"""\b(?:\w+_file|file)\s*=\s*(?:"([^"<>]+)"|'([^'<>]+)')""")
# Auxiliary files of SQLite and of a campaign for a store.
_BESIDE_STORE = ("-wal", "-shm", "-journal", ".lock", ".log")
_SUFFIXES = tuple(all_suffixes())
# Who uses these may import what no import statement names, or load it in another way.
_DYNAMIC_MODULES = {"importlib", "imp", "pkgutil", "runpy", "zipimport", "ctypes", "cffi"}
_DYNAMIC_NAMES = {"__import__", "exec", "eval"}
_DYNAMIC_OF_SYS = {"path", "modules", "meta_path", "path_hooks"}
_ALL = "*"
# A directory with this file is an environment of installed packages.
_ENVIRONMENT = "pyvenv.cfg"

# Where installed packages are, by name; this does not change under way.
_places: dict[str, tuple[str, ...]] = {}

_Value = TypeVar("_Value")
_State = tuple[int, int, int, int]


class FileCache(Generic[_Value]):
    """A function of a path, cached until the file changes.

    A file that has just changed may change again with the same date, and is not cached yet.

    Parameters
    ----------
    read : callable
        The function; it depends only on the content of the path.
    """

    def __init__(self, read: Callable[[str], _Value]) -> None:
        self._read = read
        self._known: dict[str, tuple[_State, _Value]] = {}

    def __call__(self, path: str) -> _Value:
        """Return the value for a path, or an `OSError` if it does not exist."""
        now = time.time()
        found = os.stat(path)
        # The date of the last change detects contents with a date that was set back.
        state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        known = self._known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        value = self._read(path)
        if now - max(found.st_mtime, found.st_ctime) > SETTLED:
            self._known[path] = (state, value)
        return value


class DirectoryEntry(NamedTuple):
    """The kind of a name in a directory, links followed; neither kind if it cannot be read."""

    is_file: bool
    is_directory: bool
    is_link: bool


@FileCache
def _listed(path: str) -> Mapping[str, DirectoryEntry]:
    """List a directory."""
    found: dict[str, DirectoryEntry] = {}
    with os.scandir(path) as listed:
        for each in sorted(listed, key=lambda entry: entry.name):
            try:
                mode = each.stat().st_mode
            except OSError:
                mode = 0
            found[each.name] = DirectoryEntry(
                stat.S_ISREG(mode), stat.S_ISDIR(mode), each.is_symlink()
            )
    return MappingProxyType(found)


@FileCache
def file_digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@FileCache
def _is_sqlite(path: str) -> bool:
    """Return True if a file is an SQLite database."""
    with open(path, "rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE


def profile_names(platform: bytes) -> list[str]:
    """Return the profile files that the text of a platform names, in its order."""
    found = _FILE_ATTRIBUTE.findall(platform)
    return [(one or other).decode("utf-8", "replace") for one, other in found]


@FileCache
def _profiles(path: str) -> tuple[str, ...]:
    """Return the profile files that a platform names."""
    return tuple(dict.fromkeys(profile_names(read_bytes(path, ScenarioError, most=1 << 40))))


def entries(path: str) -> Mapping[str, DirectoryEntry]:
    """Return the entries of a directory by name; none if it cannot be read."""
    try:
        return _listed(path)
    except OSError:
        return {}


class NamedFiles:
    """Finds the files that texts name.

    Parameters
    ----------
    directory : path
        Where paths start, and where modules are.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = os.path.abspath(directory)

    def digests(self, value: Any, inputs: Iterable[str] = ()) -> list[str]:
        """Return a line for each file and module that texts in plain data name.

        A text names a file if there is one of this path. For a directory, or a pattern such as
        ``graphs/*.dot``, all files in it count, but for hidden ones and stores of campaigns. A
        platform's profile files count with it. For ``module:function`` the module does, with all
        modules in `directory` that it imports; for one that is installed, those of its package.

        Parameters
        ----------
        value : plain data
            Containers, texts and numbers.
        inputs : iterable of str
            Further paths and patterns.

        Raises
        ------
        ScenarioError
            A file that is named cannot be read.
        """
        lines: dict[str, None] = {}
        for text in dict.fromkeys(_texts(value)):
            lines |= dict.fromkeys(self.of_path(text))
        for module in sorted(named_modules(value)):
            lines |= dict.fromkeys(self._of_module(module))
        for text in inputs:
            lines |= dict.fromkeys(self.of_path(text))
        return sorted(lines)

    def of_path(self, text: str) -> Iterator[str]:
        """Yield the lines of the files that a path or a pattern names; none if there are none.

        Raises
        ------
        ScenarioError
            One of them cannot be read.
        """
        if not text or "\0" in text or "\n" in text:
            return
        path = os.path.normpath(os.path.join(self.directory, os.path.expanduser(text)))
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            if _PATTERN.search(text):
                parts = path.split(os.sep)
                at = next(number for number, part in enumerate(parts) if _PATTERN.search(part))
                found = set(_matching(os.sep.join(parts[:at]) or os.sep, parts[at:]))
                yield from self._of_files(text, self.directory, sorted(found))
            return
        if stat.S_ISREG(mode):
            yield from _of_file(text, path)
        elif stat.S_ISDIR(mode):
            place = os.path.realpath(path)
            # The directories around the scenario also contain its results.
            if os.path.commonpath([place, os.path.realpath(self.directory)]) != place:
                yield from self._of_files(text, path, _matching(path, [_BELOW]))

    def _of_files(self, text: str, start: str, paths: Iterable[str]) -> Iterator[str]:
        """Yield the lines of files that are named together, without stores."""
        for path in paths:
            if not _is_of_store(path):
                yield from _of_file(f"{text}\t{os.path.relpath(path, start)}", path)

    def _of_module(self, name: str) -> Iterator[str]:
        """Yield the lines of a module in the scenario's directory, or of an installed package."""
        files = modules_beside(self.directory, name)
        for path in files:
            yield f"module\t{os.path.relpath(path, self.directory)}\t{_digest(path)}"
        top = name.partition(".")[0]
        if not files:
            digest = "own" if top == "simplugin" else installed_digest(top)
            yield f"package\t{top}\t{digest}"


def named_modules(value: Any) -> set[str]:
    """Return the modules of the functions that texts in plain data name, keys apart."""
    return {match[1] for text in _texts(value) if (match := _REFERENCE.match(text))}


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in plain data, keys apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _of_file(name: str, path: str) -> Iterator[str]:
    """Yield the lines of a file, and of the profile files that a platform names."""
    yield f"file\t{name}\t{_digest(path)}"
    if unpacked_name(path).suffix.lower() != ".xml":
        return
    for profile in _profiles(path):
        place = os.path.join(os.path.dirname(path), profile)
        # SimGrid looks in other places too, and says so if it finds nothing.
        own = _digest(place) if os.path.isfile(place) else "missing"
        yield f"profile\t{name}\t{profile}\t{own}"


def _digest(path: str) -> str:
    """Return a file's digest."""
    try:
        return file_digest(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or str(error)}"
        raise ScenarioError(message, file=path, remedy="the scenario names it") from error


def _matching(place: str, parts: list[str]) -> Iterator[str]:
    """Yield the files below a directory that a pattern matches, as `glob` would."""
    part, rest = parts[0], parts[1:]
    for name, entry in entries(place).items():
        path = os.path.join(place, name)
        if name == "__pycache__" or (name.startswith(".") and not part.startswith(".")):
            continue
        if part == _BELOW:
            if entry.is_directory and not entry.is_link:
                yield from _matching(path, parts)
            elif entry.is_file and not rest:
                yield path
        elif name == part or fnmatchcase(name, part):
            if rest and entry.is_directory:
                yield from _matching(path, rest)
            elif not rest and entry.is_file:
                yield path
    if part == _BELOW and rest:
        yield from _matching(place, rest)


def _is_of_store(path: str) -> bool:
    """Return True if a file is a store, or an auxiliary file of one."""
    if _is_store(path):
        return True
    end = next((each for each in _BESIDE_STORE if path.endswith(each)), None)
    if end is None:
        return False
    place, stem = os.path.split(path.removesuffix(end))
    names = (name for name in entries(place) if name == stem or os.path.splitext(name)[0] == stem)
    return any(_is_store(os.path.join(place, name)) for name in names)


def _is_store(path: str) -> bool:
    """Return True if a file is an SQLite database."""
    with suppress(OSError):  # reported when its contents are needed
        return _is_sqlite(path)
    return False


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
        means to import what no statement names, all modules in `directory` and below. Never those
        with the name of an installed one. Empty if the module is elsewhere.
    """
    found: dict[str, None] = {}
    left = [] if is_taken(name) else _located(directory, name)
    while left:
        path = left.pop()
        if path in found:
            continue
        found[path] = None
        if (imported := _imports(path)) is None:
            every = list(_every(directory))
            taken = {top for top in {_top(directory, each) for each in every} if is_taken(top)}
            return sorted(each for each in every if _top(directory, each) not in taken)
        inside = os.path.relpath(path, directory).split(os.sep)[:-1]
        left += chain.from_iterable(_free(directory, each) for each in _absolute(imported, inside))
    return sorted(found)


def names_beside(directory: str, modules: Iterable[str]) -> frozenset[str]:
    """Return the names in a directory, without dots, under which modules and their imports are."""
    found = chain.from_iterable(modules_beside(directory, each) for each in modules)
    return frozenset(_top(directory, path) for path in found)


def _top(directory: str, path: str) -> str:
    """Return the name in a directory under which a module in it or below is imported."""
    return os.path.relpath(path, directory).split(os.sep)[0].partition(".")[0]


def _free(directory: str, name: str) -> list[str]:
    """Return the files of a module in a directory, if no installed one has its name."""
    found = _located(directory, name)
    if found and is_taken(name):
        if (spec := find_spec(name.partition(".")[0])) is not None and spec.origin == found[0]:
            return []  # it is the installed one, in a checkout
        message = f"{found[0]} is not imported, since an installed module has its name; rename it"
        warnings.warn(message, stacklevel=2)
        return []
    return found


def installed_digest(name: str) -> str:
    """Return the digest of the modules of an installed package, ``none`` if there is no such."""
    if name not in _places:
        places = _found(name)
        if not places:
            return "none"
        _places[name] = places
    total = hashlib.sha256()
    for place in _places[name]:
        root = place if os.path.isdir(place) else os.path.dirname(place)
        for path in sorted(_every(place)) if root == place else (place,):
            total.update(f"{os.path.relpath(path, root)}\0{file_digest(path)}\n".encode())
    return total.hexdigest()


def _found(name: str) -> tuple[str, ...]:
    """Return where a package is installed: its directories, or its only file."""
    if (spec := find_spec(name)) is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(spec.submodule_search_locations)
    return (spec.origin,) if spec.origin is not None and Path(spec.origin).is_file() else ()


def _located(directory: str, name: str) -> list[str]:
    """Return the files in a directory that importing a module reads."""
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


@FileCache
def _imports(path: str) -> frozenset[str] | None:
    """Return the imports of a module as written; None if they are unknown."""
    if not path.endswith(".py"):
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
            # A name imported from a package can be a module of it.
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
