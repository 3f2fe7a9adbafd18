"""Curves, performance profiles, and the one colour that an application has in all charts."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.reports import gantt
from simplugin.reports.colours import colouring, group_colour, in_colour_order
from simplugin.reports.curves import curves, panels_of
from simplugin.reports.distributions import profiles
from simplugin.reports.page.assembly import figure_document
from simplugin.reports.schedules import activity_chart
from simplugin.results.curves import CurvePlot, groups_of
from simplugin.results.tables import ResultTable
from simplugin.scenarios.outputs import from_document
from simplugin.scenarios.outputs import plain as written
from simplugin.simulation.trace import COLUMNS

ROUNDS = np.arange(101)
SERIES = {"one": (ROUNDS, 0.5**ROUNDS), "two": (ROUNDS, 2 * 0.5**ROUNDS)}
LINES = {"level": 1e-3}
HALVING = CurvePlot("halving", "Halves", "round", "error [1]", SERIES, LINES, log_y=True)


def test_curves_have_their_points_names_and_levels():
    [axes] = curves([HALVING], title="All").figure.axes
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
    [axes] = curves([CurvePlot("x", "", "", "", **options)]).figure.axes
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


def test_two_points_are_no_trend_and_a_few_have_marks():
    two = drawn(series={"a": ([2, 10], [1.0, 2.0]), "b": ([2, 10], [2.0, 1.0])})
    assert {line.get_linestyle() for line in two.lines} == {"None"}
    few = drawn(series={"a": ([2, 4, 10], [1.0, 2.0, 2.5]), "level": ([2, 10], [1.0, 2.0])})
    styles = [(line.get_linestyle(), line.get_marker()) for line in few.lines]
    assert styles == [("-", "o"), ("-", "")]


def test_axes_of_whole_numbers_have_whole_ticks():
    axes = drawn(series={"a": ([2, 4, 5], [0, 1, 2]), "b": ([2, 5], [1, 3])})
    for ticks in (axes.get_xticks(), axes.get_yticks()):
        assert np.all(ticks % 1 == 0)
    sizes = [10, 30, 100, 300, 1000]
    axes = drawn(series={"a": (sizes, [0.5, 1.0, 2.0, 2.5, 2.75])}, log_x=True)
    assert axes.get_xscale() == "log"
    assert axes.get_xticks().tolist() == sizes


def test_restless_curves_have_panels_of_their_own():
    rounds = np.arange(600)
    hosts = {name: (rounds, 2.0 + np.sin(rounds * at)) for at, name in enumerate("abcde", start=1)}
    figure = CurvePlot("f", "Prices", "round", "price", hosts, {"best": 2.0}, log_y=True)
    panels = curves([figure]).figure.axes
    assert [words(axes.get_legend().get_texts()) for axes in panels] == [
        [n, "best"] for n in "abcde"
    ]
    assert len({axes.lines[0].get_color() for axes in panels}) == 5
    assert [axes.get_title(loc="left") for axes in panels] == ["Prices", "", "", "", ""]
    # What is compared shares a colour and a panel.
    pairs = CurvePlot(
        "f", "", "round", "price", {**hosts, "A": hosts["a"], "B": hosts["b"]}, cycle=5
    )
    assert [list(each.series) for each in panels_of(pairs)] == [
        ["a", "A"],
        ["b", "B"],
        ["c"],
        ["d"],
        ["e"],
    ]
    assert len(panels_of(CurvePlot("f", "", "", "", {"a": hosts["a"]}))) == 1


def test_histograms_show_each_other_and_no_empty_ends():
    edges, heights = np.arange(7.0), np.array([0, 3, 0, 5, 0, 0])
    axes = drawn(series={"sold": (edges, heights), "optimum": (edges, heights)}, bars=True)
    assert axes.get_xlim() == pytest.approx((1.0, 4.0), abs=0.05)
    _, one, other = axes.patches
    assert one.get_linestyle() != other.get_linestyle()


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
    with pytest.raises(SimpluginError):
        curves([])


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
    points = CurvePlot("front", "", "makespan", "", series, names={"strategies": names})
    figure = curves([points, HALVING], title="All").figure
    assert figure.get_suptitle() == "All"
    axes, _ = figure.axes
    points, front = axes.lines
    assert (points.get_linestyle(), points.get_marker()) == ("None", "o")
    assert front.get_linestyle() == "-"
    assert np.array_equal(points.get_ydata(), y)
    assert words(axes.texts) == names
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


# "report" is the first execution to end; an application without any executions keeps its colour.
GROUPS = ("crunch two", "none", "crunch one", "report")


def figure_of(*names):
    series = {name: ([0, 1], [at, at + 1]) for at, name in enumerate(names)}
    return CurvePlot("f", "F", "x", "y", series, groups=GROUPS)


def test_an_application_has_its_colour_in_all_charts(result):
    figure = figure_of("optimum", "report", "crunch one", "crunch two")
    [axes] = curves([figure]).figure.axes
    colours = {line.get_label(): to_hex(line.get_color()) for line in axes.lines}
    [chart] = gantt(result, groups=groups_of([figure])).figure.legends
    labels = [text.get_text() for text in chart.get_texts()]
    patches = [to_hex(each.get_facecolor()) for each in chart.get_patches()]
    bars = dict(zip(labels, patches, strict=True))
    [page] = figure_document(figure)["panels"]
    on_page = {
        each["name"]: group_colour(number)
        for each, number in zip(
            page["series"], (number for number, _ in page["styles"]), strict=True
        )
    }
    activities = ResultTable("", tuple((name, "") for name in COLUMNS), tuple(result.trace.rows()))
    kept = activity_chart(activities, groups=groups_of([from_document(CurvePlot, written(figure))]))
    for number, name in enumerate(GROUPS):
        if name != "none":
            assert {each[name] for each in (colours, bars, on_page)} == {group_colour(number)}
        assert kept.groups[number] == name
    assert colours["optimum"] == group_colour(4)


def test_without_applications_the_order_is_natural(result):
    assert in_colour_order(["b10", "", "b2", "a"], ["z"]) == ["z", "a", "b2", "b10"]
    names = colouring(result, "label").legend
    assert [*names] == ["crunch one", "crunch two", "report", "(none)"]


COST = st.one_of(st.none(), st.floats(0.1, 1e3))


def within(found, group, factor):
    """Return the part of the instances on which a group is within a factor of the best."""
    return np.count_nonzero(found.ratios[group] <= factor) / max(found.n, 1)


def test_more_is_better():
    found = profiles({"a": {1: 1.0, 2: 4.0}, "b": {1: 2.0, 2: 2.0}}, sense="max")
    assert found.ratios["a"].tolist() == [1.0, 2.0]
    assert found.ratios["b"].tolist() == [1.0, 2.0]


def test_far_from_the_best_is_no_failure():
    found = profiles({"a": {1: 1e-200}, "b": {1: 1e200}, "c": {1: None}})
    assert within(found, "b", 1e300) == 0.0
    assert within(found, "b", math.nextafter(math.inf, 0)) == 1.0
    assert found.ratios["c"].tolist() == [math.inf]


def test_instances_that_not_all_were_tried_on_are_counted_apart():
    found = profiles({"a": {1: 1.0, 2: 4.0, 9: None}, "b": {1: 2.0, 5: 2.0, 9: math.nan}})
    assert (found.n, found.apart, found.unsolved) == (1, 2, 1)
    assert found.ratios["b"].tolist() == [2.0]
    with raises_naming(SimpluginError, "'a'", 0):
        profiles({"a": {1: 0.0}, "b": {1: 1.0}})


@given(st.lists(st.tuples(COST, COST, COST), min_size=1, max_size=15), st.floats(1.0, 1e4))
def test_profiles_are_what_dolan_and_more_define(rows, factor):
    groups = {str(s): {p: row[s] for p, row in enumerate(rows)} for s in range(3)}
    found = profiles(groups)
    costs = np.array([[math.inf if each is None else each for each in row] for row in rows])
    solved = [row for row in costs if np.isfinite(row).any()]
    assert (found.n, found.unsolved) == (len(solved), len(rows) - len(solved))
    for s in range(3):
        expected = sum(row[s] / row.min() <= factor for row in solved) / max(len(solved), 1)
        assert within(found, str(s), factor) == pytest.approx(expected)
    # Each instance has a best group.
    if solved:
        assert sum(within(found, str(s), 1.0) for s in range(3)) >= 1 - 1e-12


def test_dots_are_not_joined_and_keep_their_colours():
    series = {"cloud": (ROUNDS, 0.5**ROUNDS), "trend": (ROUNDS, 0.6**ROUNDS)}
    plot = CurvePlot("x", "", "", "", series, dots=["cloud"], colours={"cloud": 3}, square=True)
    [axes] = curves([plot]).figure.axes
    cloud, trend = axes.lines
    assert (cloud.get_linestyle(), trend.get_linestyle()) == ("None", "-")
    assert len(cloud.get_xdata()) == len(ROUNDS)
    assert to_hex(cloud.get_color()) == group_colour(3)
    assert to_hex(trend.get_color()) == group_colour(0)
    [panel] = figure_document(plot)["panels"]
    assert [each.get("dots", False) for each in panel["series"]] == [True, False]
    assert [number for number, _ in panel["styles"]] == [3, 0]
    again = from_document(CurvePlot, written(plot))
    assert (again.dots, again.colours, again.square) == (("cloud",), {"cloud": 3}, True)
