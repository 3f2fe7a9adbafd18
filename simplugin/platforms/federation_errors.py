"""What is wrong with a federation, and which part of its description says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import PlatformError

if TYPE_CHECKING:
    import os


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
