"""What is wrong with scenarios of task graphs is told with key and line."""

from pathlib import Path

import pytest

from simplugin.errors import WorkloadFileError
from simplugin.scenarios.importing import importable

with importable(Path(__file__).parent):
    from changed_scenarios import change, refused, run


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('"taskgraphs.es"', '"taskgraphs.ess"', "scheduler.name", "did you mean 'taskgraphs.es'"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { mu = 1 }',
         "scheduler.parameters.mu", "unknown key"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { mdoe = "planned" }',
         "scheduler.parameters.mdoe", "did you mean 'mode'"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { mode = "both" }',
         "scheduler.parameters.mode", "give 'online' or 'planned'"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { transfers = 1 }',
         "scheduler.parameters.transfers", "give true or false"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { procedure = "hcpa" }',
         "scheduler.parameters.procedure", "knows no shares"),
        ('"taskgraphs.es"', '"taskgraphs.heft"\nparameters = { packing = "off" }',
         "scheduler.parameters.packing", "says nothing to 'taskgraphs.heft'"),
        ('"taskgraphs.es"', '"taskgraphs.mheft"\nparameters = { mode = "online" }',
         "scheduler.parameters.mode", "all is planned"),
        ('"taskgraphs.es"', '"taskgraphs.heft"\nparameters = { revision = "event" }',
         "scheduler.parameters.revision", "says nothing to 'taskgraphs.heft'"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { revision = "now" }',
         "scheduler.parameters.revision", "give 'none', 'arrival'"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { revision = "rebalanced" }',
         "scheduler.parameters.revision", "only 'taskgraphs.balanced'"),
        ('"taskgraphs.es"',
         '"taskgraphs.es"\nparameters = { revision = "event", mode = "planned" }',
         "scheduler.parameters.revision", "mode is 'planned'"),
        ('"taskgraphs.es"',
         '"taskgraphs.es"\nparameters = { revision = "event", ordering = "global" }',
         "scheduler.parameters.revision", "ordering is 'global'"),
        ('"taskgraphs.es"',
         '"taskgraphs.es"\nparameters = { revision = "event", procedure = "scrap" }',
         "scheduler.parameters.revision", "procedure 'scrap_max'"),
        ('"taskgraphs.es"',
         '"taskgraphs.es"\nparameters = { revision = "event", own = "share" }',
         "scheduler.parameters.revision", "own makespans"),
        ('"taskgraphs.es"',
         '"taskgraphs.balanced"\nparameters = { revision = "rebalanced", rounds = 2 }',
         "scheduler.parameters.rounds", "says nothing to shares"),
        ('"taskgraphs.es"', '"taskgraphs.wps_cp"\nparameters = { mu = 2.0 }',
         "scheduler.parameters", "from 0 to 1"),
        ('"taskgraphs.es"', '"mine:nonsense"', "scheduler.name", "one a graph"),
        ('"taskgraphs.es"', '"mine:side_by_side"\nparameters = { decides = "schedule" }',
         "scheduler.name", "returns Mapper; return a Schedule"),
        ('"taskgraphs.es"', '"taskgraphs.es"\nparameters = { decides = "schedule" }',
         "scheduler.parameters.decides", "says nothing to 'taskgraphs.es'"),
        ('"taskgraphs.es"',
         '"mine:side_by_side"\nparameters = { decides = "mapping", mode = "planned" }',
         "scheduler.parameters.mode", "decides online"),
        ('"taskgraphs.es"', '"mine:nothing"', "scheduler.name", "has no 'nothing'"),
        ('file = "one.dot"', 'file = "two.dot"', "workload.graphs.0.file", "there is no file"),
        ('file = "one.dot"', 'file = "one.dot"\ngenerator = "fft"', "workload.graphs.0",
         "either a file or a generator"),
        ('file = "one.dot"', 'file = "one.dot"\nseed = 3', "workload.graphs.0",
         "seed goes with a generator, not with a file"),
        ('file = "one.dot"', 'generator = "fff"', "workload.graphs.0.generator",
         "did you mean 'fft'"),
        ('file = "one.dot"', 'generator = "fft"\nparameters = { points = 3 }',
         "workload.graphs.0.parameters", "power of two"),
        ('file = "one.dot"', 'generator = "fft"', "workload.graphs.0.generator", "has no points"),
        ("count = 2", "count = 0", "workload.graphs.0.count", "greater than or equal to 1"),
        ("count = 2", "cuont = 2", "workload.graphs.0.cuont", "did you mean 'count'"),
        ("count = 2", 'release = "3GB"', "workload.graphs.0.release", "unit"),
        ("processors = 4", "processors = 0", "platform.parameters", "give a whole number from 1"),
        ("processors = 4", "hosts = 4", "platform.parameters", "give name, processors and speed"),
        ("[output]", '[simulation.options]\nhost_model = "default"\n[output]',
         "simulation.options.host_model", "ptask_L07"),
        ("[output]", '[output]\ncurves = "x.png"', "output.curves", "has no curves"),
        ('[scheduler]\nname = "taskgraphs.es"', "", "workload", r"[scheduler] is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_its_place(two, old, new, key, words):
    error = refused(change(two, old, new))
    assert error.key == key
    assert words in str(error)
    assert f"{two}:{error.line}: " in str(error)


def test_a_wrong_file_is_refused_with_its_line(two):
    (two.parent / "one.dot").write_text("digraph one {\n only [size=-1]\n}\n")
    with pytest.raises(WorkloadFileError, match=r"one\.dot:2"):
        run(two)


def test_a_graph_cannot_be_drawn_where_there_is_none(two):
    bags = two.read_text().replace("taskgraphs", "bags")
    bags = bags.replace('file = "one.dot"\ncount = 2', 'name = "x"\nmaster = "c-1"\nflop = 1.0')
    bags = bags.replace("workload.graphs", "workload.applications").replace("bags.es", "bags.lp")
    two.write_text(bags)
    error = refused(two)
    assert (error.key, "has no graphs" in str(error)) == ("output.graphs", True)


def test_unknown_subsets_are_refused(two):
    text = two.read_text()
    start, stop = text.index("generator ="), text.index("[workload]")
    called = 'generator = "grid5000_subset"\nparameters = { site = "lyon" }\n'
    two.write_text(text[:start] + called + text[stop:])
    error = refused(two)
    assert (error.key, "give one of lille" in str(error)) == ("platform.parameters", True)


def test_a_graph_without_work_is_named(two):
    (two.parent / "none.dot").write_text('digraph none { a [size="0"] }')
    more = '[[workload.graphs]]\nfile = "none.dot"\n\n[scheduler]'
    two.write_text(two.read_text().replace("[scheduler]", more))
    graphs = run(two).listings[0]
    assert graphs.column("own")[2] == pytest.approx(0.0, abs=1e-9)
    assert graphs.column("gap")[2] is None
    error = refused(change(two, "taskgraphs.es", "taskgraphs.ps_work"))
    assert "graph 'none' has nothing to compute" in str(error)
    assert f"{two}:{error.line}: " in str(error)
