"""Federations of clusters, as scenarios ask for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from simplugin.errors import PlatformError
from simplugin.formats.federations import federation_platform_from, read_federation_platform
from simplugin.platforms import Platform


def federation(
    description: str | None = None,
    seed: int | None = None,
    *,
    directory: str | os.PathLike[str] = ".",
    **tables: Any,
) -> Platform:
    """Return a federation of clusters.

    Parameters
    ----------
    description : str, optional
        Path of a TOML file.
    seed : int, optional
        Of the draws, instead of that of the description.
    directory : path
        Where the path starts; for a scenario, that of its file.
    **tables
        Instead of a file, what it would hold: ``name``, ``backbone`` and ``sites``.
    """
    if (description is None) is not bool(tables):
        raise ValueError("give either a description or its tables, such as sites")
    given: Any = description  # of a scenario, which may hold anything
    if given is not None and (not isinstance(given, str | os.PathLike) or not str(given)):
        raise ValueError(f"description is {given!r}; give a path")
    try:
        if description is not None:
            return read_federation_platform(Path(directory) / description, seed)
        return federation_platform_from(tables, seed)
    except PlatformError as error:
        raise ValueError(str(error)) from error
