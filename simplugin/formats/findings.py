"""What is wrong with a file: where, what, and how to right it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in a file.

    Attributes
    ----------
    file : str
        The file, as it was named.
    line : int
        Line in it, counted from 1; 1 also for the file as a whole.
    severity : str
        ``error``: SimGrid refuses the file, or it cannot mean what it says. ``warning``: SimGrid
        loads the file, and a simulation may find out too late. ``unreadable``: there was nothing
        to look at.
    message : str
        What is wrong, naming the culprit.
    remedy : str
        How to right it.
    """

    file: str
    line: int
    severity: str
    message: str
    remedy: str

    def __str__(self) -> str:
        """One line, with the place first as compilers have it."""
        return f"{self.file}:{self.line}: {self.severity}: {self.message}; {self.remedy}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return {
            "file": self.file,
            "line": self.line,
            "severity": self.severity,
            "message": self.message,
            "remedy": self.remedy,
        }


def exit_status(findings: Iterable[Finding]) -> int:
    """Return the exit status of a command that reports findings.

    Parameters
    ----------
    findings : iterable of Finding
        All of them, of any severity.

    Returns
    -------
    int
        0 clean, 1 findings, 2 a file could not be read.
    """
    severities = {finding.severity for finding in findings}
    if UNREADABLE in severities:
        return 2
    return 1 if severities else 0
