"""Scenarios of bundles that are refused with key and line."""

import pytest
from changed_scenarios import change, refused, run

from simplugin.errors import WorkloadFileError
from simplugin.market import sections

SIZES = 'flop = "1Gf"\nbyte = "100MB"\ncount = 3'


def test_a_wrong_log_is_refused_with_its_line(three):
    log = three.parent / "log.swf"
    log.write_text(log.read_text().replace("120 0 30", "120 0 half"))
    with pytest.raises(WorkloadFileError, match=r"log\.swf:3"):
        run(change(three, SIZES, 'file = "log.swf"'))


@pytest.mark.parametrize(
    ("name", "parameters", "key", "words"),
    [
        ("market.optimum", "mu = 1", ".mu", "takes counters"),
        ("market.optimum", "seed = 1", ".seed", "simulation.seed"),
        ("market.double_auction", "seed = 1", ".seed", "simulation.seed"),
        ("market.optimum", 'counters = "lost"', ".counters", "give 'reset', 'kept'"),
        ("market.optimum", "counters = 0", ".counters", "above 0"),
        ("market.optimum", "counters = true", ".counters", "above 0"),
        ("market.optimum", 'dispatch = "first_idle"', ".dispatch", "says nothing to one site"),
        ("market.optimum", 'dispatch = "first_idel"', ".dispatch", "did you mean 'first_idle'"),
        ("mine:all_to_one", "pear = 1", ".pear", "did you mean 'peer'"),
        ("mine:all_to_one", "peer = 7", "", "0 tasks are placed"),
    ],
)
def test_a_wrong_parameter_of_a_scheduler_is_refused(three, name, parameters, key, words):
    chosen = f'"{name}"\nparameters = {{ {parameters} }}'
    error = refused(change(three, '"market.optimum"', chosen))
    assert words in str(error)
    assert error.key == f"scheduler.parameters{key}"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine:too_few", "place all 3"),
        ("mine:nothing", "cannot be used"),
        ("mine:priceless", "its price is nan"),
    ],
)
def test_a_policy_that_does_not_work_is_refused(three, name, words):
    error = refused(change(three, "market.optimum", name))
    assert words in str(error)
    assert error.key == "scheduler.name"


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("alpha = 0.5", "alpha = 1.0", ".alpha", "give all peers a rate between 0 and 1"),
        ("alpha = 0.5", "alpha = 1e-17", ".alpha", "all peers a rate from 1.2e-16 on"),
        ("alpha = 0.5", "alpha = { peer-1 = 0.5 }", ".alpha", "no rate of peer 'peer-2'"),
        ("alpha = 0.5", "alpha = { peer-3 = 0.5 }", ".alpha.peer-3", "did you mean 'peer-"),
        ("alpha = 0.5", "n_max = 1", ".n_max", "(m > n N_max); raise N_max to 2"),
        ("alpha = 0.5", "n_max = 3\nlambda = 1.0", "", "say the same"),
        ("alpha = 0.5", "lambda = 0.5", ".lambda", "greater than or equal to 1"),
        ("alpha = 0.5", "lamda = 1.0", ".lamda", "did you mean 'lambda'"),
        ("setup = 0.0", 'setup = "3GB"', ".setup", "unit"),
        ("setup = 0.0", 'scheduler = "here"', ".scheduler", "is no host; there are peer-1"),
        ("setup = 0.0", 'peers = ["peer-1", "peer-3"]', ".peers", "'peer-3', which is no"),
        ("setup = 0.0", 'peers = ["scheduler"]', ".peers", "which is the scheduler"),
        ("setup = 0.0", "peers = []", ".peers", "at least 1"),
        ("setup = 0.0", 'global_scheduler = "scheduler"', "", "go together"),
        ("setup = 0.0", 'sites = [{ scheduler = "scheduler" }]', "", "go together"),
    ],
)
def test_a_wrong_market_is_refused(three, old, new, key, words):
    error = refused(change(three, old, new))
    assert words in str(error)
    assert error.key == f"workload{key}"


MORE = SIZES + "\n[[workload.bundles]]\nflop = 1.0\ncount = "


@pytest.mark.parametrize(
    ("new", "key", "words"),
    [
        ("flop = 1.0\ncount = 0", ".0.count", "greater than or equal to 1"),
        ("flop = 1.0\ncount = 1000001", ".0.count", "1,000,001 tasks are too many to simulate"),
        (f"{SIZES}\nperiod = 1.0\ncopies = 333334", ".0.count", "1,000,002 tasks"),
        ("flop = 1.0\nperiod = 1.0\ncopies = 1001", ".0.copies", "1,001,000 tasks"),
        (f"{MORE}999998", ".1.count", "1,000,001 tasks"),
        (f"{SIZES}\ncopies = 3", ".0", "give it"),
        (f'{SIZES}\nclass = "neutral"', ".0", "byte says nothing beside class"),
        (f"{SIZES}\ngap = 3.0", ".0", "gap says nothing beside sizes"),
        ("count = 3", ".0", "give a class of tasks"),
        ("flop = 0.0", ".0", "neither compute nor move data"),
        ('file = "log.swf"\ncount = 3', ".0", "count says nothing"),
        ('file = "log.swf"', ".0.file", "no 100 jobs of a user"),
        ('log = "lcg"\nleast = 5', ".0", "least says nothing beside log"),
    ],
)
def test_wrong_bundles_are_refused(three, new, key, words):
    error = refused(change(three, SIZES, new))
    assert words in str(error)
    assert error.key == f"workload.bundles{key}"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('["1Gf", "2Gf"]', '["1Gf"]', "bandwidth has shape (2,); give (1,)"),
        ('speed = ["1Gf", "2Gf"], ', "", "give both or neither"),
        ('"50MBps"]', '"50MBps"], degree = 1.0', "say nothing beside speed"),
    ],
)
def test_wrong_peers_are_refused(three, old, new, words):
    error = refused(change(three, old, new))
    assert words in str(error)
    assert error.key == "platform.parameters"


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('setup = "10ms"', 'peers = ["peer-1-1"]', "", "peers says nothing beside sites"),
        ('"scheduler-2"', '"scheduler-3"', ".sites.1.scheduler", "scheduler 'scheduler-3'"),
        ('"scheduler-2"', '"scheduler-2", peers = ["peer-3"]', ".sites.1.peers", "is no host"),
        ('scheduler = "scheduler-2"', 'scheduler = "scheduler-1"', ".sites", "two hosts of a"),
        ('= "global-scheduler"', '= "nobody"', ".global_scheduler", "is no host"),
        ('setup = "10ms"', "lambda = 2.0", ".lambda", "from 6 to 20, as bundles differ"),
    ],
)
def test_a_wrong_grid_is_refused(two_sites, old, new, key, words):
    error = refused(change(two_sites, old, new))
    assert words in str(error)
    assert error.key == f"workload{key}"


def test_sites_of_peers_are_tables(two_sites):
    assert "a table each" in str(refused(change(two_sites, "[\n    { speed", "[\n    3, { speed")))


@pytest.mark.parametrize(
    ("name", "words"),
    [("mine:breaks_later", "ZeroDivisionError"), ("mine:priceless_later", "the price is nan")],
)
def test_a_policy_that_fails_in_the_course_of_the_run_is_told_where(two_sites, name, words):
    error = refused(change(two_sites, "market.optimum", name))
    assert words in str(error)
    assert error.key == "scheduler.name"
    if "breaks" in name:
        module = two_sites.parent / "mine.py"
        line = module.read_text().splitlines().index("        1 // 0") + 1
        assert f"({module}:{line})" in str(error)


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
    bundles = run(change(two_sites, 'setup = "10ms"', "n_max = 5")).listings[0]
    # Ten tasks fit on the two peers of the second site only.
    assert bundles.column("site")[:2] == ("two", "two")
