"""Files of all kinds of drawings, and letters that the default font lacks."""

import re
from io import BytesIO

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from naming import raises_naming

from simplugin import Host, Platform, Zone
from simplugin.core.errors import SimpluginError
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
from simplugin.results.charts import DrawnNode, GraphChart, ScheduleChart
from simplugin.results.curves import CurvePlot


def test_letters_come_from_fonts_that_have_them(tmp_path, report_of):
    groups = {"\u8c03\u5ea6 a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}
    names = Column("scheduler.name", ["\u8c03", "b"] * 2, role="varied")
    # No font of matplotlib has them: one warning for all figures, and one warning for a figure.
    # Without a sense the first metric is the main one.
    written = write_figures(report_of(names, Column("x", [1, 2, 3, 4])), tmp_path)
    assert {path.stem for path in written} >= {"x-box", "x-ecdf"}
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


CURVES = CurvePlot("f", "Title", "x", "y", {"a": ([1, 2], [3, 4])})
GRAPH = GraphChart("g", "Title", (DrawnNode(0.0, 0.0, "n"),), ())
SCHEDULE = ScheduleChart("s", "Title", (("c", 1),), (), ())
PLATFORM = Platform(Zone("z", "Full", (Host("a", 1e9),)))
WRITERS = {
    "curves": lambda path: curves([CURVES], path),
    "graphs": lambda path: draw_graphs([GRAPH], path),
    "schedule": lambda path: draw_schedule(SCHEDULE, path),
    "boxes": lambda path: box_plot({"a": [1.0, 2.0], "b": [1.0, None]}, path, label="Title"),
    "platform": lambda path: draw_platform(PLATFORM, path, title="Title"),
}


def twice(write, path):
    """Write a drawing two times; return its content."""
    contents = []
    for _ in range(2):
        write(path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    return contents[0]


@pytest.mark.parametrize("kind", [*WRITERS, "gantt"])
def test_drawings_are_written_as_the_same_files(kind, result, nothing, tmp_path):
    write = WRITERS.get(kind, lambda path: gantt(result, path, title="Title"))
    content = twice(write, tmp_path / "x.svg").decode()
    # Text remains text, without a date.
    assert re.search(r">[^<]*Title[^<]*</text>", content)
    assert "<dc:date>" not in content
    with raises_naming(SimpluginError, tmp_path / "x.gif", ".svg"):
        write(tmp_path / "x.gif")
    # Without a file it is the same drawing, of half as many dots in a notebook.
    shown, size = write(None)._repr_png_()
    chart = write(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes() == shown
    assert size == {"width": round(100 * chart.figure.get_figwidth())}
    with raises_naming(SimpluginError, tmp_path / "absent" / "x.svg"):
        write(tmp_path / "absent" / "x.svg")
    gantt(nothing, tmp_path / "nothing.svg")


def test_names_of_graphs_are_no_mathematics(tmp_path):
    chart = GraphChart("g", "$x_1$", (DrawnNode(0.0, 0.0, "n$", text="a $b$"),), ())
    drawn = draw_graphs([chart], tmp_path / "graph.svg", title="$c")
    texts = [each for axes in drawn.figure.axes for each in axes.texts] + drawn.figure.texts
    assert {"$x_1$", "n$", "$c"} <= {each.get_text() for each in texts}
    assert not any(each.get_parse_math() for each in texts)


def test_files_are_what_their_suffix_says_and_repeatable(tmp_path):
    for suffix, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        assert twice(WRITERS["boxes"], tmp_path / f"x{suffix}").startswith(start)


def square_font(family, letters):
    """A font in which each letter is a square, as wide as it is high."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    glyphs = {ord(letter): f"g{ord(letter)}" for letter in letters}
    names = [".notdef", *glyphs.values()]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap(glyphs)
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    psname = family.replace(" ", "")
    font.setupNameTable({"familyName": family, "styleName": "Regular", "psName": psname})
    font.setupOS2()
    font.setupPost()
    file = BytesIO()
    font.save(file)
    return file.getvalue()
