"""Files that plain data name, and the digests of their contents."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from simplugin.errors import ScenarioError

_REFERENCE = re.compile(r"^([A-Za-z_]\w*)[\w.]*:[A-Za-z_][\w.]*$")
_PATTERN = re.compile(r"[*?[]")
# Attributes of hosts, links, clusters and traces of a platform that name a profile file.
_FILE_ATTRIBUTE = re.compile(rb"""\b(?:\w+_file|file)\s*=\s*(?:"([^"<>]+)"|'([^'<>]+)')""")
_DATABASE = b"SQLite format 3\0"
# What SQLite and a campaign keep beside a store.
_BESIDE_STORE = ("-wal", "-shm", "-journal", ".lock", ".log")
_CHUNK = 1 << 20

# By path: size, date and number of a file, its digest, and the profile files that it names.
_Known = tuple[tuple[int, int, int], str, tuple[str, ...]]
_known: dict[str, _Known] = {}
# Of packages that are installed, by name; they do not change under way.
_packages: dict[str, str] = {}


class NamedFiles:
    """Finds the files that texts name.

    Parameters
    ----------
    directory : path
        Where paths start, and where modules stand.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = os.path.abspath(directory)

    def digests(self, value: Any) -> list[str]:
        """Return a line for each file, directory and module that texts in plain data name.

        A text names a file if there is one of this path. For a directory, or a pattern such as
        ``graphs/*.dot``, all files in it count, but for hidden ones and stores of campaigns. A
        platform's profile files count with it. For ``module:function`` all modules in `directory`
        do; for a module that is installed, those of its package.

        Parameters
        ----------
        value : plain data
            Containers, texts and numbers.
        """
        lines: dict[str, None] = {}
        for text in dict.fromkeys(_texts(value)):
            for line in self._of_text(text):
                lines[line] = None
        return sorted(lines)

    def _of_text(self, text: str) -> Iterator[str]:
        """Yield the lines of what one text names."""
        if not text or "\0" in text or "\n" in text:
            return
        path = os.path.normpath(os.path.join(self.directory, os.path.expanduser(text)))
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            if match := _REFERENCE.match(text):
                yield from self._of_module(match[1])
            elif _PATTERN.search(text):
                yield from self._of_pattern(path, text)
            return
        if stat.S_ISREG(found.st_mode):
            yield from _of_file(text, path)
        # What is around the scenario holds its results too.
        elif stat.S_ISDIR(found.st_mode) and not self._is_around(path):
            yield from _of_directory(text, path)

    def _is_around(self, path: str) -> bool:
        """Whether a directory is that of the scenario, or one above it."""
        place = os.path.realpath(path)
        return os.path.commonpath([place, os.path.realpath(self.directory)]) == place

    def _of_pattern(self, path: str, text: str) -> Iterator[str]:
        """Yield the lines of the files that a pattern matches."""
        for each in sorted(glob.glob(path, recursive=True)):
            if os.path.isfile(each):
                name = os.path.relpath(each, self.directory)
                yield from _of_file(f"{text}\t{name}", each)

    def _of_module(self, name: str) -> Iterator[str]:
        """Yield the lines of the modules beside the scenario, or of an installed package."""
        place = Path(self.directory)
        beside = (place / f"{name}.py").is_file() or (place / name).is_dir()
        if not beside:
            yield f"package\t{name}\t{_package_digest(name)}"
            return
        packages = [each.parent.rglob("*.py") for each in place.glob("*/__init__.py")]
        for path in sorted({*place.glob("*.py"), *chain.from_iterable(packages)}):
            name_in = path.relative_to(place).as_posix()
            yield from _of_file(f"module\t{name_in}", str(path))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in plain data, keys apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _of_file(name: str, path: str) -> Iterator[str]:
    """Yield the lines of a file, and of the profile files that a platform names."""
    digest, profiles = _contents_of(path)
    yield f"file\t{name}\t{digest}"
    for profile in profiles:
        place = os.path.join(os.path.dirname(path), profile)
        # SimGrid looks in other places too, and says so if it finds nothing.
        own = _contents_of(place)[0] if os.path.isfile(place) else "missing"
        yield f"profile\t{name}\t{profile}\t{own}"


def _contents_of(path: str) -> tuple[str, tuple[str, ...]]:
    """Return a file's digest and the profiles that it names; read it only if it changed."""
    try:
        found = os.stat(path)
        state = (found.st_size, found.st_mtime_ns, found.st_ino)
        known = _known.get(path)
        if known is None or known[0] != state:
            known = _known[path] = (state, *_read(path))
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"cannot be read: {reason}"
        raise ScenarioError(message, file=path, remedy="the scenario names it") from error
    return known[1], known[2]


def _read(path: str) -> tuple[str, tuple[str, ...]]:
    """Return a file's digest and the profiles that it names."""
    total = sha256()
    profiles: dict[str, None] = {}
    with open(path, "rb") as file:
        if path.lower().endswith(".xml"):
            content = file.read()
            total.update(content)
            for match in _FILE_ATTRIBUTE.finditer(content):
                profiles[(match[1] or match[2]).decode("utf-8", "replace")] = None
        while chunk := file.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest(), tuple(profiles)


def _of_directory(name: str, path: str) -> Iterator[str]:
    """Yield the lines of the files in a directory, without hidden ones and stores."""
    for place, directories, names in os.walk(path):
        directories[:] = sorted(
            each for each in directories if not each.startswith(".") and each != "__pycache__"
        )
        files = {each: os.path.join(place, each) for each in names if not each.startswith(".")}
        files = {each: file for each, file in files.items() if os.path.isfile(file)}
        stores = {each for each, file in files.items() if _is_database(file)}
        for each, file in sorted(files.items()):
            if not _is_of_store(each, stores):
                yield from _of_file(f"{name}\t{os.path.relpath(file, path)}", file)


def _is_of_store(name: str, stores: set[str]) -> bool:
    """Whether a file is a store, or one that is kept beside it."""
    return any(
        name == store or name in {f"{stem}{end}" for end in _BESIDE_STORE}
        for store in stores
        for stem in (store, os.path.splitext(store)[0])
    )


def _is_database(path: str) -> bool:
    """Whether a file is an SQLite database."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False  # it will be told when its contents are wanted


def _package_digest(name: str) -> str:
    """Return the digest of an installed package's modules, ``none`` if there is no such one."""
    if name == "simplugin":
        return "own"
    if name not in _packages:
        total = sha256()
        for inside, path in _package_files(name):
            total.update(f"{inside}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
        _packages[name] = total.hexdigest()
    return _packages[name]


def _package_files(name: str) -> Iterator[tuple[str, Path]]:
    """Yield the modules of an installed package with their names in it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    roots = [Path(each) for each in spec.submodule_search_locations or ()]
    if not roots and spec.origin is not None and Path(spec.origin).is_file():
        yield name, Path(spec.origin)
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix in {".py", ".so"}:
                yield path.relative_to(root).as_posix(), path
