"""Modules that are compiled from their source each time, whatever byte code lies beside it.

Python takes byte code for that of a source that has its size and its date in whole seconds. Where a
program writes one variant of a module after the other, or an archive gives all files one date, it
would execute another source than the one that stands there.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path

# What is installed does not change while it is used.
_INSTALLED = (str(Path(__file__).parents[1]), os.path.dirname(os.path.realpath(os.__file__)))
_SITE_PACKAGES = {"site-packages", "dist-packages"}
_directories: tuple[str, ...] = ()


class _FromSource(SourceFileLoader):
    """Neither reads nor writes byte code."""

    def path_stats(self, path: str) -> dict[str, float]:
        """Tell no date, without which Python does not use byte code."""
        raise OSError(f"{path}: byte code is not used")


def directories() -> tuple[str, ...]:
    """Return the directories whose modules are compiled each time."""
    return _directories


@contextmanager
def compiled_each_time(directory: Path) -> Iterator[None]:
    """Have modules in a directory and below compiled each time; installed packages are not."""
    before = _directories
    use((*before, str(directory.resolve())))
    try:
        yield
    finally:
        use(before)


def use(chosen: Iterable[str]) -> None:
    """Have modules in these directories and below compiled each time, and no others.

    Parameters
    ----------
    chosen : iterable of str
        Resolved paths, as `directories` returns them in another process.
    """
    global _directories
    chosen = tuple(chosen)
    if chosen == _directories:
        return
    if _finder not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder)
    for entry in list(sys.path_importer_cache):
        if any(_is_below(_resolved(entry), each) for each in set(chosen) ^ set(_directories)):
            del sys.path_importer_cache[entry]
    _directories = chosen
    importlib.invalidate_caches()


def _finder(entry: str) -> FileFinder:
    """Find modules in an entry of the import path, if it is one of ours."""
    place = _resolved(entry)
    if (
        not any(_is_below(place, each) for each in _directories)
        or any(_is_below(place, each) for each in _INSTALLED)
        or _SITE_PACKAGES.intersection(Path(place).parts)
        or not os.path.isdir(place)
    ):
        raise ImportError("not compiled each time", path=entry)
    return FileFinder(
        entry,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_FromSource, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )


@lru_cache(maxsize=1024)
def _resolved(entry: str) -> str:
    """Return where an entry of the import path leads; it is asked again and again."""
    return os.path.realpath(entry)


def _is_below(place: str, directory: str) -> bool:
    """Whether a path is a directory, or in it."""
    return place == directory or place.startswith(f"{directory.rstrip(os.sep)}{os.sep}")
