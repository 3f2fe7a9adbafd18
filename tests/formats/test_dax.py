"""Task graphs in Pegasus' DAX: jobs, files and relations; what is refused where."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from marked import assert_refused
from naming import raises_naming

from simplugin.core.errors import WorkloadError, WorkloadFileError
from simplugin.formats.dax import read_dax, write_dax
from simplugin.workloads.task_graphs import TaskGraph

NAMESPACE = "{http://pegasus.isi.edu/schema/DAX}"
TEXT = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.3" name="three">
  <!-- a comment -->
  <job id="a" name="make" runtime="2.5">
    <argument>-n <file name="x"/></argument>
    <uses file="outside" link="input" size="10"/>
    <uses file="x" link="output" size="100"/>
    <uses name="y" link="output" size="1000"/>
  </job>
  <job id="b" name="change" runtime="0" alpha="0.25">
    <uses file="x" link="INPUT" size="50"/>
    <uses file="y" link="inout" size="1000"/>
    <uses file="log" link="none"/>
  </job>
  <job id="c" name="look" runtime="4" byte="3.5"><uses file="y" link="input" size="7"/></job>
  <child ref="c"><parent ref="b"/></child>
  <child ref="b"><parent ref="a"/></child>
</adag>
"""
JOBS = '<job id="a" runtime="1"/>\n<job id="b" runtime="1">\n{}</job>\n'
HUGE = '<uses file="g" link="input" size="1e308"/>'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "graph.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_graph_is_read(tmp_path):
    graph = read_dax(written(tmp_path, TEXT), speed=2e9, alpha=0.5)
    # b reads 50 and 1000 byte, whatever a wrote; c says itself how much it works on.
    columns = np.array([[5e9, 0, 8e9], [0.5, 0.25, 0.5], [10, 1050, 3.5]])
    # c reads the y that b wrote anew; b gets what a wrote.
    edges, sizes = np.array([[1, 2], [0, 1]]), np.array([1000.0, 1100])
    assert graph == TaskGraph("three", ("a", "b", "c"), *columns, edges, sizes)
    assert read_dax(written(tmp_path, TEXT), name="mine").name == "mine"
    # "outside" is what no job writes; y has another size where c reads it, x where b does.
    found = {each.what: (each.number, each.byte) for each in graph.left_open}
    assert found == {
        "tasks without cores": (3, None),
        "files of link none of jobs": (1, None),
        "inputs that no task writes": (1, 10),
        "files of two sizes": (2, None),
    }


def job(name: str, **files: str) -> str:
    """Return a job that uses files; all of them on one line."""
    uses = (f'<uses file="{file}" link="{link}" size="5"/>' for file, link in files.items())
    return f'<job id="{name}" runtime="1">{"".join(uses)}</job>\n'


def test_a_job_follows_those_that_write_what_it_reads(tmp_path):
    """Without any <child>; jobs that change a file are ordered by <child> only."""
    last, first = job("last", x="input", y="input"), job("first", x="output", z="output")
    second = job("second", x="output", y="output", z="inout")
    graph = read_dax(written(tmp_path, adag(last, first, second, job("other", z="inout"))))
    named = [f"{graph.tasks[source]} {graph.tasks[target]}" for source, target in graph.edges]
    found = dict(zip(named, graph.edge_byte.tolist(), strict=True))
    assert found.pop("second last") == 10
    assert found == dict.fromkeys(("first last", "first second", "first other"), 5)


def test_prefixes_and_missing_names(tmp_path):
    text = '<d:adag xmlns:d="http://x"><d:job id="a" runtime="1"/></d:adag>'
    graph = read_dax(written(tmp_path, text))
    assert (graph.name, graph.tasks, graph.flop.tolist()) == ("graph", ("a",), [1e9])


def test_speeds_out_of_range(tmp_path):
    path = written(tmp_path, TEXT)
    graph = read_dax(path)
    for speed in (0, -1, float("inf"), float("nan")):
        with raises_naming(WorkloadError, "speed", speed):
            read_dax(path, speed=speed)
        with raises_naming(WorkloadError, "speed", speed):
            write_dax(graph, path, speed=speed)
    with raises_naming(WorkloadError, "alpha", "2"):
        read_dax(path, alpha=2)


def adag(*parts: str) -> str:
    return "<adag>\n" + "".join(parts) + "</adag>"


JOB = '<job id="a" runtime="1"{}/>'
FILE = '<uses file="f" link="{}" size="{}"/>'
EDGE = '<child ref="{}">{}<parent ref="{}"/></child>'


WRONG = [
    ("¶", "no element found"),
    ('<adag>\n¶<job id="a"', "not well-formed XML"),
    ("¶<platform/>", "the root element is 'platform'"),
    ("\n¶<adag/>", "no task"),
    (f'¶<!DOCTYPE adag SYSTEM "dax.dtd">{adag(JOBS)}', "DOCTYPE"),
    (adag('¶<job runtime="1"/>'), "<job> has no 'id'"),
    (adag('\n¶<job id="a" runtime="-1"/>'), "runtime of job 'a' is -1"),
    (adag('¶<job id="a" runtime="nan"/>'), "'nan', which is no number"),
    (adag('¶<job id="a" runtime="1e308"/>'), "computation of job 'a' is inf"),
    (adag("¶" + JOB.format(' alpha="2"')), "alpha of job 'a' is 2"),
    (adag("¶" + JOB.format(' byte="-2"')), "byte of job 'a' is -2"),
    (adag(JOB.format(""), "\n¶", JOB.format("")), "'a' is described twice"),
    (adag(JOBS.format('¶<uses link="input"/>')), "<uses> has no 'file'"),
    (adag(JOBS.format("¶" + FILE.format("both", 1))), "link is 'both'"),
    (adag(JOBS.format("¶" + FILE.format("input", -5))), "size of file 'f' is -5"),
    (adag(JOBS.format(FILE.format("input", 1) + "\n¶" + FILE.format("input", 1))), "twice"),
    (adag(JOBS.format(FILE.format("input", 1) + "\n¶" + FILE.format("output", 1))), "inout"),
    (adag(job("a", f="input", g="output"), "¶", job("b", g="input", f="output")), "'b' -> 'a'"),
    (adag('¶<job id="b" runtime="1">', FILE.format("input", 1e308), HUGE, "</job>"), "is inf"),
    (adag(JOBS, EDGE.format("b", "\n¶", "z")), "task 'z'"),
    (adag(JOBS, "¶<child/>"), "<child> has no 'ref'"),
    (adag(JOBS, '¶<dax id="c" file="d"/>'), "workflow in the workflow"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_refused_at_its_line(text, message, tmp_path):
    error = assert_refused(read_dax, tmp_path / "graph.xml", text.replace("{}", ""), message)
    assert "platform>" not in str(error)


def test_what_cannot_be_written_is_refused(tmp_path):
    path = tmp_path / "graph.dax"
    column = np.full(1, 1e300)
    rest = (np.zeros(1), np.zeros(1), np.zeros((0, 2)), np.zeros(0))
    for name in ("a\0", "\x1b", "\ud800", "\ufffe"):
        with raises_naming(WorkloadFileError, repr(name)):
            write_dax(TaskGraph("g", (name,), column, *rest), path)
        with raises_naming(WorkloadFileError, repr(name)):
            write_dax(TaskGraph(name, ("a",), column, *rest), path)
    with raises_naming(WorkloadFileError, "'a'", "speed"):
        write_dax(TaskGraph("g", ("a",), column, *rest), path, speed=1e-10)
    assert not path.exists()


def test_what_is_written(tmp_path):
    columns = np.array([[3e9, 1, 0], [0, 0.25, 1], [8, 100, 0]])
    edges = np.array([[0, 1], [0, 2]])
    graph = TaskGraph('g&"', ("a", "b", "c"), *columns, edges, np.array([100.0, 0]))
    path = tmp_path / "graph.dax"
    write_dax(graph, path)
    root = etree.parse(path).getroot()
    assert root.attrib == {"version": "2.1", "name": 'g&"', "jobCount": "3", "childCount": "2"}
    jobs = root.findall(NAMESPACE + "job")
    assert [dict(job.attrib) for job in jobs] == [
        {"id": "a", "name": "a", "runtime": "3", "alpha": "0", "byte": "8"},
        {"id": "b", "name": "b", "runtime": "1e-09", "alpha": "0.25"},
        {"id": "c", "name": "c", "runtime": "0", "alpha": "1"},
    ]
    uses = [[dict(each.attrib) for each in job] for job in jobs]
    edge = {"file": "edge-0", "size": "100"}
    assert uses == [[edge | {"link": "output"}], [edge | {"link": "input"}], []]


WORKFLOWS = [
    # In the first, the concatenation reads a fit.txt and a diff.txt that 62 jobs write.
    ("Montage_100.xml", 100, 233, 13.85),
    ("inspiral_100.xml", 100, 119, 17.72),
]


@pytest.mark.parametrize(("file", "count", "edges", "first"), WORKFLOWS)
def test_real_workflows(shared_data, file, count, edges, first):
    path = shared_data / "workflows/dax" / file
    graph = read_dax(path, speed=1e6)
    root = etree.parse(path).getroot()
    jobs = {job.get("id"): job for job in root.iter(NAMESPACE + "job")}
    assert (len(graph.tasks), graph.n_edges) == (count, edges)
    assert graph.tasks == tuple(jobs)
    runtimes = [float(job.get("runtime")) for job in jobs.values()]
    assert runtimes[0] == first
    np.testing.assert_allclose(graph.flop / 1e6, runtimes, rtol=1e-15)
    files: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: {"input": {}, "output": {}})
    for name, job in jobs.items():
        for uses in job:
            files[name][uses.get("link")][uses.get("file")] = int(uses.get("size"))
    assert graph.byte.tolist() == [sum(files[name]["input"].values()) for name in jobs]
    sizes = {}
    for child in root.iter(NAMESPACE + "child"):
        for source, target in ((parent.get("ref"), child.get("ref")) for parent in child):
            made, used = files[source]["output"], files[target]["input"]
            sizes[source, target] = sum(made[file] for file in made.keys() & used.keys())
    named = [(graph.tasks[source], graph.tasks[target]) for source, target in graph.edges]
    assert dict(zip(named, graph.edge_byte.tolist(), strict=True)) == sizes
    assert all(size > 0 for size in sizes.values())
