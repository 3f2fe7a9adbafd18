"""Image files that charts become."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplugin.errors import SimpluginError
from simplugin.reports.fallback_fonts import MissingLetters, absence, write_all_letters

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


def save(figure: Figure, path: Path, *, dpi: int = 150) -> None:
    """Write a figure; the same figure gives the same bytes.

    Letters that the usual font does not have are taken from others; of those that none has a
    `MissingLetters` warns.

    Parameters
    ----------
    figure : Figure
        What is drawn.
    path : Path
        Where, as `image_file` returned it; an existing file is replaced.
    dpi : int
        Pixels per inch, of a PNG file and of what is drawn as pixels in others.

    Raises
    ------
    SimpluginError
        The file cannot be written.
    """
    absent = write_all_letters(figure)
    if absent:
        warnings.warn(absence(absent), MissingLetters, stacklevel=3)
    write_image(figure, path, dpi=dpi)


def write_image(figure: Figure, path: Path, *, dpi: int) -> None:
    """Write a figure of which `write_all_letters` was asked what it lacks, as `save` does."""
    from matplotlib import rc_context

    dates: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    # Type 42: letters stay letters, as publishers demand.
    settings: Any = {"svg.hashsalt": "simplugin", "svg.fonttype": "none", "pdf.fonttype": 42}
    with rc_context(settings), warnings.catch_warnings():
        # `save` says so once a figure, and with a way out.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        try:
            figure.savefig(path, dpi=dpi, metadata=dates.get(path.suffix.lower()))
        except OSError as error:
            raise SimpluginError(f"{path}: cannot be written: {error.strerror}") from error
