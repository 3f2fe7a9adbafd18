"""Running a scenario for its snapshot, in whatever process does it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simplugin.campaigns.jobs import Measured
from simplugin.campaigns.regression.snapshots import snapshot_of_outcome, write_snapshot
from simplugin.campaigns.running.versions import versions
from simplugin.campaigns.scenario import load_scenario, run_scenario, scenario_from

TARGET = f"{__name__}:record"


def record(arguments: Mapping[str, Any]) -> Measured:
    """Run a scenario and leave its snapshot in a file.

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
        arguments["activities"],
        versions(outcome.row.provenance),
    )
    write_snapshot(snapshot, arguments["to"])
    return Measured(outcome.row, snapshot.digest)
