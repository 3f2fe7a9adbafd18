"""Tables of measured values: the rows that are fitted, and those that are held out."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import ScenarioError

Loss = Callable[[NDArray[np.float64], NDArray[np.float64]], float]


@dataclass(frozen=True)
class MeasuredRow:
    """A row of a table of measured values.

    Attributes
    ----------
    name : str
        Its name, or its number from 1.
    cells : mapping of str to object
        The columns of the file.
    metrics : tuple of float
        Measured values, in the order of the metrics of the study.
    """

    name: str
    cells: Mapping[str, Any]
    metrics: tuple[float, ...]


def read_measurements(
    file: Path, name: str | None, inputs: Sequence[str], metrics: Sequence[str]
) -> tuple[MeasuredRow, ...]:
    """Read a table of measured values.

    Parameters
    ----------
    file : Path
        CSV with a header, or a JSON list of objects (suffix ``.json``).
    name : str, optional
        Column of the names; by default rows are numbered.
    inputs, metrics : sequence of str
        Columns that must be there; those of metrics hold positive numbers.

    Raises
    ------
    ScenarioError
        The file cannot be read, a column is missing, two rows share a name, or a measured value
        is not a positive number.
    """
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix.lower() == ".json":
            lines = [(number, dict(each)) for number, each in enumerate(json.loads(text), 1)]
        else:
            reader = csv.DictReader(text.splitlines())
            lines = [(reader.line_num, _plain(each)) for each in reader]
    except (OSError, ValueError, TypeError) as error:
        remedy = "give a CSV file with a header, or a JSON list of objects"
        raise ScenarioError(f"it cannot be read: {error}", file=file, remedy=remedy) from None
    if not lines:
        raise ScenarioError("there are no rows", file=file, remedy="give at least one")
    found: dict[str, MeasuredRow] = {}
    for number, cells in lines:
        line = None if file.suffix.lower() == ".json" else number
        for column in (*inputs, *metrics, *([name] if name else [])):
            if cells.get(column) is None:
                message = f"row {len(found) + 1} has no column {column!r}"
                remedy = f"there are {', '.join(map(str, cells))}"
                raise ScenarioError(message, file=file, line=line, remedy=remedy)
        for column in metrics:
            value = cells[column]
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 < value < math.inf:
                message = f"column {column!r} is {value!r}"
                remedy = "errors are relative: give a positive number"
                raise ScenarioError(message, file=file, line=line, remedy=remedy)
        called = str(cells[name]) if name else str(len(found) + 1)
        if called in found:
            message = f"two rows have the name {called!r}"
            raise ScenarioError(message, file=file, line=line, remedy="rename one")
        found[called] = MeasuredRow(called, cells, tuple(float(cells[each]) for each in metrics))
    return tuple(found.values())


def _plain(cells: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the cells of a line of CSV: integers, numbers and texts; empty cells as None."""
    return {
        column: None if value in ("", None) else _cell(value) for column, value in cells.items()
    }


def _cell(text: Any) -> Any:
    """Return the number that a text stands for, or the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except (ValueError, TypeError):
            continue
    return text


def relative_errors(
    predicted: NDArray[np.float64], measured: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``predicted / measured - 1``."""
    return predicted / measured - 1


def shipped_loss(name: str, weights: Sequence[float]) -> Loss:
    """Return the loss with a name.

    Parameters
    ----------
    name : {"rms", "mean", "median", "largest"}
        Statistic of the weighted absolute relative errors.
    weights : sequence of float
        Weight of each metric.

    Returns
    -------
    callable
        From predicted and measured values, each of shape (n_rows, n_metrics).
    """
    relative = np.asarray(weights) / np.mean(weights)

    def loss(predicted: NDArray[np.float64], measured: NDArray[np.float64]) -> float:
        """Return the statistic."""
        errors = np.abs(relative_errors(predicted, measured))
        if name == "rms":
            return float(np.sqrt(np.mean(relative * errors**2)))
        if name == "mean":
            return float(np.mean(relative * errors))
        if name == "largest":
            return float(np.max(relative * errors))
        order = np.argsort(errors, axis=None)
        passed = np.cumsum(np.broadcast_to(relative, errors.shape).ravel()[order])
        return float(errors.ravel()[order][np.searchsorted(passed, passed[-1] / 2)])

    return loss
