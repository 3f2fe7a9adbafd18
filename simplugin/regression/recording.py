"""Running a scenario for its snapshot, and the digests of its sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simplugin.campaigns.jobs import RunResult
from simplugin.campaigns.keys import determining, text_digest, versions
from simplugin.inputs.named_files import NamedFiles
from simplugin.regression.snapshots import snapshot_of_outcome
from simplugin.scenarios.loading import load_scenario, run_scenario, scenario_from
from simplugin.scenarios.substitutions import canonical_json

TARGET = f"{__name__}:record"
# A record has a line for each; of more files only one for all of them.
_MOST = 50
_ALL = "files and modules"


def record(arguments: Mapping[str, Any]) -> RunResult:
    """Run a scenario; its contents are the snapshot, with more activities than one on disk has.

    Parameters
    ----------
    arguments : mapping
        ``file``, the scenario's; ``document``, its contents if they are not those of the file;
        ``subject``, how it is called; ``activities``, how many of them are recorded at most;
        ``trust``, as `load_scenario` takes it.
    """
    file, document = Path(arguments["file"]), arguments.get("document")
    trust = arguments["trust"]
    if document is None:
        scenario = load_scenario(file, trust=trust)
    else:
        scenario = scenario_from(document, file, trust=trust)
    outcome = run_scenario(scenario)
    snapshot = snapshot_of_outcome(
        arguments["subject"], outcome, versions(outcome.row.provenance), arguments["activities"]
    )
    return RunResult(outcome.row, snapshot.digest, {"snapshot": snapshot})


def sources_of(document: Mapping[str, Any], directory: str | os.PathLike[str]) -> dict[str, str]:
    """Return the SHA-256 of each table of a scenario and of the files and modules that it names.

    They are those that the keys of campaigns are made of. The code of this package is not among
    them.

    Parameters
    ----------
    document : mapping
        A scenario as `tomllib` reads it.
    directory : path
        Where its paths start.

    Raises
    ------
    ScenarioError
        A file that it names cannot be read.
    """
    wanted = determining(document)
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
