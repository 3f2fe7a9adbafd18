import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.platforms.random_trees import BANDWIDTHS, SPEEDS, random_tree
from simplugin.platforms.trees import Tree

INF = np.inf


def tree(**changed):
    fields = {
        "hosts": ("r", "a", "b", "c"),
        "parent": [-1, 0, 0, 1],
        "speed": [1.0, 2.0, 0.0, 4.0],
        "bandwidth": [INF, 5.0, 6.0, 7.0],
        "latency": [0.0, 0.1, 0.2, 0.3],
    }
    return Tree(**(fields | changed))


def test_children_and_depth():
    assert tree().children == ((1, 2), (3,), (), ())
    assert tree().depth.tolist() == [0, 1, 1, 2]


def test_graph_has_a_link_in_each_direction():
    graph = tree().graph()
    ends = set(zip(graph.source.tolist(), graph.destination.tolist(), strict=True))
    assert ends == {(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1)}
    widths = {graph.link_name(i): graph.bandwidth[i] for i in range(graph.n_links)}
    assert widths["a->c"] == widths["c->a"] == 7.0
    assert graph.latency.tolist() == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parent": [-1, 0, 3, 1]}, "'b' stands before its parent"),
        ({"parent": [-1, 0, -1, 1]}, "no other, must have the parent -1"),
        ({"parent": [-1, 0, 0]}, r"parent has shape \(3,\)"),
        ({"speed": [1.0, -2.0, 0.0, 4.0]}, "speed has a negative"),
        ({"bandwidth": [INF, 0.0, 6.0, 7.0]}, "a bandwidth is not a positive number"),
        ({"bandwidth": [9.0, 1.0, 6.0, 7.0]}, "the root has no link"),
        ({"hosts": ("r", "a", "b", "a")}, "two hosts are called 'a'"),
    ],
)
def test_refused(changed, message):
    with pytest.raises(PlatformError, match=message):
        tree(**changed)


def test_no_host():
    with pytest.raises(PlatformError, match="no host"):
        Tree((), [], [], [], [])


@pytest.mark.parametrize("law", ["uniform", "log-uniform"])
def test_random_tree_keeps_to_its_ranges(law):
    made = random_tree(2000, 5, np.random.default_rng(3), bandwidth_law=law)
    assert made.n_hosts == 2000
    degrees = np.bincount(made.parent[1:], minlength=2000)
    assert degrees.max() == 5
    # Breadth first: all hosts but the last ones, which nobody was left for, have children.
    filled = int(made.parent.max())
    assert degrees[:filled].min() >= 1
    assert np.all(np.diff(made.parent) >= 0)
    for drawn, (low, high) in ((made.speed, SPEEDS), (made.bandwidth[1:], BANDWIDTHS)):
        assert low <= drawn.min()
        assert drawn.max() <= high
    middle = np.mean(BANDWIDTHS) if law == "uniform" else np.sqrt(np.prod(BANDWIDTHS))
    assert np.median(made.bandwidth[1:]) == pytest.approx(middle, rel=0.15)


def test_random_tree_is_its_seed_and_its_root_may_only_distribute():
    one, two = (random_tree(9, 2, np.random.default_rng(7), root_computes=c) for c in (True, False))
    assert one.parent.tolist() == two.parent.tolist()
    assert one.speed[1:].tolist() == two.speed[1:].tolist()
    assert one.speed[0] > 0
    assert two.speed[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2), "give 1 or more of both"),
        ((3, 0), "give 1 or more of both"),
    ],
)
def test_random_tree_refuses(arguments, message):
    with pytest.raises(PlatformError, match=message):
        random_tree(*arguments, np.random.default_rng(0))


def test_random_tree_refuses_ranges_and_laws():
    generator = np.random.default_rng(0)
    with pytest.raises(PlatformError, match="speeds is"):
        random_tree(3, 2, generator, speeds=(2.0, 1.0))
    with pytest.raises(PlatformError, match="bandwidth_law is 'normal'"):
        random_tree(3, 2, generator, bandwidth_law="normal")
