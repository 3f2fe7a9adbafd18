"""Image files that charts become."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.errors import SimpluginError

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")


def image_file(path: str | PathLike[str]) -> Path:
    """Return where to draw, if its suffix says how."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise SimpluginError(f"{target}: cannot draw that; end the name with {', '.join(SUFFIXES)}")
    return target


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the same figure gives the same bytes."""
    from matplotlib import rc_context

    dates: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    with rc_context({"svg.hashsalt": "simplugin", "svg.fonttype": "none", "pdf.fonttype": 42}):
        try:
            figure.savefig(path, dpi=150, metadata=dates.get(path.suffix.lower()))
        except OSError as error:
            raise SimpluginError(f"{path}: cannot be written: {error.strerror}") from error
