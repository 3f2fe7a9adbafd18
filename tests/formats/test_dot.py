"""Task graphs in DOT: what daggen writes, what else DOT may say, and what is refused where."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from simplugin.errors import WorkloadError, WorkloadFileError
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


def test_a_graph_is_read(tmp_path: Path) -> None:
    graph = read_dot(written(tmp_path, TEXT))
    assert graph == TaskGraph(
        "G",
        ("1", 'two "2"', "3"),
        np.array([4e9, 3e9, 0]),
        np.array([0.19, 0.5, 0]),
        np.array([411041792.0, 411041792, 7]),
        np.array([[0, 1], [1, 2], [0, 2]]),
        np.array([411041792.0, 411041792, 0]),
    )


def test_alpha_and_name_where_there_are_none(tmp_path: Path) -> None:
    path = written(tmp_path, 'digraph { a [size="1", alpha="0"] b [size="2"] }')
    graph = read_dot(path, alpha=0.25)
    assert (graph.name, graph.alpha.tolist()) == ("graph", [0, 0.25])
    assert read_dot(path, name="mine").name == "mine"
    for alpha in (-0.1, 1.1, float("nan")):
        with pytest.raises(WorkloadError, match="from 0 to 1"):
            read_dot(path, alpha=alpha)


def test_defaults_hold_for_what_follows(tmp_path: Path) -> None:
    text = (
        "strict DIGRAPH { a [size=1] graph [size=9] node [size=2 alpha=0.5] edge [size=8]"
        " b; c [size=3]; a -> b; edge [size=9]; a -> c; b -> c [size=0] }"
    )
    graph = read_dot(written(tmp_path, text))
    assert graph.flop.tolist() == [1, 2, 3]
    assert graph.alpha.tolist() == [0, 0.5, 0.5]
    assert graph.edge_byte.tolist() == [8, 9, 0]
    assert graph.byte.tolist() == [9, 0, 0]


def test_an_edge_that_is_written_again_is_one(tmp_path: Path) -> None:
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


REFUSED = {
    "nothing": ("", 1, "the end of the file stands where 'digraph' should"),
    "comment only": ("# x\n\n", 3, "'digraph'"),
    "undirected": ("graph {}", 1, "undirected; write digraph"),
    "no task": ("\ndigraph {}", 2, "no task"),
    "undirected edge": ("digraph { a [size=1] b [size=1]\n a -- b }", 2, "write ->"),
    "no end": ("digraph {\n a [size=1]\n", 3, "the end of the file stands"),
    "two graphs": ("digraph { a [size=1] }\ndigraph { }", 2, "a file of its own"),
    "no size": ("digraph {\n a [alpha=0.5] }", 2, "task 'a' has no size"),
    "no number": ('digraph {\n a [\nsize="1 f"] }', 3, "'1 f', which is no number"),
    "underscores": ('digraph { a [size="1_0"] }', 1, "'1_0', which is no number"),
    "infinite": ('digraph { a [size="inf"] }', 1, "'inf', which is no number"),
    "too large": ("digraph { a [size=1e999] }", 1, "too large"),
    "negative": ('digraph {\n a [size="-1"] }', 2, "-1.0; give a finite number >= 0"),
    "negative edge": ("digraph { a [size=1] b [size=1]\na->b\n[size=-1] }", 3, "'a' -> 'b' is -1"),
    "alpha": ("digraph { a [size=1, alpha=1.5] }", 1, "alpha of task 'a' is 1.5"),
    "byte": ("digraph { a [size=1, byte=-2] }", 1, "byte of task 'a' is -2"),
    "task twice": ("digraph { a [size=1]\na [size=1] }", 2, "'a' is described twice"),
    "edge twice": (
        "digraph { a [size=1] b [size=1]\na->b [size=1]\na->b [size=2] }",
        3,
        "'a' -> 'b' is given twice",
    ),
    "edge twice, once without size": (
        "digraph { a [size=1] b [size=1]\na->b [size=1]\na->b }",
        3,
        "'a' -> 'b' is given twice",
    ),
    "attribute twice": ("digraph {\na [size=1][size=2] }", 2, "'size' is given twice"),
    "dangling": ("digraph { a [size=1]\n\na -> b }", 3, "describe task 'b'"),
    "from nowhere": ("digraph { a [size=1]\n\nb -> a }", 3, "describe task 'b'"),
    "own end": ("digraph { a [size=1]\n\na -> a }", 3, "cycle: 'a' -> 'a'; remove"),
    "subgraph": ("digraph {\nsubgraph s { a } }", 2, "subgraph"),
    "group": ("digraph { a -> \n{ b c } }", 2, "'{' stands where the name of a task should"),
    "anonymous group": ("digraph {\n{ b c } }", 2, "subgraph"),
    "port": ("digraph {\na:n -> b }", 2, "port"),
    "html": ("digraph {\na [label=<b>] }", 2, "HTML"),
    "open quote": ('digraph {\n\n"a [size=1] }', 3, "quote has no end"),
    "open comment": ("digraph {\n/* a [size=1] }", 2, "comment has no end"),
    "keyword": ("digraph {\nnode -> b }", 2, 'quote the name of a task called "node"'),
    "word": ("digraph {\n1st [size=1] }", 2, "'1st' is no DOT"),
    "hash": ("digraph {\na # b\n}", 2, "'#' is no DOT"),
    "mark": ("digraph {\na [size=1,,] }", 2, "',' stands where the name of an attribute should"),
    "value": ("digraph {\na [size] }", 2, "']' stands where '=' should"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_at_its_line(case: str, tmp_path: Path) -> None:
    text, line, message = REFUSED[case]
    path = written(tmp_path, text)
    with pytest.raises(WorkloadFileError, match=re.escape(message)) as caught:
        read_dot(path)
    assert (caught.value.file, caught.value.line) == (path, line)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert caught.value.remedy


def test_a_cycle_is_named_from_its_first_edge_at_its_last(tmp_path: Path) -> None:
    edges = "in -> d\nd -> b\nout -> e\nb -> c\nc -> d\nb -> out\n"
    tasks = " ".join(f"{task} [size=1]" for task in ("in", "out", "b", "c", "d", "e"))
    with pytest.raises(WorkloadFileError, match="cycle: 'd' -> 'b' -> 'c' -> 'd'; ") as caught:
        read_dot(written(tmp_path, f"digraph {{ {tasks}\n{edges}}}"))
    assert caught.value.line == 6


def test_a_long_cycle_is_not_told_whole(tmp_path: Path) -> None:
    count = 20_000
    tasks = "\n".join(f"{task} [size=1]" for task in range(count))
    edges = "\n".join(f"{task} -> {(task + 1) % count}" for task in range(count))
    with pytest.raises(WorkloadFileError, match=r"'19' -> 19980 more -> '0'; ") as caught:
        read_dot(written(tmp_path, f"digraph {{\n{tasks}\n{edges}\n}}"))
    assert caught.value.line == 1 + 2 * count


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.dot"
    for data in (b"digraph {\n\xff}", b"digraph {\n\0}"):
        path.write_bytes(data)
        with pytest.raises(WorkloadFileError, match=r"dot:2: this is no UTF-8 text"):
            read_dot(path)
    with pytest.raises(
        WorkloadFileError, match="Is a directory; give the path of a file of at most"
    ):
        read_dot(tmp_path)
    with pytest.raises(WorkloadFileError, match="No such file"):
        read_dot(tmp_path / "absent.dot")
    path.write_bytes(b"\xef\xbb\xbfdigraph { a [size=1] }\r\n")
    assert read_dot(path).tasks == ("a",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_1", "a_1"),
        ("12", "12"),
        ("0.5", "0.5"),
        ("", '""'),
        ("node", '"node"'),
        ("Digraph", '"Digraph"'),
        ("-1", '"-1"'),
        ("é", '"é"'),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\b"'),
        ('\\\\"', '"\\\\\\""'),
        ("a\nb", '"a\nb"'),
    ],
)
def test_names_are_quoted_where_they_must_be(name: str, text: str, tmp_path: Path) -> None:
    zero = np.zeros(1)
    graph = TaskGraph(name, (name,), zero, zero, zero, np.zeros((0, 2)), np.zeros(0))
    path = tmp_path / "graph.dot"
    write_dot(graph, path)
    expected = f'digraph {text} {{\n  {text} [size="0", alpha="0"]\n}}\n'
    assert path.read_bytes().decode() == expected
    assert read_dot(path) == graph


@pytest.mark.parametrize("name", ["a\\", '\\"', "a\\\nb", "a\0", "\ud800"])
def test_names_that_dot_has_no_way_to_say_are_refused(name: str, tmp_path: Path) -> None:
    zero = np.zeros(1)
    graph = TaskGraph("g", (name,), zero, zero, zero, np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(WorkloadFileError, match="rename"):
        write_dot(graph, tmp_path / "graph.dot")


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    graph = read_dot(written(tmp_path, TEXT))
    with pytest.raises(WorkloadFileError, match="give a path that you may write"):
        write_dot(graph, tmp_path / "absent" / "graph.dot")


def test_the_published_graph(shared_data: Path) -> None:
    # The ten tasks and seven edges of frs69wq/biCPA, which CPA's published makespan belongs to.
    graph = read_dot(shared_data / "workflows/dot/daggen_ptg.dot")
    assert graph.name == "G"
    assert graph.tasks == tuple(str(task) for task in range(1, 11))
    assert graph.flop[[0, 9]].tolist() == [49659735022, 155812110758]
    assert graph.alpha.tolist() == [0.19, 0.19, 0, 0.13, 0.12, 0.16, 0.06, 0.09, 0.05, 0.07]
    size = 8 * 1024**2
    # daggen's data are 8 d byte with d a square of a multiple of 1024; read with `size ="..."`.
    assert (graph.edge_byte / size).tolist() == [49, 64, 9, 9, 25, 25, 25]
    assert (graph.byte / size).tolist() == [0, 49, 64, 9, 0, 0, 25, 0, 0, 0]
    edges = [[2, 4], [3, 5], [4, 6], [4, 7], [7, 8], [7, 9], [7, 10]]
    assert (graph.edges + 1).tolist() == edges


def test_a_large_graph_without_alpha(shared_data: Path) -> None:
    path = shared_data / "workflows/dot/daggen_100.dot"
    graph = read_dot(path, alpha=0.125)
    text = path.read_text()
    edges = re.findall(r'(\w+) -> (\w+) \[size="([^"]*)"\]', text)
    tasks = re.findall(r'^\s*(\w+) \[size="([^"]*)"\]', text, re.MULTILINE)
    assert (graph.n_tasks, graph.n_edges) == (len(tasks), len(edges)) == (102, 142)
    assert graph.tasks == tuple(name for name, _ in tasks)
    assert graph.flop.tolist() == [float(size) for _, size in tasks]
    assert graph.edge_byte.tolist() == [float(size) for _, _, size in edges]
    named = [(graph.tasks[source], graph.tasks[target]) for source, target in graph.edges]
    assert named == [(source, target) for source, target, _ in edges]
    assert set(graph.alpha.tolist()) == {0.125}
    assert (graph.tasks[graph.entries[0]], graph.tasks[graph.exits[0]]) == ("root", "end")


def test_the_graph_with_a_cycle(shared_data: Path) -> None:
    path = shared_data / "workflows/dot/dag_with_cycle.dot"
    circle = "'1' -> '2' -> '3' -> '4' -> '5' -> '6' -> '1'"
    with pytest.raises(WorkloadFileError, match=circle) as caught:
        read_dot(path)
    assert path.read_text().splitlines()[caught.value.line - 1] == "6->1;"
