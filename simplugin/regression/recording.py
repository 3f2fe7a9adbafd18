"""Running a scenario for its snapshot, and the digests of its sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simplugin.campaigns.keys import result_relevant, text_digest
from simplugin.inputs.named_files import NamedFiles
from simplugin.regression.snapshots import snapshot_of
from simplugin.results.row import RunResult
from simplugin.scenarios.loading import load_scenario, run_scenario, scenario_from
from simplugin.scenarios.substitutions import canonical_json

TARGET = f"{__name__}:record"
# Maximum number of lines for files and modules; beyond, one hash covers all.
_MOST = 50
_ALL = "files and modules"


def record(arguments: Mapping[str, Any]) -> RunResult:
    """Run a scenario; the contents of the result are its snapshot.

    Parameters
    ----------
    arguments : mapping
        ``file``, the scenario's; ``document``, the scenario if it differs from the file;
        ``subject``, its name; ``activities``, their maximum number in a record; ``trust``, as of
        `load_scenario`.
    """
    file, document = Path(arguments["file"]), arguments.get("document")
    trust = arguments["trust"]
    if document is None:
        scenario = load_scenario(file, trust=trust)
    else:
        scenario = scenario_from(document, file, trust=trust)
    outcome = run_scenario(scenario)
    snapshot = snapshot_of(arguments["subject"], outcome, arguments["activities"])
    return RunResult(outcome.row, snapshot.digest, {"snapshot": snapshot})


def sources_of(document: Mapping[str, Any], directory: str | os.PathLike[str]) -> dict[str, str]:
    """Return the SHA-256 of each table of a scenario and of the files and modules that it names.

    These are the sources of the keys of campaigns, without the code of this package.

    Parameters
    ----------
    document : mapping
        A scenario as `tomllib` reads it.
    directory : path
        Base of its relative paths.

    Raises
    ------
    ScenarioError
        A named file cannot be read.
    """
    wanted = result_relevant(document)
    found = {
        f"scenario [{name}]": text_digest(canonical_json(table)) for name, table in wanted.items()
    }
    lines = NamedFiles(directory).digests(wanted)
    if len(lines) > _MOST:
        return {**found, _ALL: text_digest("\n".join(lines))}
    for line in lines:
        *words, digest = line.split("\t")
        found[" ".join(words)] = digest
    return found
