"""Actors that a scenario lists, the metrics that it names, and both of them swept."""

import pytest
from changed_scenarios import change, refused, run

from simplugin.campaigns import load_campaign, run_campaign
from simplugin.campaigns.store import StoreReader
from simplugin.cli.report import campaign_report
from simplugin.core.errors import ScenarioError

MODULE = """
import dataclasses
from simplugin.inputs.quantities import Work

@dataclasses.dataclass
class Done:
    end: float
    ends: list
    who: str

async def compute(me, flop: Work, times: int = 1, *labels, pause=0.0):
    await me.sleep_for(pause)
    await me.wait_all([me.exec_async(flop, label=str(labels)) for _ in range(times)])
    return Done(me.now, [me.now] * times, me.name)

async def idle(me):
    await me.sleep_for(1000.0)

async def nothing(me):
    return None

def yields(me):
    yield 1

def measured(result):
    return {"hosts": len(result.hosts), "first": result.returned[0].name, "even": True}

def broken(result):
    return {"x": 1 / 0}

def no_mapping(result):
    return 3
"""
# On bob two of 4 Gflop at once end after 4 s, on carol after 2 s.
SCENARIO = """
[platform]
file = "platform.xml"

[workload]
kind = "actors"

[[workload.actors]]
name = "pair"
function = "mine:compute"
hosts = ["bob", "c*"]
args = ["4Gf", 2]

[[workload.actors]]
function = "mine:nothing"
host = "alice"

[[workload.actors]]
function = "mine:idle"
host = "alice"
daemon = true

[simulation]
energy = true

[metrics]
function = "mine:measured"
makespan = { better = "less" }
even = { unit = "task" }
"""
METRICS = [
    ("value = 'pair.end', combine = 'sum'", 6.0),
    ("value = 'p*.end', combine = 'mean'", 3.0),
    ("value = 'pair.ends', combine = 'median'", 3.0),
    ("value = 'pair.ends', combine = 'count'", 4),
    ("value = 'pair.ends.1', combine = 'max'", 4.0),
    ("value = 'pair.end', hosts = 'carol'", 2.0),
    ("value = 'pair.who', hosts = 'bob'", "pair"),
    ("value = 'nothing'", None),
    ("value = 'idle.end'", None),
    ("value = 'idle.end', combine = 'sum'", 0.0),
    ("measure = 'utilisation', combine = 'mean'", (0 + 1 + 0.5) / 3),
    ("measure = 'utilisation', hosts = 'bob,carol', combine = 'min'", 0.5),
    ("measure = 'busy', combine = 'sum'", 6.0),
    ("measure = 'computed', hosts = 'c*'", 8e9),
    ("measure = 'energy', hosts = 'alice'", 4 * 95.0),
    ("measure = 'energy', hosts = 'carol'", 2 * 150.0 + 2 * 95.0),
    ("measure = 'queue', combine = 'max'", 2.0),
    ("measure = 'queue', hosts = 'carol'", 1.0),
    ("measure = 'longest_queue', combine = 'sum'", 4.0),
]


@pytest.fixture
def file(lab):
    (lab / "mine.py").write_text(MODULE)
    watts = '<prop id="wattage_per_state" value="95:100:150"/>'
    platform = lab / "platform.xml"
    platform.write_text(platform.read_text().replace('Gf"/>', f'Gf">{watts}</host>'))
    (lab / "own.toml").write_text(SCENARIO)
    return lab / "own.toml"


@pytest.mark.parametrize("back_end", ["coroutines", "threads"])
def test_metrics_are_those_of_the_closed_form(file, back_end):
    lines = [f"m{number} = {{ {keys} }}" for number, (keys, _) in enumerate(METRICS)]
    lines += ['each = { measure = "busy", hosts = "bob,carol", combine = "each", better = "more" }']
    change(file, "energy = true", f"energy = true\nback_end = '{back_end}'")
    file.write_text(file.read_text() + "\n".join(lines))
    row = run(file).row
    expected = [value for _, value in METRICS]
    assert [row[f"m{number}"] for number in range(len(METRICS))] == pytest.approx(expected)
    by_host = [row.metric(f"each.{host}") for host in ("bob", "carol")]
    assert [(each.value, each.unit, each.sense) for each in by_host] == [
        (pytest.approx(4.0), "s", "max"),
        (pytest.approx(2.0), "s", "max"),
    ]
    assert (row["hosts"], row["first"], row["even"]) == (3, "pair", 1)
    assert (row.metric("even").unit, row.metric("makespan").sense) == ("task", "min")
    assert row["makespan"] == pytest.approx(4.0)


ARGUMENTS = [
    ('["4Gf"]', 2.0),
    ('["4Gf", 2, "a label", "another"]', 4.0),
    ("{ flop = 4e9, times = 2 }", 4.0),
    ("{ flop = 4_000_000_000, pause = 1.5 }", 3.5),
]


@pytest.mark.parametrize(("args", "end"), ARGUMENTS)
def test_arguments_by_position_and_by_keyword(file, args, end):
    scenario = change(file, '["4Gf", 2]', args)
    assert run(scenario).row["makespan"] == pytest.approx(end)


def test_actors_beside_a_deployment(file):
    functions = '{ send = "my_actors:send", work = "my_actors:work" }'
    beside = f'kind = "actors"\ndeployment = "deployment.xml"\nfunctions = {functions}'
    returned = run(change(file, 'kind = "actors"', beside)).result.returned
    names = ["send", "work", "pair", "pair", "nothing", "idle"]
    assert [each.name for each in returned] == names


ADDED = 'even = { unit = "task" }'
# What is changed, the key of the error, and the start of its line.
MISTAKES = [
    ('args = ["4Gf", 2]', "", "args.flop", "[[workload.actors]]", "is missing"),
    ('"4Gf", 2', '"4GB", 2', "args.0", "args", "unknown unit"),
    ('["4Gf", 2]', "{ flop = 1, tims = 2 }", "args.tims", "args", "did you mean 'times'"),
    ('["4Gf", 2]', "3", "args", "args", "give a list, or a table"),
    ('["bob", "c*"]', '"bbo"', "", "[[workload.actors]]", "did you mean 'bob'"),
    ('hosts = ["bob", "c*"]', "", "", "[[workload.actors]]", "give either host or hosts"),
    ("mine:compute", "mine:comptue", "function", "function", "has no 'comptue'"),
    ("mine:nothing", "mine:yields", "", "[[workload.actors]]\nfunction", "is not an async"),
    ("mine:measured", "mine:broken", "metrics.function", "function", "ZeroDivisionError"),
    ("mine:measured", "mine:no_mapping", "metrics.function", "function", "return a mapping"),
    ("unit =", "units =", "metrics.even.units", "even", "did you mean 'unit'"),
    ("better =", "unit = 'h', better =", "metrics.makespan.unit", "makespan", "it is in s"),
    ("even =", "evn =", "metrics.evn", "evn", "did you mean 'even'"),
    (ADDED, "x = { value = 'pair.end' }", "metrics.x", "x", "add combine"),
    (ADDED, "x = { value = 'pare.end' }", "metrics.x", "x", "did you mean 'pair'"),
    (ADDED, "x = { value = 'nothing.end' }", "metrics.x", "x", "return a mapping"),
    (ADDED, "x = { value = 'pair.ned', hosts = 'bob' }", "metrics.x", "x", "no 'ned'"),
    (ADDED, "x = { value = 'pair.ends', hosts = 'bob' }", "metrics.x", "x", "give a number"),
    (ADDED, "x = { value = 'pair.who', combine = 'sum' }", "metrics.x", "x", "texts have no sum"),
    (ADDED, "x = { measure = 'busi' }", "metrics.x.measure", "x", "utilisation, busy"),
    (ADDED, "x = { measure = 'busy', hosts = 'x*' }", "metrics.x.hosts", "x", "no host"),
    (ADDED, "x = { measure = 'busy', value = 'x' }", "metrics.x", "x", "either value or measure"),
    (ADDED, "hosts = { measure = 'busy', combine = 'max' }", "metrics.hosts", "hosts", "rename it"),
    (ADDED, "x = { measure = 'queue', combine = 'max' }", "metrics.x", "x", "trace = true"),
]


@pytest.mark.parametrize(("old", "new", "key", "start", "told"), MISTAKES)
def test_mistakes_are_told_with_key_and_line(file, old, new, key, start, told):
    if "trace" in told:
        change(file, "energy = true", "trace = false")
    error = refused(change(file, old, new), told)
    assert key in error.key
    lines = file.read_text().split("\n")
    assert "\n".join(lines[error.line - 1 :]).startswith(start)


CAMPAIGN = """
[campaign]
keep = { each = "workload.actors.pair.args.1", where = { simulation.seed = 2 } }
[metrics.end]
value = "pair.end"
combine = "sum"
unit = "s"
better = "less"
[sweep]
simulation.seed = [1, 2, 3]
workload.actors.pair.args.1 = [2, 4]
"""


def test_a_campaign_with_its_report(file):
    path = file.with_name("campaign.toml")
    path.write_text(SCENARIO + CAMPAIGN)
    campaign = load_campaign(path)
    assert run_campaign(campaign, jobs=1).done == 6
    with StoreReader(campaign.results()) as reader:
        table, units = reader.frame(), reader.frame().attrs["units"]
        report = campaign_report(reader, reader.latest())
    assert table["workload.actors.pair.args.1"].tolist() == [2, 4] * 3
    assert table["end"].tolist() == pytest.approx([6.0, 12.0] * 3)
    end = report.column("end")
    assert (units["end"], end.unit, end.sense) == ("s", "s", "min")
    assert report.column("makespan").sense == "min"
    assert [kept.position for kept in report.kept] == [2, 3]
    [hosts] = report.kept[0].listings
    # Two executions at a time: on bob all the time, on carol half of it; alice only idles.
    assert hosts.column("host") == ("bob", "carol", "alice")
    assert hosts.column("longest queue") == (2.0, 2.0, 0.0)
    assert hosts.column("queue") == pytest.approx([2.0, 1.0, 0.0])
    assert report.facts["seeds"] == "simulation.seed 1 to 3"


WRONG_CAMPAIGNS = [
    ("args.1 = [2, 4]", "args.1 = [2, 2.5]", "sweep.workload.actors.pair.args.1"),
    ("args.1 = [2, 4]", "function = ['mine:compute', 'mine:copmute']", "copmute"),
    ("args.1 = [2, 4]", "args.9 = [2, 4]", "0 to 1"),
    ("pair.args.1 = [2, 4]", "pear.args.1 = [2, 4]", "pair"),
    ("mine:measured", "mine:measure", "'measure'"),
]


@pytest.mark.parametrize(("old", "new", "told"), WRONG_CAMPAIGNS)
def test_campaigns_check_functions_and_arguments_before_they_run(file, old, new, told):
    path = file.with_name("campaign.toml")
    path.write_text(SCENARIO + "[sweep]\nworkload.actors.pair.args.1 = [2, 4]\n")
    with pytest.raises(ScenarioError) as caught:
        load_campaign(change(path, old, new), imports=True)
    assert told in str(caught.value)


def test_other_kinds_have_metrics_of_their_own_too(two):
    text = two.read_text() + '[metrics.kept]\nmeasure = "busy"\ncombine = "sum"\n'
    two.write_text(text)
    # Two tasks of 8 Gflop on processors of 1 Gflop/s.
    assert run(two).row["kept"] > 0
