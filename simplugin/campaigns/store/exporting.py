"""Tables of runs as files for other programs."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from simplugin.campaigns.store.reading import StoreReader
from simplugin.errors import SetupError, SimpluginError

SUFFIXES = (".csv", ".parquet")


def export(
    store: Path, file: Path, campaign: int | None = None, *, every: bool = False
) -> tuple[int, int]:
    """Write the runs of a campaign, or of all, as a table with a row each.

    Parameters
    ----------
    store : path
        The store.
    file : path
        What to write, ``.csv`` or ``.parquet``; replaced as a whole if it is there.
    campaign : int, optional
        Its number.
    every : bool
        A row for each attempt, not only for those that count.

    Returns
    -------
    int, int
        How many rows and columns were written.

    Raises
    ------
    SimpluginError
        The file has another suffix or cannot be written.
    SetupError
        pyarrow, which writes Parquet files, is missing.
    StoreError
        The store cannot be read.
    """
    formats: dict[str, Callable[..., tuple[int, int]]]
    formats = {".csv": _write_csv, ".parquet": _write_parquet}
    write = formats.get(file.suffix.lower())
    if write is None:
        known = " or ".join(SUFFIXES)
        raise SimpluginError(f"{file}: tables are written as {known}; name a file with that suffix")
    with _replaced(file) as new:
        return write(store, new, campaign, every=every)


def _write_csv(store: Path, file: Path, campaign: int | None, *, every: bool) -> tuple[int, int]:
    """Write comma-separated values: numbers so that nothing of them is lost, unknown ones empty."""
    count = 0
    with StoreReader(store) as reader, file.open("w", encoding="utf-8", newline="") as opened:
        columns = reader.columns(campaign)
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(columns.names)
        for row in reader.cells(columns, campaign, every=every):
            writer.writerow(row)
            count += 1
    return count, len(columns.names)


def _write_parquet(
    store: Path, file: Path, campaign: int | None, *, every: bool
) -> tuple[int, int]:
    """Write a Parquet file.

    A column of different kinds of values, or with integers beyond 64 bits, becomes one of texts.
    """
    if find_spec("pyarrow") is None:
        message = "Parquet files need pyarrow: pip install 'simplugin[parquet]', or export to .csv"
        raise SetupError(message)
    with StoreReader(store) as reader:
        table = reader.frame(campaign, every=every)
    for name in table.columns:
        column = table[name]
        if column.dtype == object:
            kinds = {type(cell) for cell in column if cell is not None}
            if len(kinds) > 1 or int in kinds:
                table[name] = column.map(str, na_action="ignore")
    table.to_parquet(file, engine="pyarrow", index=False)
    return len(table), len(table.columns)


@contextmanager
def _replaced(file: Path) -> Iterator[Path]:
    """Give a file to write that takes the place of another once it is whole."""
    new = file.with_name(f".{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield new
        new.replace(file)
    except OSError as error:
        raise SimpluginError(f"{file}: cannot be written: {error.strerror or error}") from error
    finally:
        # Where it could not be made, asking for it may fail too.
        with suppress(OSError):
            new.unlink()
