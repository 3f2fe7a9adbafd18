import json
import sys

import pytest

from simplugin.errors import SimpluginError
from simplugin.papers import reproductions as module
from simplugin.papers.reproduce import reproduce
from simplugin.scenarios.outputs import plain

MODULE = """
from simplugin.claims import Claim
from simplugin.figures import Figure


def slow(quick):
    print("a solver talks")
    return [] if quick else [Claim("slow", 1, 2.5, False, "it is", "sec. 1")]


def fast(quick):
    yield Claim("fast {word}", "a few", 3, True, "as it must", "sec. 2", 4.0, {{"seed": 1}})


def curves(quick):
    return [Figure("wave", "A wave", "x", "y", {{"y": ([0, 1], [0, 1])}})]


PARTS = {{"slow": slow, "fast": fast}}
FIGURES = {{"wave": curves}}
"""


@pytest.fixture
def capabilities(tmp_path, monkeypatch):
    """Two capabilities with two parts and a figure each."""
    for word in ("one", "two"):
        (tmp_path / f"claims_of_{word}.py").write_text(MODULE.format(word=word))
        monkeypatch.delitem(sys.modules, f"claims_of_{word}", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    names = {word: f"claims_of_{word}" for word in ("one", "two")}
    monkeypatch.setattr(module, "CAPABILITIES", names)


@pytest.mark.usefixtures("capabilities")
def test_claims_stand_in_the_order_of_their_module(capsys):
    told = []
    found = reproduce("one", jobs=1, progress=told.append)
    assert [claim.claim for claim in found.claims["one"]] == ["slow", "fast one"]
    assert found.figures == {}
    assert (told[-1].done, told[-1].total) == (2, 2)
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("capabilities")
def test_document():
    [slow, fast] = reproduce("one", jobs=1).document()["claims"]
    assert slow == {
        "claim": "slow", "paper": 1, "measured": 2.5, "agrees": False, "why": "it is",
        "source": "sec. 1",
    }  # fmt: skip
    assert (fast["optimum"], fast["provenance"]) == (4.0, {"seed": 1})
    json.dumps(plain([slow, fast]), allow_nan=False)


@pytest.mark.usefixtures("capabilities")
def test_quick_leaves_out_what_it_does_not_measure():
    assert [c.claim for c in reproduce("two", quick=True, jobs=1).claims["two"]] == ["fast two"]


@pytest.mark.usefixtures("capabilities")
def test_all_says_whose_each_claim_is():
    found = reproduce("all", figures=True, jobs=1)
    assert [(c["capability"], c["claim"]) for c in found.document()["claims"]] == [
        ("one", "slow"), ("one", "fast one"), ("two", "slow"), ("two", "fast two"),
    ]  # fmt: skip
    assert [figure.name for figure in found.figures["two"]] == ["wave"]


@pytest.mark.usefixtures("capabilities")
def test_a_part_that_fails_leaves_the_others_and_is_measured_again(tmp_path):
    told = 'def broken(quick):\n    raise ValueError("no way")\n'
    module_of_one = tmp_path / "claims_of_one.py"
    text = module_of_one.read_text()
    module_of_one.write_text(text + told + 'PARTS["broken"] = broken\n')
    found = reproduce("one", jobs=1, store=tmp_path / "kept.sqlite")
    assert [claim.claim for claim in found.claims["one"]] == ["slow", "fast one"]
    [group] = found.summary.failures
    assert [job.varied["part"] for job in group.first] == ["broken"]
    assert "no way" in group.text
    module_of_one.write_text(text + 'PARTS["broken"] = fast\n')
    del sys.modules["claims_of_one"]
    again = reproduce("one", jobs=1, store=tmp_path / "kept.sqlite")
    assert [claim.claim for claim in again.claims["one"]] == ["slow", "fast one", "fast one"]
    assert (again.summary.before, again.summary.failed) == (2, 0)


@pytest.mark.usefixtures("capabilities")
def test_all_of_one_capability_says_so_too(monkeypatch):
    monkeypatch.setattr(module, "CAPABILITIES", {"one": "claims_of_one"})
    assert {c["capability"] for c in reproduce("all", jobs=1).document()["claims"]} == {"one"}


def test_unknown_capability():
    with pytest.raises(SimpluginError, match=r"'prices'.*pricing, bags, taskgraphs, market, all"):
        reproduce("prices")
