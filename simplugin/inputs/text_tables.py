"""Tables of text with a header, whose fields are apart by commas or other separators."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from simplugin.core.errors import FileError, WorkloadFileError
from simplugin.inputs.files import FilePath, decoded, read_bytes
from simplugin.inputs.locations import LineLocation, quantity, shown

# Largest table that is read, unpacked [byte].
LARGEST_TABLE = 1 << 30
_SEPARATORS = "|,;\t"


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a table.

    Attributes
    ----------
    place : LineLocation
        The line in its file.
    values : dict of str to str
        Texts by the names of their columns, without blanks around them.
    """

    place: LineLocation
    values: dict[str, str]

    def text(self, column: str) -> str:
        """Return the text of a column; raise WorkloadFileError if it is empty."""
        if not (found := self.values[column]):
            raise self.place.error(f"{column} is empty", "give its value")
        return found

    def number(self, column: str) -> float:
        """Return the number of a column, at least 0; raise WorkloadFileError if it is none."""
        return quantity(self.values[column], column, self.place)

    def count(self, column: str) -> int:
        """Return the whole number of a column, at least 0; raise WorkloadFileError without one."""
        number = self.number(column)
        if number != int(number) or number > 2**53:
            raise self.error(column, "give a whole number from 0 to 2^53")
        return int(number)

    def error(self, column: str, remedy: str) -> FileError:
        """Return an error about the text of a column."""
        return self.place.error(f"{column} is {shown(self.values[column])}", remedy)


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of a file.

    Attributes
    ----------
    file : path
        The file.
    columns : tuple of str
        Their names, as the header has them.
    lines : list of TableLine
        The lines that are not blank.
    """

    file: FilePath
    columns: tuple[str, ...]
    lines: list[TableLine]

    def column(self, *names: str) -> str | None:
        """Return the first of some names that a column has; None if there is none."""
        return next((name for name in names if name in self.columns), None)

    def required(self, *names: str) -> str:
        """Return the first of some names that a column has; raise WorkloadFileError without one."""
        if (found := self.column(*names)) is None:
            raise LineLocation(self.file, 1).error(
                f"no column is called {' or '.join(names)}",
                f"name one so; the columns are {', '.join(self.columns)}",
            )
        return found


def read_table(path: FilePath) -> TextTable:
    """Read a table whose first line names the columns.

    The separator is the one of ``| , ; tab`` that the header has most often. With commas and
    semicolons, fields may be in double quotes; with others, quotes are letters. A separator at the
    end of each line, as of ``sacct --parsable``, makes no column.

    Raises
    ------
    WorkloadFileError
        The file cannot be read, a name is there twice, or a line has too few or too many fields;
        the message names the line.
    """
    data = read_bytes(path, WorkloadFileError, most=LARGEST_TABLE)
    text = decoded(data, path, WorkloadFileError)
    header = io.StringIO(text, newline="").readline()
    separator = max(_SEPARATORS, key=header.count)
    rows = _rows(text, path, separator)
    _, names = next(rows, (1, [""]))
    ends = len(names) > 1 and not names[-1]
    columns = tuple(names[:-1] if ends else names)
    if not all(columns) or len(set(columns)) < len(columns):
        raise LineLocation(path, 1).error(
            f"this is no table: names of columns are empty or there twice: {shown(header)}",
            "begin it with a line of different names, or end the file's name as its format does",
        )
    lines = []
    for number, fields in rows:
        given = fields[:-1] if ends and len(fields) == len(names) and not fields[-1] else fields
        place = LineLocation(path, number)
        if len(given) != len(columns):
            raise place.error(
                f"there are {len(given)} fields, and {len(columns)} columns",
                f"give one a column, apart by {separator!r}",
            )
        lines.append(TableLine(place, dict(zip(columns, given, strict=True))))
    return TextTable(path, columns, lines)


def _rows(text: str, path: FilePath, separator: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the number of the line that a row begins on, and its fields; no blank ones."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if separator in ",;" else csv.QUOTE_NONE
    # Lines end as editors have it, not in all places where str.splitlines splits.
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, quoting=quoting)
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise LineLocation(path, number).error(
                f"this is no line of a table: {error}", "look at its quotes"
            ) from None
        if any(field.strip() for field in row):
            yield number, [field.strip() for field in row]
