"""What a run leaves in files; drawings apart."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from simplugin.campaigns.kinds import Outcome
from simplugin.campaigns.scenario import Scenario
from simplugin.errors import SimpluginError
from simplugin.simulation import Result


def output_path(scenario: Scenario, name: str) -> Path | None:
    """Return where an output goes, None if it is not asked for; its directory gets made.

    Parameters
    ----------
    scenario : Scenario
        With its ``[output]``.
    name : {"result", "trace", "gantt", "curves", "graphs"}
        Which output.
    """
    file = getattr(scenario.output, name)
    if file is None:
        return None
    path: Path = (scenario.output.directory or scenario.directory) / file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{path.parent}: cannot be made: {error.strerror}"
        raise SimpluginError(message) from error
    return path


def write_outputs(scenario: Scenario, outcome: Outcome) -> list[Path]:
    """Write the result and the trace where the scenario says; return the files."""
    written = []
    try:
        path = output_path(scenario, "result")
        if path is not None:
            text = json.dumps(outcome_document(outcome), indent=1, allow_nan=False)
            path.write_text(text + "\n", encoding="utf-8")
            written.append(path)
        path = output_path(scenario, "trace")
        if path is not None:
            parquet = path.suffix.lower() == ".parquet"
            write = outcome.result.trace.to_parquet if parquet else outcome.result.trace.to_csv
            write(path)
            written.append(path)
    except OSError as error:
        raise SimpluginError(f"{path}: cannot be written: {error.strerror or error}") from error
    return written


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain containers for JSON; what is no number or text by its `repr`.

    The trace, which may be long, is not in it.
    """
    result = outcome.result
    document: dict[str, Any] = outcome.row.document()
    document["digest"] = result.digest()
    document["returned"] = [
        {"name": each.name, "host": each.host, "state": each.state, "value": each.value}
        for each in result.returned
    ]
    document["hosts"] = _columns(result, "hosts", ("flops", "busy", "energy"))
    document["links"] = _columns(result, "links", ("bytes", "energy"))
    if outcome.listings:
        document["listings"] = [listing.document() for listing in outcome.listings]
    contents: dict[str, Any] = plain(document)
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


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)
