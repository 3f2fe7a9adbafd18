"""Drawings of graphs."""

from itertools import combinations

import numpy as np
import pytest

from simplugin.charts import Curve, GraphChart, Node
from simplugin.errors import SimpluginError
from simplugin.reports.graphs import graphs_figure

NODES = (
    Node(1.0, 0.0, "entry", "4×", 1.0, 0, marked=True),  # noqa: RUF001
    Node(0.0, 1.0, "left", "1×", 0.25, 1),  # noqa: RUF001
    Node(2.0, 2.0, "exit", "2×", 0.0, None, marked=True),  # noqa: RUF001
)
EDGES = (Curve(0, 1), Curve(0, 2, ((1.5, 1.0),), marked=True), Curve(1, 2))


def chart(**changes):
    fields = {"name": "x", "title": "All", "nodes": NODES, "edges": EDGES, "groups": ("a", "b")}
    return GraphChart(**(fields | changes))


def circles(axes):
    return [patch for patch in axes.patches if hasattr(patch, "radius")]


def test_areas_of_nodes_stand_for_their_size():
    [axes] = graphs_figure([chart()]).axes
    entry, left, exit_ = circles(axes)
    assert left.radius == pytest.approx(entry.radius / 2)
    # There is a least size, for the text.
    assert 0 < exit_.radius < left.radius
    assert entry.get_facecolor() != left.get_facecolor()
    assert entry.get_linewidth() > left.get_linewidth()


def test_nodes_stand_where_they_are_to():
    [axes] = graphs_figure([chart()]).axes
    first, second = np.diff([circle.center for circle in circles(axes)], axis=0)
    assert first[0] == pytest.approx(-second[0] / 2)
    # Down the page, by one level each.
    assert first[1] == pytest.approx(second[1])
    assert first[1] < 0


def test_edges_end_at_the_rims_of_nodes():
    [axes] = graphs_figure([chart()]).axes
    lines = [path.vertices for each in axes.collections for path in each.get_paths()]
    tips = [corners[0] for corners in lines if len(corners) in (4, 5)]
    # The heads of the two plain edges: their tips touch their targets.
    for target in circles(axes)[1:]:
        distances = [np.hypot(*(tip - target.center)) for tip in tips]
        assert any(distance == pytest.approx(target.radius) for distance in distances)


def test_words():
    chosen = chart(facts="3 tasks", colour=2)
    [axes] = graphs_figure([chosen], title="Some").axes
    words = [text.get_text() for text in axes.texts]
    assert words[:6] == ["4×", "entry", "1×", "left", "2×", "exit"]  # noqa: RUF001
    assert words[6:] == ["All", "3 tasks", "a", "b"]
    assert [text.get_text() for text in axes.figure.texts] == ["Some"]


def test_panels_do_not_overlap():
    wide = chart(nodes=tuple(Node(float(x), 0.0, str(x)) for x in range(18)), edges=())
    figure = graphs_figure([chart(), wide, chart(), wide, chart()], title="Some")
    boxes = [axes.get_position() for axes in figure.axes]
    assert min(min(box.x0, box.y0, 1 - box.x1) for box in boxes) >= -1e-9
    for one, other in combinations(boxes, 2):
        gaps = one.x0 - other.x1, other.x0 - one.x1, one.y0 - other.y1, other.y0 - one.y1
        assert max(gaps) >= -1e-9


def test_very_wide_graphs_stay_on_a_page():
    wide = chart(nodes=tuple(Node(float(x), 0.0, f"a long name {x}") for x in range(400)), edges=())
    figure = graphs_figure([wide])
    assert figure.get_figwidth() < 20
    assert not [text for text in figure.axes[0].texts if text.get_text().startswith("a long")]


def test_what_is_not_there_is_refused():
    with pytest.raises(SimpluginError, match="edge from 0 to 3; nodes are 0 to 2"):
        chart(edges=(Curve(0, 3),))
    with pytest.raises(SimpluginError, match="node 'left' of chart 'x' has group 1"):
        chart(groups=("a",))
    with pytest.raises(SimpluginError, match="no graph to draw"):
        graphs_figure([])
