"""Letters that the default font lacks, with a font made for the test."""

from io import BytesIO

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from simplugin.reports.campaign_figures import write_figures
from simplugin.reports.distributions import box_plot
from simplugin.reports.image_files import MissingLetters
from simplugin.reports.page.contents import Column
from simplugin.reports.paper_sheet import text_width

SQUARE = ((0, 0), (0, 700), (700, 700), (700, 0))


def test_letters_come_from_fonts_that_have_them(tmp_path, report_of):
    groups = {"\u8c03\u5ea6 a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}
    columns = (
        Column("scheduler.name", ["\u8c03", "b"] * 2, role="varied"),
        Column("x", [1, 2, 3, 4]),
    )
    # No font of matplotlib has them: one warning for all figures, and one warning for a figure.
    # Without a sense the first metric is the main one.
    written = write_figures(report_of(*columns), tmp_path)
    assert {path.stem for path in written} == {"x-box", "x-ecdf"}
    [warning] = written.warnings
    assert warning.startswith("no font here has \u8c03; boxes stand")
    with pytest.warns(MissingLetters, match="no font here has \u8c03\u5ea6;") as caught:
        box_plot(groups, tmp_path / "x.png", label="y")
    assert len(caught) == 1
    font = tmp_path / "stand-in.ttf"
    font.write_bytes(square_font("WenQuanYi Zen Hei", "\u56cd\u96d9"))
    font_manager.fontManager.addfont(font)
    try:
        box_plot({"\u56cd a": [1.0, 2.0]}, tmp_path / "y.pdf", label="\u96d9")
        assert text_width("\u56cd" * 5, 10.0) == pytest.approx(5 * 10 / 72, rel=0.02)
    finally:
        font_manager.fontManager.ttflist.pop()
    assert b"WenQuanYiZenHei" in (tmp_path / "y.pdf").read_bytes()


def square_font(family, letters):
    """A font in which each letter is a square, as wide as it is high."""
    pen = TTGlyphPen(None)
    for move, place in zip((pen.moveTo, *[pen.lineTo] * 3), SQUARE, strict=True):
        move(place)
    pen.closePath()
    names = [".notdef", *(f"g{ord(letter)}" for letter in letters)]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(letter): f"g{ord(letter)}" for letter in letters})
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable(
        {"familyName": family, "styleName": "Regular", "psName": family.replace(" ", "")}
    )
    font.setupOS2()
    font.setupPost()
    file = BytesIO()
    font.save(file)
    return file.getvalue()
