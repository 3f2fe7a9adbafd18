"""Places in files that errors are tied to, and numbers that are checked there."""

from __future__ import annotations

import math
import os
import re
from typing import NamedTuple, Protocol

from simplugin.core.errors import FileError, WorkloadFileError

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LONGEST_SHOWN = 80


class SourceLocation(Protocol):
    """A place in a file, which an error can be tied to."""

    def error(self, message: str, remedy: str) -> FileError:
        """Return an error with the file and, where it is known, the line."""
        ...


class LineLocation(NamedTuple):
    """A line of a file of a workload.

    Attributes
    ----------
    file : path
        The file.
    number : int
        Counted from 1.
    """

    file: str | os.PathLike[str]
    number: int

    def error(self, message: str, remedy: str) -> WorkloadFileError:
        """Return an error at this line; see `SourceLocation`."""
        return WorkloadFileError(message, file=self.file, line=self.number, remedy=remedy)


def shown(value: object) -> str:
    """Return a value as messages quote it: on one line and cut where it is long."""
    # Numbers and texts of numpy are shown as their Python values.
    text = repr(_plain(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _plain(value: object) -> object:
    """Replace types of numpy in numbers, texts, lists and tuples."""
    if type(value) is list:
        return [_plain(each) for each in value]
    if type(value) is tuple:
        return tuple(_plain(each) for each in value)
    # Only values of numpy carry a dtype; numpy is not imported, since checks of files avoid it.
    return value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value


def quantity(text: str, what: str, place: SourceLocation, *, negative: bool = False) -> float:
    """Return a text such as ``'1.5e9'`` as a number.

    Parameters
    ----------
    text : str
        The number.
    what : str
        Its name in messages: ``"size of task 'a'"``.
    place : SourceLocation
        Its place.
    negative : bool
        True if it may be below 0.

    Returns
    -------
    float
        Finite, and at least 0 unless it may be negative.

    Raises
    ------
    FileError
        The text is no number, or the number is out of range.
    """
    if _NUMBER.fullmatch(text.strip()) is None:
        raise place.error(f"{what} is {shown(text)}, which is no number", "give a number >= 0")
    value = float(text)
    if not math.isfinite(value):
        raise place.error(f"{what} is {shown(text)}, which is too large", "give a smaller number")
    return value if negative else non_negative(value, what, place)


def non_negative(value: float, what: str, place: SourceLocation) -> float:
    """Return a number; raise unless it is at least 0 and finite. Parameters as for `quantity`."""
    if not (math.isfinite(value) and value >= 0):
        raise place.error(f"{what} is {value!r}", "give a finite number >= 0")
    return value


def fraction(value: float, what: str, place: SourceLocation) -> float:
    """Return a number; raise unless it is from 0 to 1. Parameters as for `quantity`."""
    if not 0 <= value <= 1:
        raise place.error(f"{what} is {value!r}", "give a part from 0 to 1")
    return value
