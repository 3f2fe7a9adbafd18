import sys

import pytest
from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.papers import reproductions as module
from simplugin.papers.reproduce import reproduce
from simplugin.papers.statements import statements

STATEMENTS = """
[[statement]]
id = "slow"
claim = "slow"
source = "sec. 1"
experiment = "slow"
quantity = "time"
paper = 1
criterion = {{ at_most = 2.0 }}
quick = false

[[statement]]
id = "fast"
claim = "fast {word}"
source = "sec. 2"
experiment = "fast"
quantity = "number"
paper = "a few"
criterion = {{ below = 4.0 }}
"""
# Seconds that a simulation computes, in a process of its own.
CPU = 0.3
EXPERIMENTS = f"""
import time

from simplugin import Host, Platform, Zone, simulate
from simplugin.results.curves import CurvePlot
from simplugin.papers.statements import Quantity


async def work(me):
    begun = time.process_time()
    while time.process_time() < begun + {CPU}:
        pass


def slow(quick):
    print("a solver talks")
    simulate(Platform((Zone("z", "Full", (Host("h", 1.0),)),)), [("h", work)])
    return {{"time": 2.5}}


def fast(quick):
    return {{"number": Quantity(3, optimum=4.0, provenance={{"seed": 1}})}}


def curves(quick):
    return [CurvePlot("wave", "A wave", "x", "y", {{"y": ([0, 1], [0, 1])}})]


EXPERIMENTS = {{"slow": slow, "fast": fast}}
FIGURES = {{"wave": curves}}
"""


pytestmark = pytest.mark.usefixtures("capabilities")


@pytest.fixture
def capabilities(tmp_path, monkeypatch):
    """Two capabilities, each with a paper of two experiments and a figure."""
    for word in ("one", "two"):
        package = tmp_path / f"paper_{word}"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "statements.toml").write_text(STATEMENTS.format(word=word))
        (package / "experiments.py").write_text(EXPERIMENTS)
        for name in (package.name, f"{package.name}.experiments"):
            monkeypatch.delitem(sys.modules, name, raising=False)
    statements.cache_clear()
    monkeypatch.syspath_prepend(tmp_path)
    names = {word: f"paper_{word}" for word in ("one", "two")}
    monkeypatch.setattr(module, "CAPABILITIES", names)


def test_claims_come_in_the_order_of_their_experiments(capsys):
    told = []
    found = reproduce("one", jobs=1, progress=told.append)
    [slow, fast] = found.document()["claims"]
    expected = {"claim": "slow", "paper": 1, "measured": 2.5, "agrees": False, "kind": "paper"}
    why = "Agrees if at most 2; no cause found"
    expected |= {"why": why, "source": "sec. 1", "id": "slow"}
    assert slow == expected | {"criterion": "at most 2", "reason": "no cause found"}
    assert (fast["optimum"], fast["provenance"]) == (4.0, {"seed": 1})
    assert found.documents["one"]["figures"] == []
    assert found.documents["one"]["seconds"] >= CPU
    assert (told[-1].done, told[-1].total) == (2, 2)
    assert capsys.readouterr().out == ""


def test_quick_leaves_out_what_it_does_not_measure():
    assert [c.claim for c in reproduce("two", quick=True, jobs=1).claims["two"]] == ["fast two"]


def test_all_says_whose_each_claim_is():
    found = reproduce("all", figures=True, jobs=1)
    expected = [("one", "slow"), ("one", "fast one"), ("two", "slow"), ("two", "fast two")]
    assert [(c["capability"], c["claim"]) for c in found.document()["claims"]] == expected
    assert [each["name"] for each in found.documents["two"]["figures"]] == ["wave"]


def test_a_part_that_fails_leaves_the_others_and_is_measured_again(tmp_path):
    experiments = tmp_path / "paper_one/experiments.py"
    text = experiments.read_text()
    broken = 'def broken(quick):\n    raise ValueError("no way")\n'
    experiments.write_text(text + broken + 'EXPERIMENTS["fast"] = broken\n')
    found = reproduce("one", jobs=1, store=tmp_path / "kept.sqlite")
    assert [claim.claim for claim in found.claims["one"]] == ["slow"]
    [group] = found.summary.failures
    assert [job.varied["part"] for job in group.first] == ["fast"]
    assert "no way" in group.text
    experiments.write_text(text)
    del sys.modules["paper_one.experiments"]
    again = reproduce("one", jobs=1, store=tmp_path / "kept.sqlite")
    assert [claim.claim for claim in again.claims["one"]] == ["slow", "fast one"]
    assert (again.summary.before, again.summary.failed) == (1, 0)


ORDERED = """

async def ask(me, number):
    await me.mailbox("box").put(number, 1e3)


async def serve(me):
    return [await me.mailbox("box").get() for _ in range(2)][0]


def first(quick):
    host = Host("h", 1.0)
    actors = [("h", ask, 0), ("h", ask, 1), ("h", serve)]
    return {"number": simulate(Platform((Zone("z", "Full", (host,)),)), actors).value_of("serve")}


EXPERIMENTS = {"fast": first}
"""


def test_a_verdict_that_depends_on_the_order(tmp_path):
    experiments = tmp_path / "paper_one/experiments.py"
    experiments.write_text(experiments.read_text() + ORDERED)
    statement = tmp_path / "paper_one/statements.toml"
    statement.write_text(statement.read_text().replace("below = 4.0", "at_most = 0.5"))
    [claim] = reproduce("one", jobs=1).claims["one"]
    assert claim.agrees is True
    same, number = map(int, claim.quantity["orders"].split(" of "))
    assert 0 < same < number == 10


def test_unknown_capability():
    with raises_naming(SimpluginError, "'prices'", "one, two"):
        reproduce("prices")
