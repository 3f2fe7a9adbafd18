import numpy as np
import pytest
from scipy import stats

from simplugin.errors import PlatformError
from simplugin.platforms.graphs import Tree
from simplugin.platforms.topologies.random_trees import BANDWIDTHS, LATENCIES, SPEEDS, random_tree

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


def test_latencies_are_drawn_apart_from_all_else():
    draws = np.random.default_rng(7)
    made = random_tree(4000, 5, draws, latencies=LATENCIES)
    plain_draws = np.random.default_rng(7)
    plain = random_tree(4000, 5, plain_draws)
    assert not plain.latency.any()
    for name in ("parent", "speed", "bandwidth"):
        assert np.array_equal(getattr(made, name), getattr(plain, name))
    # What is drawn next is the same too.
    assert draws.integers(2**63) == plain_draws.integers(2**63)
    late = made.latency
    assert late[0] == 0
    # "latency ranged from 6 ms to 10 sec", evenly over the powers of ten between.
    exponents = np.log10(late[1:])
    law = stats.uniform(np.log10(6e-3), 1 - np.log10(6e-3))
    assert stats.kstest(exponents, law.cdf).pvalue > 0.01
    # Not those of the bandwidths in another scale.
    assert abs(np.corrcoef(exponents, np.log(made.bandwidth[1:]))[0, 1]) < 0.06
    again = random_tree(4000, 5, np.random.default_rng(7), latencies=LATENCIES)
    assert np.array_equal(late, again.latency)


def test_trees_of_old_seeds_stay_as_they_were():
    # The draws as they always were, made anew: speeds, logarithms of bandwidths, degrees.
    draws = np.random.default_rng(11)
    speed = draws.uniform(*SPEEDS, 12)
    bandwidth = np.exp(draws.uniform(*np.log(BANDWIDTHS), 12))
    parent = [-1]
    for host in range(12):
        if len(parent) < 12:
            parent += [host] * int(draws.integers(1, 4))
    for latencies in (None, LATENCIES):
        made = random_tree(12, 3, np.random.default_rng(11), latencies=latencies)
        assert made.speed.tolist() == speed.tolist()
        assert made.bandwidth[1:].tolist() == bandwidth[1:].tolist()
        assert made.parent.tolist() == parent[:12]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2), "hosts of a tree is 0; give a whole number from 1"),
        ((3, 0), "largest number of children is 0; give a whole number from 1"),
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
