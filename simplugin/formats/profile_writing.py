"""Profiles of a platform moved into files of their own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from simplugin.errors import PlatformError
from simplugin.platforms.platform import Platform, Zone
from simplugin.platforms.profiles import Profile

if TYPE_CHECKING:
    from simplugin.platforms.platform import PlatformElement, ZoneElement

SUFFIX = ".profile"


def write_profiles(platform: Platform, directory: str | os.PathLike[str]) -> Platform:
    """Write the profiles that stand within a platform to files.

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
        are files already stay as they are.

    Raises
    ------
    PlatformError
        A file cannot be written, or two profiles would have the same.
    """
    target = Path(directory).absolute()
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(target, error) from None
    moved = _Moved(target)
    return replace(platform, elements=tuple(map(moved.top, platform.elements)))


class _Moved:
    """Writes profiles as it meets them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._written: set[str] = set()

    def top(self, element: PlatformElement) -> PlatformElement:
        """Return an element of the platform with its profiles in files."""
        if isinstance(element, Zone):
            return replace(element, elements=tuple(map(self._inner, element.elements)))
        return self._profile(element) if isinstance(element, Profile) else element

    def _inner(self, element: ZoneElement) -> ZoneElement:
        """Return an element of a zone with its profiles in files."""
        if isinstance(element, Zone):
            return replace(element, elements=tuple(map(self._inner, element.elements)))
        return self._profile(element) if isinstance(element, Profile) else element

    def _profile(self, profile: Profile) -> Profile:
        """Write a profile, unless it is a file already."""
        if profile.file:
            return profile
        name = quote(profile.id, safe="") + SUFFIX
        # File systems may not tell capital letters from small ones.
        if name.casefold() in self._written:
            raise PlatformError(
                f"two profiles would be written to {name!r}", remedy="give them other ids"
            )
        self._written.add(name.casefold())
        path = self._directory / name
        period = f"PERIODICITY {profile.period!r}\n" if profile.period > 0 else ""
        try:
            path.write_text(period + profile.text.lstrip("\n"), encoding="utf-8")
        except OSError as error:
            raise _unwritable(path, error) from None
        return Profile(profile.id, file=str(path))


def _unwritable(path: Path, error: OSError) -> PlatformError:
    """Return the error for what cannot be written."""
    return PlatformError(str(error.strerror), file=path, remedy="give a path that you may write")
