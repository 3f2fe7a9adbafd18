"""Task graphs in DOT: what daggen writes, what else DOT may say, and what is refused where."""

import re
from pathlib import Path

import numpy as np
import pytest
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.formats.dot import read_dot, write_dot
from simplugin.workloads.task_graphs import TaskGraph

TEXT = """\
// daggen
 /* two
    lines */
# 1 "a line of a preprocessor"
digraph G {
  1 [size="4e9", alpha="0.19"]
  "two \\"2\\"" [alpha = 0.5 colour="red"; size=3000000000];
  1 -> "two \\"2\\"" -> 3 [size ="411041792"]
  rankdir = LR;
  1 -> 3;
  3 [size="0", byte="7"] [shape=box]
}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "graph.dot"
    path.write_bytes(text.encode())
    return path


def test_a_graph_is_read(tmp_path):
    graph = read_dot(written(tmp_path, TEXT))
    size = 411041792
    columns = np.array([[4e9, 3e9, 0], [0.19, 0.5, 1], [size, size, 7]])
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    assert graph == TaskGraph(
        "G", ("1", 'two "2"', "3"), *columns, edges, np.array([size, size, 0.0])
    )


def test_alpha_and_name_where_there_are_none(tmp_path):
    path = written(tmp_path, '\ufeffdigraph { a [size="1", alpha="0"] b [size="2"] }\r\n')
    graph = read_dot(path, alpha=0.25)
    assert (graph.name, graph.alpha.tolist()) == ("graph", [0, 0.25])
    assert read_dot(path, name="mine").name == "mine"
    for alpha in (-0.1, 1.1, float("nan")):
        with raises_naming(WorkloadError, "alpha", alpha):
            read_dot(path, alpha=alpha)


def test_defaults_hold_for_what_follows(tmp_path):
    text = (
        "strict DIGRAPH { a [size=1] graph [size=9] node [size=2 alpha=0.5] edge [size=8]"
        " b; c [size=3]; a -> b; edge [size=9]; a -> c; b -> c [size=0] }"
    )
    graph = read_dot(written(tmp_path, text))
    assert graph.flop.tolist() == [1, 2, 3]
    assert graph.alpha.tolist() == [1, 0.5, 0.5]
    assert graph.edge_byte.tolist() == [8, 9, 0]
    assert graph.byte.tolist() == [9, 0, 0]


def test_an_edge_that_is_written_again_is_one(tmp_path):
    text = (
        "digraph { a [size=1] b [size=2] c [size=3]\n"
        'a -> b [size="1000"]; a -> c; a -> b [size=1e3]; a -> c [size=0]; b -> c [size=5] }'
    )
    graph = read_dot(written(tmp_path, text))
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.edge_byte.tolist() == [1000, 0, 5]
    assert graph.byte.tolist() == [1000, 5, 0]
    write_dot(graph, tmp_path / "again.dot")
    assert read_dot(tmp_path / "again.dot") == graph


AB = "digraph { a [size=1] b [size=1]\n"


WRONG = [
    ("# x\n\n¶", "the end of the file is here instead of 'digraph'"),
    ("¶graph {}", "undirected; write digraph"),
    ("\n¶digraph {}", "no task"),
    (f"{AB}¶ a -- b }}", "write ->"),
    (f"{AB}\n¶", "the end of the file is here"),
    (f"{AB}}}\n¶digraph {{ }}", "a file of its own"),
    ("digraph {\n¶ a [alpha=0.5] }", "task 'a' has no size"),
    ('¶digraph { a [size="1_0"] }', "'1_0', which is no number"),
    ('¶digraph { a [size="inf"] }', "'inf', which is no number"),
    ("¶digraph { a [size=1e999] }", "too large"),
    ('digraph {\n¶ a [size="-1"] }', "-1.0; give a finite number >= 0"),
    (f"{AB}a->b\n¶[size=-2] }}", "'a' -> 'b' is -2"),
    ("¶digraph { a [size=1, alpha=1.5] }", "alpha of task 'a' is 1.5"),
    ("¶digraph { a [size=1, byte=-2] }", "byte of task 'a' is -2"),
    (f"{AB}¶a [size=1] }}", "'a' is described twice"),
    (f"{AB}a->b [size=1]\n¶a->b [size=2] }}", "'a' -> 'b' is given twice"),
    (f"{AB}a->b [size=1]\n¶a->b }}", "'a' -> 'b' is given twice"),
    ("digraph {\n¶a [size=1][size=2] }", "'size' is given twice"),
    (f"{AB}\n¶a -> c }}", "describe task 'c'"),
    (f"{AB}\n¶a -> a }}", "cycle: 'a' -> 'a'; remove"),
    ("digraph {\n¶subgraph s { a } }", "subgraph"),
    ("digraph { a -> \n¶{ b c } }", "'{' is here instead of the name of a task"),
    ("digraph {\n¶a:n -> b }", "port"),
    ("digraph {\n¶a [label=<b>] }", "HTML"),
    ('digraph {\n\n¶"a [size=1] }', "quote has no end"),
    ("digraph {\n¶/* a [size=1] }", "comment has no end"),
    ("digraph {\n¶node -> b }", 'quote the name of a task called "node"'),
    ("digraph {\n¶1st [size=1] }", "'1st' is no DOT"),
    ("digraph {\n¶a # b\n}", "'#' is no DOT"),
    ("digraph {\n¶a [size=1,,] }", "',' is here instead of the name of an attribute"),
    ("digraph {\n¶a [size] }", "']' is here instead of '='"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_refused_at_its_line(text, message, tmp_path):
    assert_refused(read_dot, tmp_path / "graph.dot", text, message)


def test_a_cycle_is_named_from_its_first_edge_at_its_last(tmp_path):
    tasks = " ".join(f"{task} [size=1]" for task in ("in", "out", "b", "c", "d", "e"))
    text = f"digraph {{ {tasks}\nin -> d\nd -> b\nout -> e\nb -> c\n¶c -> d\nb -> out\n}}"
    message = "cycle: 'd' -> 'b' -> 'c' -> 'd'; "
    assert_refused(read_dot, tmp_path / "graph.dot", text, message)

    # A long one is not told whole.
    count = 2000
    tasks = "\n".join(f"{task} [size=1]" for task in range(count))
    edges = "\n".join(f"{task} -> {(task + 1) % count}" for task in range(count))
    text = f"digraph {{\n{tasks}\n{edges}¶\n}}"
    assert_refused(read_dot, tmp_path / "graph.dot", text, "'19' -> 1980 more -> '0'; ")


def single(name: str) -> TaskGraph:
    """Return a graph of one task, both of one name."""
    zero = np.zeros(1)
    return TaskGraph(name, (name,), zero, zero, zero, np.zeros((0, 2)), np.zeros(0))


def test_names_are_quoted_where_they_must_be(tmp_path):
    path = tmp_path / "graph.dot"
    plain = ("a_1", "12", "0.5")
    quoted = ("", "node", "Digraph", "-1", "é", "a\\b", "a\nb")
    escaped = {'a"b': '"a\\"b"', '\\\\"': '"\\\\\\""'}
    texts = {name: name for name in plain} | {name: f'"{name}"' for name in quoted} | escaped
    for name, text in texts.items():
        write_dot(single(name), path)
        expected = f'digraph {text} {{\n  {text} [size="0", alpha="0"]\n}}\n'
        assert path.read_bytes().decode() == expected
        assert read_dot(path) == single(name)


@pytest.mark.parametrize("name", ["a\\", '\\"', "a\\\nb", "a\0", "\ud800"])
def test_names_that_dot_has_no_way_to_say_are_refused(name, tmp_path):
    with raises_naming(WorkloadFileError, repr(name)):
        write_dot(single(name), tmp_path / "graph.dot")


@pytest.mark.parametrize(("file", "count"), [("daggen_ptg", (10, 7)), ("daggen_100", (102, 142))])
def test_graphs_that_daggen_wrote(file, count, shared_data):
    path = shared_data / f"workflows/dot/{file}.dot"
    graph = read_dot(path, alpha=0.125)
    text = path.read_text()
    edges = re.findall(r'(\w+)\s*->\s*(\w+)\s*\[size\s*="([^"]*)"\]', text)
    tasks = re.findall(r'^\s*(\w+)\s+\[size="([^"]*)"(?:, alpha="([^"]*)")?\]', text, re.MULTILINE)
    assert (graph.n_tasks, graph.n_edges) == (len(tasks), len(edges)) == count
    assert graph.tasks == tuple(name for name, _, _ in tasks)
    assert graph.flop.tolist() == [float(size) for _, size, _ in tasks]
    assert graph.alpha.tolist() == [float(alpha or 0.125) for _, _, alpha in tasks]
    assert graph.edge_byte.tolist() == [float(size) for _, _, size in edges]
    named = [(graph.tasks[source], graph.tasks[target]) for source, target in graph.edges]
    assert named == [(source, target) for source, target, _ in edges]
    sent = np.zeros(graph.n_tasks)
    np.maximum.at(sent, graph.edges[:, 0], graph.edge_byte)
    assert graph.byte.tolist() == sent.tolist()
