"""Figures that are on disk, and which of them a former report left there."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from simplugin.errors import SimpluginError

# As `sha256sum` has it: the digest of each file that was written, and its name.
LIST = "figures.sha256"


class WrittenFigures(list[Path]):
    """The files of a report, in the order in which they were written.

    Attributes
    ----------
    remarks : list of str
        What was not drawn, or not as it should be, and why.
    """

    def __init__(self, files: Iterable[Path] = (), remarks: Iterable[str] = ()) -> None:
        super().__init__(files)
        self.remarks = list(remarks)


def replace_former(directory: Path, written: Iterable[Path]) -> None:
    """Remove figures of the report before, and list those of this one.

    Only what stands in the list with the digest that it still has is removed: files of others,
    and figures that somebody has changed, stay.

    Parameters
    ----------
    directory : Path
        Where all of them are.
    written : iterable of Path
        Figures of this report.

    Raises
    ------
    SimpluginError
        A file cannot be removed, or the list not be read or written.
    """
    digests = {path.name: _digest(path) for path in written}
    place = directory / LIST
    try:
        for name, digest in _listed(place).items():
            path = directory / name
            if name not in digests and path.is_file() and _digest(path) == digest:
                path.unlink()
        lines = [f"{digest}  {name}\n" for name, digest in digests.items()]
        place.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        culprit = error.filename or place
        raise SimpluginError(f"{culprit}: cannot be replaced: {error.strerror}") from error


def _listed(place: Path) -> dict[str, str]:
    """Return the digests of the figures of the report before."""
    if not place.is_file():
        return {}
    found = {}
    for line in place.read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        # Of this directory only, whatever somebody wrote into the list.
        if name and name == Path(name).name:
            found[name] = digest
    return found


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return sha256(path.read_bytes()).hexdigest()
