"""Campaigns from a script or a notebook."""

import json
import subprocess
import sys
from threading import Lock

import numpy as np
import pytest

from simplugin import campaign
from simplugin.campaigns import Campaign, load_campaign, results, run_campaign
from simplugin.core.errors import SimpluginError
from simplugin.scenarios import load_scenario
from simplugin.scenarios.user_functions import UserFunction

SCALE = {"by": 3.0}


def scaled(parameters):
    """Uses what is in no module that another process finds."""
    offset = np.float64(parameters.get("offset", 0))
    return {"y": SCALE["by"] * parameters["x"] + offset, "even": parameters["x"] % 2 == 0}


def test_a_function_is_run_once_for_each_point(tmp_path):
    sweep = {"x": range(1, 4), "offset": [0.0, 0.5]}
    done = campaign(scaled, sweep, directory=tmp_path, jobs=1)
    assert (done.summary.done, done.summary.before) == (6, 0)
    found = [(row["x"], row["offset"], row["y"], row["even"]) for row in done.rows]
    expected = [(x, b, 3 * x + b, int(x % 2 == 0)) for x in (1, 2, 3) for b in (0.0, 0.5)]
    assert found == expected
    assert done.to_pandas()["y"].tolist() == [row["y"] for row in done.rows]
    again = campaign(scaled, sweep, directory=tmp_path, jobs=1)
    assert (again.summary.before, again.rows) == (6, done.rows)
    # A program may put the store anywhere.
    store = tmp_path.parent / f"{tmp_path.name}.sqlite"
    assert campaign(scaled, sweep, directory=tmp_path, store=store, jobs=1).rows[0]["y"] == 3.0
    more = campaign(scaled, {**sweep, "x": range(1, 5)}, directory=tmp_path, jobs=1)
    assert (more.summary.done, more.summary.before) == (8, 6)
    page = done.report(tmp_path / "page", figures="none")
    assert page == tmp_path / "page" / "index.html"
    assert "scaled" in page.read_text(encoding="utf-8")


def fails_above_one(parameters):
    if parameters["x"] > 1 and not parameters["flag"]:
        raise ValueError("too large")
    return {"y": 0} if parameters["x"] < 3 else [0]


def test_what_fails_is_told_with_a_warning_and_in_its_row(tmp_path):
    sweep = {"x": [1, 2], "flag": [False]}
    variations = [{"name": "two"}, {"name": "three", "flag": True, "x": 3}]
    with pytest.warns(RuntimeWarning):
        done = campaign(fails_above_one, sweep, directory=tmp_path, jobs=1)
    assert [row["status"] for row in done.rows] == ["done", "failed"]
    # No frame of this package stands before the user's.
    assert done.rows[1]["error"].splitlines()[1].startswith(f'  File "{__file__}"')
    with pytest.warns(RuntimeWarning, match="returns list; return a dict"):
        campaign(fails_above_one, None, variations[1:], directory=tmp_path, jobs=1)


REFUSED = [
    (scaled, {"sweep": {"x": 3}}, r"sweep\.x is 3; give a list"),
    (scaled, {"sweep": {"x": [1]}, "stor": "x"}, "did you mean 'store'"),
    (Lock().acquire, {"sweep": {"x": [1]}}, "cannot be sent to other processes"),
    ("nowhere.toml", {}, "No such file"),
]


@pytest.mark.parametrize(("what", "given", "words"), REFUSED)
def test_what_makes_no_campaign_is_refused(what, given, words, tmp_path):
    with pytest.raises(SimpluginError, match=words):
        campaign(what, directory=tmp_path, **given)


SOURCE = """
import math
LIMIT, NAMES, OTHER = 3, {"b", "a", "c"}, 1

class Part:
    def __init__(self, x):
        self.x = x

    def double(self):
        return 2 * self.x

def inner(x):
    return math.sin(x) if x in NAMES else LIMIT

def made(power):
    def function(parameters):
        return {"y": Part(inner(parameters["x"])).double() ** power}
    return function

function = made(power=1)
"""
OTHER = [
    *[("LIMIT, NAMES, OTHER = 3", "LIMIT, NAMES, OTHER = 4"), ('"c"', '"d"'), ("2 *", "3 *")],
    *[("math.sin", "math.cos"), ("power=1", "power=2"), ('["x"]', '["z"]')],
]


def digest(source):
    program = {"__name__": "__main__"}
    exec(compile(source, f"cell {hash(source)}", "exec"), program)
    return UserFunction.of(program["function"]).digest


def test_another_code_is_another_function():
    unused = SOURCE.replace(", 1\n", ", 2\n")
    moved = SOURCE.replace("def inner", "# A comment.\n\n\ndef inner")
    assert digest(SOURCE) == digest(unused) == digest(moved)
    changed = {digest(SOURCE.replace(old, new)) for old, new in OTHER}
    assert len(changed | {digest(SOURCE)}) == len(OTHER) + 1


SCRIPT = """
import json
import helper
import simplugin

KINDS = {"wide", "long", "flat"}

def function(parameters):
    return {"y": helper.scaled(parameters["x"]), "known": parameters["kind"] in KINDS}

done = simplugin.campaign(function, {"x": [1, 2], "kind": ["wide"]}, jobs=1)
print(json.dumps([done.summary.before, [row["y"] for row in done.rows]]))
"""


def test_a_script_runs_again_what_a_module_beside_it_changes(tmp_path):
    def told(seed):
        done = subprocess.run(
            [sys.executable, "script.py"],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": str(seed)},
            check=True,
            stdout=subprocess.PIPE,
        )
        return json.loads(done.stdout)

    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("def scaled(x): return 2 * x\n")
    assert told(1) == [0, [2, 4]]
    assert told(2) == [2, [2, 4]]
    (tmp_path / "helper.py").write_text("def scaled(x): return 5 * x\n")
    assert told(1) == [0, [5, 10]]


SCENARIO = """
[platform]
generator = "random_tree"
parameters = { n_hosts = 3, max_degree = 2 }
[workload]
kind = "bags"
[[workload.applications]]
name = "render"
master = "n0"
flop = 1e9
byte = 1e6
count = 5
[scheduler]
name = "bags.fcfs"
"""


def test_a_scenario_has_the_keys_and_the_store_of_its_campaign_file(tmp_path):
    file, sweep = tmp_path / "scenario.toml", {"platform.seed": [1, 2]}
    file.write_text(SCENARIO)
    (tmp_path / "whole.toml").write_text(SCENARIO + "[sweep]\nplatform.seed = [1, 2]\n")
    store = tmp_path / "whole.sqlite"
    assert run_campaign(load_campaign(tmp_path / "whole.toml"), jobs=1).done == 2
    for what in (file, load_scenario(file)):
        done = campaign(what, sweep, store=store, jobs=1)
        assert (done.summary.before, done.summary.campaign) == (2, 1)
        assert [row["platform.seed"] for row in done.rows] == [1, 2]
    assert Campaign.from_scenario(load_scenario(file), sweep).results().parent == tmp_path


def test_the_command_runs_again_what_failed_of_a_function(tmp_path, simplugin):
    flag = tmp_path / "flag"

    def waits_for_a_file(parameters):
        return {"y": len(flag.read_text()) * parameters["x"]}

    with pytest.warns(RuntimeWarning):
        campaign(waits_for_a_file, {"x": [2]}, directory=tmp_path, jobs=1)
    flag.write_text("here")
    simplugin("campaign", "retry", tmp_path / "campaign.sqlite", status=0)
    assert results(tmp_path / "campaign.sqlite")["y"].tolist() == [8]
    assert campaign(waits_for_a_file, {"x": [2]}, directory=tmp_path).summary.before == 1
