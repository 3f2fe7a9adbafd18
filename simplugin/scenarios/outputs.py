"""What a run leaves in files; drawings apart."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.inputs.kinds import Outcome
from simplugin.scenarios.contents import plain
from simplugin.scenarios.scenario import Scenario
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
    """Return an outcome as plain containers for JSON, without the trace, which may be long.

    Raises
    ------
    SimpluginError
        An actor returned something else than plain data; the message names it.
    """
    result = outcome.result
    document: dict[str, Any] = outcome.row.document()
    document["digest"] = result.digest()
    document["returned"] = [
        {
            "name": each.name,
            "host": each.host,
            "state": each.state,
            "value": plain(each.value, f"actor {each.name!r} on {each.host!r} returned"),
        }
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
    """Return plain containers as JSON has them: None for what is not finite."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
