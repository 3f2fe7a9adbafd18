from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from simplugin.claims import Claim
from simplugin.errors import SimpluginError
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.reports.claims import claims_table
from simplugin.reports.curves import curves, draw_curves
from simplugin.reports.listings import listing_table, print_listings
from simplugin.rows import Best, Metric, Row

ROUNDS = np.arange(101)
HALVING = Figure(
    "halving",
    "It gets small",
    "round",
    "error [1]",
    {"one": (ROUNDS, 0.5**ROUNDS), "two": (ROUNDS, 2 * 0.5**ROUNDS)},
    {"level": 1e-3},
    log_y=True,
)


def printed(renderable, width=110):
    out = StringIO()
    Console(file=out, width=width).print(renderable)
    return [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]


def test_curves_have_their_points_names_and_levels():
    [axes] = draw_curves([HALVING], title="All").axes
    one, two, level = axes.lines
    assert np.array_equal(one.get_xdata(), ROUNDS)
    assert np.array_equal(two.get_ydata(), 2 * 0.5**ROUNDS)
    assert list(level.get_ydata()) == [1e-3, 1e-3]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["one", "two", "level"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("round", "error [1]")
    assert axes.get_yscale() == "log"
    assert one.get_color() != two.get_color()


def test_one_panel_a_figure():
    figure = draw_curves([HALVING, HALVING, HALVING], title="All")
    assert len(figure.axes) == 3
    assert figure.get_suptitle() == "All"


def test_more_curves_than_colours_differ_in_their_dashes():
    series = {str(k): (ROUNDS, ROUNDS + k) for k in range(12)}
    [axes] = draw_curves([Figure("x", "", "", "", series)]).axes
    styles = {(line.get_color(), str(line._dash_pattern)) for line in axes.lines}
    assert len(styles) == 12


def test_colours_start_again_after_a_cycle():
    series = {str(k): (ROUNDS, ROUNDS + k) for k in range(6)}
    [axes] = draw_curves([Figure("x", "", "", "", series, cycle=3)]).axes
    colours = [line.get_color() for line in axes.lines]
    assert colours[:3] == colours[3:]
    assert len(set(colours)) == 3
    assert axes.lines[0]._dash_pattern != axes.lines[3]._dash_pattern


def test_a_start_that_is_far_off_runs_out_of_the_frame():
    far = np.where(ROUNDS < 2, 1e7, 1.0 + 0.5 * np.sin(ROUNDS))
    [axes] = draw_curves([Figure("x", "", "", "", {"y": (ROUNDS, far)})]).axes
    assert axes.get_ylim()[1] < 2
    # What swings for ever, and what starts a little off, stays whole.
    swings = np.where(ROUNDS % 10 == 0, 1e7, 1.0)
    [axes] = draw_curves([Figure("x", "", "", "", {"y": (ROUNDS, swings)})]).axes
    assert axes.get_ylim()[1] > 1e7


def limits(**series):
    """Limits of the y axis of a drawing of these curves."""
    [axes] = draw_curves([Figure("x", "", "", "", series)]).axes
    return axes.get_ylim()


def test_a_curve_of_few_points_stays_whole():
    few = np.linspace(0, 100, 19), np.r_[0.25, np.linspace(0.9, 1.0, 18)]
    more = np.linspace(0, 100, 20), np.r_[0.25, np.linspace(0.9, 1.0, 19)]
    low, high = limits(few=few)
    assert low < 0.25
    assert high > 1
    assert limits(more=more)[0] > 0.8
    # Also among long ones, whose own start is cut off nevertheless.
    long = ROUNDS, np.where(ROUNDS < 2, 1e7, 1.0 + 0.05 * np.sin(ROUNDS))
    low, high = limits(few=few, long=long)
    assert low < 0.25
    assert 1 < high < 2


def test_a_figure_that_is_to_be_whole_is_not_cut():
    far = {"y": (ROUNDS, np.where(ROUNDS < 2, 0.25, 0.9 + 0.001 * ROUNDS))}
    [axes] = draw_curves([Figure("x", "", "", "", far, whole=True)]).axes
    assert axes.get_ylim()[0] < 0.25
    assert axes.get_ylim()[1] > 1
    assert limits(**far)[0] > 0.8


def test_swings_of_long_curves_stay():
    x = np.arange(200_000)
    y = np.where(x == 123_457, 5.0, np.where(x == 77_777, -3.0, np.sin(x)))
    [axes] = draw_curves([Figure("x", "", "", "", {"y": (x, y)})]).axes
    [line] = axes.lines
    assert len(line.get_xdata()) <= 4100
    assert (max(line.get_ydata()), min(line.get_ydata())) == (5.0, -3.0)
    assert np.all(np.diff(line.get_xdata()) > 0)


def test_values_that_are_not_finite_leave_gaps():
    y = np.where(ROUNDS < 3, -np.inf, np.log1p(ROUNDS))
    [axes] = draw_curves([Figure("x", "", "", "", {"y": (ROUNDS, y)})]).axes
    assert np.isfinite(axes.get_ylim()).all()
    # The start is shown nevertheless.
    assert axes.get_xlim()[0] < 0


def test_files(tmp_path):
    for name in ("x.png", "x.svg", "x.pdf"):
        curves([HALVING], tmp_path / name)
        first = (tmp_path / name).read_bytes()
        curves([HALVING], tmp_path / name)
        assert first == (tmp_path / name).read_bytes()
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SimpluginError, match="end the name with"):
        curves([HALVING], tmp_path / "x.gif")
    with pytest.raises(SimpluginError, match="no curves"):
        curves([], tmp_path / "x.png")


def test_claims_stand_beside_their_measurements():
    claims = [
        Claim("1 % after some rounds", 83, 85.0, True, "within a factor 1.6", "Figure 9"),
        Claim("swings [for ever]", "0 to 6e5", "0 to 4e5", False, "reading [18]", "sec. 5",
              optimum=39.1078),
    ]  # fmt: skip
    lines = printed(claims_table(claims, "pricing"), 200)
    assert lines[0] == "pricing"
    assert "1 % after some rounds 83 85 yes" in lines
    assert "Figure 9: within a factor 1.6" in lines
    assert "swings [for ever] 0 to 6e5 0 to 4e5 no" in lines
    assert "sec. 5: reading [18] optimum 39.11" in lines
    assert lines[-1] == "1 of 2 paper statements agree"


def test_listings():
    columns = (("name", ""), ("speed", "flop/s"), ("price [1/Gflop]", ""), ("load", "%"))
    listing = Listing("Hosts", columns, [("a", 2e9, 0.5, 0.25), ("b", None, 3, None)], "and 2 more")
    lines = printed(listing_table(listing))
    assert lines[0] == "name speed price [1/Gflop] load"
    assert lines[2:] == [
        "a 2 Gflop/s 0.5 25.0 %", "b - 3 -",
    ]  # fmt: skip
    assert listing.column("load") == (0.25, None)
    assert listing.document()["columns"][1] == {"name": "speed", "unit": "flop/s"}
    with pytest.raises(SimpluginError, match="no column 'size'"):
        listing.column("size")
    with pytest.raises(SimpluginError, match="4 columns, but a line of 1"):
        Listing("Hosts", columns, [("a",)])


GRAPHS = (
    ("graph", ""), ("tasks", ""), ("from", "s"), ("beta", ""), ("bound", "s"), ("own", "s"),
    ("gap", "%"), ("shared", "s"), ("slowdown", ""),
)  # fmt: skip


def lines_of(listing, width):
    out = StringIO()
    print_listings(Row(()), [listing], console=Console(file=out, width=width))
    return out.getvalue().splitlines()


def test_numbers_of_a_narrow_table_are_whole_and_names_say_all():
    names = [f"montage-chameleon-2mass-01d-001-{number}" for number in (1, 2)]
    numbers = (1000, 12345.6, 0.12345, 12345.678, 123456.7, 1.234, 234567.8, 0.12345)
    lines = lines_of(Listing("Graphs", GRAPHS, [(name, *numbers) for name in names]), 80)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    written = [
        "1\u202f000", "12\u202f346 s", "0.1235", "12\u202f346 s", "123\u202f457 s", "123.4 %",
        "234\u202f568 s", "0.1235",
    ]  # fmt: skip
    [first, second] = [at for at, line in enumerate(lines) if "123.4 %" in line]
    for start, stop, name in zip((first, second), (second, None), names, strict=True):
        assert lines[start].split(" ", 1)[1].split() == " ".join(written).split()
        assert "".join(line[:12].strip() for line in lines[start:stop]) == name


def test_columns_move_together_before_names_are_broken():
    columns = (("processors a task", ""), ("node", ""), ("CPU", "%"))
    listing = Listing("Nodes", columns, [(1234, "a-long-name", 0.5)])
    heads = {
        width: [" ".join(line.split()) for line in lines_of(listing, width)[1:]]
        for width in (40, 36, 24, 8)
    }
    # 17, 11 and 6 wide with three and two blanks, then 10, 11 and 6.
    for width in (40, 38):
        [head] = [line for line in lines_of(listing, width) if "CPU" in line]
        assert head.startswith("processors a task")
        assert len(head.rstrip()) == width
    assert "processors" in heads[36]
    assert "a task node CPU" in heads[36]
    # Numbers are complete even if the table is too narrow for them.
    assert any("1\u202f234" in line and "50.0 %" in line for line in lines_of(listing, 8))
    assert not any("…" in line for line in lines_of(listing, 8))


def test_columns_of_the_same_name():
    listing = Listing("Nodes", (("CPU", ""), ("CPU", "%")), [(3, 0.5)])
    assert printed(listing_table(listing))[2] == "3 50.0 %"


def test_listings_come_below_the_row():
    row = Row((Metric("objective", 3.0),), best=Best("objective", 4.0, "optimum", "max"))
    out = StringIO()
    listing = Listing("Two", (("k", ""),), [(1,)], "and no more")
    print_listings(row, [listing], console=Console(file=out, width=80), title="One")
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]
    assert lines[:4] == ["One", "objective 3", "optimum of objective 4", "gap 25.0 %"]
    assert lines[4:6] == ["Two", "k"]
    assert lines[7:] == ["1", "and no more"]


def test_histograms_are_steps():
    edges, heights = np.array([0.0, 0.5, 1.0, 2.0]), np.array([3, 0, 5])
    drawn = Figure("x", "", "", "trees", {"one": (edges, heights)}, {"level": 4.0}, bars=True)
    [axes] = draw_curves([drawn]).axes
    filled, outline = axes.patches
    assert np.array_equal(outline.get_data().values, heights)
    assert np.array_equal(outline.get_data().edges, edges)
    assert filled.get_fill()
    low, high = axes.get_ylim()
    assert low == 0
    assert high > 5
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["one", "level"]


def test_points_have_names_that_do_not_cover_each_other():
    x, y = np.array([1.0, 1.001, 1.002, 1.5]), np.array([0.5, 0.501, 0.499, 2.0])
    names = ["balanced", "weighted", "selfish", "equal"]
    drawn = Figure(
        "front", "", "makespan", "unfairness",
        {"strategies": (x, y), "front": (x, y)}, names={"strategies": names},
    )  # fmt: skip
    figure = draw_curves([drawn, HALVING])
    axes = figure.axes[0]
    front, points = axes.lines
    assert (points.get_linestyle(), points.get_marker()) == ("None", "o")
    assert front.get_linestyle() == "-"
    assert np.array_equal(points.get_ydata(), y)
    assert [text.get_text() for text in axes.texts] == names
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    for number, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:number])


def test_points_without_a_place_are_left_out():
    drawn = Figure("x", "", "", "", {"a": ([1, 2], [3, np.nan])}, names={"a": ["one", "two"]})
    [axes] = draw_curves([drawn]).axes
    assert [text.get_text() for text in axes.texts] == ["one"]
