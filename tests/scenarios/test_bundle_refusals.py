"""Scenarios of bundles and of task graphs that are refused with key and line."""

import pytest
from changed_scenarios import change, refused, run

from simplugin.core.errors import WorkloadFileError
from simplugin.scenarios.kinds import market_workload

SIZES = 'flop = "1Gf"\nbyte = "100MB"\ncount = 3'


def test_a_wrong_log_is_refused_with_its_line(three):
    log = three.parent / "log.swf"
    log.write_text(log.read_text().replace("120 0 30", "120 0 half"))
    with pytest.raises(WorkloadFileError) as caught:
        run(change(three, SIZES, 'file = "log.swf"'))
    assert (caught.value.file, caught.value.line) == (log, 3)


def test_a_log_of_unknown_users_has_no_bundle(three):
    log = three.parent / "log.swf"
    lines = [line.split() for line in log.read_text().split("\n") if line and line[0] != ";"]
    log.write_text("\n".join(" ".join([*line[:11], "-1", *line[12:]]) for line in lines))
    words = "of no known user; give another log; no least and no gap can help"
    refused(change(three, SIZES, 'file = "log.swf"\nleast = 1'), words, f"{BUNDLES}.0.file")


def scheduler(name, parameters=""):
    """Return the change to another scheduler."""
    return '"market.optimum"', f'"{name}"\nparameters = {{ {parameters} }}'


RATE, SETUP, PARAMETERS = "alpha = 0.5", "setup = 0.0", "scheduler.parameters"
PEERS, BUNDLES = "platform.parameters", "workload.bundles"
OPTIMUM = "market.optimum"
MORE = SIZES + "\n[[workload.bundles]]\nflop = 1.0\ncount = "
OWN = 'decides = "negotiation"'
# Texts that are replaced by others, the key that is named, and words of the message.
WRONG = [
    (*scheduler(OPTIMUM, "mu = 1"), f"{PARAMETERS}.mu", "takes counters"),
    (*scheduler(OPTIMUM, "seed = 1"), f"{PARAMETERS}.seed", "simulation.seed"),
    (*scheduler(OPTIMUM, 'counters = "lost"'), f"{PARAMETERS}.counters", "give 'reset'"),
    (*scheduler(OPTIMUM, 'dispatch = "first_idle"'), f"{PARAMETERS}.dispatch", "one site"),
    (*scheduler(OPTIMUM, 'dispatch = "first_idel"'), f"{PARAMETERS}.dispatch", "did you mean"),
    (*scheduler("mine:all_to_one", "pear = 1"), f"{PARAMETERS}.pear", "did you mean 'peer'"),
    (*scheduler("mine:all_to_one", "peer = 7"), PARAMETERS, "0 tasks are placed"),
    (*scheduler("mine:too_few"), "scheduler.name", "place all 3"),
    (*scheduler("mine:nothing"), "scheduler.name", "cannot be used"),
    (*scheduler("mine:priceless"), "scheduler.name", "price"),
    (*scheduler(OPTIMUM, 'decides = "negotiation"'), f"{PARAMETERS}.decides", "has no effect"),
    (*scheduler("mine:in_turn", f"{OWN}, frist = 1"), f"{PARAMETERS}.frist", "'first'"),
    (*scheduler("mine:in_turn", f"{OWN}, breaks = true"), PARAMETERS, "mine.py:"),
    (*scheduler("mine:scalar", OWN), "scheduler.name", "return a BundleNegotiation"),
    (RATE, "alpha = 1e-17", "workload.alpha", "give a rate from 1.2e-16 on"),
    (RATE, "alpha = { peer-1 = 0.5 }", "workload.alpha", "no rate of peer 'peer-2'"),
    (RATE, "alpha = { peer-3 = 0.5 }", "workload.alpha.peer-3", "did you mean 'peer-"),
    (RATE, "discounts = [1.0, 0.5, 0.6]", "workload.discounts", "the one before: task 3 has 0.6"),
    (RATE, RATE + "\ndiscounts = [1.0]", "workload.alpha", "cannot be combined with discounts"),
    (RATE, "n_max = 1", "workload.n_max", "(m > n N_max); raise N_max to 2"),
    (RATE, "n_max = 3\nlambda = 1.0", "workload.lambda", "cannot be combined"),
    (RATE, "lamda = 1.0", "workload.lamda", "did you mean 'lambda'"),
    (SETUP, 'scheduler = "here"', "workload.scheduler", "is no host; there are peer-1"),
    (SETUP, 'peers = ["peer-1", "peer-3"]', "workload.peers", "'peer-3', which is no"),
    (SETUP, 'peers = ["scheduler"]', "workload.peers", "which is the scheduler"),
    (SETUP, 'global_scheduler = "scheduler"', "workload", "go together"),
    (SIZES, "flop = 1.0\ncount = 1000001", f"{BUNDLES}.0.count", "1,000,001 tasks are too many"),
    (SIZES, f"{SIZES}\nperiod = 1.0\ncopies = 333334", f"{BUNDLES}.0.count", "1,000,002 tasks"),
    (SIZES, f"{MORE}999998", f"{BUNDLES}.1.count", "1,000,001 tasks"),
    (SIZES, f"{SIZES}\ncopies = 3", f"{BUNDLES}.0.copies", "give a period"),
    (SIZES, f"{SIZES}\ngap = 3.0", f"{BUNDLES}.0.gap", "gap cannot be combined with sizes"),
    (SIZES, "count = 3", f"{BUNDLES}.0", "give a class of tasks"),
    (SIZES, "flop = 0.0", f"{BUNDLES}.0", "neither compute nor move data"),
    (SIZES, 'file = "log.swf"', f"{BUNDLES}.0.file", "5 of bundles that are too small"),
    (SIZES, 'log = "lcg"\nleast = 5', f"{BUNDLES}.0.least", "least cannot be combined with log"),
    ('["1Gf", "2Gf"]', '["1Gf"]', PEERS, "bandwidth has shape (2,); give (1,)"),
    ('speed = ["1Gf", "2Gf"], ', "", PEERS, "give both or neither"),
    ('"50MBps"]', '"50MBps"], degree = 1.0', PEERS, "no effect with speed"),
]


SETUP_OF_GRID, SECOND = 'setup = "10ms"', '"scheduler-2"'
WRONG_GRIDS = [
    (SETUP_OF_GRID, 'peers = ["peer-1-1"]', "workload.peers", "peers cannot be combined"),
    (SECOND, '"scheduler-3"', "workload.sites.1.scheduler", "scheduler 'scheduler-3'"),
    (SECOND, f'{SECOND}, peers = ["peer-3"]', "workload.sites.1.peers", "is no host"),
    (SECOND, '"scheduler-1"', "workload.sites", "two hosts of a"),
    ('= "global-scheduler"', '= "nobody"', "workload.global_scheduler", "is no host"),
    (SETUP_OF_GRID, "lambda = 2.0", "workload.lambda", "from 6 to 20, as bundles differ"),
    (*scheduler("mine:priceless_later"), "scheduler.name", "the price is nan"),
    # The larger of the two.
    (SETUP_OF_GRID, "n_max = 4", "workload.n_max", "'first-1': 10 tasks cannot be placed: 2 peers"),
]


def test_a_policy_that_fails_in_the_course_of_the_run_is_told_where(two_sites):
    path = change(two_sites, *scheduler("mine:breaks_later"))
    module = path.with_name("mine.py")
    line = module.read_text().splitlines().index("        1 // 0") + 1
    error = refused(path, "ZeroDivisionError", "scheduler.name")
    assert f"({module}:{line})" in str(error)


def test_prices_that_are_infinite_are_refused(three):
    change(three, "= 10.0", "= 1e308", SIZES, "flop = 10.0\ncount = 3")
    refused(three, "'bundle' has no market: ", "workload")


def test_tasks_of_a_log_may_be_too_many(three, monkeypatch):
    monkeypatch.setattr(market_workload, "MOST_TASKS", 4)
    error = refused(change(three, SIZES, 'file = "log.swf"\nleast = 2'), "5 tasks are too many")
    assert "give the first bundles of the log only" in str(error)
    assert error.key == "workload.bundles.0.file"


def test_a_bundle_that_one_site_takes_is_not_refused(two_sites):
    bundles = run(change(two_sites, 'setup = "10ms"', "n_max = 5")).listings[0]
    # Ten tasks fit on the two peers of the second site only.
    assert bundles.column("site")[:2] == ("two", "two")


WRONG_PARAMETERS = [
    ("es", 'mdoe = "planned"', "mdoe", "did you mean 'mode'"),
    ("es", 'procedure = "hcpa"', "procedure", "knows no shares"),
    ("heft", 'packing = "off"', "packing", "no effect"),
    ("mheft", 'mode = "online"', "mode", "is planned"),
    ("es", 'decides = "schedule"', "decides", "no effect"),
    ("es", 'revision = "now"', "revision", "give 'none', 'arrival'"),
    ("es", 'revision = "mine:nobody"', "revision", "has no 'nobody'"),
    ("es", 'revision = "mine:nonsense"', "revision", "return a Revision"),
    ("es", 'revision = "rebalanced"', "revision", "only 'taskgraphs.balanced'"),
    ("es", 'revision = "event", mode = "planned"', "revision", "mode is 'planned'"),
    ("es", 'revision = "event", ordering = "global"', "revision", "is 'global'"),
    ("es", 'revision = "event", procedure = "scrap"', "revision", "'scrap_max'"),
    ("es", 'revision = "event", baseline = "share"', "revision", "own makespans"),
    ("balanced", 'revision = "rebalanced", rounds = 2', "rounds", "no effect"),
]


FILE, ES, GRAPH = 'file = "one.dot"', '"taskgraphs.es"', "workload.graphs.0"
MAPPING = '"mine:side_by_side"\nparameters.decides = "mapping"\nparameters.mode = "planned"'
HOST_MODEL = '[simulation.options]\nhost_model = "default"\n[output]'
SCHEDULE = '"mine:side_by_side"\nparameters.decides = "schedule"'
ALLOCATIONS = '"mine:on_two"\nparameters.decides = "allocations"'
OTHERS = f'{ALLOCATIONS}\nparameters.procedure = "scrap"'
EVENTS = f'{ALLOCATIONS}\nparameters.revision = "event"'
WRONG_SCHEDULERS_AND_GRAPHS = [
    (ES, MAPPING, "scheduler.parameters.mode", "decides online"),
    (ES, '"taskgraphs.wps_cp"\nparameters.mu = 2.0', "scheduler.parameters", "from 0 to 1"),
    (ES, '"mine:nonsense"', "scheduler.name", "one for each graph"),
    (ES, SCHEDULE, "scheduler.name", "give a Schedule"),
    (ES, SCHEDULE.replace("side_by_side", "hasty"), "scheduler.name", "plan within"),
    (ES, '"mine:broken"', "scheduler.name", "); shares are asked for: is 'decides' missing"),
    (ES, ALLOCATIONS, "scheduler.name", "an Allocation for each of 2 graphs"),
    (ES, OTHERS, "scheduler.parameters.procedure", "no effect"),
    (ES, EVENTS, "scheduler.parameters.revision", "no shares"),
    (FILE, 'file = "two.dot"', f"{GRAPH}.file", "there is no file"),
    (FILE, f'{FILE}\ngenerator = "fft"', GRAPH, "either a file, a generator or flop"),
    (FILE, f"{FILE}\nseed = 3", f"{GRAPH}.seed", "seed goes with a generator, not with a file"),
    (FILE, 'generator = "fff"', f"{GRAPH}.generator", "did you mean 'fft'"),
    (FILE, 'generator = "fft"\nparameters.points = 3', f"{GRAPH}.parameters", "power of two"),
    (FILE, 'generator = "fft"', f"{GRAPH}.generator", "has no points"),
    ("[output]", HOST_MODEL, "simulation.options.host_model", "L07"),
    ("gantt =", "curves = 'x.png'\ngantt =", "output.curves", "has no curves"),
]


WRONG_SCHEDULERS_AND_GRAPHS += [
    (ES, f'"taskgraphs.{name}"\nparameters = {{ {parameters} }}', f"{PARAMETERS}.{key}", words)
    for name, parameters, key, words in WRONG_PARAMETERS
]
REFUSED = {"three": WRONG, "two_sites": WRONG_GRIDS, "two": WRONG_SCHEDULERS_AND_GRAPHS}


@pytest.mark.parametrize(
    ("scenario", "old", "new", "key", "words"),
    [(name, *each) for name, wrong in REFUSED.items() for each in wrong],
)
def test_wrong_scenarios_are_refused(request, scenario, old, new, key, words):
    refused(change(request.getfixturevalue(scenario), old, new), words, key)


def test_a_wrong_file_is_refused_with_its_line(two):
    (two.parent / "one.dot").write_text("digraph one {\n only [size=-1]\n}\n")
    with pytest.raises(WorkloadFileError) as caught:
        run(two)
    assert (caught.value.file, caught.value.line) == (two.parent / "one.dot", 2)


def test_a_graph_without_work_is_named(two):
    (two.parent / "none.dot").write_text('digraph none { a [size="0"] }')
    more = '[[workload.graphs]]\nfile = "none.dot"\n\n[scheduler]'
    two.write_text(two.read_text().replace("[scheduler]", more))
    graphs = run(two).listings[0]
    assert graphs.column("own")[2] == pytest.approx(0.0, abs=1e-9)
    assert graphs.column("gap")[2] is None
    refused(change(two, "taskgraphs.es", "taskgraphs.ps_work"), "'none' has nothing to compute")
