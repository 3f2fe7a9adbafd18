"""A table of results, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
        What it lists.
    columns : tuple of (str, str)
        Name and unit of each column, SimGrid's symbol; ``%`` for a ratio shown in percent, empty
        for texts, counts and plain ratios.
    lines : tuple of tuple
        One value a column, None where there is none.
    note : str
        What there is to say about it.

    Raises
    ------
    SimpluginError
        A line has not one value a column.
    """

    title: str
    columns: tuple[TableColumn | tuple[str, str], ...]
    lines: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse lines that do not fit."""
        object.__setattr__(self, "columns", tuple(map(TableColumn._make, self.columns)))
        object.__setattr__(self, "lines", tuple(tuple(line) for line in self.lines))
        for line in self.lines:
            if len(line) != len(self.columns):
                columns = f"listing {self.title!r} has {len(self.columns)} columns"
                raise SimpluginError(f"{columns}, but a line of {len(line)} values")

    @classmethod
    def of_columns(
        cls,
        title: str,
        columns: Sequence[tuple[str, str, Sequence[Cell]]],
        note: str = "",
        most: int | None = None,
    ) -> ResultTable:
        """Return the listing of some columns.

        Parameters
        ----------
        title : str
            What it lists.
        columns : sequence of (str, str, sequence)
            Name, unit and values of each column.
        note : str
            What there is to say about it.
        most : int, optional
            How many lines it has at most; the note says how many more there are.
        """
        lines = list(zip(*(values for _, _, values in columns), strict=True))
        if most is not None and len(lines) > most:
            note = f"and {len(lines) - most} more" + (f"; {note}" if note else "")
        return cls(
            title, tuple((name, unit) for name, unit, _ in columns), tuple(lines[:most]), note
        )

    def column(self, name: str) -> Sequence[Cell]:
        """Return the values of a column.

        Raises
        ------
        SimpluginError
            There is no such column.
        """
        names = [column for column, _ in self.columns]
        if name not in names:
            message = f"listing {self.title!r} has no column {name!r}"
            raise SimpluginError(f"{message}; there are {', '.join(names)}")
        place = names.index(name)
        return tuple(line[place] for line in self.lines)

    def document(self) -> dict[str, Any]:
        """Return the listing as plain containers, for JSON."""
        document: dict[str, Any] = {
            "title": self.title,
            "columns": [{"name": name, "unit": unit} for name, unit in self.columns],
            "lines": [list(line) for line in self.lines],
        }
        return document | ({"note": self.note} if self.note else {})

    def _repr_html_(self) -> str:
        """Show the listing in a notebook."""
        lines = self.lines
        return html_table(self.columns, lines, len(lines), title=self.title, note=self.note)


class OpenPoint(NamedTuple):
    """One thing that a file leaves open, has twice, or has for nothing.

    Attributes
    ----------
    what : str
        In the plural: ``"tasks without cores"``.
    number : int
        How many.
    taken_as : str
        What is assumed or done.
    byte : float, optional
        Size of them all [byte].
    """

    what: str
    number: int
    taken_as: str
    byte: float | None = None


@dataclass
class OpenPoints:
    """Count of all that a file leaves open, made while it is read."""

    _found: dict[tuple[str, str], list[float]] = field(default_factory=dict, init=False)

    def note(self, what: str, taken_as: str, count: int = 1, byte: float = 0.0) -> None:
        """Add to a number, and to a size; see `OpenPoint`."""
        if count:
            sums = self._found.setdefault((what, taken_as), [0, 0.0])
            sums[0] += count
            sums[1] += byte

    def points(self) -> tuple[OpenPoint, ...]:
        """Return all, in the order in which they came up."""
        return tuple(
            OpenPoint(what, int(count), taken_as, byte or None)
            for (what, taken_as), (count, byte) in self._found.items()
        )


def left_open(inputs: Iterable[tuple[str, Iterable[OpenPoint]]]) -> tuple[ResultTable, ...]:
    """Return the table of what inputs leave open, by their names; none if they leave nothing."""
    lines = tuple((name, *point) for name, points in inputs for point in points)
    columns = ("input", ""), ("left open", ""), ("number", ""), ("taken as", ""), ("size", "byte")
    return (ResultTable("Left open by the files", columns, lines),) if lines else ()
