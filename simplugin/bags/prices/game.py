"""A small matrix game, solved where it is played: by the root of a tree, in each round."""

from __future__ import annotations

from collections.abc import Sequence

# Below this, relative to payoffs of about 1, a reduced cost counts as 0.
_TOLERANCE = 1e-13


def solve_game(payoffs: Sequence[Sequence[float]]) -> tuple[list[float], list[float], float]:
    """Solve the game in which one side mixes columns to raise the least row.

    By the simplex method on the linear program of the row player, with Bland's rule: exact but for
    rounding, and quick for a few rows and some dozens of columns.

    Parameters
    ----------
    payoffs : sequence of sequence of float, shape (n_columns, n_rows)
        What each row gets from each column.

    Returns
    -------
    weights : list of float, shape (n_columns,)
        Of the columns; they sum to 1.
    prices : list of float, shape (n_rows,)
        Of the rows, the dual; they sum to 1.
    value : float
        Of the game.

    References
    ----------
    .. [1] G. B. Dantzig (1963). Linear programming and extensions, chapter 13.
    """
    low = min(min(column) for column in payoffs)
    scale = max(max(abs(number) for number in column) for column in payoffs) or 1.0
    # Payoffs must be positive: then the program max sum(y), y'A <= 1, y >= 0 is bounded.
    shift = 1e-2 - low / scale if low < 1e-2 * scale else 0.0
    n_columns, n_rows = len(payoffs), len(payoffs[0])
    table = [[number / scale + shift for number in column] + [1.0] for column in payoffs]
    table.append([-1.0] * n_rows + [0.0])
    # Names: 0 .. n_rows - 1 are the rows' unknowns, from n_rows on the slacks of the columns.
    outside, inside = list(range(n_rows)), list(range(n_rows, n_rows + n_columns))
    while True:
        entering = [each for each in range(n_rows) if table[-1][each] < -_TOLERANCE]
        if not entering:
            break
        column = min(entering, key=outside.__getitem__)
        rows = [row for row in range(n_columns) if table[row][column] > _TOLERANCE]
        row = min(rows, key=lambda each: (table[each][-1] / table[each][column], inside[each]))
        _pivot(table, row, column)
        outside[column], inside[row] = inside[row], outside[column]
    total = table[-1][-1]
    prices, weights = [0.0] * n_rows, [0.0] * n_columns
    for row, name in enumerate(inside):
        if name < n_rows:
            prices[name] = table[row][-1] / total
    for column, name in enumerate(outside):
        if name >= n_rows:
            weights[name - n_rows] = max(0.0, table[-1][column] / total)
    return weights, prices, (1.0 / total - shift) * scale


def _pivot(table: list[list[float]], row: int, column: int) -> None:
    """Exchange an unknown inside the basis for one outside."""
    pivot = table[row][column]
    chosen = [number / pivot for number in table[row]]
    chosen[column] = 1.0 / pivot
    for place, line in enumerate(table):
        if place != row and line[column]:
            factor = line[column]
            line[column] = 0.0
            table[place] = [x - factor * y for x, y in zip(line, chosen, strict=True)]
    table[row] = chosen
