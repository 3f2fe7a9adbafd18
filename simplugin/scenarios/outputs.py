"""The outcome of a run as plain data: in files, and in a store for reports."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter

from simplugin.core.errors import SimpluginError
from simplugin.scenarios.scenario import Scenario, ScenarioResult
from simplugin.simulation import Result
from simplugin.simulation.metrics import hosts_listing

_Part = TypeVar("_Part")
# Of a run; the first ones by their end.
MOST_ACTIVITIES = 20_000
# Of the trace all that a Gantt chart needs.
_COLUMNS = ("actor", "resource", "kind", "label", "start", "end", "state")


def output_path(scenario: Scenario, name: str) -> Path | None:
    """Return the path of an output, None if it is not wanted; create its directory.

    Parameters
    ----------
    scenario : Scenario
        With its ``[output]``.
    name : {"result", "trace", "gantt", "curves", "graphs"}
        Which output.

    Raises
    ------
    SimpluginError
        Its directory cannot be created, or an output is outside the output directory.
    """
    scenario.refuse_stray_outputs()
    if (file := getattr(scenario.output, name)) is None:
        return None
    path: Path = (scenario.output.directory or scenario.directory) / file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimpluginError(f"{path.parent}: cannot be created: {error.strerror}") from error
    return path


def write_outputs(scenario: Scenario, outcome: ScenarioResult) -> list[Path]:
    """Write the result and the trace where the scenario says; return the files."""
    written = []
    try:
        if (path := output_path(scenario, "result")) is not None:
            text = json.dumps(outcome_document(outcome), indent=1, allow_nan=False)
            path.write_text(text + "\n", encoding="utf-8")
            written.append(path)
        if (path := output_path(scenario, "trace")) is not None:
            trace = outcome.result.trace
            writers = {".csv": trace.to_csv, ".json": trace.to_chrome}
            writers.get(path.suffix.lower(), trace.to_parquet)(path)
            written.append(path)
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror or error}") from error
    return written


def outcome_document(outcome: ScenarioResult) -> dict[str, Any]:
    """Return an outcome as plain containers for JSON, without the trace, which may be long.

    Raises
    ------
    SimpluginError
        An actor returned an object that is not plain data; the message names it.
    """
    result = outcome.result
    document: dict[str, Any] = outcome.row.document()
    document["digest"] = result.digest()
    document["returned"] = [
        {name: getattr(each, name) for name in ("name", "host", "state")}
        | {"value": plain(each.value, f"actor {each.name!r} on {each.host!r} returned")}
        for each in result.returned
    ]
    document["hosts"] = _columns(result, "hosts", ("flops", "busy", "energy"))
    document["links"] = _columns(result, "links", ("bytes", "energy"))
    if outcome.listings:
        document["listings"] = [listing.document() for listing in outcome.listings]
    contents: dict[str, Any] = finite(plain(document))
    return contents


def _columns(result: Result, part: str, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the totals of the hosts or links that did something."""
    totals = getattr(result, part)
    used = np.zeros(len(totals), dtype=bool)
    for column in columns:
        used |= np.nan_to_num(getattr(totals, column)) > 0
    found: dict[str, Any] = {
        "name": [name for name, is_used in zip(totals.name, used, strict=True) if is_used]
    }
    return found | {column: getattr(totals, column)[used].tolist() for column in columns}


def finite(value: Any) -> Any:
    """Return plain containers with None in place of numbers that are not finite."""
    return with_floats(value, lambda number: number if math.isfinite(number) else None)


def with_floats(value: Any, changed: Callable[[float], float | None]) -> Any:
    """Apply a function to each float in plain containers."""
    if isinstance(value, dict):
        return {key: with_floats(item, changed) for key, item in value.items()}
    if isinstance(value, list):
        return [with_floats(item, changed) for item in value]
    return changed(value) if isinstance(value, float) else value


def contents_of(outcome: ScenarioResult, title: str = "") -> dict[str, Any]:
    """Return the parts of a result that reports need.

    Parameters
    ----------
    outcome : ScenarioResult
        The result of the scenario.
    title : str
        For the charts.

    Returns
    -------
    dict
        ``title``; documents for `from_document`: ``figures`` and ``listings``, lists of plots and
        tables (a table of the hosts if the kind of workload has none), and ``schedule``, a chart,
        if there is one. Otherwise, if there is a trace, ``activities`` as `activities_document`
        writes them.
    """
    listings = outcome.listings or (hosts_listing(outcome.result),)
    found: dict[str, Any] = {
        "title": title,
        "figures": [plain(each) for each in outcome.figures],
        "listings": [plain(each.document()) for each in listings],
    }
    if outcome.schedule is not None:
        found["schedule"] = plain(outcome.schedule)
    elif len(outcome.result.trace):
        found["activities"] = activities_document(outcome.result)
    return found


def plain(value: Any, of: str = "the result has") -> Any:
    """Return a value as numbers, texts, lists and mappings, in an order that is always the same.

    Data classes become mappings of their fields, sets sorted lists.

    Parameters
    ----------
    value : object
        What to write.
    of : str
        Start of the message about what cannot be written.

    Raises
    ------
    SimpluginError
        It contains another object: its text could depend on its address in memory.
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), of)
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else str(plain(key, of)): plain(each, of)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(each, of) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each, of) for each in value), key=json.dumps)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name), of) for each in fields(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind, remedy = type(value), "give numbers, texts, lists, mappings, or data classes of these"
    message = (
        f"{of} an object of type {kind.__module__}.{kind.__qualname__}, which is not plain data"
    )
    raise SimpluginError(f"{message}; {remedy}")


def from_document(kind: type[_Part], document: Mapping[str, Any]) -> _Part:
    """Return a claim, plot, chart or table from its document as `contents_of` writes it.

    Parameters
    ----------
    kind : type
        `Claim`, `CurvePlot`, `ScheduleChart` or `ResultTable`.
    document : mapping
        Its fields as plain containers; defaults replace absent ones.
    """
    return TypeAdapter(kind).validate_python(document)


def activities_document(result: Result) -> dict[str, Any]:
    """Return the activities of a simulation as plain containers, those that end first.

    Parameters
    ----------
    result : Result
        With its trace.

    Returns
    -------
    dict
        ``columns``, a list each: texts ``actor``, ``resource``, ``kind``, ``label`` and ``state``,
        numbers ``start`` and ``end`` [s]; ``total``, how many there were.
    """
    trace = result.trace
    columns = {name: getattr(trace, name)[:MOST_ACTIVITIES] for name in _COLUMNS}
    found: dict[str, Any] = plain({"columns": columns, "total": len(trace)})
    return found
