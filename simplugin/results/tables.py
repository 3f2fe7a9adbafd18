"""A table of results, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from simplugin.core.errors import SimpluginError
from simplugin.core.formatting import html_table

Cell = float | int | str | None


class TableColumn(NamedTuple):
    """Head of a column: its name and SimGrid's symbol of its unit, ``%`` for a ratio in percent."""

    name: str
    unit: str


@dataclass(frozen=True)
class ResultTable:
    """Lines of named columns.

    Plain data: it pickles and becomes JSON.

    Attributes
    ----------
    title : str
        Title of the table.
    columns : tuple of (str, str)
        Name and unit of each column: SimGrid's symbol, ``%`` for a ratio in percent, empty for
        texts, counts and plain ratios.
    lines : tuple of tuple
        One value a column, None if it is absent.
    note : str
        A remark about the table.

    Raises
    ------
    SimpluginError
        The number of values of a line is wrong.
    """

    title: str
    columns: tuple[TableColumn | tuple[str, str], ...]
    lines: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        """Check the numbers of values."""
        object.__setattr__(self, "columns", tuple(map(TableColumn._make, self.columns)))
        object.__setattr__(self, "lines", tuple(tuple(line) for line in self.lines))
        for line in self.lines:
            if len(line) != len(self.columns):
                columns = f"table {self.title!r} has {len(self.columns)} columns"
                raise SimpluginError(f"{columns}, but a line of {len(line)} values")

    @classmethod
    def of_columns(
        cls,
        title: str,
        columns: Sequence[tuple[str, str, Sequence[Cell]]],
        note: str = "",
        most: int | None = None,
    ) -> ResultTable:
        """Return a table of columns.

        Parameters
        ----------
        title : str
            Title of the table.
        columns : sequence of (str, str, sequence)
            Name, unit and values of each column.
        note : str
            A remark about the table.
        most : int, optional
            Maximum number of lines; the note counts the others.
        """
        lines = tuple(zip(*(values for _, _, values in columns), strict=True))
        table = cls(title, tuple((name, unit) for name, unit, _ in columns), lines, note)
        return table if most is None else table.cut(most)

    def cut(self, most: int) -> ResultTable:
        """Return the first lines; the note counts the others."""
        more = len(self.lines) - most
        if more <= 0:
            return self
        note = f"and {more} more" + (f"; {self.note}" if self.note else "")
        return replace(self, lines=self.lines[:most], note=note)

    def column(self, name: str) -> Sequence[Cell]:
        """Return the values of a column.

        Raises
        ------
        SimpluginError
            There is no such column.
        """
        names = [column for column, _ in self.columns]
        if name not in names:
            message = f"table {self.title!r} has no column {name!r}"
            raise SimpluginError(f"{message}; there are {', '.join(names)}")
        place = names.index(name)
        return tuple(line[place] for line in self.lines)

    def document(self) -> dict[str, Any]:
        """Return the table as plain containers, for JSON."""
        document: dict[str, Any] = {
            "title": self.title,
            "columns": [{"name": name, "unit": unit} for name, unit in self.columns],
            "lines": [list(line) for line in self.lines],
        }
        return document | ({"note": self.note} if self.note else {})

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        lines = self.lines
        return html_table(self.columns, lines, len(lines), title=self.title, note=self.note)


class OpenPoint(NamedTuple):
    """A kind of incomplete, duplicate or unused entries of a file.

    Attributes
    ----------
    what : str
        The kind, in the plural: ``"tasks without cores"``.
    number : int
        Number of entries.
    taken_as : str
        The assumption or action.
    byte : float, optional
        Total size [byte].
    """

    what: str
    number: int
    taken_as: str
    byte: float | None = None


@dataclass
class OpenPoints:
    """Counter of open points while a file is read."""

    _found: dict[tuple[str, str], list[float]] = field(default_factory=dict, init=False)

    def note(self, what: str, taken_as: str, count: int = 1, byte: float = 0.0) -> None:
        """Add to the number and size of an `OpenPoint`."""
        if count:
            sums = self._found.setdefault((what, taken_as), [0, 0.0])
            sums[0] += count
            sums[1] += byte

    def points(self) -> tuple[OpenPoint, ...]:
        """Return all open points, in order of their first occurrence."""
        return tuple(
            OpenPoint(what, int(count), taken_as, byte or None)
            for (what, taken_as), (count, byte) in self._found.items()
        )


def left_open(inputs: Iterable[tuple[str, Iterable[OpenPoint]]]) -> tuple[ResultTable, ...]:
    """Return the table of the open points of inputs, by their names; no table without points."""
    lines = tuple((name, *point) for name, points in inputs for point in points)
    columns = ("input", ""), ("left open", ""), ("number", ""), ("taken as", ""), ("size", "byte")
    return (ResultTable("Left open by the files", columns, lines),) if lines else ()
