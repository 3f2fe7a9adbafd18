"""Task graphs in WfFormat: specification and execution; what is refused at which path and line."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simplugin.errors import WorkloadFileError
from simplugin.formats.wfformat import read_wfformat, write_wfformat
from simplugin.workloads.task_graphs import TaskGraph


def task(name: str, parents: str, children: str, **more: object) -> dict[str, object]:
    return {"name": "x", "id": name, "parents": [*parents], "children": [*children], **more}


INSTANCE = {
    "name": "three",
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                task("a", "", "bc", inputFiles=["outside"], outputFiles=["x", "y"]),
                task("b", "a", "c", inputFiles=["x", "y"], outputFiles=["z"], alpha=0.25),
                task("c", "ab", "", inputFiles=["outside", "z"], byte=3.5),
            ],
            "files": [
                {"id": "outside", "sizeInBytes": 10},
                {"id": "x", "sizeInBytes": 100},
                {"id": "y", "sizeInBytes": 1000},
                {"id": "z", "sizeInBytes": 0},
            ],
        },
        "execution": {
            "makespanInSeconds": 9,
            "executedAt": "2026-01-01T00:00:00Z",
            "tasks": [
                {"id": "b", "runtimeInSeconds": 1.5, "coreCount": 4},
                {"id": "a", "runtimeInSeconds": 2},
                {"id": "c", "runtimeInSeconds": 0},
            ],
        },
    },
}


def written(tmp_path: Path, instance: object) -> Path:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(instance, indent=1))
    return path


def test_a_graph_is_read(tmp_path: Path) -> None:
    graph = read_wfformat(written(tmp_path, INSTANCE), speed=2e9, alpha=0.5)
    assert graph == TaskGraph(
        "three",
        ("a", "b", "c"),
        # 1.5 s on four processors are 6 s of one.
        np.array([4e9, 12e9, 0]),
        np.array([0.5, 0.25, 0.5]),
        np.array([10, 1100, 3.5]),
        np.array([[0, 1], [0, 2], [1, 2]]),
        np.array([1100.0, 0, 0]),
    )
    assert read_wfformat(written(tmp_path, INSTANCE), name="mine").name == "mine"


def test_versions(tmp_path: Path) -> None:
    changed = copy.deepcopy(INSTANCE)
    changed["schemaVersion"] = "1.6"
    assert read_wfformat(written(tmp_path, changed)).name == "three"
    changed["schemaVersion"] = "2.0"
    with pytest.raises(WorkloadFileError, match=r"json:3: schemaVersion: this is WfFormat '2.0'"):
        read_wfformat(written(tmp_path, changed))


def flat(instance: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a document of version 1.5 in the layout of 1.0 to 1.4, written from their schema."""
    spec, run = (instance["workflow"][part] for part in ("specification", "execution"))
    runtime, size = ("runtime", "size") if version < "1.4" else ("runtimeInSeconds", "sizeInBytes")
    sizes = {file["id"]: file["sizeInBytes"] for file in spec["files"]}
    ran = {each["id"]: each for each in run["tasks"]}
    tasks = [
        {
            **{key: each[key] for key in ("alpha", "byte") if key in each},
            "name": each["id"],
            "id": f"ID{number}",
            "type": "compute",
            runtime: ran[each["id"]]["runtimeInSeconds"],
            "cores": ran[each["id"]].get("coreCount", 1),
            "parents": each["parents"],
            "files": [
                {"link": link, "name": file, size: sizes[file]}
                for link in ("input", "output")
                for file in each.get(f"{link}Files", [])
            ],
        }
        for number, each in enumerate(spec["tasks"])
    ]
    if version == "1.4":  # one end of an edge is enough, by its name or its id
        number = {each["name"]: each["id"] for each in tasks}
        for each, old in zip(tasks, spec["tasks"], strict=True):
            del each["parents"]
            each["children"] = [number[child] for child in old["children"]]
    place = "jobs" if version < "1.3" else "tasks"
    top = {"name": instance["name"], "schemaVersion": version}
    return top | {"workflow": {"makespan": 9, place: tasks}}


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
def test_older_versions(version: str, tmp_path: Path) -> None:
    expected = read_wfformat(written(tmp_path, INSTANCE), speed=2e9, alpha=0.5)
    graph = read_wfformat(written(tmp_path, flat(INSTANCE, version)), speed=2e9, alpha=0.5)
    assert graph == expected
    assert (graph.assumed_alpha, graph.outside_byte) == (0.5, 20)
    without = flat(INSTANCE, version)
    (tasks,) = (each for each in without["workflow"].values() if isinstance(each, list))
    del tasks[1]["runtimeInSeconds" if version == "1.4" else "runtime"]
    with pytest.raises(WorkloadFileError, match=r"json:\d+: .*\[1\]: there is no 'runtime"):
        read_wfformat(written(tmp_path, without))


Change = Callable[[dict[str, Any], dict[str, Any]], object]
SPEC, RUN = "workflow.specification", "workflow.execution"
# What is done to the specification and the execution; the path and the message of the error.
REFUSED: dict[str, tuple[Change, str, str]] = {
    "no tasks": (lambda spec, _: spec.pop("tasks"), SPEC, "there is no 'tasks'"),
    "empty": (lambda spec, _: spec["tasks"].clear(), SPEC, "there is no task"),
    "no list": (lambda spec, _: spec.update(tasks={}), f"{SPEC}.tasks", "an object is not a list"),
    "no object": (
        lambda spec, _: spec["tasks"].insert(1, "a"),
        f"{SPEC}.tasks[1]",
        "'a' is not an object",
    ),
    "no id": (lambda spec, _: spec["tasks"][1].pop("id"), f"{SPEC}.tasks[1]", "there is no 'id'"),
    "no text": (
        lambda spec, _: spec["tasks"][1].update(id=7),
        f"{SPEC}.tasks[1].id",
        "7 is not a text",
    ),
    "half a character": (
        lambda spec, _: spec["tasks"][1].update(id="\ud800"),
        f"{SPEC}.tasks[1].id",
        "half a character",
    ),
    "no parents": (
        lambda spec, _: spec["tasks"][2].pop("parents"),
        f"{SPEC}.tasks[2]",
        "there is no 'parents'",
    ),
    "task twice": (
        lambda spec, _: spec["tasks"][2].update(id="a"),
        f"{SPEC}.tasks[2].id",
        "'a' is described twice",
    ),
    "dangling": (
        lambda spec, _: spec["tasks"][2]["parents"].append("z"),
        f"{SPEC}.tasks[2].parents[2]",
        "describe task 'z'",
    ),
    "dangling child": (
        lambda spec, _: spec["tasks"][2]["children"].append("z"),
        f"{SPEC}.tasks[2].children[0]",
        "'z' is no task that has 'c' among its parents",
    ),
    "parent twice": (
        lambda spec, _: spec["tasks"][2]["parents"].append("a"),
        f"{SPEC}.tasks[2].parents[2]",
        "'a' -> 'c' is given twice",
    ),
    "child twice": (
        lambda spec, _: spec["tasks"][0]["children"].append("b"),
        f"{SPEC}.tasks[0].children[2]",
        "child 'b' is listed twice",
    ),
    "not among the children": (
        lambda spec, _: spec["tasks"][0]["children"].pop(),
        f"{SPEC}.tasks[2].parents[0]",
        "'a' does not have 'c' among its children",
    ),
    "cycle": (
        lambda spec, _: spec["tasks"][0]["parents"].append("c"),
        f"{SPEC}.tasks[2].parents[0]",
        "cycle: 'c' -> 'a' -> 'c'",
    ),
    "unknown file": (
        lambda spec, _: spec["files"].pop(),
        f"{SPEC}.tasks[2].inputFiles[1]",
        "file 'z' has no size",
    ),
    "file twice": (
        lambda spec, _: spec["files"].append({"id": "x", "sizeInBytes": 1}),
        f"{SPEC}.files[4].id",
        "file 'x' is here twice",
    ),
    "input twice": (
        lambda spec, _: spec["tasks"][1]["inputFiles"].append("x"),
        f"{SPEC}.tasks[1].inputFiles[2]",
        "file 'x' is listed twice",
    ),
    "no file size": (
        lambda spec, _: spec["files"][1].pop("sizeInBytes"),
        f"{SPEC}.files[1]",
        "there is no 'sizeInBytes'",
    ),
    "negative size": (
        lambda spec, _: spec["files"][1].update(sizeInBytes=-5),
        f"{SPEC}.files[1].sizeInBytes",
        "-5.0 is negative",
    ),
    "huge size": (
        lambda spec, _: spec["files"][1].update(sizeInBytes=10**400),
        f"{SPEC}.files[1].sizeInBytes",
        "too large",
    ),
    "endless files": (
        lambda spec, _: [file.update(sizeInBytes=1e308) for file in spec["files"]],
        f"{SPEC}.tasks[1].parents[0]",
        "inf",
    ),
    "no number": (
        lambda spec, _: spec["files"][1].update(sizeInBytes=True),
        f"{SPEC}.files[1].sizeInBytes",
        "true is no number",
    ),
    "alpha": (
        lambda spec, _: spec["tasks"][0].update(alpha=1.5),
        f"{SPEC}.tasks[0].alpha",
        "from 0 to 1",
    ),
    "byte": (
        lambda spec, _: spec["tasks"][0].update(byte=-1),
        f"{SPEC}.tasks[0].byte",
        "is negative",
    ),
    "no run": (lambda _, run: run.clear(), RUN, "there is no 'tasks'"),
    "not run": (lambda _, run: run["tasks"].pop(), f"{RUN}.tasks", "task 'c' has no runtime"),
    "run twice": (
        lambda _, run: run["tasks"][2].update(id="a"),
        f"{RUN}.tasks[2].id",
        "'a' is here twice",
    ),
    "run unknown": (
        lambda _, run: run["tasks"][2].update(id="z"),
        f"{RUN}.tasks[2].id",
        "'z' is not in the specification",
    ),
    "no runtime": (
        lambda _, run: run["tasks"][2].pop("runtimeInSeconds"),
        f"{RUN}.tasks[2]",
        "there is no 'runtimeInSeconds'",
    ),
    "negative runtime": (
        lambda _, run: run["tasks"][2].update(runtimeInSeconds=-1e-9),
        f"{RUN}.tasks[2].runtimeInSeconds",
        "-1e-09 is negative",
    ),
    "too long": (
        lambda _, run: run["tasks"][2].update(runtimeInSeconds=1e307),
        f"{RUN}.tasks[2].runtimeInSeconds",
        "inf",
    ),
    "no core": (
        lambda _, run: run["tasks"][0].update(coreCount=0.5),
        f"{RUN}.tasks[0].coreCount",
        "at least 1",
    ),
}


def line_of(text: str, path: str) -> int:
    """Find a value in a document that json.dumps laid out, one value a line."""
    steps = re.findall(r"[^.\[\]]+", path)
    lines = text.split("\n")
    at = 0
    for depth, step in enumerate(steps, 1):
        here = [number for number in range(at + 1, len(lines)) if _depth(lines[number]) <= depth]
        inside = here[: next(n for n, number in enumerate(here) if _depth(lines[number]) < depth)]
        opening = [number for number in inside if lines[number].strip()[0] not in "]}"]
        if step.isdigit():
            at = opening[int(step)]
        else:
            at = next(n for n in opening if lines[n].strip().startswith(f'"{step}":'))
    return at + 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_at_its_path_and_line(case: str, tmp_path: Path) -> None:
    change, place, message = REFUSED[case]
    changed: Any = copy.deepcopy(INSTANCE)
    change(changed["workflow"]["specification"], changed["workflow"]["execution"])
    path = written(tmp_path, changed)
    with pytest.raises(WorkloadFileError, match=re.escape(message)) as caught:
        read_wfformat(path)
    line = line_of(path.read_text(), place)
    assert str(caught.value).startswith(f"{path}:{line}: {place}: ")
    assert caught.value.remedy


def test_a_specification_that_never_ran(tmp_path: Path) -> None:
    changed: Any = copy.deepcopy(INSTANCE)
    del changed["workflow"]["execution"]
    with pytest.raises(WorkloadFileError, match=r"json:4: workflow: there is no 'execution'"):
        read_wfformat(written(tmp_path, changed))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "this is no JSON: expecting value"),
        ("\n{]", 2, "this is no JSON"),
        ("[]", 1, "a list is not an object"),
        ("\n 7", 2, "7 is not an object"),
        ('{"name": 1,\n\n"name": 2}', 3, "name: there are two"),
        ('[{"x": [1, {"a": {},\n "b": [],\n"a": 2}]}]', 3, "[0].x[1].a: there are two"),
        ('{"a": [1,\n{"b": NaN}]}', 2, "a[1].b: 'NaN' is no number"),
        ('{"a": [1,\n-Infinity]}', 2, "a[1]: '-Infinity' is no number"),
        ('{"a":\n' + "7" * 5000 + "}", 2, "a: '7777"),
        ("[" * 1_000_000, None, "nested too deeply"),
        ('{"a":' * 1_000_000, None, "nested too deeply"),
    ],
)
def test_what_is_no_json(text: str, line: int | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(text)
    with pytest.raises(WorkloadFileError, match=re.escape(message)) as caught:
        read_wfformat(path)
    assert caught.value.line == line
    assert len(str(caught.value)) < 1000


def test_what_is_written(tmp_path: Path) -> None:
    graph = TaskGraph(
        "g",
        ("a", "b", "é"),
        np.array([3e9, 1e9, 0]),
        np.array([0, 0.25, 1]),
        np.array([8, 100, 0]),
        np.array([[0, 1], [0, 2]]),
        np.array([100.0, 0]),
    )
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


def test_a_runtime_too_long_to_be_written(tmp_path: Path) -> None:
    column = np.full(1, 1e300)
    graph = TaskGraph("g", ("a",), column, *[np.zeros(1)] * 2, np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(WorkloadFileError, match="give a higher speed"):
        write_wfformat(graph, tmp_path / "graph.json", speed=1e-10)


@pytest.mark.parametrize(
    ("file", "count", "edges"),
    [
        ("1000genome-2ch-100k", 52, 76),
        ("helloworld-chain-5", 5, 4),
        ("helloworld-forkjoin-10", 10, 16),
        ("nextflow-bacass", 11, 14),
        ("srasearch-10a", 22, 30),
    ],
)
def test_real_workflows(
    shared_data: Path, file: str, count: int, edges: int, tmp_path: Path
) -> None:
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
    expected = {
        (name, child): sum(
            sizes[used] for used in {*each["outputFiles"]} & {*tasks[child]["inputFiles"]}
        )
        for name, each in tasks.items()
        for child in each["children"]
    }
    named = [(graph.tasks[source], graph.tasks[target]) for source, target in graph.edges]
    assert dict(zip(named, graph.edge_byte.tolist(), strict=True)) == expected
    made = {file for each in tasks.values() for file in each["outputFiles"]}
    outside = [f for each in tasks.values() for f in each["inputFiles"] if f not in made]
    assert graph.outside_byte == sum(sizes[file] for file in outside)
    assert graph.assumed_alpha == 0
    older = read_wfformat(written(tmp_path, flat(instance, "1.3")), speed=1e6)
    assert older == graph
