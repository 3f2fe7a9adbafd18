"""Scenarios of task graphs that are refused with key and line."""

import pytest
from changed_scenarios import change, cut, refused, run

from simplugin.errors import WorkloadFileError


@pytest.mark.parametrize(
    ("name", "parameters", "key", "words"),
    [
        ("taskgraphs.es", 'mdoe = "planned"', "mdoe", "did you mean 'mode'"),
        ("taskgraphs.es", 'mode = "both"', "mode", "give 'online' or 'planned'"),
        ("taskgraphs.es", 'procedure = "hcpa"', "procedure", "knows no shares"),
        ("taskgraphs.heft", 'packing = "off"', "packing", "says nothing to 'taskgraphs.heft'"),
        ("taskgraphs.mheft", 'mode = "online"', "mode", "all is planned"),
        ("taskgraphs.es", 'mode = "online", ordering = "global"', "mode", "all is planned"),
        ("mine:side_by_side", 'decides = "mapping", mode = "planned"', "mode", "decides online"),
        ("taskgraphs.es", 'decides = "schedule"', "decides", "says nothing to 'taskgraphs.es'"),
        ("taskgraphs.es", 'revision = "now"', "revision", "give 'none', 'arrival'"),
        ("taskgraphs.es", 'revision = "rebalanced"', "revision", "only 'taskgraphs.balanced'"),
        ("taskgraphs.es", 'revision = "event", mode = "planned"', "revision", "mode is 'planned'"),
        ("taskgraphs.es", 'revision = "event", ordering = "global"', "revision", "is 'global'"),
        ("taskgraphs.es", 'revision = "event", procedure = "scrap"', "revision", "'scrap_max'"),
        ("taskgraphs.es", 'revision = "event", own = "share"', "revision", "own makespans"),
        ("taskgraphs.balanced", 'revision = "rebalanced", rounds = 2', "rounds", "says nothing to"),
    ],
)
def test_a_wrong_parameter_is_refused(two, name, parameters, key, words):
    chosen = f'"{name}"\nparameters = {{ {parameters} }}'
    error = refused(change(two, '"taskgraphs.es"', chosen))
    assert words in str(error)
    assert error.key == f"scheduler.parameters.{key}"


@pytest.mark.parametrize(
    ("name", "parameters", "key", "words"),
    [
        ("taskgraphs.wps_cp", "mu = 2.0", "scheduler.parameters", "from 0 to 1"),
        ("mine:nonsense", "", "scheduler.name", "one a graph"),
        ("mine:side_by_side", 'decides = "schedule"', "scheduler.name", "return a Schedule"),
    ],
)
def test_a_scheduler_that_does_not_work_is_refused(two, name, parameters, key, words):
    chosen = f'"{name}"\nparameters = {{ {parameters} }}'
    error = refused(change(two, '"taskgraphs.es"', chosen))
    assert words in str(error)
    assert error.key == key


FILE = 'file = "one.dot"'


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        (FILE, 'file = "two.dot"', "file", "there is no file"),
        (FILE, f'{FILE}\ngenerator = "fft"', "", "either a file or a generator"),
        (FILE, f"{FILE}\nseed = 3", "", "seed goes with a generator, not with a file"),
        (FILE, 'generator = "fff"', "generator", "did you mean 'fft'"),
        (FILE, 'generator = "fft"\nparameters = { points = 3 }', "parameters", "power of two"),
        (FILE, 'generator = "fft"', "generator", "has no points"),
        ("count = 2", "count = 0", "count", "greater than or equal to 1"),
        ("count = 2", 'release = "3GB"', "release", "unit"),
    ],
)
def test_wrong_graphs_are_refused(two, old, new, key, words):
    error = refused(change(two, old, new))
    assert words in str(error)
    assert error.key == f"workload.graphs.0.{key}".rstrip(".")


@pytest.mark.parametrize(
    ("new", "key", "words"),
    [
        ('[simulation.options]\nhost_model = "default"', "simulation.options.host_model", "L07"),
        ('[output]\ncurves = "x.png"', "output.curves", "has no curves"),
    ],
)
def test_what_task_graphs_lack_is_refused(two, new, key, words):
    error = refused(cut(two, "[output]", new=new))
    assert words in str(error)
    assert error.key == key


def test_a_wrong_file_is_refused_with_its_line(two):
    (two.parent / "one.dot").write_text("digraph one {\n only [size=-1]\n}\n")
    with pytest.raises(WorkloadFileError, match=r"one\.dot:2"):
        run(two)


def test_a_graph_without_work_is_named(two):
    (two.parent / "none.dot").write_text('digraph none { a [size="0"] }')
    more = '[[workload.graphs]]\nfile = "none.dot"\n\n[scheduler]'
    two.write_text(two.read_text().replace("[scheduler]", more))
    graphs = run(two).listings[0]
    assert graphs.column("own")[2] == pytest.approx(0.0, abs=1e-9)
    assert graphs.column("gap")[2] is None
    error = refused(change(two, "taskgraphs.es", "taskgraphs.ps_work"))
    assert "graph 'none' has nothing to compute" in str(error)
