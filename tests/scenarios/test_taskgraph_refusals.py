"""Scenarios of task graphs that are refused with key and line."""

import pytest
from changed_scenarios import change, refused, run

from simplugin.errors import WorkloadFileError

WRONG_PARAMETERS = [
    ("es", 'mdoe = "planned"', "mdoe", "did you mean 'mode'"),
    ("es", 'mode = "both"', "mode", "give 'online' or 'planned'"),
    ("es", 'procedure = "hcpa"', "procedure", "knows no shares"),
    ("heft", 'packing = "off"', "packing", "says nothing to 'taskgraphs.heft'"),
    ("mheft", 'mode = "online"', "mode", "all is planned"),
    ("es", 'mode = "online", ordering = "global"', "mode", "all is planned"),
    ("es", 'decides = "schedule"', "decides", "says nothing to 'taskgraphs.es'"),
    ("es", 'revision = "now"', "revision", "give 'none', 'arrival'"),
    ("es", 'revision = "mine:nobody"', "revision", "has no 'nobody'"),
    ("es", 'revision = "mine:nonsense"', "revision", "return a Revision"),
    ("es", 'revision = "rebalanced"', "revision", "only 'taskgraphs.balanced'"),
    ("es", 'revision = "event", mode = "planned"', "revision", "mode is 'planned'"),
    ("es", 'revision = "event", ordering = "global"', "revision", "is 'global'"),
    ("es", 'revision = "event", procedure = "scrap"', "revision", "'scrap_max'"),
    ("es", 'revision = "event", own = "share"', "revision", "own makespans"),
    ("balanced", 'revision = "rebalanced", rounds = 2', "rounds", "says nothing to"),
]


@pytest.mark.parametrize(("name", "parameters", "key", "words"), WRONG_PARAMETERS)
def test_a_wrong_parameter_is_refused(two, name, parameters, key, words):
    chosen = f'"taskgraphs.{name}"\nparameters = {{ {parameters} }}'
    refused(change(two, '"taskgraphs.es"', chosen), words, f"scheduler.parameters.{key}")


FILE, ES, GRAPH = 'file = "one.dot"', '"taskgraphs.es"', "workload.graphs.0"
MAPPING = '"mine:side_by_side"\nparameters.decides = "mapping"\nparameters.mode = "planned"'
HOST_MODEL = '[simulation.options]\nhost_model = "default"\n[output]'
SCHEDULE = '"mine:side_by_side"\nparameters.decides = "schedule"'
ALLOCATIONS = '"mine:on_two"\nparameters.decides = "allocations"'
OTHERS = f'{ALLOCATIONS}\nparameters.procedure = "scrap"'
EVENTS = f'{ALLOCATIONS}\nparameters.revision = "event"'
WRONG = [
    (ES, MAPPING, "scheduler.parameters.mode", "decides online"),
    (ES, '"taskgraphs.wps_cp"\nparameters.mu = 2.0', "scheduler.parameters", "from 0 to 1"),
    (ES, '"mine:nonsense"', "scheduler.name", "one a graph"),
    (ES, SCHEDULE, "scheduler.name", "return a Schedule"),
    (ES, SCHEDULE.replace("side_by_side", "hasty"), "scheduler.name", "plan within"),
    (ES, '"mine:broken"', "scheduler.name", "); shares are asked for: is 'decides' missing"),
    (ES, ALLOCATIONS, "scheduler.name", "an Allocation for each of 2 graphs"),
    (ES, OTHERS, "scheduler.parameters.procedure", "says nothing"),
    (ES, EVENTS, "scheduler.parameters.revision", "no shares"),
    (FILE, 'file = "two.dot"', f"{GRAPH}.file", "there is no file"),
    (FILE, f'{FILE}\ngenerator = "fft"', GRAPH, "either a file or a generator"),
    (FILE, f"{FILE}\nseed = 3", f"{GRAPH}.seed", "seed goes with a generator, not with a file"),
    (FILE, 'generator = "fff"', f"{GRAPH}.generator", "did you mean 'fft'"),
    (FILE, 'generator = "fft"\nparameters.points = 3', f"{GRAPH}.parameters", "power of two"),
    (FILE, 'generator = "fft"', f"{GRAPH}.generator", "has no points"),
    ("count = 2", "count = 0", f"{GRAPH}.count", "greater than or equal to 1"),
    ("count = 2", 'release = "3GB"', f"{GRAPH}.release", "unit"),
    ("[output]", HOST_MODEL, "simulation.options.host_model", "L07"),
    ("gantt =", "curves = 'x.png'\ngantt =", "output.curves", "has no curves"),
]


@pytest.mark.parametrize(("old", "new", "key", "words"), WRONG)
def test_wrong_schedulers_graphs_and_options_are_refused(two, old, new, key, words):
    refused(change(two, old, new), words, key)


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
    refused(change(two, "taskgraphs.es", "taskgraphs.ps_work"), "'none' has nothing to compute")
