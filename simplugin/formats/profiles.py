"""Profile files that a platform names: checked, read and written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simplugin.core.errors import PlatformError
from simplugin.inputs.files import FilePath, read_bytes, write
from simplugin.platforms.hosts import Host, Peer
from simplugin.platforms.links import Link
from simplugin.platforms.platform import Config, Platform, Zone
from simplugin.platforms.profiles import (
    LINES_REMEDY,
    Profile,
    ProfileUse,
    integration_fault,
    profile_problem,
)
from simplugin.platforms.validation import PlatformProblem

# A tuple takes less time than a union where there are many elements.
_FOLLOWERS = (Host, Peer, Link)


def profile_file_problems(platform: Platform) -> list[PlatformProblem]:
    """Return the profile files that SimGrid would not open, or not understand.

    SimGrid looks in the current directory, then in that of the platform file, then in those that
    the option ``path`` adds. It opens none by an absolute path.

    Parameters
    ----------
    platform : Platform
        With the `directory` of its file.

    Returns
    -------
    list of PlatformProblem
        One for each use of such a file.
    """
    directories = _directories(platform)
    found = (_problem(part, name, directories) for part, name in _uses(platform))
    return [problem for problem in found if problem is not None]


def replaced_file_problems(
    platform: Platform, files: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, PlatformProblem]]:
    """Yield problems of profile files that SimGrid loads although no element uses them.

    Parameters
    ----------
    platform : Platform
        With the `directory` of its file.
    files : iterable of (int, str)
        Line and name of each.
    """
    directories = _directories(platform)
    loaded = {name for _, name in _uses(platform)}
    loaded |= {part.id for part, _ in platform.walk() if isinstance(part, Profile) and part.text}
    for line, name in files:
        if name in loaded:
            message = f"profile {name!r} is loaded twice, which SimGrid refuses"
            remedy = "remove availability_file, which speed_file replaces"
            yield line, PlatformProblem(message, remedy, None)
        elif (problem := _problem(None, name, directories)) is not None:
            yield line, problem
        loaded.add(name)


def integration_problems(platform: Platform) -> Iterator[PlatformProblem]:
    """Yield the profiles of speeds that SimGrid does not take with cpu/optim:TI.

    Parameters
    ----------
    platform : Platform
        With the `directory` of its file.
    """
    directories = _directories(platform)
    named: dict[str, Profile] = {}
    for part, _ in platform.walk():
        if isinstance(part, Profile):
            named.setdefault(part.id, part)
        profile: Profile | None = None
        if isinstance(part, ProfileUse) and part.kind == "SPEED":
            host, profile = part.element, named.get(part.profile)
        elif isinstance(part, Host | Peer) and part.speed_profile:
            host, profile = part.id, Profile(part.speed_profile, file=part.speed_profile)
        if profile is None:
            continue
        try:
            text = _read(profile.file, directories) if profile.file else profile.text
        except PlatformError:
            continue  # reported as such
        if fault := integration_fault(text, -1.0 if profile.file else profile.period):
            message = f"cpu/optim:TI takes no profile that {fault}, as {profile.id!r} of {host!r}"
            remedy = "choose Lazy or Full" + (", or give it a period" if fault == "ends" else "")
            yield PlatformProblem(message, remedy, part)


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
    return _read(name, _directories(platform))


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


def _read(name: str, directories: list[Path]) -> str:
    """Return the text of the file that SimGrid would open."""
    found = next((path / name for path in directories if (path / name).is_file()), None)
    if found is None:
        remedy = "name it relative to this file, or write the file"
        raise PlatformError(f"profile file {name!r} is not found", remedy=remedy)
    try:
        return read_bytes(found, PlatformError).decode("utf-8", errors="replace")
    except PlatformError as error:
        message = f"profile file {name!r}: {error.message}"
        raise PlatformError(message, remedy=error.remedy) from None


def _uses(platform: Platform) -> Iterator[tuple[object, str]]:
    """Yield each part that names a profile file."""
    for part, _ in platform.walk():
        if isinstance(part, _FOLLOWERS):
            for name in part.profile_files.values():
                yield part, name
        elif isinstance(part, Profile) and part.file:
            yield part, part.file


def _problem(part: object, name: str, directories: list[Path]) -> PlatformProblem | None:
    """Return the problem with a use of a profile file; None if it is valid."""
    if os.path.isabs(name):
        message = f"profile {name!r} is named by an absolute path, which SimGrid 4.1 never opens"
        return PlatformProblem(message, "name it relative to this file", part)
    try:
        wrong = profile_problem(_read(name, directories))
    except PlatformError as error:
        return PlatformProblem(error.message, error.remedy or "", part)
    if wrong is None:
        return None
    return PlatformProblem(f"profile file {name!r}, {wrong}", LINES_REMEDY, part)


SUFFIX = ".profile"


def write_profiles(platform: Platform, directory: FilePath) -> Platform:
    """Write the profiles inside a platform to files.

    Parameters
    ----------
    platform : Platform
        With profiles.
    directory : path
        Where to; it is made if need be. A file is named after its profile, other characters
        than letters, digits and ``_.-~`` as ``%xx``; an existing one is replaced.

    Returns
    -------
    Platform
        The same with the absolute names of the files in its profiles, which `write_platform`
        turns into names relative to the platform file: SimGrid opens no others. Profiles that
        are files already stay unchanged.

    Raises
    ------
    PlatformError
        A file cannot be written, or two profiles would be in the same file.
    """
    target = Path(directory).absolute()
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        remedy = "give a path that you may write"
        raise PlatformError(str(error.strerror), file=target, remedy=remedy) from None
    written: set[str] = set()

    def moved(element: Any) -> Any:
        """Return an element with its profiles in files."""
        if isinstance(element, Zone):
            return replace(element, elements=tuple(map(moved, element.elements)))
        if not isinstance(element, Profile) or element.file:
            return element
        name = quote(element.id, safe="") + SUFFIX
        # File systems may ignore the case of letters.
        if name.casefold() in written:
            raise PlatformError(
                f"two profiles would be written to {name!r}", remedy="give them other ids"
            )
        written.add(name.casefold())
        period = f"PERIODICITY {element.period!r}\n" if element.period > 0 else ""
        write(period + element.text.lstrip("\n"), target / name, PlatformError)
        return Profile(element.id, file=str(target / name))

    return replace(platform, elements=tuple(map(moved, platform.elements)))
