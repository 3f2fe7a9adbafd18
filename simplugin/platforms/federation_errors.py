"""Errors of federations, and the checks that several parts of them need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import PlatformError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

# Assumed: loading takes SimGrid their number times that of the hosts, a minute for 1,000 with
# 100,000 hosts.
MOST_CLUSTERS = 100_000
# SimGrid's int.
MOST_CORES = 2**31 - 1
# Assumed: each route between two sites is written, 7 MB for a ring of 100 sites.
MOST_ROUTED_SITES = 1_000


class FederationError(PlatformError):
    """A part of a federation that does not fit the rest, or is beyond all bounds.

    Parameters
    ----------
    message : str
        What is wrong, naming the culprit.
    *about : str or int
        The fields and positions that lead to the culprit from the object that was to be made, such
        as ``"sites", 1, "clusters", 0, "hosts"``; none for the object itself.
    remedy : str, optional
        How to right it.
    file, line : path and int, optional
        Where it stands.
    """

    def __init__(
        self,
        message: str,
        *about: str | int,
        remedy: str | None = None,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, file=file, line=line, remedy=remedy)
        self.about = about


def require_at_most(what: str, value: float, most: int, field: str) -> None:
    """Raise if a number is above its bound.

    Parameters
    ----------
    what : str
        What it is.
    value : float
        The number.
    most : int
        Its bound.
    field : str
        Where it stands.

    Raises
    ------
    FederationError
        It is greater.
    """
    if value > most:
        raise FederationError(
            f"{what} is {in_digits(value)}, more than the {most:,} that are made",
            field,
            remedy=f"give a number up to {most:,}",
        )


def require_apart(what: str, names: Iterable[tuple[str, tuple[str | int, ...]]]) -> None:
    """Raise if a name occurs twice.

    Parameters
    ----------
    what : str
        What bears the names, in the plural.
    names : iterable of (str, tuple)
        Each with what an error about it is about.
    """
    seen = set()
    for name, about in names:
        if name in seen:
            raise FederationError(
                f"two {what} are called {name!r}", *about, remedy="name them apart"
            )
        seen.add(name)


def in_digits(number: float) -> str:
    """Write a number so that it fits a line."""
    return f"{int(number):,}" if number < 1e15 else f"{number:.3g}"
