"""Running a scenario for its snapshot, in whatever process does it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simplugin.campaigns.jobs import Measured
from simplugin.campaigns.keys import versions
from simplugin.regression.snapshots import (
    Snapshot,
    read_snapshot,
    snapshot_of_outcome,
    write_snapshot,
)
from simplugin.scenarios.scenario import load_scenario, run_scenario, scenario_from

TARGET = f"{__name__}:record"


def record(arguments: Mapping[str, Any]) -> Measured:
    """Run a scenario and leave its snapshot in a file, for `read_run`.

    Parameters
    ----------
    arguments : mapping
        ``file``, the scenario's; ``document``, its contents if they are not those of the file;
        ``subject``, how it is called; ``to``, where the snapshot goes; ``activities``, how many
        of them it has at most.
    """
    file, document = Path(arguments["file"]), arguments.get("document")
    scenario = load_scenario(file) if document is None else scenario_from(document, file)
    outcome = run_scenario(scenario)
    snapshot = snapshot_of_outcome(
        arguments["subject"],
        outcome,
        versions(outcome.row.provenance),
        arguments["activities"],
    )
    # Of the activities, more is needed for the comparison than a snapshot has on disk.
    write_snapshot(replace(snapshot, activities=None), arguments["to"])
    _activities_path(arguments["to"]).write_bytes(pickle.dumps(snapshot.activities))
    return Measured(outcome.row, snapshot.digest)


def read_run(path: str | os.PathLike[str]) -> Snapshot:
    """Return the snapshot that `record` left in a file, in a directory that nobody else writes to.

    Raises
    ------
    SimpluginError
        The file is no snapshot.
    """
    snapshot = read_snapshot(path)
    assert snapshot is not None
    return replace(snapshot, activities=pickle.loads(_activities_path(path).read_bytes()))


def _activities_path(path: str | os.PathLike[str]) -> Path:
    """Return where the activities of a run are."""
    return Path(path).with_suffix(".activities")
