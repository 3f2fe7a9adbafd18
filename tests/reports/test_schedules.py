"""Gantt charts by cluster, and drawings of graphs."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.reports.graphs import draw_graphs
from simplugin.reports.schedules import draw_schedule
from simplugin.results.charts import Bar, DrawnEdge, DrawnNode, GraphChart, ScheduleChart

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
    axes, _ = draw_schedule(chart()).figure.axes
    boxes, colours = blocks(axes)
    sizes = [(start, finish, high - low) for start, low, finish, high in boxes]
    assert sizes == [(0, 2, 2), (0, 2, 1), (2, 10, 1), (2, 10, 2), (5, 5, 1)]
    # Clusters are apart, by more than nothing; the second starts below all of the first.
    assert boxes[3][1] > boxes[1][3]
    # Blocks of different processors never overlap.
    bars = tuple(Bar(0, (number,), 0.0, 1.0) for number in range(10))
    boxes, _ = blocks(draw_schedule(chart(bars=bars)).figure.axes[0])
    for upper, lower in pairwise(sorted(boxes, key=lambda box: box[1])):
        assert lower[1] >= upper[3]
    assert np.array_equal(colours[0], colours[1])
    assert not np.array_equal(colours[1], colours[2])


def test_clusters_groups_and_dates_are_named():
    figure = draw_schedule(chart(dates={"bound": 4.0}, facts="3 tasks", completion=(2, 10))).figure
    axes, below = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["left\n4", "right\n6"]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["one", "two", "completed", "bound"]
    assert axes.get_title(loc="left") == "3 tasks"
    assert figure.get_suptitle() == "All"
    assert below.get_ylim() == (0, 10)


def test_lanes_of_transfers_are_thin_and_not_counted():
    bars = (*BARS[:2], Bar(0, (8,), 0.0, 10.0), Bar(1, (9,), 1.0, 4.0))
    axes, below = draw_schedule(chart(bars=bars, transfers=(8, 9))).figure.axes
    boxes, _ = blocks(axes)
    heights = [high - low for _, low, _, high in boxes]
    assert heights[-2:] == pytest.approx([0.35, 0.35])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["left\n4", "right\n4"]
    # The use is that of the others.
    assert below.get_ylim() == (0, 8)
    assert max(path.vertices[:, 1].max() for c in below.collections for path in c.get_paths()) == 3


def test_names_of_many_clusters_do_not_cover_each_other(illegible):
    clusters = tuple((f"gros-{number}.nancy.grid5000.fr", 1 + number % 3) for number in range(150))
    for some in (clusters[:12], clusters):
        figure = draw_schedule(chart(clusters=some)).figure
        FigureCanvasAgg(figure).draw()
        shown = [text for text in figure.axes[0].get_yticklabels() if text.get_text()]
        assert len(shown) >= min(len(some), 40)
        assert illegible(shown) == []


def test_use_is_stacked():
    _, below = draw_schedule(chart()).figure.axes
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
    axes, _ = draw_schedule(chart(bars=bars)).figure.axes
    [text] = axes.texts
    assert (text.get_text(), text.get_position()[0]) == ("fits", 5)


def test_long_texts_are_whole_and_inside(illegible):
    title = "scheduler.name = wps_width, platform.parameters.site = rennes, " * 5 + "$x"
    names = tuple(f"_group with a name that is long, number {number}" for number in range(9))
    facts = "12 tasks of some kind, " * 12
    figure = draw_schedule(
        chart(title=title, groups=names, facts=facts, dates={"bound": 4.0})
    ).figure
    FigureCanvasAgg(figure).draw()
    key = figure.legends[0].get_texts()
    assert [text.get_text() for text in key] == [*names, "bound"]
    assert figure.get_suptitle().replace("\n", " ") == title
    texts = [figure._suptitle, figure.axes[0].title, figure.axes[0]._left_title, *key]
    assert illegible([text for text in texts if text.get_text()]) == []


WRONG_BARS = [
    (Bar(2, (0,), 0.0, 1.0, "a"), "'a' 'x' 2"),
    (Bar(1, (3, 10), 0.0, 1.0, "a"), "'a' 'x' [3, 10]"),
]


@pytest.mark.parametrize(("bar", "named"), WRONG_BARS)
def test_what_is_not_there_is_refused(bar, named):
    with raises_naming(SimpluginError, *named.split()):
        chart(bars=(bar,))


NODES = (
    DrawnNode(1.0, 0.0, "entry", "4×", 1.0, 0, marked=True),  # noqa: RUF001
    DrawnNode(0.0, 1.0, "left", "1×", 0.25, 1),  # noqa: RUF001
    DrawnNode(2.0, 2.0, "exit", "2×", 0.0, None, marked=True),  # noqa: RUF001
)
EDGES = (DrawnEdge(0, 1), DrawnEdge(0, 2, ((1.5, 1.0),), marked=True), DrawnEdge(1, 2))


def graph_chart(**changes):
    fields = {"name": "x", "title": "All", "nodes": NODES, "edges": EDGES, "groups": ("a", "b")}
    return GraphChart(**(fields | changes))


def circles(axes):
    return [patch for patch in axes.patches if hasattr(patch, "radius")]


def test_areas_of_nodes_stand_for_their_size():
    [axes] = draw_graphs([graph_chart()]).figure.axes
    entry, left, exit_ = circles(axes)
    assert left.radius == pytest.approx(entry.radius / 2)
    # There is a least size, for the text.
    assert 0 < exit_.radius < left.radius
    assert entry.get_facecolor() != left.get_facecolor()
    assert entry.get_linewidth() > left.get_linewidth()


def test_nodes_stand_where_they_are_to():
    [axes] = draw_graphs([graph_chart()]).figure.axes
    first, second = np.diff([circle.center for circle in circles(axes)], axis=0)
    assert first[0] == pytest.approx(-second[0] / 2)
    # Down the page, by one level each.
    assert first[1] == pytest.approx(second[1])
    assert first[1] < 0


def test_edges_end_at_the_rims_of_nodes():
    [axes] = draw_graphs([graph_chart()]).figure.axes
    lines = [path.vertices for each in axes.collections for path in each.get_paths()]
    tips = [corners[0] for corners in lines if len(corners) in (4, 5)]
    # The heads of the two plain edges: their tips touch their targets.
    for target in circles(axes)[1:]:
        distances = [np.hypot(*(tip - target.center)) for tip in tips]
        assert any(distance == pytest.approx(target.radius) for distance in distances)


def test_words():
    chosen = graph_chart(facts="3 tasks", colour=2)
    [axes] = draw_graphs([chosen], title="Some").figure.axes
    words = [text.get_text() for text in axes.texts]
    assert words[:6] == ["4×", "entry", "1×", "left", "2×", "exit"]  # noqa: RUF001
    assert words[6:] == ["All", "3 tasks", "a", "b"]
    assert [text.get_text() for text in axes.figure.texts] == ["Some"]


def test_panels_do_not_overlap():
    wide = graph_chart(nodes=tuple(DrawnNode(float(x), 0.0, str(x)) for x in range(18)), edges=())
    figure = draw_graphs(
        [graph_chart(), wide, graph_chart(), wide, graph_chart()], title="Some"
    ).figure
    boxes = [axes.get_position() for axes in figure.axes]
    assert min(min(box.x0, box.y0, 1 - box.x1) for box in boxes) >= -1e-9
    for one, other in combinations(boxes, 2):
        gaps = one.x0 - other.x1, other.x0 - one.x1, one.y0 - other.y1, other.y0 - one.y1
        assert max(gaps) >= -1e-9


def test_very_wide_graphs_stay_on_a_page():
    wide = graph_chart(
        nodes=tuple(DrawnNode(float(x), 0.0, f"a long name {x}") for x in range(400)), edges=()
    )
    figure = draw_graphs([wide]).figure
    assert figure.get_figwidth() < 20
    assert not [text for text in figure.axes[0].texts if text.get_text().startswith("a long")]


def test_parts_of_graphs_that_are_not_there_are_refused():
    with raises_naming(SimpluginError, "'x'", 0, 3):
        graph_chart(edges=(DrawnEdge(0, 3),))
    with raises_naming(SimpluginError, "'left'", "'x'", 1):
        graph_chart(groups=("a",))
    with pytest.raises(SimpluginError):
        draw_graphs([])
