"""Fonts that stand in for letters that the usual one of figures does not have."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In this order, as far as they are installed: Chinese, Japanese, Korean, then all the rest.
FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK TC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Noto Sans SC",
    "Noto Sans JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Noto Sans",
    "DejaVu Sans",
    "Unifont",
)


class MissingLetters(UserWarning):
    """A figure has letters that no font here has."""


def families(text: str) -> list[str] | None:
    """Return the fonts that a text needs, the usual one first; None if that one is enough."""
    usual = _usual()
    if text.isascii() or not lacking(text, usual):
        return None
    return [*usual, *_installed()]


def write_all_letters(figure: Figure) -> str:
    """Give texts of a figure the fonts that they need; return the letters that no font has."""
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
    """Say that letters are missing, and what to do."""
    return (
        f"no font here has {letters}; boxes stand for what is missing; install a font that has"
        " it, such as Noto Sans CJK (Debian: fonts-noto-cjk)"
    )


@lru_cache(maxsize=8192)
def _has(family: str, letter: str) -> bool:
    """Whether a font has a letter."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return bool(get_font(findfont(FontProperties(family=[family]))).get_char_index(ord(letter)))


def _usual() -> list[str]:
    """Return the font that matplotlib is set to."""
    from matplotlib.font_manager import FontProperties

    return FontProperties().get_family()


def _installed() -> list[str]:
    """Return the fonts that stand in and are here."""
    from matplotlib.font_manager import fontManager

    here = {font.name for font in fontManager.ttflist}
    return [name for name in FALLBACKS if name in here]
