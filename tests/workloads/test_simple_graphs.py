import numpy as np

from simplugin.workloads.regular_graphs import chain, fork_join


def test_chain():
    graph = chain(4, np.random.default_rng(1), name="c")
    assert (graph.name, graph.tasks) == ("c", ("1", "2", "3", "4"))
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.edge_byte.tolist() == graph.byte[:3].tolist()
    assert chain(1, np.random.default_rng(1)).n_edges == 0


def test_fork_join():
    graph = fork_join(3, np.random.default_rng(1), stages=2)
    assert np.bincount(graph.level).tolist() == [1, 3, 1, 3, 1]
    assert graph.n_edges == 12
    assert graph.tasks == (
        "join 0",
        *("task 1.0", "task 1.1", "task 1.2", "join 1"),
        *("task 2.0", "task 2.1", "task 2.2", "join 2"),
    )
    assert graph.successors.of(4).tolist() == [5, 6, 7]
    assert graph.predecessors.of(4).tolist() == [1, 2, 3]
