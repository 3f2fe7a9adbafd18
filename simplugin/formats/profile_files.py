"""The profile files that a platform file names: found as SimGrid finds them, and looked into."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError
from simplugin.inputs.files import read_bytes
from simplugin.platforms.hosts import Host, Peer
from simplugin.platforms.links import Link
from simplugin.platforms.platform import Config, Platform
from simplugin.platforms.profiles import Profile, profile_problem
from simplugin.platforms.validation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator


def profile_file_problems(platform: Platform) -> list[Problem]:
    """Say which profile files SimGrid would not open, or not understand.

    SimGrid looks in the current directory, then in that of the platform file, then in those that
    the option ``path`` adds. It opens none by an absolute path.

    Parameters
    ----------
    platform : Platform
        With the `directory` of its file.

    Returns
    -------
    list of Problem
        One for each use of such a file.
    """
    directories = _directories(platform)
    problems = []
    for part, name in _uses(platform):
        problem = _problem(part, name, directories)
        if problem is not None:
            problems.append(problem)
    return problems


def read_profile(platform: Platform, name: str) -> str:
    """Return the lines of a profile file that a platform names.

    Parameters
    ----------
    platform : Platform
        With the `directory` of its file.
    name : str
        As the platform names it.

    Raises
    ------
    PlatformError
        It is not found, or cannot be read.
    """
    found = _find(name, _directories(platform))
    if found is None:
        raise PlatformError(f"profile file {name!r} is not found")
    try:
        return read_bytes(found, PlatformError).decode("utf-8", errors="replace")
    except PlatformError as error:
        message = f"profile file {name!r}: {error.message}"
        raise PlatformError(message, remedy=error.remedy) from None


def _directories(platform: Platform) -> list[Path]:
    """Return where SimGrid looks for profile files."""
    directories = [Path()]
    if platform.directory is not None:
        directories.append(platform.directory)
    directories += [
        Path(config.options["path"])
        for config in platform.config
        if isinstance(config, Config) and config.options.get("path")
    ]
    return directories


def _find(name: str, directories: list[Path]) -> Path | None:
    """Return the file that SimGrid would open."""
    return next((path / name for path in directories if (path / name).is_file()), None)


def _uses(platform: Platform) -> Iterator[tuple[object, str]]:
    """Yield each part that names a profile file."""
    for part, _ in platform.walk():
        names: tuple[str, ...] = ()
        if isinstance(part, Host | Peer):
            names = (part.speed_profile, part.state_profile)
        elif isinstance(part, Link):
            names = (part.bandwidth_profile, part.latency_profile, part.state_profile)
        elif isinstance(part, Profile):
            names = (part.file,)
        yield from ((part, name) for name in names if name)


def _problem(part: object, name: str, directories: list[Path]) -> Problem | None:
    """Say what is wrong with a use of a profile file."""
    if os.path.isabs(name):
        message = f"profile {name!r} is named by an absolute path, which SimGrid 4.1 never opens"
        return Problem(message, "name it relative to this file", part)
    found = _find(name, directories)
    if found is None:
        message = f"profile file {name!r} is not found"
        return Problem(message, "name it relative to this file, or write the file", part)
    try:
        text = read_bytes(found, PlatformError).decode("utf-8", errors="replace")
    except PlatformError as error:
        return Problem(f"profile file {name!r}: {error.message}", error.remedy or "", part)
    wrong = profile_problem(text)
    if wrong is None:
        return None
    remedy = "write lines of a date in s and a value, in ascending order of date"
    return Problem(f"profile file {name!r}, {wrong}", remedy, part)
