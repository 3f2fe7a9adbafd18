"""Gantt charts by cluster."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from simplugin.charts import Bar, ScheduleChart
from simplugin.errors import SimpluginError
from simplugin.reports.schedules import schedule_figure

CLUSTERS = (("left", 4), ("right", 6))
GROUPS = ("one", "two")
BARS = (
    Bar(0, (0, 1, 3), 0.0, 2.0, "wide"),
    # Adjacent by number, but in two clusters.
    Bar(1, (2, 4, 5), 2.0, 10.0, "across"),
    Bar(1, (9,), 5.0, 5.0, "nothing"),
)


def chart(**changes):
    fields = {"name": "x", "title": "All", "clusters": CLUSTERS, "groups": GROUPS, "bars": BARS}
    return ScheduleChart(**(fields | changes))


def blocks(axes):
    """Return the corners of all blocks, by date and place."""
    [collection] = [each for each in axes.collections if len(each.get_paths()) >= len(BARS)]
    corners = [path.vertices[:4] for path in collection.get_paths()]
    return [(*box.min(axis=0), *box.max(axis=0)) for box in corners], collection.get_facecolor()


def test_adjacent_processors_of_a_cluster_are_one_block():
    axes, _ = schedule_figure(chart()).axes
    boxes, colours = blocks(axes)
    sizes = [(start, finish, high - low) for start, low, finish, high in boxes]
    assert sizes == [(0, 2, 2), (0, 2, 1), (2, 10, 1), (2, 10, 2), (5, 5, 1)]
    # Clusters are apart, by more than nothing; the second starts below all of the first.
    assert boxes[3][1] > boxes[1][3]
    # Blocks of different processors never overlap.
    bars = tuple(Bar(0, (number,), 0.0, 1.0) for number in range(10))
    boxes, _ = blocks(schedule_figure(chart(bars=bars)).axes[0])
    for upper, lower in pairwise(sorted(boxes, key=lambda box: box[1])):
        assert lower[1] >= upper[3]
    assert np.array_equal(colours[0], colours[1])
    assert not np.array_equal(colours[1], colours[2])


def test_clusters_groups_and_dates_are_named():
    figure = schedule_figure(chart(dates={"lower bound": 4.0}, facts="3 tasks", completion=(2, 10)))
    axes, below = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["left\n4", "right\n6"]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["one", "two", "completed", "lower bound"]
    assert axes.get_title(loc="left") == "3 tasks"
    assert figure.get_suptitle() == "All"
    assert below.get_ylim() == (0, 10)


def test_use_is_stacked():
    _, below = schedule_figure(chart()).axes
    first, second = below.collections
    # Three processors for 2 s, and three for 8 s.
    for drawn, expected in ((first, 6), (second, 24)):
        x, y = drawn.get_paths()[0].vertices.T
        # The area of a polygon, by its corners.
        assert abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2 == pytest.approx(expected)
        assert y.max() == 3


def test_labels_are_written_where_they_fit():
    long = "a name that is far too long for two seconds of this little chart, really"
    bars = Bar(0, (0, 1, 2, 3), 0.0, 10.0, "fits"), Bar(1, (4, 5, 6, 7, 8, 9), 0.0, 2.0, long)
    axes, _ = schedule_figure(chart(bars=bars)).axes
    [text] = axes.texts
    assert (text.get_text(), text.get_position()[0]) == ("fits", 5)


def test_long_texts_are_whole_and_inside(illegible):
    title = "scheduler.name = wps_width, platform.parameters.site = rennes, " * 5 + "$x"
    names = tuple(f"_group with a name that is long, number {number}" for number in range(9))
    facts = "12 tasks of some kind, " * 12
    figure = schedule_figure(chart(title=title, groups=names, facts=facts, dates={"bound": 4.0}))
    FigureCanvasAgg(figure).draw()
    key = figure.legends[0].get_texts()
    assert [text.get_text() for text in key] == [*names, "bound"]
    assert figure.get_suptitle().replace("\n", " ") == title
    texts = [figure._suptitle, figure.axes[0].title, figure.axes[0]._left_title, *key]
    assert illegible([text for text in texts if text.get_text()]) == []


@pytest.mark.parametrize(
    ("bar", "message"),
    [
        (Bar(2, (0,), 0.0, 1.0, "a"), r"bar 'a' of chart 'x' has group 2; groups are 0 to 1"),
        (Bar(1, (3, 10), 0.0, 1.0, "a"), r"on processors \[3, 10\]; processors are 0 to 9"),
    ],
)
def test_what_is_not_there_is_refused(bar, message):
    with pytest.raises(SimpluginError, match=message):
        chart(bars=(bar,))
