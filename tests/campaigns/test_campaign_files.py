"""Campaign files: what they say, and what is told of those that are wrong."""

import json
import math
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from naming import raises_naming

from simplugin.campaigns import campaign_checks
from simplugin.campaigns.campaign import Campaign, load_campaign
from simplugin.core.errors import ScenarioError

CAMPAIGN = """\
title = "Trees"
[campaign]
store = "out/trees.sqlite"
wall_limit = 60.0
memory_limit = "2GB"
retries = 3
keep = 4
[platform]
generator = "random_tree"
parameters = { n_hosts = 5, max_degree = 2 }
[workload]
kind = "bags"
applications = [{ name = "one", master = "n0", flop = "1Gf" }]
[scheduler]
name = "bags.fcfs"
[output]
directory = "somewhere"
[sweep]
platform.seed = { from = 1, to = 10 }
scheduler.name = ["bags.fcfs", "bags.lag"]
"workload.applications.0.count" = [10, 20]
"""


@pytest.fixture
def written(tmp_path):
    def write(*changes, text=CAMPAIGN):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "trees.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def loaded(written):
    return lambda *changes: load_campaign(written(*changes))


def refused(path, **options):
    with pytest.raises(ScenarioError) as caught:
        load_campaign(path, **options)
    return caught.value


def line_with(path, words):
    return path.read_text().partition(words)[0].count("\n") + 1


def test_a_campaign_is_its_jobs(written, tmp_path):
    path = written()
    campaign = load_campaign(path)
    found = (campaign.title, campaign.total, campaign.file, campaign.text)
    assert found == ("Trees", 40, str(path), CAMPAIGN)
    settings = campaign.settings
    assert settings.store == tmp_path / "out" / "trees.sqlite"
    found = (settings.wall_limit, settings.memory_limit, settings.retries, campaign.keep)
    assert found == (60.0, 2 * 10**9, 3, 4)
    jobs = list(campaign.jobs())
    assert [job.position for job in jobs] == list(range(40))
    assert len({job.key for job in jobs}) == 40
    assert {job.wall_limit for job in jobs} == {60.0}
    job = jobs[6]
    assert job == campaign.job(6)
    assert list(dict(job.varied).values()) == [2, "bags.lag", 10]
    document = job.arguments["document"]
    assert document["platform"]["seed"] == 2
    assert document["workload"]["applications"][0]["count"] == 10
    # Nothing is written; nothing of the campaign is left.
    assert set(document) == {"title", "platform", "workload", "scheduler"}
    assert Path(job.arguments["directory"]) == tmp_path
    assert job.arguments["name"] == "trees.toml"
    # It travels as plain data.
    assert json.loads(json.dumps(job.arguments)) == job.arguments
    assert pickle.loads(pickle.dumps(campaign)).job(6) == job


def test_defaults_and_a_scenario_alone(written, tmp_path):
    text = CAMPAIGN.partition("[sweep]")[0]
    head, _, rest = text.partition("[campaign]")
    campaign = load_campaign(written(text=head + "[platform]" + rest.partition("[platform]")[2]))
    assert campaign.total == 1
    settings = campaign.settings
    assert campaign.results() == tmp_path / "trees.sqlite"
    assert (settings.wall_limit, settings.memory_limit, settings.retries) == (3600.0, None, 1)
    assert [dict(job.varied) for job in campaign.jobs()] == [{}]
    assert campaign.job(0).arguments["keep"]
    boundless = load_campaign(written(("60.0", "inf"), ('"2GB"', "3000"), ("keep = 4", "keep = 0")))
    assert (boundless.settings.wall_limit, boundless.settings.memory_limit) == (math.inf, 3000)
    assert not any(job.arguments["keep"] for job in boundless.jobs())


def test_one_run_of_each_scheduler_is_kept_with_the_same_seed(loaded):
    chosen = '{ each = "scheduler.name", where = { platform.seed = 3 } }'
    kept = [
        job.varied
        for job in loaded(("keep = 4", f"keep = {chosen}")).jobs()
        if job.arguments["keep"]
    ]
    found = [(each["platform.seed"], each["scheduler.name"]) for each in kept]
    assert found == [(3, "bags.fcfs"), (3, "bags.lag")]


@pytest.mark.parametrize("keep", [1, 3, 10, 39, "all", 1000])
def test_what_is_kept_is_spread_over_the_campaign(loaded, keep):
    campaign = loaded(("keep = 4", f"keep = {json.dumps(keep)}"))
    kept = [job.position for job in campaign.jobs() if job.arguments["keep"]]
    count = min(keep, 40) if keep != "all" else 40
    assert len(kept) == count
    assert kept[0] == 0
    # One in each equal part, which follows no axis.
    assert [position * count // 40 for position in kept] == list(range(count))
    varied = [campaign.job(position).varied for position in kept]
    if count == 10:
        assert {each["scheduler.name"] for each in varied} == {"bags.fcfs", "bags.lag"}
        assert {each["workload.applications.0.count"] for each in varied} == {10, 20}


MISTAKES = [
    ("from = 1, to = 10", "from = -1, to = 10", "platform.seed is -1; give", "from = -1"),
    ("scheduler.name = [", "scheduler.nam = [", "key 'sweep.scheduler.nam'; did", ".nam = ["),
    ("retries = 3", "retry = 3", "unknown key 'campaign.retry'; did you mean", "retry ="),
    ('"2GB"', '"2 apples"', "apples", "apples"),
    ('"2GB"', '"infGB"', "memory_limit is 'infGB'; give", "infGB"),
    ("keep = 4", "keep = true", "keep is True; give a whole number or 'all'", "true"),
    ("keep = 4", "keep = { each = 'scheduler.nam' }", "did you mean 'scheduler.name'", "keep"),
    ("keep = 4", "keep = { of = 'x' }", "campaign.keep", "keep"),
    ("keep = 4", "inputs = ['no*.csv']", "'no*.csv'; it names no file", "no*.csv"),
    ("keep = 4", "inputs = ['.']", "it names no file", "inputs"),
    ("wall_limit = 60.0", "wall_limit = 0", "wall_limit is 0", "= 0"),
    ("[sweep]", "[sweeps]", "unknown key 'sweeps'; did you mean 'sweep'", "[sweeps]"),
    ("[sweep]", "[[variations]]\nscheduler.name = 5\n[sweep]", "again", "bags.lag"),
    ("[sweep]", "[[variations]]\nname = 3\n[sweep]", "variations.0.name is 3", "name = 3"),
    ("[sweep]", "[[variations]]\nsweep = 3\n[sweep]", "variations.0.sweep is 3", "sweep = 3"),
    ("[sweep]", "[[variations]]\nworkload.kind = 'x'\n[sweep]", "0.workload.kind is 'x'", "x'"),
    ("random_tree", "randm_tree", "no generator 'randm_tree'; did you", "randm_tree"),
    ("degree = 2", "degree = 2, seed = 4", "sweep.platform.seed is 1; ", "from = 1"),
    ("platform.seed", "platform.parameters.sed", "sweep.platform.parameters.sed: gen", "sed"),
    ("bags.lag", "bags.fcsf", "sweep.scheduler.name is 'bags.fcsf'; did", "bags.fcsf"),
    ("[sweep]", "[sweep]\nscheduler.parameters.bufer = [1]", "did you mean 'buffer'", "bufer"),
    ("[sweep]", "[sweep]\nsimulation.seed = [1, 2, 1]", "value 1 twice", "seed = [1, 2, 1]"),
    ("[sweep]", "[sweep]\noutput.gantt = ['a']", "no run of a campaign depends", "gantt"),
    ("[sweep]", "[sweep]\nsimulation.wall_limit = [1.0]", "does not depend on it", "[1.0]"),
    ("[sweep]", f"[sweep]\nsimulation.seed = [{10**400}]", "beyond all floats", "seed = ["),
    ("{ from = 1, to = 10 }", "{ from = 1, to = 9223372036854775807 }", "10^19 runs", "922337"),
    ("[10, 20]", "[10, 0]", "sweep.workload.applications.0.count is 0; give", "[10, 0]"),
]


@pytest.mark.parametrize(("old", "new", "words", "at"), MISTAKES)
def test_mistakes_are_told_with_line_and_remedy(written, old, new, words, at):
    path = written((old, new))
    error = refused(path)
    assert words in str(error)
    assert error.line == line_with(path, at)
    assert error.remedy


def test_all_that_is_wrong_is_told_at_once(written):
    path = written(('"bags.lag"]', '"bags.log", "bags.leg"]'), ("[10, 20]", '[10, "ten", 20]'))
    told = str(refused(path))
    assert [told.count(words) for words in ("'bags.log'", "'bags.leg'", "'ten'")] == [1, 1, 1]
    assert f"{path}:{line_with(path, 'ten')}: " in told


def test_a_scheduler_that_is_needed_must_be_there(written):
    path = written(('[scheduler]\nname = "bags.fcfs"\n', ""), ("scheduler.name = [", "#"))
    error = refused(path)
    assert "table [scheduler] is missing" in str(error)
    assert error.line == line_with(path, "[workload]")
    written(('[scheduler]\nname = "bags.fcfs"\n', ""))
    assert load_campaign(path).total == 40


def test_modules_that_are_looked_up_are_forgotten(written, tmp_path):
    (tmp_path / "own_policies.py").write_text("raise SystemExit('not here')\n")
    path = written(("bags.lag", "own_policies:one"))
    assert "cannot be imported: SystemExit: not here" in str(refused(path, imports=True))
    (tmp_path / "own_policies.py").write_text("def one(tree, bags): pass\n")
    assert load_campaign(path, imports=True).total == 40
    assert "own_policies" not in sys.modules
    assert str(tmp_path) not in sys.path


def test_who_asks_what_is_recorded_needs_no_right_values(written, tmp_path):
    (tmp_path / "own_policies.py").write_text("raise SystemExit('imported')\n")
    path = written(("bags.lag", "own_policies:one"), ("[10, 20]", '[10, "ten"]'))
    assert load_campaign(path, check=False).total == 40
    assert "'ten'" in str(refused(path))
    # More runs than a store can number are none of a store.
    path = written(("to = 10 }", "to = 9223372036854775807 }"))
    with pytest.raises(ScenarioError, match=r"10\^19 runs"):
        load_campaign(path, check=False)


def test_a_conflict_with_the_scenario_names_what_was_swept(written):
    other = 'platform.file = ["trees.toml"]'
    path = written(("platform.seed = { from = 1, to = 10 }", other))
    error = refused(path)
    assert error.line == line_with(path, "[platform]")
    assert "give either a file or a generator" in str(error)
    assert "platform.file = 'trees.toml'" in str(error)


def test_run_says_what_to_do_with_a_campaign(written, simplugin):
    path = written()
    done = simplugin("run", path)
    assert done.returncode == 1
    assert f"simplugin campaign run {path}" in done.stderr
    assert f"{path}:{line_with(path, '[campaign]')}:" in done.stderr


def test_variations_that_come_to_the_same_have_one_key(loaded):
    listed = "[[variations]]\nname = 'a'\n[[variations]]\nname = 'b'\n[sweep]"
    keys = [job.key for job in loaded(("[sweep]", listed)).jobs()]
    assert len(keys) == 80
    assert len(set(keys)) == 40
    assert keys[:40] == keys[40:]


def test_a_job_again_has_the_key_of_things_as_they_are_now(loaded, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1")
    (tmp_path / "mine.py").write_text("def policy(): pass\n")
    changes = [("keep = 4", 'keep = 4\ninputs = ["data/*.csv"]'), ('"bags.lag"', '"mine:policy"')]
    campaign = loaded(*changes)
    named, own = campaign.job(0), campaign.job(2)
    assert campaign.again(named) == named == campaign.job(0)
    (tmp_path / "mine.py").write_text("def policy(): 1\n")
    assert campaign.again(named) == named
    changed = campaign.again(own)
    assert changed == campaign.job(2) == replace(own, key=changed.key) != own
    identity = loaded(*changes).identity
    (tmp_path / "data" / "b.csv").write_text("1")
    assert campaign.again(named).key != named.key
    assert loaded(*changes).identity != identity


def test_of_many_numbers_some_are_checked(written, monkeypatch):
    check = Mock(wraps=campaign_checks.scenario_problems)
    monkeypatch.setattr(campaign_checks, "scenario_problems", check)
    long = f"[sweep]\nsimulation.seed = {[*range(5000), 0.5]}"
    # The last is one of them.
    assert "simulation.seed is 0.5; give" in str(refused(written(("[sweep]", long))))
    seen = {call.args[0]["simulation"]["seed"] for call in check.call_args_list}
    assert 190 < len(seen) <= 200
    assert {0, 0.5} <= seen


def test_its_identity_is_what_it_consists_of(loaded):
    first = loaded().identity
    same = loaded(("retries = 3", "retries = 5"), ("Trees", "Wood"), ("keep = 4", ""))
    assert first == same.identity
    names = 'scheduler.name = ["bags.fcfs", "bags.lag"]\n'
    others = [
        loaded(("to = 10", "to = 11")),
        loaded(('"bags.fcfs", "bags.lag"', '"bags.lag", "bags.fcfs"')),
        loaded(("n_hosts = 5", "n_hosts = 6")),
        # The order of keys is that of positions.
        loaded((names, ""), ("[sweep]\n", f"[sweep]\n{names}")),
    ]
    assert len({first, *(other.identity for other in others)}) == 5


def test_a_program_makes_the_same_campaign(written, tmp_path):
    path = written()
    from_file = load_campaign(path)
    base = written(text=CAMPAIGN.partition("[sweep]")[0])
    sweep = {"platform.seed": range(1, 11), "scheduler.name": ("bags.fcfs", "bags.lag")}
    sweep["workload.applications.0.count"] = [10, 20]
    made = Campaign.from_scenario(base, sweep, retries=5, store=tmp_path / "mine.sqlite")
    assert (made.file, made.text) == ("", "")
    assert [job.key for job in made.jobs()] == [job.key for job in from_file.jobs()]
    assert made.identity == from_file.identity
    assert (made.settings.retries, made.keep) == (5, 4)
    assert made.results() == tmp_path / "mine.sqlite"
    document = dict(from_file.variations.document)
    again = Campaign.from_scenario(document, sweep, directory=tmp_path)
    assert again.identity == from_file.identity
    assert again.results() == tmp_path / "campaign.sqlite"
    named = [{"name": "lag", "scheduler.name": "bags.lag"}]
    varied = Campaign.from_scenario(base, {"platform.seed": [3]}, named).job(0).varied
    assert varied == {"variation": "lag", "scheduler.name": "bags.lag", "platform.seed": 3}
    with raises_naming(ScenarioError, "sweep.scheduler.name", "'x'"):
        Campaign.from_scenario(base, {"scheduler.name": ["x"]})
    with raises_naming(ScenarioError, "'campaign.stor'"):
        Campaign.from_scenario(base, stor="x")
    with pytest.raises(ScenarioError):
        Campaign.from_scenario(written(), sweep)
