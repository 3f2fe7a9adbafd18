"""``simplugin check``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer

from simplugin.formats.check import Finding, check, exit_status


def check_command(files: Sequence[Path], *, as_json: bool) -> int:
    """Print the findings; return the exit status."""
    findings = check(files)
    status = exit_status(findings)
    if as_json:
        document = {
            "files": [str(file) for file in files],
            "findings": [finding.as_dict() for finding in findings],
            "status": status,
        }
        typer.echo(json.dumps(document))
        return status
    for finding in findings:
        typer.echo(str(finding))
    typer.echo(_summary(findings, len(set(files))), err=True)
    return status


def _summary(findings: Sequence[Finding], files: int) -> str:
    """Count findings and files."""
    looked_at = f"{files} file{'s' * (files != 1)}"
    if not findings:
        return f"{looked_at}: nothing found"
    counts = Counter(finding.severity for finding in findings)
    told = ", ".join(
        f"{number} {severity}{'s' * (number != 1 and severity != 'unreadable')}"
        for severity, number in counts.items()
    )
    return f"{looked_at}: {told}"
