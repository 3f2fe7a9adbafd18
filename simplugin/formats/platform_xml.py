"""Platforms from and to SimGrid 4.1 XML files."""

from __future__ import annotations

import os
from pathlib import Path

from simplugin.errors import PlatformError
from simplugin.formats import xml_text
from simplugin.formats.platform_reading import PlatformReader
from simplugin.formats.platform_writing import PlatformLines
from simplugin.formats.simgrid_xml import collections_postponed, read_document
from simplugin.inputs.files import write
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.platform import Platform


def read_platform(path: str | os.PathLike[str]) -> Platform:
    """Read a platform file as it is written: its zones, clusters, hosts, links and routes.

    Parameters
    ----------
    path : path
        A file in SimGrid's format 4 or 4.1.

    Returns
    -------
    Platform
        Its `directory` is that of the file.

    Raises
    ------
    PlatformError
        The file cannot be read or says something wrong; the first error, with its line.
        `simplugin.formats.check` gives all of them.
    """
    with collections_postponed():
        document = read_document(path, PlatformError)
        if document.doctype_error is not None:
            raise document.doctype_error
        return PlatformReader(path).platform(document.root)


def write_platform(
    platform: Platform,
    path: str | os.PathLike[str],
    *,
    comment: str | None = None,
    expand: bool = False,
) -> None:
    """Write a platform to a file that SimGrid 4.1 loads.

    Reading the file gives the platform back, up to the names of profile files: those that are
    absolute, or relative to the directory of another file, are named relative to the new file,
    since SimGrid 4.1 opens none by an absolute path. A cluster is one element.

    Parameters
    ----------
    platform : Platform
        What to write.
    path : path
        Where; an existing file is replaced.
    comment : str, optional
        Placed at the top, for instance the command that made the file.
    expand : bool
        Give each host of a cluster an element of its own.

    Raises
    ------
    PlatformError
        SimGrid would refuse the platform, a cluster cannot be expanded, or the file cannot be
        written.
    """
    require_consistent(platform)
    directory = Path(path).absolute().parent
    text = platform_text(platform, comment=comment, expand=expand, directory=directory)
    write(text, path, PlatformError)


def platform_text(
    platform: Platform,
    *,
    comment: str | None = None,
    expand: bool = False,
    directory: str | os.PathLike[str] | None = None,
) -> str:
    """Return a platform as SimGrid 4.1 XML.

    Parameters
    ----------
    platform : Platform
        What to write.
    comment : str, optional
        Placed at the top.
    expand : bool
        Give each host of a cluster an element of its own.
    directory : path, optional
        Where the text will be a file, so that profile files elsewhere can be named relative to
        it. None leaves their names as they are.

    Returns
    -------
    str
        The whole document.
    """

    def locate(name: str) -> str:
        """Name a profile file as seen from the new place."""
        if directory is None:
            return name
        home = platform.directory
        if not os.path.isabs(name):
            if home is None or not (home / name).exists() or home == Path(directory).absolute():
                return name
            name = str(home / name)
        return os.path.relpath(os.path.realpath(name), os.path.realpath(directory))

    lines = PlatformLines(locate, expand=expand).platform(platform)
    return xml_text.HEADER + xml_text.comment(comment) + "\n".join(lines) + "\n"
