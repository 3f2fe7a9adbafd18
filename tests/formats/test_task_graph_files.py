"""All formats of task graphs: what is written is read back; whatever is read never breaks."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadFileError
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
    assert len(files) == 12
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
        with raises_naming(WorkloadFileError, f"graph{suffix}", ".dot"):
            read_task_graph(tmp_path / f"graph{suffix}")
        with raises_naming(WorkloadFileError, f"graph{suffix}", ".dot"):
            write_task_graph(graph, tmp_path / f"graph{suffix}")


def found(graph: TaskGraph) -> dict[str, tuple[int, str]]:
    """Return the number of what a file leaves open, and what it is taken as."""
    return {each.what: (each.number, each.taken_as) for each in graph.left_open}


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz", ".GZ"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_compressed_files(suffix, packed, tmp_path):
    path, plain = (tmp_path / f"graph{end}" for end in (suffix + packed, suffix))
    graph = replace(TINY, byte=np.array([8.0, 8, 1.5e7]))
    for each in (path, plain):
        write_task_graph(graph, each)
    assert path.read_bytes() != plain.read_bytes()
    # Also under another name: the content says whether it is compressed.
    plain.write_bytes(path.read_bytes())
    assert read_task_graph(path) == read_task_graph(plain)
    np.testing.assert_allclose(read_task_graph(path).flop, graph.flop, rtol=1e-15)
    path.write_bytes(path.read_bytes()[:-9])
    assert "damaged" in str(refusal(path))


# One task of 8 s on 4 cores, one on 1 core, one of which nothing is said.
CORES = {
    ".dax": (
        '<adag><job id="a" runtime="8" cores="4"/><job id="b" runtime="8" cores="1" priority="3"/>'
        '<job id="c" runtime="8"/></adag>'
    ),
    ".xml": (
        '<adag><job id="a" runtime="8"><profile namespace="pegasus" key="cores">4</profile></job>'
        '<job id="b" runtime="8"><profile namespace="pegasus" key="cores">1</profile>'
        '<profile namespace="condor" key="priority">3</profile></job>'
        '<job id="c" runtime="8"/></adag>'
    ),
    ".json": json.dumps(
        {
            "name": "g",
            "schemaVersion": "1.3",
            "workflow": {
                "machines": [{"nodeName": "m"}],
                "tasks": [
                    {"name": "a", "runtime": 8, "cores": 4, "avgCPU": 90, "files": []},
                    {"name": "b", "runtime": 8, "cores": 1, "priority": 3, "machine": "m"},
                    {"name": "c", "runtime": 8, "memory": 5},
                ],
            },
        }
    ),
}


@pytest.mark.parametrize("suffix", CORES)
def test_cores_and_alpha(suffix, tmp_path):
    """Eight seconds are those on the task's own cores; a task of one core is never faster."""
    graph = read_text(tmp_path, suffix, CORES[suffix])
    assert graph.flop.tolist() == [32e9, 8e9, 8e9]
    for cores, seconds in ((1, [32, 8, 8]), (4, [8, 8, 8]), (8, [4, 8, 8])):
        times = (graph.alpha + (1 - graph.alpha) / cores) * graph.flop / 1e9
        assert times.tolist() == seconds
    points = found(graph)
    assert points["tasks of several cores without alpha"][0] == 1
    assert points["tasks without alpha"][0] == 2
    assert points["tasks without cores"][0] == 1
    assert points["runtimes on processors of unknown speed"] == (3, "of 1Gf")
    unused = {what: number for what, (number, taken) in points.items() if taken == "not used"}
    assert (
        unused
        == {
            ".dax": {"attributes priority of jobs": 1},
            ".xml": {"profiles condor/priority of jobs": 1},
            ".json": {
                **{f"{name} of tasks": 1 for name in ("avgCPU", "machine", "memory", "priority")},
                "machines of the execution": 1,
            },
        }[suffix]
    )
    path = tmp_path / f"text{suffix}"
    asked = read_task_graph(path, alpha=0.25, speed=1e9)
    assert (asked.alpha.tolist(), asked.flop.tolist()) == ([0.25] * 3, graph.flop.tolist())
    assert not {"tasks without alpha", "runtimes on processors of unknown speed"} & {*found(asked)}


def negative(suffix: str, size: float) -> str:
    """Return a graph of two tasks whose files or edges have a size."""
    files = [{"id": name, "sizeInBytes": size} for name in "fg"]
    tasks = [
        {"id": "a", "parents": [], "children": ["b"], "outputFiles": ["f", "g"]},
        {"id": "b", "parents": ["a"], "children": [], "inputFiles": ["f", "g"]},
    ]
    ran = {"tasks": [{"id": name, "runtimeInSeconds": 1} for name in "ab"]}
    workflow = {"specification": {"tasks": tasks, "files": files}, "execution": ran}
    uses = [
        "".join(f'<uses file="{name}" link="{link}" size="{size}"/>' for name in "fg")
        for link in ("output", "input")
    ]
    jobs = (
        f'<job id="{name}" runtime="1">{own}</job>' for name, own in zip("ab", uses, strict=True)
    )
    return {
        ".dot": f"digraph {{ a [size=1] b [size=1] c [size=1] a -> b -> c [size={size}] }}",
        ".dax": f"<adag>{''.join(jobs)}</adag>",
        ".json": json.dumps({"name": "g", "schemaVersion": "1.5", "workflow": workflow}),
    }[suffix]


@pytest.mark.parametrize(("suffix", "number"), [(".dot", 2), (".dax", 4), (".json", 2)])
def test_negative_sizes(suffix, number, tmp_path):
    path = tmp_path / f"graph{suffix}"
    path.write_text(negative(suffix, -6585019))
    message = rf"-6585019.0 \(and {number - 1} more below 0\); .* lenient = true"
    with pytest.raises(WorkloadFileError, match=message):
        read_task_graph(path)
    graph = read_task_graph(path, lenient=True)
    assert found(graph)["negative sizes"] == (number, "0 byte")
    path.write_text(negative(suffix, 0))
    assert read_task_graph(path) == graph
    assert "negative sizes" not in found(read_task_graph(path))


def test_repeated_edges(tmp_path):
    """DAGMan accepts a parent that is given again; the edge is one."""
    jobs = '<adag><job id="a" runtime="1"/><job id="b" runtime="1"/>'
    edge = '<child ref="b"><parent ref="a"/></child>'
    once = read_text(tmp_path, ".dax", f"{jobs}{edge}</adag>")
    twice = edge.replace("</child>", '<parent ref="a"/></child>')
    again = read_text(tmp_path, ".dax", f"{jobs}{edge}{twice}</adag>")
    assert once == again
    assert found(again)["repeated edges"] == (2, "one edge")
    dot = "digraph { a [size=1] b [size=1] a -> b [size=2] a -> b [size=2] }"
    assert found(read_text(tmp_path, ".dot", dot))["repeated edges"] == (1, "one edge")
    text = negative(".json", 0).replace('["a"]', '["a", "a"]').replace('["b"]', '["b", "b"]')
    graph = read_text(tmp_path, ".json", text)
    assert graph == read_text(tmp_path, ".json", negative(".json", 0))
    assert found(graph)["repeated edges"] == (2, "one edge")


def test_edges_by_files_alone_are_stated(tmp_path):
    uses = '<uses file="f" link="{}" size="5"/>'
    job = '<job id="{}" runtime="1">' + uses + "</job>"
    jobs = "".join(job.format(*each) for each in (("a", "output"), ("b", "output"), ("c", "input")))
    child = '<child ref="c"><parent ref="a"/></child>'
    graph = read_text(tmp_path, ".dax", f"<adag>{jobs}{child}</adag>")
    assert graph.edges.tolist() == [[0, 2], [1, 2]]
    assert found(graph)["edges by files alone"] == (1, "added")
    assert found(graph)["files that several tasks write"] == (1, "read after each of them")


# SimGrid 4.2's examples dag-from-dot-simple and dag-from-dot, and what its loader makes of them:
# tasks with their flop, and data from task to task.
SIMGRID = [
    (
        "c1 [size=1e9] c2 [size=5e9] c3 [size=2e9] root->c1 [size=2e8] root->c2 [size=1e8]"
        ' c1->c3 [size=5e8] c2->c3 [size="-1."] c3->end [size=2e8]',
        {"root": 0, "c1": 1e9, "c2": 5e9, "c3": 2e9, "end": 0},
        {"root c1": 2e8, "root c2": 1e8, "c1 c3": 5e8, "c2 c3": 0, "c3 end": 2e8},
    ),
    (
        "end [size=7e9] 0 [size=1] 5 [size=2] 6 [size=3] 5->6 [size=0.0] 6->end [size=4] 0->9"
        " root->5 [size=5] 9 [size=4]",
        {"root": 0, "end": 7e9, "0": 1, "5": 2, "6": 3, "9": 4},
        {"5 6": 0, "6 end": 4, "0 9": 0, "root 5": 5, "root 0": 0, "9 end": 0},
    ),
]


@pytest.mark.parametrize(("text", "tasks", "edges"), SIMGRID)
def test_the_dialect_of_simgrid(text, tasks, edges, tmp_path):
    graph = read_text(tmp_path, ".dot", f"digraph G {{ {text} }}")
    assert dict(zip(graph.tasks, graph.flop.tolist(), strict=True)) == tasks
    assert graph.tasks[0] == "root"
    named = (f"{graph.tasks[one]} {graph.tasks[other]}" for one, other in graph.edges)
    assert dict(zip(named, graph.edge_byte.tolist(), strict=True)) == edges
    assert graph.alpha.tolist() == [1.0] * len(tasks)
    assert "tasks without a statement" in found(graph)


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
