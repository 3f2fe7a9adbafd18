"""Files of all kinds of drawings, and letters that the default font lacks."""

import re
from io import BytesIO

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

from simplugin import Host, Platform, Zone
from simplugin.charts import GraphChart, Node, ScheduleChart
from simplugin.errors import SimpluginError
from simplugin.figures import Figure
from simplugin.reports import gantt
from simplugin.reports.campaign_figures import write_figures
from simplugin.reports.curves import curves
from simplugin.reports.distributions import box_plot
from simplugin.reports.graphs import draw_graphs
from simplugin.reports.image_files import MissingLetters
from simplugin.reports.page.contents import Column
from simplugin.reports.paper_sheet import text_width
from simplugin.reports.platforms.drawing import draw_platform
from simplugin.reports.schedules import draw_schedule

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


WRITERS = {
    "curves": (
        lambda path: curves([Figure("f", "Title", "x", "y", {"a": ([1, 2], [3, 4])})], path)
    ),
    "graphs": (
        lambda path: draw_graphs([GraphChart("g", "Title", (Node(0.0, 0.0, "n"),), ())], path)
    ),
    "schedule": (
        lambda path: draw_schedule(ScheduleChart("s", "Title", (("c", 1),), (), ()), path)
    ),
    "boxes": lambda path: box_plot({"a": [1.0, 2.0], "b": [1.0, None]}, path, label="Title"),
    "platform": lambda path: draw_platform(Platform(HOST), path, title="Title"),
}
HOST = Zone("z", "Full", (Host("a", 1e9),))


def check_files(write, directory):
    """Check the files of a drawing with the word "Title" that a function writes to a path."""
    for name in ("one.svg", "two.svg"):
        write(directory / name)
    content = (directory / "one.svg").read_text()
    # Text remains text, without a date.
    assert re.search(r">[^<]*Title[^<]*</text>", content)
    assert "<dc:date>" not in content
    assert content == (directory / "two.svg").read_text()
    with pytest.raises(SimpluginError, match="end the name with"):
        write(directory / "x.gif")
    with pytest.raises(SimpluginError, match="cannot be written: No such file"):
        write(directory / "absent" / "x.svg")


@pytest.mark.parametrize("kind", WRITERS)
def test_drawings_are_written_as_the_same_files(kind, tmp_path):
    check_files(WRITERS[kind], tmp_path)


def test_gantt_charts_are_written_as_the_same_files(result, nothing, tmp_path):
    check_files(lambda path: gantt(result, path, title="Title"), tmp_path)
    gantt(nothing, tmp_path / "nothing.svg")


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_files_are_what_their_suffix_says_and_repeatable(suffix, start, tmp_path):
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for path in (first, second):
        WRITERS["boxes"](path)
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


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
