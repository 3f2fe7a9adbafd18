"""``[scheduler.lookahead]``: rollouts of the decisions of schedulers, and of the user's actors."""

import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simplugin.campaigns import load_campaign
from simplugin.core.errors import ScenarioError
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.scenarios.loading import scenario_from

GRAPHS = """\
[platform]
generator = "multi_cluster"
[[platform.parameters.clusters]]
name = "slow"
processors = 3
speed = "2Gf"
[[platform.parameters.clusters]]
name = "fast"
processors = 2
speed = "4Gf"
[workload]
kind = "taskgraphs"
[[workload.graphs]]
name = "wide"
generator = "daggen"
parameters = { n_tasks = 7, width = 0.8 }
[[workload.graphs]]
name = "long"
generator = "daggen"
parameters = { n_tasks = 4, width = 0.2 }
release = 1.0
[scheduler]
name = "taskgraphs.heft"
"""
BAGS = """\
[platform]
generator = "random_tree"
parameters = { n_hosts = 4, max_degree = 3, bandwidths = ["5MBps", "50MBps"] }
seed = 1
[workload]
kind = "bags"
[[workload.applications]]
name = "render"
master = "n0"
flop = "60Gf"
byte = "20MB"
count = 5
[[workload.applications]]
name = "search"
master = "n0"
flop = "5Gf"
byte = "20MB"
count = 5
[scheduler]
name = "bags.lag"
"""
ACTORS = """\
[platform]
generator = "multi_cluster"
[[platform.parameters.clusters]]
name = "one"
processors = 2
speed = "1Gf"
[workload]
kind = "actors"
[[workload.actors]]
function = "own:asks"
host = "one-1"
"""
OWN = """\
async def asks(me):
    for _ in range(2):
        await me.sleep_for((3, 1)[await me.choose(["long", "short"])])
def longest(result):
    return -result.clock
def last(choice):
    return len(choice.options) - 1
def none(choice):
    return []
"""


def run(text, tmp_path, *further, **values):
    """Run a scenario; values go to its scheduler and simulation."""
    (tmp_path / "own.py").write_text(OWN)
    file = tmp_path / "scenario.toml"
    file.write_text("\n".join([text, *further]))
    scenario = load_scenario(file)
    document = tomllib.loads(file.read_text())
    for key, value in values.items():
        document.setdefault(key, {}).update(value)
    return run_scenario(scenario_from(document, file) if values else scenario)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.sampled_from([GRAPHS, BAGS]),
    seed=st.integers(0, 10**6),
    at=st.integers(0, 3),
    most=st.sampled_from([2, 5]),
)
def test_never_worse_than_the_scheduler(text, seed, at, most, tmp_path):
    names = ("heft", "peft", "min_min", "wps_width") if text is GRAPHS else ("lag", "fcfs") * 2
    kind = "taskgraphs" if text is GRAPHS else "bags"
    scheduler, simulation = {"name": f"{kind}.{names[at]}"}, {"seed": seed}
    base = run(text, tmp_path, scheduler=scheduler, simulation=simulation)
    one, found = (
        run(
            text,
            tmp_path,
            scheduler=scheduler | {"lookahead": {"most": number, "workers": 1}},
            simulation=simulation,
        )
        for number in (1, most)
    )
    assert found.row["makespan"] <= base.row["makespan"]
    assert one.row["makespan"] == base.row["makespan"]
    assert one.row["branches"] == 0
    assert 0 < found.row["branches"] <= most * len(found.result.choices)


def test_own_actors_and_functions(tmp_path):
    base = run(ACTORS, tmp_path)
    assert (base.row["makespan"], base.row["branches"]) == (6, 0)
    found = run(ACTORS, tmp_path, "[workload.lookahead]")
    # Two options of the first choice, and one of the second: the other one's end is known.
    assert (found.row["makespan"], found.row["branches"]) == (2, 3)
    found = run(ACTORS, tmp_path, "[workload.lookahead]", 'metric = "own:longest"')
    assert found.row["makespan"] == 6
    table = ["[workload.lookahead]", 'base = "own:last"', 'metric = "own:longest"']
    assert run(ACTORS, tmp_path, *table).row["makespan"] == 6
    assert run(ACTORS, tmp_path, *table, 'candidates = "own:none"').row["makespan"] == 2


@pytest.mark.parametrize(
    ("text", "lines", "place", "key"),
    [
        (GRAPHS, ["[scheduler.lookahead]", "most = 0"], 1, "scheduler.lookahead.most"),
        (GRAPHS, ["[scheduler.lookahead]", 'metric = "speed"'], 1, "scheduler.lookahead.metric"),
        (GRAPHS, ["[scheduler.lookahead]", "horizon = 5"], 1, "scheduler.lookahead.horizon"),
        (BAGS, ["[scheduler.lookahead]", 'base = "own:no"'], 1, "scheduler.lookahead.base"),
        (ACTORS, ["[workload.lookahead]", 'metric = "own:no"'], 1, "workload.lookahead.metric"),
        (
            GRAPHS,
            ["[scheduler.lookahead]", "[simulation]", 'back_end = "threads"'],
            2,
            "simulation.back_end",
        ),
        (
            GRAPHS.replace("taskgraphs", "bundles").replace("heft", "x"),
            ["[scheduler.lookahead]"],
            0,
            "scheduler.lookahead",
        ),
    ],
)
def test_wrong_tables(text, lines, place, key, tmp_path):
    with pytest.raises(ScenarioError) as caught:
        run(text, tmp_path, *lines)
    line = len(text.splitlines()) + 2 + place
    assert f"scenario.toml:{line}: " in str(caught.value)
    assert key in str(caught.value)


def test_campaigns_sweep_it(tmp_path, simplugin):
    file = tmp_path / "campaign.toml"
    (tmp_path / "own.py").write_text(OWN)
    sweep = ["[campaign]", 'store = "s.sqlite"', "[sweep]", "scheduler.lookahead.most = [1, 3]"]
    file.write_text("\n".join([GRAPHS, *sweep]))
    assert len({each.key for each in load_campaign(file).jobs()}) == 2
    assert simplugin("campaign", "run", file, status=0)
    listed = simplugin("campaign", "query", file, "SELECT branches FROM results", status=0).stdout
    assert "0" in listed.split()
    wrong = file.read_text().replace("[1, 3]", '[1]\nscheduler.lookahead.base = ["own:no"]')
    file.write_text(wrong)
    line = 1 + file.read_text().splitlines().index('scheduler.lookahead.base = ["own:no"]')
    assert f"campaign.toml:{line}: " in simplugin("campaign", "run", file, status=1).stderr
