"""Options that several of the commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Instead of what the campaign file names."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Shown = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        metavar="N|all",
        help="By default the one that the file describes, or the latest of the store.",
    ),
]
