"""Task graphs in WfFormat: specification and execution; what is refused at which path and line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marked import assert_refused

from simplugin.core.errors import WorkloadFileError
from simplugin.formats.wfformat import read_wfformat, write_wfformat
from simplugin.workloads.task_graphs import TaskGraph

TEXT = """\
{"name": "three", "schemaVersion": "1.5", "workflow": {"specification": {
 "tasks": [
  {"id": "a", "parents": [], "children": ["b", "c"],
   "inputFiles": ["outside"], "outputFiles": ["x", "y"]},
  {"id": "b", "parents": ["a"], "children": ["c"],
   "inputFiles": ["x", "y"], "outputFiles": ["z"], "alpha": 0.25},
  {"id": "c", "parents": ["a", "b"], "children": [],
   "inputFiles": ["outside", "z"], "byte": 3.5}],
 "files": [
  {"id": "outside", "sizeInBytes": 10},
  {"id": "x", "sizeInBytes": 100},
  {"id": "y", "sizeInBytes": 1000},
  {"id": "z", "sizeInBytes": 0}]},
 "execution": {"makespanInSeconds": 9, "tasks": [
  {"id": "b", "runtimeInSeconds": 1.5, "coreCount": 4},
  {"id": "a", "runtimeInSeconds": 2},
  {"id": "c", "runtimeInSeconds": 0}]}}}
"""
INSTANCE = json.loads(TEXT)


def written(tmp_path: Path, instance: object) -> Path:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(instance, indent=1))
    return path


def refuse(tmp_path: Path, text: str, message: str) -> None:
    assert_refused(read_wfformat, tmp_path / "graph.json", text, message)


def test_a_graph_is_read(tmp_path):
    graph = read_wfformat(written(tmp_path, INSTANCE), speed=2e9, alpha=0.5)
    # 1.5 s on four processors are 6 s of one.
    columns = np.array([[4e9, 12e9, 0], [0.5, 0.25, 0.5], [10, 1100, 3.5]])
    edges, sizes = np.array([[0, 1], [0, 2], [1, 2]]), np.array([1100.0, 0, 0])
    assert graph == TaskGraph("three", ("a", "b", "c"), *columns, edges, sizes)
    assert read_wfformat(written(tmp_path, INSTANCE), name="mine").name == "mine"


def test_versions(tmp_path):
    assert read_wfformat(written(tmp_path, INSTANCE | {"schemaVersion": "1.6"})).name == "three"
    text = "¶" + TEXT.replace("1.5", "2.0", 1)
    refuse(tmp_path, text, "schemaVersion: this is WfFormat '2.0'")


def flat(instance: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a document of version 1.5 in the layout of 1.0 to 1.4, written from their schema."""
    spec, run = (instance["workflow"][part] for part in ("specification", "execution"))
    runtime, size = ("runtime", "size") if version < "1.4" else ("runtimeInSeconds", "sizeInBytes")
    sizes = {file["id"]: file["sizeInBytes"] for file in spec["files"]}
    ran = {each["id"]: each for each in run["tasks"]}
    tasks = []
    for number, each in enumerate(spec["tasks"]):
        task = {key: each[key] for key in ("alpha", "byte", "parents") if key in each}
        task |= {"name": each["id"], "id": f"ID{number}", "type": "compute"}
        task[runtime] = ran[each["id"]]["runtimeInSeconds"]
        task["cores"] = ran[each["id"]].get("coreCount", 1)
        task["files"] = [
            {"link": link, "name": file, size: sizes[file]}
            for link in ("input", "output")
            for file in each.get(f"{link}Files", [])
        ]
        tasks.append(task)
    if version == "1.4":  # one end of an edge is enough, by its name or its id
        number = {each["name"]: each["id"] for each in tasks}
        for each, old in zip(tasks, spec["tasks"], strict=True):
            del each["parents"]
            each["children"] = [number[child] for child in old["children"]]
    place = "jobs" if version < "1.3" else "tasks"
    top = {"name": instance["name"], "schemaVersion": version}
    return top | {"workflow": {"makespan": 9, place: tasks}}


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
def test_older_versions(version, tmp_path):
    expected = read_wfformat(written(tmp_path, INSTANCE), speed=2e9, alpha=0.5)
    graph = read_wfformat(written(tmp_path, flat(INSTANCE, version)), speed=2e9, alpha=0.5)
    assert graph == expected
    assert [each.byte for each in graph.left_open if "no task writes" in each.what] == [20]
    without = flat(INSTANCE, version)
    (tasks,) = (each for each in without["workflow"].values() if isinstance(each, list))
    del tasks[1]["runtimeInSeconds" if version == "1.4" else "runtime"]
    with pytest.raises(WorkloadFileError) as caught:
        read_wfformat(written(tmp_path, without))
    assert caught.value.line


A_B = '["a", "b"]'  # the parents of c


WRONG = [
    ('"tasks": [', '¶"tasks": {}, "jobs": [', "specification.tasks: an object is not a list"),
    ('"tasks": [', '"tasks": [\n¶"a",', "specification.tasks[0]: 'a' is not an object"),
    ('"id": "b", "p', '¶"p', "specification.tasks[1]: there is no 'id'"),
    ('"id": "b", "p', '¶"id": 7, "p', "specification.tasks[1].id: 7 is not a text"),
    ('"id": "b", "p', '¶"id": "\\ud800", "p', "tasks[1].id: '\\ud800' has half a character"),
    ('"id": "c", "p', '¶"id": "a", "p', "tasks[2].id: task 'a' is described twice"),
    (A_B, '["a",\n¶"z"]', "tasks[2].parents[1]: edge 'z' -> 'c' has an end that is not"),
    (A_B, '["b",\n¶"c"]', "tasks[2].parents[1]: the tasks wait for each other in a cycle"),
    ('["c"]', '["c",\n¶"a"]', "tasks[1].children[1]: the tasks wait for each other in a cycle"),
    ('["outside", "z"]', '["outside",\n¶"u"]', "tasks[2].inputFiles[1]: file 'u' has no size"),
    ('["x", "y"], "o', '["x",\n¶"x"], "o', "tasks[1].inputFiles[1]: file 'x' is listed twice"),
    ('"id": "y", ', '"id": ¶"x", ', "specification.files[2].id: file 'x' is here twice"),
    ('"id": "y", "s', '"id": ¶"y", "S', "specification.files[2]: there is no 'sizeInBytes'"),
    (": 100}", ": ¶-5}", "files[1].sizeInBytes: this size is -5.0; give sizes >= 0, or"),
    (": 100}", f": ¶1{'0' * 400}}}", "files[1].sizeInBytes: this number is too large"),
    (": 100}", ": ¶true}", "files[1].sizeInBytes: true is no number"),
    (": 3.5", ": ¶-1", "tasks[2].byte: -1.0 is negative"),
    ("0.25", "¶1.5", "tasks[1].alpha: this part is 1.5; give a part from 0 to 1"),
    ('9, "tasks"', '9, ¶"jobs"', "workflow.execution: there is no 'tasks'"),
    ('{"id": "a", "r', '¶{"id": "b", "r', "execution.tasks[1].id: task 'b' is here twice"),
    ('{"id": "a", "r', '¶{"id": "z", "r', "tasks[1].id: task 'z' is not in the specification"),
    ('"a", "runtime', '¶"a", "runTime', "execution.tasks[1]: there is no 'runtimeInSeconds'"),
    (": 2}", ": ¶1e307}", "execution.tasks[1].runtimeInSeconds: the computation is inf"),
    ("4}", "¶0.5}", "execution.tasks[0].coreCount: 0.5 cores run nothing; give at least 1"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_what_is_wrong_is_refused_at_its_path_and_line(old, new, message, tmp_path):
    assert old in TEXT
    refuse(tmp_path, TEXT.replace(old, new, 1), message)


def test_a_specification_without_tasks(tmp_path):
    for tasks, message in (('"x": [', "no 'tasks'"), ('"tasks": [], "x": [', "no task")):
        text = "¶" + TEXT.replace('"tasks": [', tasks, 1)
        refuse(tmp_path, text, f"workflow.specification: there is {message}")


def test_one_end_of_an_edge_is_enough(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(TEXT)
    graph = read_wfformat(path)
    assert not [each for each in graph.left_open if "ends" in each.what]
    for old, new in (('["c"]', "[]"), (A_B, '["a"]')):
        path.write_text(TEXT.replace(old, new))
        again = read_wfformat(path)
        assert sorted(again.edges.tolist()) == sorted(graph.edges.tolist())
        [point] = [each for each in again.left_open if "ends" in each.what]
        assert (point.number, point.taken_as) == (1, "added")


def test_parts_that_do_not_fit(tmp_path):
    huge = TEXT.replace("1000}", "1e308}").replace("100}", "1e308}").replace('["a"]', '¶["a"]')
    idle = TEXT.replace(',\n  {"id": "c", "runtimeInSeconds": 0}', "").replace('9, "', '9, ¶"')
    for text, message in (
        (huge, "tasks[1].parents[0]: size of"),
        (idle, "workflow.execution.tasks: task 'c' has no runtime"),
        ("¶" + TEXT.replace('"execution"', '"other"'), "workflow: there is no 'execution'"),
    ):
        refuse(tmp_path, text, message)


NO_JSON = [
    ("¶[]", "a list is not an object"),
    ("\n ¶7", "7 is not an object"),
]


@pytest.mark.parametrize(("text", "message"), NO_JSON)
def test_what_is_no_json(text, message, tmp_path):
    refuse(tmp_path, text, message)


def test_what_is_written(tmp_path):
    columns = np.array([[3e9, 1e9, 0], [0, 0.25, 1], [8, 100, 0]])
    edges = np.array([[0, 1], [0, 2]])
    graph = TaskGraph("g", ("a", "b", "é"), *columns, edges, np.array([100.0, 0]))
    path = tmp_path / "graph.json"
    write_wfformat(graph, path)
    instance = json.loads(path.read_text(encoding="utf-8"))
    assert (instance["name"], instance["schemaVersion"]) == ("g", "1.5")
    specification = instance["workflow"]["specification"]
    assert specification["files"] == [{"id": "edge-0", "sizeInBytes": 100}]
    first, second, third = specification["tasks"]
    assert (first["parents"], first["children"], first["byte"]) == ([], ["b", "é"], 8)
    assert (first["inputFiles"], first["outputFiles"]) == ([], ["edge-0"])
    assert (second["inputFiles"], second["alpha"]) == (["edge-0"], 0.25)
    assert "byte" not in second
    assert third["parents"] == ["a"]
    execution = instance["workflow"]["execution"]
    assert execution["makespanInSeconds"] == 4
    assert [each["runtimeInSeconds"] for each in execution["tasks"]] == [3, 1, 0]
    assert read_wfformat(path) == graph


def test_a_runtime_too_long_to_be_written(tmp_path):
    column = np.full(1, 1e300)
    graph = TaskGraph("g", ("a",), column, *[np.zeros(1)] * 2, np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(WorkloadFileError):
        write_wfformat(graph, tmp_path / "graph.json", speed=1e-10)


WORKFLOWS = [
    ("1000genome-2ch-100k", 52, 76),
    ("helloworld-chain-5", 5, 4),
    ("helloworld-forkjoin-10", 10, 16),
    ("nextflow-bacass", 11, 14),
    ("srasearch-10a", 22, 30),
]


@pytest.mark.parametrize(("file", "count", "edges"), WORKFLOWS)
def test_real_workflows(shared_data, file, count, edges, tmp_path):
    path = shared_data / f"workflows/wfcommons/{file}.json"
    graph = read_wfformat(path, speed=1e6)
    instance = json.loads(path.read_text())
    workflow = instance["workflow"]
    tasks = {each["id"]: each for each in workflow["specification"]["tasks"]}
    sizes = {each["id"]: each["sizeInBytes"] for each in workflow["specification"]["files"]}
    runtimes = {each["id"]: each["runtimeInSeconds"] for each in workflow["execution"]["tasks"]}
    assert (graph.name, graph.tasks) == (instance["name"], tuple(tasks))
    assert (graph.n_tasks, graph.n_edges) == (count, edges)
    np.testing.assert_allclose(graph.flop / 1e6, [runtimes[each] for each in tasks], rtol=1e-15)
    data = [sum(sizes[used] for used in each["inputFiles"]) for each in tasks.values()]
    assert graph.byte.tolist() == data
    expected = {}
    for name, each in tasks.items():
        for child in each["children"]:
            used = {*each["outputFiles"]} & {*tasks[child]["inputFiles"]}
            expected[name, child] = sum(sizes[file] for file in used)
    named = [(graph.tasks[source], graph.tasks[target]) for source, target in graph.edges]
    assert dict(zip(named, graph.edge_byte.tolist(), strict=True)) == expected
    made = {file for each in tasks.values() for file in each["outputFiles"]}
    outside = [f for each in tasks.values() for f in each["inputFiles"] if f not in made]
    found = {each.what: each for each in graph.left_open}
    assert found["inputs that no task writes"].byte == sum(sizes[file] for file in outside)
    # Each ran on one core.
    assert found["tasks without alpha"].number == count
    assert graph.alpha.tolist() == [1.0] * count
    older = read_wfformat(written(tmp_path, flat(instance, "1.3")), speed=1e6)
    assert older == graph
