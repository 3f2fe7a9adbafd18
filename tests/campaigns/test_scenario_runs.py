"""Runs of campaigns: the same as of the scenario itself, and what is kept of them."""

import json
import os
import sys
from pathlib import Path

import pytest

from simplugin.campaigns.campaign import Campaign, load_campaign
from simplugin.campaigns.campaign_checks import with_line
from simplugin.core.errors import ScenarioError
from simplugin.inputs.references import resolve
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import ResultTable
from simplugin.scenarios.importing import importable
from simplugin.scenarios.loading import load_scenario, run_scenario
from simplugin.scenarios.outputs import from_document
from simplugin.scenarios.scenario_runs import run

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios" / "campaigns").glob("*.toml"))

BAGS = """
[platform]
generator = "star"
parameters = { workers = 2 }
[workload]
kind = "bags"
applications = [{ name = "one", master = "master", flop = "1Gf", byte = "1MB", count = 5 }]
[scheduler]
name = "bags.fcfs"
[simulation]
trace = true
"""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_first_run_of_shipped_campaigns_works(path):
    campaign = load_campaign(path)
    # Small enough for a look.
    assert 10 <= len({job.key for job in campaign.jobs()}) == campaign.total <= 100
    job = campaign.job(0)
    measured = resolve(job.target)({**job.arguments, "keep": False})
    assert measured.contents is None
    assert measured.row.best is not None
    assert measured.row.gap >= -1e-9


def test_a_run_is_that_of_the_scenario(lab):
    # By the closed form: 200 MB at 100 MB/s, then work at 2 Gflop/s.
    path = lab / "scenario.toml"
    sweep = {"simulation.options.bandwidth_factor": [1.0, 0.5]}
    whole, half = (run(job.arguments) for job in Campaign.from_scenario(path, sweep).jobs())
    assert whole.row["makespan"] == pytest.approx(2.0 + 3.0, rel=1e-9)
    assert half.row["makespan"] == pytest.approx(4.0 + 3.0, rel=1e-9)
    # The same as by itself, to the last bit.
    outcome = run_scenario(load_scenario(path))
    alone = run(load_campaign(path).job(0).arguments)
    assert alone.digest == outcome.result.digest()
    assert alone.row.metrics == outcome.row.metrics
    assert alone.contents["activities"]["columns"]["label"] == ["data", "crunch"]
    assert json.loads(json.dumps(alone.contents, allow_nan=False)) == alone.contents


def test_what_is_kept_changes_nothing_of_what_is_recorded(tmp_path):
    (tmp_path / "bags.toml").write_text(BAGS)
    arguments = load_campaign(tmp_path / "bags.toml").job(0).arguments
    kept, bare = (run({**arguments, "keep": keep}) for keep in (True, False))
    assert (kept.digest, kept.row) == (bare.digest, bare.row)
    assert bare.contents is None
    assert {from_document(CurvePlot, each).name for each in kept.contents["figures"]}
    tables = [from_document(ResultTable, each) for each in kept.contents["listings"]]
    tasks = next(table.column("tasks") for table in tables if table.title == "Applications")
    assert sum(tasks) == 5
    # Kinds that trace only for a chart are simulated again for it.
    columns = kept.contents["activities"]["columns"]
    assert columns["kind"].count("exec") == 5
    assert max(columns["end"]) == pytest.approx(bare.row["makespan"], rel=0.2)
    assert list(tmp_path.iterdir()) == [tmp_path / "bags.toml"]


ERRORS = [
    ("[[variations]]\nworkload.applications.0.master = 'nobody'", 0, "'nobody'"),
    ("[[variations]]\nplatform.parameters = { workers = -2 }", 0, "workers = -2"),
    ("[sweep]\nplatform.parameters.workers = [2, -2]", 1, "[2, -2]"),
]


@pytest.mark.parametrize(("varied", "position", "words"), ERRORS)
def test_errors_have_the_line_of_the_campaign_where_it_is_varied(tmp_path, varied, position, words):
    path, text = tmp_path / "bags.toml", BAGS + varied
    path.write_text(text)
    arguments = load_campaign(path).job(position).arguments
    line = text.partition(words)[0].count("\n") + 1
    with pytest.raises(ScenarioError) as caught:
        run(arguments)
    located = with_line(caught.value, arguments)
    assert (located.file, located.line) == (path, line)
    # What all runs have alike is not carried by each.
    assert len(json.dumps(arguments)) < 600
    # The file that it came from is another one now: its lines would mislead.
    path.write_text("\n" + text)
    assert with_line(caught.value, arguments).line is None


def test_a_process_that_goes_on_sees_modules_that_changed(tmp_path, monkeypatch):
    # As most users have it, so that there could be byte code.
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    # Directories without __init__.py are packages too, and give other keys when they change.
    (tmp_path / "plain" / "deep").mkdir(parents=True)
    module = tmp_path / "plain" / "deep" / "own.py"
    for value in (2, 3):
        module.write_text(f"def one():\n    return {value}\n")
        os.utime(module, (1.7e9, 1.7e9))  # within a second, or with the dates of an archive
        with importable(tmp_path, ["plain.deep.own"]):
            assert resolve("plain.deep.own:one")() == value
    assert not [name for name in sys.modules if name.partition(".")[0] == "plain"]
