from itertools import combinations

import numpy as np
import pytest

from simplugin.errors import SimpluginError
from simplugin.figures import Figure
from simplugin.reports.curves import draw_curves

ROUNDS = np.arange(101)
SERIES = {"one": (ROUNDS, 0.5**ROUNDS), "two": (ROUNDS, 2 * 0.5**ROUNDS)}
LINES = {"level": 1e-3}
HALVING = Figure("halving", "Halves", "round", "error [1]", SERIES, LINES, log_y=True)


def test_curves_have_their_points_names_and_levels():
    [axes] = draw_curves([HALVING], title="All").axes
    one, two, level = axes.lines
    assert np.array_equal(one.get_xdata(), ROUNDS)
    assert np.array_equal(two.get_ydata(), 2 * 0.5**ROUNDS)
    assert list(level.get_ydata()) == [1e-3, 1e-3]
    assert words(axes.get_legend().get_texts()) == ["one", "two", "level"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("round", "error [1]")
    assert axes.get_yscale() == "log"
    assert one.get_color() != two.get_color()


def words(texts):
    return [text.get_text() for text in texts]


def drawn(**options):
    """Return the axes of a figure."""
    [axes] = draw_curves([Figure("x", "", "", "", **options)]).axes
    return axes


def limits(*, whole=False, **series):
    """Return the limits of the y axis of a drawing of these curves."""
    return drawn(series=series, whole=whole).get_ylim()


def test_curves_differ_in_their_colours_or_dashes():
    series = {str(k): (ROUNDS, ROUNDS + k) for k in range(12)}
    for cycle in (None, 3):
        lines = drawn(series=series, cycle=cycle).lines
        assert len({(line.get_color(), str(line._dash_pattern)) for line in lines}) == 12
    colours = [line.get_color() for line in lines]
    assert colours[:3] == colours[3:6]
    assert len(set(colours)) == 3


def test_a_start_that_is_far_off_runs_out_of_the_frame():
    far = ROUNDS, np.where(ROUNDS < 2, 1e7, 1.0 + 0.5 * np.sin(ROUNDS))
    assert limits(y=far)[1] < 2
    assert limits(y=far, whole=True)[1] > 1e7
    # What swings for ever stays whole.
    assert limits(y=(ROUNDS, np.where(ROUNDS % 10 == 0, 1e7, 1.0)))[1] > 1e7


def test_a_curve_of_few_points_stays_whole():
    few = np.linspace(0, 100, 19), np.r_[0.25, np.linspace(0.9, 1.0, 18)]
    more = np.linspace(0, 100, 20), np.r_[0.25, np.linspace(0.9, 1.0, 19)]
    # Also among long ones, whose own start is cut off nevertheless.
    long = ROUNDS, np.where(ROUNDS < 2, 1e7, 1.0 + 0.05 * np.sin(ROUNDS))
    for low, high in (limits(few=few), limits(few=few, long=long)):
        assert low < 0.25
        assert 1 < high < 2
    assert limits(more=more)[0] > 0.8


def test_swings_of_long_curves_stay():
    x = np.arange(200_000)
    y = np.where(x == 123_457, 5.0, np.where(x == 77_777, -3.0, np.sin(x)))
    axes = drawn(series={"y": (x, y)})
    [line] = axes.lines
    assert len(line.get_xdata()) <= 4100
    assert (max(line.get_ydata()), min(line.get_ydata())) == (5.0, -3.0)
    assert np.all(np.diff(line.get_xdata()) > 0)


def test_values_that_are_not_finite_leave_gaps():
    y = np.where(ROUNDS < 3, -np.inf, np.log1p(ROUNDS))
    axes = drawn(series={"y": (ROUNDS, y)})
    assert np.isfinite(axes.get_ylim()).all()
    # The start is shown nevertheless.
    assert axes.get_xlim()[0] < 0
    # So do points that have no place.
    axes = drawn(series={"a": ([1, 2], [3, np.nan])}, names={"a": ["one", "two"]})
    assert words(axes.texts) == ["one"]
    with pytest.raises(SimpluginError, match="no curves"):
        draw_curves([])


def test_histograms_are_steps():
    edges, heights = np.array([0.0, 0.5, 1.0, 2.0]), np.array([3, 0, 5])
    axes = drawn(series={"one": (edges, heights)}, lines={"level": 4.0}, bars=True)
    filled, outline = axes.patches
    assert np.array_equal(outline.get_data().values, heights)
    assert np.array_equal(outline.get_data().edges, edges)
    assert filled.get_fill()
    low, high = axes.get_ylim()
    assert low == 0
    assert high > 5
    assert words(axes.get_legend().get_texts()) == ["one", "level"]


def test_points_have_names_that_do_not_cover_each_other():
    x, y = np.array([1.0, 1.001, 1.002, 1.5]), np.array([0.5, 0.501, 0.499, 2.0])
    names = ["balanced", "weighted", "selfish", "equal"]
    series = {"strategies": (x, y), "front": (x, y)}
    points = Figure("front", "", "makespan", "", series, names={"strategies": names})
    figure = draw_curves([points, HALVING], title="All")
    assert figure.get_suptitle() == "All"
    axes, _ = figure.axes
    front, points = axes.lines
    assert (points.get_linestyle(), points.get_marker()) == ("None", "o")
    assert front.get_linestyle() == "-"
    assert np.array_equal(points.get_ydata(), y)
    assert words(axes.texts) == names
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
