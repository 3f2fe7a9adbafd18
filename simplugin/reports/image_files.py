"""Image files of charts, with fallback fonts for letters that the default font lacks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SimpluginError

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

# In this order, if installed: Chinese, Japanese, Korean, then all others.
FALLBACKS = (
    "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK JP", "Noto Sans CJK KR",
    "Noto Sans SC", "Noto Sans JP", "Source Han Sans SC", "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei", "Droid Sans Fallback", "Noto Sans", "DejaVu Sans", "Unifont",
)  # fmt: skip
# Dots per inch of a notebook.
_SCREEN = 100
SUFFIXES = (".png", ".svg", ".pdf")


class MissingLetters(UserWarning):
    """A figure has letters that no font here has."""


def families(text: str) -> list[str] | None:
    """Return the fonts that a text needs, the usual one first; None if that one is enough."""
    from matplotlib.font_manager import FontProperties, fontManager

    if text.isascii() or not lacking(text, usual := FontProperties().get_family()):
        return None
    installed = {font.name for font in fontManager.ttflist}
    return [*usual, *(name for name in FALLBACKS if name in installed)]


def write_all_letters(figure: Figure) -> str:
    """Set the fonts that the texts of a figure need; return the letters that no font has."""
    from matplotlib.text import Text

    absent: dict[str, None] = {}
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        needed = families(text.get_text())
        if needed is not None:
            text.set_fontfamily(needed)
            absent |= dict.fromkeys(lacking(text.get_text(), needed))
    return "".join(absent)


def lacking(text: str, fonts: Iterable[str]) -> str:
    """Return the letters of a text that none of some fonts has, each once."""
    letters = dict.fromkeys(letter for letter in text if not (letter.isspace() or letter.isascii()))
    for font in fonts:
        letters = {letter: None for letter in letters if not _has(font, letter)}
    return "".join(letters)


def absence(letters: str) -> str:
    """Return the warning about missing letters, with its remedy."""
    return (
        f"no font here has {letters}; boxes stand for what is missing; install a font that has"
        " it, such as Noto Sans CJK (Debian: fonts-noto-cjk)"
    )


@lru_cache(maxsize=8192)
def _has(family: str, letter: str) -> bool:
    """Return True if a font has a letter."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return bool(get_font(findfont(FontProperties(family=[family]))).get_char_index(ord(letter)))


@contextmanager
def quick_import() -> Iterator[None]:
    """Import matplotlib without the lists of properties in its docstrings, which take long.

    Only for programs that draw and end, where nobody reads them.
    """
    from matplotlib import artist

    usual = artist.kwdoc
    artist.kwdoc = lambda artist: ""  # noqa: ARG005
    try:
        yield
    finally:
        artist.kwdoc = usual


def image_file(path: str | PathLike[str]) -> Path:
    """Return the path of an image file; raise if its suffix is unknown."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise SimpluginError(f"{target}: cannot draw that; end the name with {', '.join(SUFFIXES)}")
    return target


def save(figure: Figure, path: Path | BinaryIO, *, dpi: int = 150) -> None:
    """Write a figure; the same figure gives the same bytes.

    Letters that the usual font does not have are taken from others; of those that none has a
    `MissingLetters` warns.

    Parameters
    ----------
    figure : Figure
        Figure to write.
    path : Path or binary file
        Path returned by `image_file`; an existing file is replaced. A file gets PNG.
    dpi : int
        Pixels per inch of PNG files and of rasterised parts of others.

    Raises
    ------
    SimpluginError
        The file cannot be written.
    """
    absent = write_all_letters(figure)
    if absent:
        warnings.warn(absence(absent), MissingLetters, stacklevel=4)
    write_image(figure, path, dpi=dpi)


def write_image(figure: Figure, path: Path | BinaryIO, *, dpi: int) -> None:
    """Write a figure prepared by `write_all_letters`."""
    from matplotlib import rc_context

    dates: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    # Type 42: text remains text, as publishers require.
    suffix = path.suffix.lower() if isinstance(path, Path) else ".png"
    settings: Any = {"svg.hashsalt": "simplugin", "svg.fonttype": "none", "pdf.fonttype": 42}
    with rc_context(settings), warnings.catch_warnings():
        # `save` warns once a figure, with the remedy.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        try:
            with _laid_out(figure, dpi) if suffix == ".png" else nullcontext():
                figure.savefig(path, dpi=dpi, metadata=dates.get(suffix))
        except OSError as error:
            raise SimpluginError(f"{path}: cannot be written: {error.strerror}") from error


@contextmanager
def _laid_out(figure: Figure, dpi: int) -> Iterator[None]:
    """Lay out a figure in advance; matplotlib would draw all of it once more for the layout."""
    engine, usual = figure.get_layout_engine(), figure.dpi
    figure.set_dpi(dpi)
    try:
        if engine is not None:
            engine.execute(figure)
            figure.set_layout_engine("none")
        yield
    finally:
        figure.set_layout_engine(engine)
        figure.set_dpi(usual)


@dataclass(frozen=True)
class Chart:
    """A drawing that a notebook shows.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        To be adorned further.
    dpi : int
        Pixels per inch of PNG files.
    """

    figure: Figure
    dpi: int = 150

    def save(self, path: str | PathLike[str]) -> None:
        """Write a PNG, SVG or PDF file, by its suffix; an existing file is replaced.

        Raises
        ------
        SimpluginError
            The suffix is unknown, or the file cannot be written.
        """
        save(self.figure, image_file(path), dpi=self.dpi)

    def pixels(self) -> NDArray[np.uint8]:
        """Return the drawing as an image, shape (height, width, 3)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.figure.set_dpi(self.dpi)
        canvas: Any = FigureCanvasAgg(self.figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Show the drawing in a notebook, with more pixels than it is wide there."""
        file = BytesIO()
        save(self.figure, file, dpi=self.dpi)
        return file.getvalue(), {"width": round(self.figure.get_figwidth() * _SCREEN)}


def drawn(figure: Figure, path: str | PathLike[str] | None, *, dpi: int = 150) -> Chart:
    """Return a figure as a chart; write it if there is a path."""
    if path is not None:
        save(figure, image_file(path), dpi=dpi)
    return Chart(figure, dpi)
