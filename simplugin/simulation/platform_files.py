"""The file from which SimGrid loads a platform, checked, and rewritten where need be."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from simplugin.core.errors import PlatformError
from simplugin.formats.check import unmet_requirement
from simplugin.formats.config_options import is_ignored, option_problems
from simplugin.formats.platform_reading import options_of, read_document
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.inputs.temporary_directories import scratch_directory
from simplugin.inputs.xml_tree import issue_warning
from simplugin.platforms.platform import Config, Opaque, Platform
from simplugin.platforms.validation import ERROR


@contextmanager
def platform_file(
    platform: Platform | str | os.PathLike[str],
    options: Mapping[str, str] | None = None,
    *,
    energy: bool = False,
) -> Iterator[str]:
    """Give the path of a platform's file, written for the occasion if need be.

    Parameters
    ----------
    platform : Platform or path
        A platform, or a file. Of a file that is compressed, begins with a byte order mark, or sets
        options of SMPI, SimGrid is given a copy that is not and does not.
    options : mapping of str to str, optional
        Options of the simulation, which precede those of the platform; None if it is only
        loaded.
    energy : bool
        True if the energy is to be measured.

    Raises
    ------
    PlatformError
        It cannot be read, sets an option that a simulation refuses, or does not meet the
        requirements of the options; with line and remedy.
    """
    given: Any = platform
    if isinstance(given, str | os.PathLike):
        file = os.fspath(given)
        if not Path(file).is_file():
            raise PlatformError("there is no such file", file=file)
        found = options_of(read_document(file, PlatformError, head=True))
        _require(found, file)
        with open(file, "rb") as stream:
            plain = stream.read(1) in (b"<", b" ", b"\t", b"\r", b"\n")
        if plain and not any(is_ignored(option) for _, option, _ in found):
            _require_fit(file, found, options, energy=energy)
            yield file
            return
        given = read_platform(file)
    elif isinstance(given, Platform):
        configs = [each.options for each in given.config if isinstance(each, Config)]
        found = [(0, *option) for each in configs for option in each.items()]
        _require(found, None)
    else:
        remedy = "give a Platform, or the path of a platform file as a text"
        raise PlatformError(f"platform is {platform!r}", remedy=remedy)
    _require_fit(given, found, options, energy=energy)
    with scratch_directory() as directory:
        file = os.path.join(directory, "platform.xml")
        write_platform(replace(given, config=tuple(map(_without_ignored, given.config))), file)
        try:
            yield file
        except PlatformError as error:
            if error.file != file:
                raise
            # The file is gone when the message is read.
            raise PlatformError(error.message, remedy=error.remedy) from error.__cause__


def _require_fit(
    platform: Platform | str,
    found: Sequence[tuple[int, str, str]],
    options: Mapping[str, str] | None,
    *,
    energy: bool,
) -> None:
    """Raise unless a platform meets the requirements of a simulation's options."""
    if options is None:
        return
    # Of several values the first counts.
    chosen = {option: value for _, option, value in reversed(found)} | dict(options)
    plugins = chosen.get("plugin", "").split(",")
    energy = energy or not {"host_energy", "link_energy"}.isdisjoint(plugins)
    if (error := unmet_requirement(platform, chosen, energy=energy)) is not None:
        raise error


def _without_ignored(part: Config | Opaque) -> Config | Opaque:
    """Return a part of a platform's options without those that are ignored."""
    if not isinstance(part, Config):
        return part
    return replace(
        part, options={key: each for key, each in part.options.items() if not is_ignored(key)}
    )


def _require(options: Sequence[tuple[int, str, str]], file: str | None) -> None:
    """Raise for the first option that a simulation refuses; warn of those that it reads past."""
    for line, problem in option_problems(options):
        place: dict[str, Any] = {} if file is None else {"file": file, "line": line}
        error = PlatformError(problem.message, **place, remedy=problem.remedy)
        if problem.severity == ERROR:
            raise error
        issue_warning(error)
