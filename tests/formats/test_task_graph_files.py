"""All formats of task graphs: what is written is read back; whatever is read never breaks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simplugin.errors import WorkloadFileError
from simplugin.formats.task_graph_files import FORMATS, read_task_graph, write_task_graph
from simplugin.workloads.task_graphs import TaskGraph

# One of each format.
SUFFIXES = tuple({pair: suffix for suffix, pair in FORMATS.items()}.values())
# The working directory of each example is the same, and each writes its file anew.
RELAXED = settings(
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# All that every one of the formats can say: no control characters, no backslash before a quote.
NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\\ufffe\uffff"), max_size=4
)
AMOUNTS = st.just(0.0) | st.floats(1e-3, 1e300) | st.integers(0, 2**53).map(float)


@st.composite
def graphs(draw: st.DrawFn) -> TaskGraph:
    """Draw a graph, its edges in any order."""
    tasks = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    count = len(tasks)
    position = draw(st.permutations(range(count)))
    pairs = [(a, b) for a in range(count) for b in range(count) if position[a] < position[b]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []

    def columns(numbers: st.SearchStrategy[float], length: int) -> np.ndarray:
        drawn = draw(st.lists(numbers, min_size=length, max_size=length))
        return np.array(drawn, dtype=np.float64)

    return TaskGraph(
        draw(NAMES),
        tuple(tasks),
        columns(AMOUNTS, count),
        columns(st.floats(0, 1), count),
        columns(AMOUNTS, count),
        np.array(chosen).reshape(-1, 2),
        columns(AMOUNTS, len(chosen)),
    )


def by_target(graph: TaskGraph) -> TaskGraph:
    """Return the graph with its edges in the order in which WfFormat has them."""
    order = np.argsort(graph.edges[:, 1], kind="stable")
    return replace(graph, edges=graph.edges[order], edge_byte=graph.edge_byte[order])


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(RELAXED, max_examples=60)
@given(graph=graphs(), exponent=st.integers(-20, 40), speed=st.floats(1e-3, 1e15))
def test_what_is_read_back_equals_what_was_written(suffix, graph, exponent, speed, tmp_path):
    path = tmp_path / f"graph{suffix}"
    expected = by_target(graph) if suffix == ".json" else graph
    write_task_graph(graph, path, speed=2.0**exponent)
    data = path.read_bytes()
    again = read_task_graph(path, speed=2.0**exponent)
    assert again == expected
    write_task_graph(again, path, speed=2.0**exponent)
    assert read_task_graph(path, speed=2.0**exponent) == expected
    if suffix != ".json":
        assert path.read_bytes() == data
    # At any speed, computation comes back up to rounding.
    write_task_graph(graph, path, speed=speed)
    again = read_task_graph(path, speed=speed)
    np.testing.assert_allclose(again.flop, graph.flop, rtol=1e-15)
    assert replace(again, flop=graph.flop) == expected


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_real_files_are_given_back(suffix, shared_data, tmp_path):
    files = {*(shared_data / "workflows").glob("*/*")}
    files.remove(shared_data / "workflows/dot/dag_with_cycle.dot")
    assert len(files) == 9
    for source in files:
        graph = read_task_graph(source)
        path = tmp_path / f"graph{suffix}"
        write_task_graph(graph, path, speed=2.0**30)
        again = read_task_graph(path, speed=2.0**30)
        assert again == (by_target(graph) if suffix == ".json" else graph), source


def test_the_end_of_the_name_tells_the_format(tmp_path):
    graph = read_text(tmp_path, ".gv", "digraph g { a [size=5] b [size=6] a -> b [size=7] }")
    for suffix in (".DOT", ".gv", ".xml", ".dax", ".json"):
        path = tmp_path / f"copy{suffix}"
        write_task_graph(graph, path, speed=1)
        expected = replace(graph, byte=np.array([7.0, 0]))
        assert read_task_graph(path, speed=1) == expected
        assert read_task_graph(path, name="other", speed=1).name == "other"
    for suffix in ("", ".yaml"):
        with pytest.raises(WorkloadFileError, match=r"name it with one of \.dot, "):
            read_task_graph(tmp_path / f"graph{suffix}")
        with pytest.raises(WorkloadFileError, match=r"name it with one of \.dot, "):
            write_task_graph(graph, tmp_path / f"graph{suffix}")


def read_text(tmp_path: Path, suffix: str, text: str) -> TaskGraph:
    """Read a text through a file."""
    path = tmp_path / f"text{suffix}"
    path.write_text(text)
    return read_task_graph(path)


COLUMNS = np.array([[1e9, 2.5e9, 0], [0.25, 0, 1], [8.0, 0, 5]])
EDGES = np.array([[0, 1], [1, 2], [0, 2]])
TINY = TaskGraph("g", ("a", "b", "c d"), *COLUMNS, EDGES, np.array([8.0, 0, 1.5e7]))
MARKS = '"\\{}[]<>#=a:,\0\n\ufeff'
WORDS = ["", "->", "--", "/*", "//", "-1", "1e999", "null", "NaN", "node", "digraph", "9" * 5000]
MORE = ["&x;", "&#0;", "<job/>", "<![CDATA[", "<?x", "<!DOCTYPE a>", "[" * 3000, '"\\ud800"']
SPLINTERS = st.sampled_from([*MARKS, *WORDS, *MORE]).map(str.encode) | st.binary(max_size=3)


@pytest.mark.parametrize("suffix", SUFFIXES)
@RELAXED
@given(data=st.data())
def test_damaged_files_are_read_or_refused(suffix, data, tmp_path):
    path = tmp_path / f"graph{suffix}"
    write_task_graph(TINY, path)
    path.write_bytes(data.draw(damaged(path.read_bytes(), SPLINTERS)))
    error = refusal(path)
    assert error is None or str(error).startswith(f"{path}:")
    assert len(str(error).encode()) < 2000


def refusal(path: Path) -> WorkloadFileError | None:
    """Return why a file is refused, None if it is not; any other error passes."""
    try:
        read_task_graph(path)
    except WorkloadFileError as error:
        return error
    return None


HARMFUL = [
    (".dot", 'digraph { "' + "\\" * 200_000),
    (".dot", "digraph { /*" + "*" * 200_000),
    (".dot", "digraph { a [x=" + "1" * 100_000 + "e"),
    (".dot", "#" * 50_000 + "\n#" * 10_000),
    (".json", '"' + "\\" * 200_000),
    (".json", '{"schemaVersion": "' + "1" * 100_000 + '"}'),
]


@pytest.mark.parametrize(("suffix", "text"), HARMFUL)
def test_files_made_to_do_harm(suffix, text, tmp_path):
    path = tmp_path / f"graph{suffix}"
    path.write_text(text)
    with pytest.raises(WorkloadFileError) as caught:
        read_task_graph(path)
    assert len(str(caught.value)) < 1000
