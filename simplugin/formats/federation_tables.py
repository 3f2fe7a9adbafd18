"""Tables of a description, read key by key; what is wrong is told with its line and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from simplugin.errors import PlatformError
from simplugin.inputs.positions import toml_line
from simplugin.near_names import near_names
from simplugin.platforms.laws import (
    COUNT,
    QUANTITIES,
    Dimension,
    MisreadError,
    read_law,
    read_number,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from simplugin.platforms.laws import Law

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Document:
    """What a description was read from.

    Attributes
    ----------
    file : path, optional
        The file; None for tables that came otherwise.
    text : str
        Its contents.
    """

    file: str | os.PathLike[str] | None = None
    text: str = ""

    def error(self, path: tuple[str | int, ...], message: str, remedy: str | None) -> PlatformError:
        """Return an exception about the value at a path."""
        line = toml_line(self.text, path) if self.text else None
        return PlatformError(message, file=self.file, line=line, remedy=remedy)


class Table:
    """A table of a description.

    Parameters
    ----------
    values : dict
        What it holds.
    path : tuple of str or int
        The keys and positions that lead to it.
    document : Document
        Where it stands.
    known : iterable of str
        The keys that it may have.

    Raises
    ------
    PlatformError
        It is no table, or has another key.
    """

    def __init__(
        self, values: Any, path: tuple[str | int, ...], document: Document, known: Iterable[str]
    ) -> None:
        self._path = path
        self._document = document
        self._known = tuple(known)
        if not isinstance(values, dict):
            raise document.error(path, f"{_dotted(path)} is {values!r}", "write a table")
        self._values = values
        for key in values:
            if key not in self._known:
                close = near_names(key, self._known, 1)
                listed = ", ".join(self._known)
                remedy = f"did you mean {close[0]!r}?" if close else f"the keys here are {listed}"
                raise document.error((*path, key), f"unknown key {self._at(key)!r}", remedy)

    def __contains__(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self._values

    def wrong(self, key: str, remedy: str) -> PlatformError:
        """Return an exception about the value of a key."""
        message = f"{self._at(key)} is {self._values[key]!r}"
        return self._document.error((*self._path, key), message, remedy)

    def _at(self, key: str) -> str:
        """Name a key of this table."""
        return _dotted((*self._path, key))

    def _value(self, key: str, remedy: str) -> Any:
        """Return the value of a key that must be there."""
        if key not in self._values:
            message = f"key {self._at(key)!r} is missing"
            raise self._document.error((*self._path, key), message, f"add it: {remedy}")
        return self._values[key]

    def text(self, key: str, default: str | None = None, choices: Iterable[str] = ()) -> str:
        """Return a text; one that must be there if there is no default."""
        if default is not None and key not in self._values:
            return default
        listed = ", ".join(choices)
        value = self._value(key, f"one of {listed}" if listed else "a text")
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "give a text")
        return value

    def truth(self, key: str, *, default: bool) -> bool:
        """Return whether something is so."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "write true or false")
        return value

    def whole(self, key: str, least: int, default: int | None = None) -> int | None:
        """Return a whole number of at least so much."""
        value = self._values.get(key, default)
        if value is not None and not (_is_whole(value) and value >= least):
            raise self.wrong(key, f"give a whole number of at least {least}")
        return None if value is None else int(value)

    def count(self, key: str, default: int | None = None) -> int | Law:
        """Return a whole number of at least 1, or a law of such numbers."""
        if key not in self._values and default is not None:
            return default
        remedy = "a whole number of at least 1, or a law"
        value = self._value(key, remedy)
        if isinstance(value, dict):
            return self._law(key, COUNT)
        if not _is_whole(value) or value < 1:
            raise self.wrong(key, f"give {remedy}")
        return int(value)

    def quantity(self, key: str, default: float | None = None) -> float | Law:
        """Return a quantity of the dimension that its key says, or a law of such quantities."""
        if key not in self._values and default is not None:
            return default
        dimension = QUANTITIES[key]
        value = self._value(key, f"e.g. {dimension.example}, a number [{dimension.si}], or a law")
        if isinstance(value, dict):
            return self._law(key, dimension)
        return self._placed(key, lambda: read_number(self._at(key), value, dimension))

    def _law(self, key: str, dimension: Dimension) -> Law:
        """Return a law that stands in the place of a quantity."""
        return self._placed(key, lambda: read_law(self._at(key), self._values[key], dimension))

    def _placed(self, key: str, read: Callable[[], _Made]) -> _Made:
        """Return what is read of a key's value; an objection gets its line."""
        try:
            return read()
        except MisreadError as error:
            path = (*self._path, key, *error.path)
            raise self._document.error(path, error.message, error.remedy) from None

    def table(self, key: str, known: Iterable[str]) -> Table | None:
        """Return a table in it; None if it is not there."""
        if key not in self._values:
            return None
        return Table(self._values[key], (*self._path, key), self._document, known)

    def tables(self, key: str, known: Iterable[str]) -> list[Table]:
        """Return the tables of an array; none if it is not there."""
        known = tuple(known)
        values = self._values.get(key, [])
        if not isinstance(values, list):
            raise self.wrong(key, f"write [[{_dotted((*self._path, key), numbers=False)}]]")
        return [
            Table(value, (*self._path, key, at), self._document, known)
            for at, value in enumerate(values)
        ]

    def texts(self, key: str, count: int) -> list[str]:
        """Return so many texts."""
        value = self._value(key, f"{count} texts in brackets")
        if (
            not isinstance(value, list)
            or len(value) != count
            or not all(isinstance(each, str) and each for each in value)
        ):
            raise self.wrong(key, f"give {count} texts in brackets")
        return value

    def made(self, make: Callable[[], _Made]) -> _Made:
        """Return what this table describes; an objection gets the line of the table."""
        try:
            return make()
        except PlatformError as error:
            if error.line is not None:
                raise
            raise self._document.error(self._path, error.message, error.remedy) from None


def _is_number(value: object) -> bool:
    """Whether a value is a number; TOML's true is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    """Whether a value is a whole number; 4.0 is one."""
    return isinstance(value, int | float) and _is_number(value) and float(value).is_integer()


def _dotted(path: tuple[str | int, ...], *, numbers: bool = True) -> str:
    """Write a path as one writes keys in TOML; positions in arrays are counted from 0."""
    return ".".join(str(step) for step in path if numbers or isinstance(step, str))
