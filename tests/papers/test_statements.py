import math
import sys

import pytest
from pydantic import ValidationError

from simplugin.errors import SimpluginError
from simplugin.papers import statements as of
from simplugin.papers.statements import Quantity, Statement, judged, statements

ONE = {"id": "one", "claim": "A is ahead of B", "source": "Table 1", "experiment": "race"}
ONE |= {"quantity": "lead", "paper": 2.0, "criterion": {"within": 0.1}}


def verdict(criterion, value, interval=None, paper=2.0):
    statement = Statement(**ONE | {"criterion": criterion, "paper": paper})
    return statement.judge(Quantity(value, interval)).agrees


CRITERIA = [
    ({"near": 0.25}, 2.25, 2.26),
    ({"within": 0.1}, 1.8, 1.79),
    ({"factor": 2.0}, 1.0, 0.99),
    ({"factor": 2.0}, 4.0, -2.0),
    ({"at_most": 3.0}, 3.0, 3.01),
    ({"at_least": 1.0}, 1.0, 0.99),
    ({"above": 1.0}, 1.01, 1.0),
    ({"below": 1.0}, 0.99, 1.0),
    ({"between": (1.0, 2.0)}, 2.0, 2.01),
    ({"equals": "A"}, "A", "B"),
    ({"equals": True}, True, False),
]


@pytest.mark.parametrize(("criterion", "inside", "outside"), CRITERIA)
def test_a_criterion_tells_what_agrees(criterion, inside, outside):
    assert verdict(criterion, inside) is True
    assert verdict(criterion, outside) is False


def test_what_cannot_be_told():
    assert verdict({"undetermined": "the figure has no scale"}, 2.0) is None
    assert verdict({"within": 0.1}, math.nan) is None
    # An interval that covers both sides of the bound, or is wider than the range on both sides.
    assert verdict({"at_most": 3.0}, 2.9, (2.8, 3.1)) is None
    assert verdict({"within": 0.1}, 2.0, (1.0, 3.0)) is None
    assert verdict({"within": 0.1}, 2.5, (1.0, 3.0)) is None
    assert verdict({"at_most": 3.0}, 2.9, (2.8, 3.0)) is True
    assert verdict({"at_most": 3.0}, 3.9, (3.8, 4.0)) is False


def test_a_verdict_carries_all_that_a_reader_needs():
    statement = Statement(**ONE | {"why": "ties differ"})
    claim = statement.judge(Quantity(2.5, (2.4, 2.6), "12 runs", 3.0, {"seed": 1}))
    assert claim.why == "Agrees within 10 %; ties differ; 12 runs; from 2.4 to 2.6 over seeds"
    assert (claim.id, claim.measured, claim.optimum) == ("one", 2.5, 3.0)
    assert claim.provenance == {"seed": 1}


def test_provenance_is_added_where_there_is_none():
    half = of.share([True, False], " runs")
    assert (half.value, half.note) == (0.5, "1 of 2 runs")
    found = of.determined_by({"seed": 1}, {"a": half, "b": Quantity(2.0, provenance={"seed": 3})})
    assert [each.provenance["seed"] for each in found.values()] == [1, 3]


def test_a_quantity_that_no_experiment_returns_is_an_error():
    with pytest.raises(SimpluginError, match=r"'one': 'race' measures no 'lead', but speed"):
        judged([Statement(**ONE)], {"speed": 1.0})


def test_a_criterion_has_one_known_key():
    for criterion in ({}, {"above": 1.0, "below": 2.0}, {"over": 1.0}):
        with pytest.raises(ValidationError):
            of.Criterion(**criterion)


KEYS = "".join(f'{key} = "a"\n' for key in ("id", "claim", "source", "experiment", "quantity"))
TWICE = f"[[statement]]\n{KEYS}criterion.equals = true\n" * 2
INVALID = [
    ("[[statement]", "statements.toml"),
    ('[[statement]]\nid = "a"', "claim"),
    (TWICE, "duplicate id 'a'"),
]


@pytest.mark.parametrize(("text", "message"), INVALID)
def test_an_invalid_file_is_named(tmp_path, monkeypatch, text, message):
    package = tmp_path / "some_paper"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "statements.toml").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_paper", raising=False)
    statements.cache_clear()
    with pytest.raises(SimpluginError, match=message):
        statements("some_paper")
