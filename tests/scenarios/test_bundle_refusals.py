"""What is wrong with scenarios of bundles is told with key and line."""

from pathlib import Path

import pytest

from simplugin.errors import WorkloadFileError
from simplugin.market import scenario as adapter
from simplugin.market import sections
from simplugin.scenarios import load_scenario
from simplugin.scenarios.importing import importable

with importable(Path(__file__).parent):
    from changed_scenarios import change, refused, run


def test_a_wrong_log_is_refused_with_its_line(three):
    log = three.parent / "log.swf"
    log.write_text(log.read_text().replace("120 0 30", "120 0 half"))
    sizes = 'flop = "1Gf"\nbyte = "100MB"\ncount = 3'
    with pytest.raises(WorkloadFileError, match=r"log\.swf:3"):
        run(change(three, sizes, 'file = "log.swf"'))


OWN = '"market.optimum"\nparameters = { '
SIZES = 'flop = "1Gf"\nbyte = "100MB"\ncount = 3'


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('"market.optimum"', '"market.isgbmt"', "scheduler.name", "did you mean 'market.isgbmat'"),
        ('"market.optimum"', OWN + "mu = 1 }", "scheduler.parameters.mu", "takes counters"),
        ('"market.optimum"', OWN + "ovrlap = true }", "scheduler.parameters.ovrlap",
         "did you mean 'overlap'"),
        ('"market.optimum"', OWN + "seed = 1 }", "scheduler.parameters.seed", "simulation.seed"),
        ('"market.optimum"', '"market.double_auction"\nparameters = { seed = 1 }',
         "scheduler.parameters.seed", "simulation.seed"),
        ('"market.optimum"', OWN + "overlap = 1 }", "scheduler.parameters.overlap",
         "give true or false"),
        ('"market.optimum"', OWN + 'counters = "lost" }', "scheduler.parameters.counters",
         "give 'reset', 'kept'"),
        ('"market.optimum"', OWN + "counters = 0 }", "scheduler.parameters.counters", "above 0"),
        ('"market.optimum"', OWN + "counters = true }", "scheduler.parameters.counters", "above 0"),
        ('"market.optimum"', OWN + 'dispatch = "first_idle" }', "scheduler.parameters.dispatch",
         "says nothing to one site"),
        ('"market.optimum"', OWN + 'dispatch = "first_idel" }', "scheduler.parameters.dispatch",
         "did you mean 'first_idle'"),
        ('"market.optimum"', '"mine:all_to_one"\nparameters = { pear = 1 }',
         "scheduler.parameters.pear", "did you mean 'peer'"),
        ('"market.optimum"', '"mine:all_to_one"\nparameters = { peer = 7 }',
         "scheduler.parameters", "0 tasks are placed"),
        ('"market.optimum"', '"mine:too_few"', "scheduler.name", "place all 3"),
        ('"market.optimum"', '"mine:nothing"', "scheduler.name", "cannot be used"),
        ('"market.optimum"', '"mine:breaks"', "scheduler.name",
         "it raises ZeroDivisionError: "),
        ('"market.optimum"', '"mine:priceless"', "scheduler.name", "its price is nan"),
        ('"market.optimum"', '"mine:halves"', "scheduler.name", "cannot be used"),
        ('"market.optimum"', '"mine:nobody"', "scheduler.name", "has no 'nobody'"),
        ('[scheduler]\nname = "market.optimum"', "", "workload", "[scheduler] is missing"),
        ("alpha = 0.5", "alpha = 1.0", "workload.alpha", "give all peers a rate between 0 and 1"),
        ("alpha = 0.5", "alpha = 1e-17", "workload.alpha", "all peers a rate from 1.2e-16 on"),
        ("alpha = 0.5", 'alpha = { "peer-1" = 0.5 }', "workload.alpha", "no rate of peer 'peer-2'"),
        ("alpha = 0.5", 'alpha = { "peer-1" = 0.5, "peer-3" = 0.5 }', "workload.alpha.peer-3",
         "did you mean 'peer-2'"),
        ("alpha = 0.5", "n_max = 1", "workload.n_max",
         "'bundle': 3 tasks cannot be placed: 2 peers take at most 1 each, 2 together (m > n N_max)"
         "; raise N_max to 2"),
        ("alpha = 0.5", "n_max = 3\nlambda = 1.0", "workload", "say the same"),
        ("alpha = 0.5", "lambda = 0.5", "workload.lambda", "greater than or equal to 1"),
        ("alpha = 0.5", "lamda = 1.0", "workload.lamda", "did you mean 'lambda'"),
        ("setup = 0.0", 'setup = "3GB"', "workload.setup", "unit"),
        (SIZES, 'file = "log.swf"\ngap = "2min"', "workload.bundles.0.gap", "did you mean 'm'"),
        ("setup = 0.0", 'scheduler = "here"', "workload.scheduler", "is no host; there are peer-1"),
        ("setup = 0.0", 'peers = ["peer-1", "peer-3"]', "workload.peers", "'peer-3', which is no"),
        ("setup = 0.0", 'peers = ["scheduler"]', "workload.peers", "which is the scheduler"),
        ("setup = 0.0", "peers = []", "workload.peers", "at least 1"),
        ("setup = 0.0", 'global_scheduler = "scheduler"', "workload", "go together"),
        ("setup = 0.0", 'sites = [{ scheduler = "scheduler" }]', "workload", "go together"),
        ("count = 3", "count = 0", "workload.bundles.0.count", "greater than or equal to 1"),
        ("count = 3", "count = 1000000000", "workload.bundles.0.count",
         "1,000,000,000 tasks are too many to simulate each; at most 1,000,000 are; give fewer, or"
         " allocate them without simulation, from Python: simplugin.optimum.bundle_benefit."),
        ("count = 3", "count = 1000001", "workload.bundles.0.count", "1,000,001 tasks"),
        ("count = 3", "copies = 1000000000\nperiod = 1.0", "workload.bundles.0.copies",
         "1,000,000,000,000 tasks"),
        ("count = 3", "count = 3\n[[workload.bundles]]\nflop = 1.0\ncount = 2\n"
         "[[workload.bundles]]\nflop = 1.0\ncount = 999996", "workload.bundles.2.count",
         "1,000,001 tasks"),
        ("count = 3", "cuont = 3", "workload.bundles.0.cuont", "did you mean 'count'"),
        ("count = 3", "copies = 3", "workload.bundles.0", "give it"),
        ("count = 3", 'class = "neutral"', "workload.bundles.0", "byte says nothing beside class"),
        ("count = 3", "gap = 3.0", "workload.bundles.0", "gap says nothing beside sizes"),
        (SIZES, "count = 3", "workload.bundles.0", "give a class of tasks"),
        (SIZES, "flop = 0.0", "workload.bundles.0", "neither compute nor move data"),
        (SIZES, 'class = "natural"', "workload.bundles.0.class", "'neutral'"),
        (SIZES, 'file = "log.txt"', "workload.bundles.0.file", "there is no file"),
        (SIZES, 'file = "log.swf"\ncount = 3', "workload.bundles.0", "count says nothing"),
        (SIZES, 'file = "log.swf"', "workload.bundles.0.file", "no 100 jobs of a user"),
        (SIZES, 'log = "lcg"\nleast = 5', "workload.bundles.0", "least says nothing beside log"),
        (SIZES, 'log = "lgc"', "workload.bundles.0.log", "'lcg'"),
        ('["1Gf", "2Gf"]', '["1Gf"]', "platform.parameters", "bandwidth has shape (2,); give (1,)"),
        ('["1Gf", "2Gf"]', '["1Gf", "2GB"]', "platform.parameters", "unit"),
        ('speed = ["1Gf", "2Gf"], ', "", "platform.parameters", "give both or neither"),
        ('["100MBps", "50MBps"]', '["100MBps", "50MBps"], degree = 1.0', "platform.parameters",
         "say nothing beside speed"),
        ('["100MBps", "50MBps"]', '["100MBps", "50MBps"], colour = 1.0', "platform.parameters",
         "colour"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_its_place(three, old, new, key, words):
    error = refused(change(three, old, new))
    assert words in str(error)
    assert error.key == key
    assert f"{three}:{error.line}: " in str(error)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('setup = "10ms"', 'peers = ["peer-1-1"]', "workload", "peers says nothing beside sites"),
        ('"scheduler-2"', '"scheduler-3"', "workload.sites.1.scheduler", "scheduler 'scheduler-3'"),
        ('"scheduler-2"', '"scheduler-2", peers = ["peer-3"]', "workload.sites.1.peers",
         "'peer-3', which is no host"),
        ('"two", scheduler = "scheduler-2"', '"two", scheduler = "scheduler-1"', "workload.sites",
         "two hosts of a grid of peers are called 'scheduler-1'"),
        ('global_scheduler = "global-scheduler"', 'global_scheduler = "nobody"',
         "workload.global_scheduler", "is no host"),
        ('setup = "10ms"', "lambda = 2.0", "workload.lambda", "from 6 to 20, as bundles differ"),
        ("[\n    { speed", "[\n    3, { speed", "platform.parameters", "a table each"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_grid_is_refused_with_its_place(two_sites, old, new, key, words):
    error = refused(change(two_sites, old, new))
    assert words in str(error)
    assert error.key == key
    assert f"{two_sites}:{error.line}: " in str(error)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine:breaks", "ZeroDivisionError"),
        ("mine:breaks_later", "ZeroDivisionError"),
        ("mine:priceless_later", "the price is nan"),
    ],
)
def test_a_policy_that_fails_is_told_where(two_sites, name, words):
    # Some only in the course of the run.
    error = refused(change(two_sites, '"market.optimum"', f'"{name}"'))
    assert words in str(error)
    assert error.key == "scheduler.name"
    assert f"{two_sites}:{error.line}: " in str(error)
    if "breaks" in name:
        lines = (two_sites.parent / "mine.py").read_text().splitlines()
        line = lines.index("    return 1 // (m - m)") + 1
        if name.endswith("later"):
            line = lines.index("        1 // 0") + 1
        assert f"({two_sites.parent / 'mine.py'}:{line})" in str(error)


def test_prices_that_are_infinite_are_refused(three):
    error = refused(change(change(three, "= 10.0", "= 1e308"), SIZES, "flop = 10.0\ncount = 3"))
    assert error.key == "workload"
    assert "'bundle' has no market: " in str(error)


def test_tasks_of_a_log_may_be_too_many(three, monkeypatch):
    monkeypatch.setattr(sections, "MOST_TASKS", 4)
    change(three, SIZES, 'file = "log.swf"\nleast = 2')
    error = refused(three)
    assert error.key == "workload.bundles.0.file"
    assert "5 tasks are too many" in str(error)
    assert "give the first bundles of the log only" in str(error)


def test_a_bundle_that_no_site_takes_is_refused(two_sites):
    error = refused(change(two_sites, 'setup = "10ms"', "n_max = 4"))
    assert error.key == "workload.n_max"
    # The larger of the two.
    assert "'first-1': 10 tasks cannot be placed: 2 peers take at most 4 each" in str(error)


def test_a_bundle_that_one_site_takes_is_not_refused(two_sites):
    scenario = load_scenario(change(two_sites, 'setup = "10ms"', "n_max = 5"))
    site = adapter.site_in(scenario, scenario.make_platform())
    bundles = sections.bundles_of(scenario)
    terms = adapter.terms_of(scenario, site, bundles)
    counts = [
        [market.n_peers for market in adapter.markets_of(site.sites, terms, bundle)]
        for bundle in bundles
    ]
    # Two bundles of 10 tasks for the two peers of the second site, and one of 3 for either.
    assert counts == [[2], [2], [1, 2]]
