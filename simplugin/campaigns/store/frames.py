"""A table of runs for pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from simplugin.campaigns.store.columns import Columns

if TYPE_CHECKING:
    import pandas

_LARGEST = 2**63


def results(
    store: str | Path, campaign: int | Literal["all"] | None = None, *, every: bool = False
) -> pandas.DataFrame:
    """Return a table of the runs of a campaign, a row each.

    Parameters
    ----------
    store : path
        The store.
    campaign : int or "all", optional
        Number of a campaign in it; by default the one that was begun last. A run that is in two
        has two rows in the table of all.
    every : bool
        A row for each attempt, not only for those that count.

    Returns
    -------
    pandas.DataFrame
        Columns as `simplugin.campaigns.store.columns` has them; ``attrs["units"]`` has the units
        of the metrics by their columns.

    Raises
    ------
    StoreError
        The store cannot be read, or there is no such campaign.
    """
    from simplugin.campaigns.store.reading import StoreReader

    with StoreReader(store) as reader:
        number = reader.latest().number if campaign is None else campaign
        return reader.frame(None if number == "all" else number, every=every)


def frame_of(columns: Columns, rows: Iterable[Sequence[Any]]) -> pandas.DataFrame:
    """Return rows of cells as a table; ``attrs["units"]`` has the units of the metrics."""
    import pandas

    cells: list[list[Any]] = [[] for _ in columns.names]
    for row in rows:
        for column, cell in zip(cells, row, strict=True):
            column.append(cell)
    table = pandas.DataFrame(
        {name: _column(column) for name, column in zip(columns.names, cells, strict=True)}
    )
    table.attrs["units"] = columns.units
    return table


def _column(cells: list[Any]) -> Any:
    """Return a column with the narrowest type that keeps every cell as it is."""
    import pandas

    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int} and None in cells:
        if all(abs(cell or 0) < _LARGEST for cell in cells):
            return pandas.array(cells, dtype="Int64")
        return pandas.Series(cells, dtype="object")
    if kinds and kinds <= {int, float}:
        return pandas.Series(cells, dtype="float64" if float in kinds or None in cells else None)
    return pandas.Series(cells, dtype="object" if len(kinds) != 1 else None)
