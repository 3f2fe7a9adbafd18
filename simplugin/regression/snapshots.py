"""Snapshots: results of runs, recorded for comparison with later runs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from simplugin.campaigns.keys import versions
from simplugin.core.errors import SimpluginError
from simplugin.inputs.messages import problems_of
from simplugin.regression.activities import (
    Activities,
    activities_of,
    activities_of_chart,
    read_rows,
    write_activities,
)
from simplugin.regression.tolerances import ACTIVITIES
from simplugin.results.row import Best, Metric, Row
from simplugin.scenarios.scenario import ScenarioResult
from simplugin.simulation import Result
from simplugin.simulation.metrics import metrics

FORMAT = 1
TRACE = ".trace.csv.gz"
# Entries of a run's provenance that may explain differences.
_SETTINGS = (
    "back_end",
    "seed",
    "until",
    "energy",
    "trace",
    "platform_sha256",
    "content_sha256",
)


# Mappings of a record that describe the circumstances of the run.
_FACTS = ("settings", "options", "versions", "sources")


class _Table(BaseModel):
    """An object of a recorded result."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Special(_Table):
    """A number that JSON does not have."""

    model_config = ConfigDict(extra="forbid")
    float: Literal["nan", "inf", "-inf"]


_Number = int | float | _Special


class _Metric(_Table):
    value: _Number | str | None
    unit: str


class _Best(_Table):
    model_config = ConfigDict(extra="forbid")
    metric: str
    value: _Number
    proof: Literal["optimum", "bound"]
    sense: Literal["min", "max"]


class _Activities(_Table):
    total: NonNegativeInt
    namesakes: dict[str, NonNegativeInt]


class _Document(_Table):
    """A recorded result, apart from its gap."""

    format: Literal[1]
    subject: str
    metrics: dict[str, _Metric]
    best: _Best | None
    digest: str | None
    settings: dict[str, Any]
    options: dict[str, str]
    versions: dict[str, str]
    sources: dict[str, str]
    activities: _Activities | None


@dataclass(frozen=True)
class Snapshot:
    """The result of a run, and its circumstances.

    Attributes
    ----------
    subject : str
        The scenario's file, or the test.
    metrics : tuple of Metric
        In display order.
    best : Best, optional
        Optimum or bound of one of the metrics.
    digest : str, optional
        Hash of the complete result.
    settings : mapping
        Back end, seed, limit, hashes of the platform, of everything that determines the run, and
        of this package's code.
    options : mapping of str to str
        SimGrid's options in force.
    versions : mapping of str to str
        Versions of the packages involved.
    sources : mapping of str to str
        Hashes of the scenario's tables, and of the files and modules that it names.
    activities : Activities, optional
        The activities of the actors.
    """

    subject: str
    metrics: tuple[Metric, ...]
    best: Best | None = None
    digest: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    activities: Activities | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the snapshot as plain containers, for JSON; activities are only counted."""
        row = Row(self.metrics, {}, self.best).document()
        found = self.activities
        return {
            "format": FORMAT,
            "subject": self.subject,
            "metrics": {
                each.name: {"value": _written(each.value), "unit": each.unit}
                for each in self.metrics
            },
            "best": row["best"] and {**row["best"], "value": _written(row["best"]["value"])},
            "gap": _written(row["gap"]),
            "digest": self.digest,
            **{name: dict(getattr(self, name)) for name in _FACTS},
            "activities": None
            if found is None
            else {
                "total": found.total,
                "recorded": len(found.rows),
                "namesakes": dict(found.namesakes),
            },
        }


def snapshot_of(
    subject: str, value: ScenarioResult | Result | Row, most: int = ACTIVITIES
) -> Snapshot:
    """Return the snapshot of the result of a scenario or a simulation, or of a row.

    Parameters
    ----------
    subject : str
        The scenario's file, or the test.
    value : ScenarioResult, Result or Row
        The result; without a trace, the bars of its schedule are its activities.
    most : int
        Maximum number of activities.
    """
    if isinstance(value, Result):
        value = ScenarioResult(Row(metrics(value), value.provenance), value)
    digest = activities = None
    if isinstance(value, Row):
        row = value
    else:
        row, digest = value.row, value.result.digest()
        activities = activities_of(value.result, most)
        if activities is None and value.schedule is not None:
            activities = activities_of_chart(value.schedule, most)
    known = row.provenance
    return Snapshot(
        subject,
        tuple(Metric(each.name, plain_number(each.value), each.unit) for each in row),
        row.best,
        digest,
        settings={name: known[name] for name in _SETTINGS if name in known},
        options={name: str(each) for name, each in known.get("options", {}).items()},
        versions=versions(known),
        activities=activities,
    )


def write_snapshot(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Write a snapshot and its activities, two files that are replaced atomically.

    Raises
    ------
    SimpluginError
        A file cannot be written.
    """
    file = Path(path)
    trace = trace_path(file)
    parts = {each: each.with_name(each.name + ".part") for each in (trace, file)}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            if snapshot.activities is None:
                trace.unlink(missing_ok=True)
            else:
                write_activities(snapshot.activities, parts[trace])
                parts[trace].replace(trace)
            parts[file].write_text(_text(snapshot.document()), encoding="utf-8")
            parts[file].replace(file)
        finally:
            for part in parts.values():
                part.unlink(missing_ok=True)
    except OSError as error:
        raise SimpluginError(f"{file}: cannot be written: {error.strerror or error}") from error


def read_snapshot(path: str | os.PathLike[str]) -> Snapshot | None:
    """Read a snapshot and its activities; None if there is none.

    Raises
    ------
    SimpluginError
        The file is no snapshot, or has the format of a later version.
    """
    file = Path(path)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        _Document.model_validate(document)
        if document["best"] and document["best"]["metric"] not in document["metrics"]:
            raise ValueError("best.metric is not one of the metrics")
        return _snapshot_from(document, trace_path(file))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, ValidationError):
            found = problems_of(error, _Document, document)[0]
            reason = f"{found.text}; {found.remedy}"
        raise SimpluginError(
            f"{file}: is no recorded result ({reason}); "
            "restore it, or delete it and record it again with --update"
        ) from error


def is_snapshot(path: Path) -> bool:
    """Return True if a JSON file is a recorded result, possibly damaged."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return (
        isinstance(document, dict)
        and document.get("format") == FORMAT
        and isinstance(document.get("subject"), str)
        and isinstance(document.get("metrics"), dict)
    )


def delete_snapshot(path: Path) -> None:
    """Delete a snapshot and its activities."""
    path.unlink()
    trace_path(path).unlink(missing_ok=True)


def plain_number(value: Any) -> Any:
    """Return a number of numpy's as one of Python's."""
    return value.item() if getattr(value, "shape", None) == () else value


def trace_path(file: Path) -> Path:
    """Return the file of the activities of a snapshot."""
    return file.with_name(file.name.removesuffix(".json") + TRACE)


def _snapshot_from(document: Mapping[str, Any], trace: Path) -> Snapshot:
    """Return the snapshot of a validated document."""
    counts = document["activities"]
    activities = None
    # Repositories may leave traces out; the first different activity is then unknown.
    if counts is not None and trace.exists():
        activities = Activities(read_rows(trace), counts["total"], counts["namesakes"])
    best = document["best"]
    return Snapshot(
        document["subject"],
        tuple(
            Metric(name, _read(each["value"]), each["unit"])
            for name, each in document["metrics"].items()
        ),
        best and Best(**{**best, "value": _read(best["value"])}),
        document["digest"],
        activities=activities,
        **{name: document[name] for name in _FACTS},
    )


def _written(value: Any) -> Any:
    """Return a value for JSON, which lacks NaN and infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(float(value))}
    return value


def _read(value: Any) -> Any:
    """Return a value that `_written` wrote."""
    return float(value["float"]) if isinstance(value, dict) else value


def _text(document: Mapping[str, Any]) -> str:
    """Write a document with one line for each metric, for readable diffs."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict) and value and key != "best" and key != "activities":
            inner = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            lines.append(f" {json.dumps(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
