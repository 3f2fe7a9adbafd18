"""Files that plain data name, and the digests of their contents."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from simplugin.campaigns.file_states import Remembered, entries, file_digest, is_database
from simplugin.campaigns.named_modules import (
    installed_digest,
    is_plain_directory,
    modules_beside,
)
from simplugin.errors import ScenarioError

_REFERENCE = re.compile(r"^([A-Za-z_][\w.]*):[A-Za-z_][\w.]*$")
_PATTERN = re.compile(r"[*?[]")
_BELOW = "**"
# Attributes of hosts, links, clusters and traces of a platform that name a profile file.
_FILE_ATTRIBUTE = re.compile(rb"""\b(?:\w+_file|file)\s*=\s*(?:"([^"<>]+)"|'([^'<>]+)')""")
# What SQLite and a campaign keep beside a store.
_BESIDE_STORE = ("-wal", "-shm", "-journal", ".lock", ".log")


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
            lines |= dict.fromkeys(self._of_text(text))
        for text in inputs:
            lines |= dict.fromkeys(self.of_path(text))
        return sorted(lines)

    def _of_text(self, text: str) -> Iterator[str]:
        """Yield the lines of what one text names."""
        yield from self.of_path(text)
        if match := _REFERENCE.match(text):
            yield from self._of_module(match[1])

    def of_path(self, text: str) -> Iterator[str]:
        """Yield the lines of the files that a path or a pattern names; none if there are none.

        Raises
        ------
        ScenarioError
            One of them cannot be read.
        """
        if not text or "\0" in text or "\n" in text:
            return
        path = self._path(text)
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            if _PATTERN.search(text):
                yield from self._of_pattern(path, text)
            return
        if stat.S_ISREG(found.st_mode):
            yield from _of_file(text, path)
        # What is around the scenario holds its results too.
        elif stat.S_ISDIR(found.st_mode) and not self._is_around(path):
            yield from self._of_files(text, path, _below(path))

    def _path(self, text: str) -> str:
        """Return the path that a text would be."""
        return os.path.normpath(os.path.join(self.directory, os.path.expanduser(text)))

    def _is_around(self, path: str) -> bool:
        """Return True if a directory is that of the scenario, or one above it."""
        place = os.path.realpath(path)
        return os.path.commonpath([place, os.path.realpath(self.directory)]) == place

    def _of_pattern(self, path: str, text: str) -> Iterator[str]:
        """Yield the lines of the files that a pattern matches."""
        parts = path.split(os.sep)
        at = next(number for number, part in enumerate(parts) if _PATTERN.search(part))
        found = sorted(dict.fromkeys(_matching(os.sep.join(parts[:at]) or os.sep, parts[at:])))
        yield from self._of_files(text, self.directory, found)

    def _of_files(self, text: str, start: str, paths: Iterable[str]) -> Iterator[str]:
        """Yield the lines of files that are named together, without stores."""
        for path in paths:
            if not _is_of_store(path):
                yield from _of_file(f"{text}\t{os.path.relpath(path, start)}", path)

    def _of_module(self, name: str) -> Iterator[str]:
        """Yield the lines of a module beside the scenario, or of an installed package."""
        files = modules_beside(self.directory, name)
        for path in files:
            yield f"module\t{os.path.relpath(path, self.directory)}\t{_digest(path)}"
        top = name.partition(".")[0]
        # An installed package of the same name precedes a directory that is not one.
        if not files or is_plain_directory(self.directory, name):
            digest = "own" if top == "simplugin" else installed_digest(top)
            yield f"package\t{top}\t{digest}"


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
    yield f"file\t{name}\t{_digest(path)}"
    if not path.lower().endswith(".xml"):
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
        reason = error.strerror or str(error)
        message = f"cannot be read: {reason}"
        raise ScenarioError(message, file=path, remedy="the scenario names it") from error


def _read_profiles(path: str) -> tuple[str, ...]:
    """Return the profile files that a platform names."""
    with open(path, "rb") as file:
        found = _FILE_ATTRIBUTE.findall(file.read())
    return tuple(dict.fromkeys((one or other).decode("utf-8", "replace") for one, other in found))


_profiles = Remembered(_read_profiles)


def _below(place: str) -> Iterator[str]:
    """Yield the files in a directory and below, without hidden ones; links are not followed."""
    for name, entry in entries(place).items():
        path = os.path.join(place, name)
        if name.startswith(".") or name == "__pycache__":
            continue
        if entry.is_file:
            yield path
        elif entry.is_directory and not entry.is_link:
            yield from _below(path)


def _matching(place: str, parts: list[str]) -> Iterator[str]:
    """Yield the files below a directory that a pattern matches, as `glob` would."""
    part, rest = parts[0], parts[1:]
    for name, entry in entries(place).items():
        path = os.path.join(place, name)
        if name.startswith(".") and not part.startswith("."):
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
    """Return True if a file is a store, or one that is kept beside it."""
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
    try:
        return is_database(path)
    except OSError:
        return False  # reported when its contents are needed
