"""Digests of what a scenario consists of, so that a later run can tell what changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from simplugin.campaigns.keys import determining
from simplugin.campaigns.named_files import NamedFiles
from simplugin.scenarios.substitutions import canonical_json

# A record has a line for each; of more files only one for all of them.
_MOST = 50
_ALL = "files and modules"


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
    tables = {
        f"scenario [{name}]": sha256(canonical_json(table).encode("utf-8", "surrogatepass"))
        for name, table in wanted.items()
    }
    found = {name: digest.hexdigest() for name, digest in tables.items()}
    lines = NamedFiles(directory).digests(wanted)
    if len(lines) > _MOST:
        total = sha256("\n".join(lines).encode("utf-8", "surrogatepass"))
        return {**found, _ALL: total.hexdigest()}
    for line in lines:
        *words, digest = line.split("\t")
        found[" ".join(words)] = digest
    return found
