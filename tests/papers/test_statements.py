import json
import math
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from naming import raises_naming
from pydantic import ValidationError

from simplugin.core.errors import SimpluginError
from simplugin.papers import statements as of
from simplugin.papers.statements import Quantity, Statement, judged, judged_again, statements
from simplugin.results.claims import Claim
from simplugin.scenarios.outputs import finite, from_document, plain

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


def sampled(value, interval, samples, **more):
    statement = Statement(**ONE | {"criterion": {"at_least": 0.35}, "samples": 150} | more)
    return statement.judge(Quantity(value, interval, samples=samples, over="trees"))


def test_an_interval_on_both_sides_decides_with_as_many_samples_as_the_paper_has():
    few = sampled(0.30, (0.2, 0.4), 60)
    assert few.agrees is None
    # Half of 0.2 is twice 0.05, so that four times the samples would have 0.35 at an end.
    assert few.why.endswith("over 60 trees; about 240 trees would decide, in full 150")
    assert (few.quantity["needed"], few.quantity["full"]) == (240, 150)
    assert sampled(0.34, (0.33, 0.36), 150).agrees is True
    assert sampled(0.36, (0.33, 0.38), 150, kind="ours").agrees is False
    assert sampled(0.30, (0.2, 0.34), 60).agrees is False
    assert sampled(0.2, (-math.inf, math.inf), 1).why.endswith("too few trees, in full 150")


def test_readings_with_other_verdicts_cannot_be_told():
    statement = Statement(**ONE | {"criterion": {"at_least": 0.35}, "samples": 150})
    found = Quantity(0.2, (0.1, 0.3), samples=150, over="trees", missing="which nodes compute")
    assert statement.judge(replace(found, readings={"B": (0.1, 0.2)})).agrees is False
    told = statement.judge(replace(found, readings={"B": (0.4, 0.5), "C": (0.1, 0.2)}))
    assert told.agrees is None
    assert told.readings == {"as measured": False, "B": True, "C": False}
    assert (
        "agrees in B of the other readings; to tell, the paper would have to say which" in told.why
    )


def test_intervals_are_wider_for_fewer_samples():
    values = np.array([1.0, 3.0])
    pair = of.resampled(lambda few: float(np.mean(values[few])), 2)
    # All of 1 to 3, times the quantile 12.7 of Student's distribution over 1.96 and the root of 2.
    assert pair.interval == pytest.approx((2 - 9.168, 2 + 9.168), abs=1e-2)
    many = of.resampled(lambda few: float(np.mean(np.arange(1000)[few])), 1000)
    half = 1.96 * 288.7 / 1000**0.5
    assert many.interval == pytest.approx((499.5 - half, 499.5 + half), abs=4)
    assert of.resampled(len, 1).interval == (-math.inf, math.inf)
    held = of.resampled(lambda few: bool(np.mean(values[few]) > 1.5), 2, "some")
    assert held.interval == (False, True)
    assert re.fullmatch(r"some; in [67]\d% of the draws", held.note)


def test_measures_that_are_undefined_or_infinite():
    # Of two samples one is undefined, so that a mean often is.
    values = np.array([1.0, math.nan])
    some = of.resampled(lambda few: float(np.mean(values[few])), 2)
    assert some.interval == (-math.inf, math.inf)
    found = of.resampled(lambda few: math.inf if 0 in few else 1.0, 30)
    assert (found.value, found.interval) == (math.inf, (math.inf, math.inf))
    statement = Statement(**ONE | {"criterion": {"at_most": 3.0}, "samples": 30})
    assert statement.judge(found).agrees is False
    assert statement.judge(some).agrees is None


def test_intervals_of_maxima_hold_for_fresh_samples():
    draws = np.random.default_rng(1)
    # Of a Pareto distribution, the largest of which has no mean; and of one with an end.
    for make, least in (
        (lambda n: draws.random(n) ** -1.0, 85),
        (lambda n: 1 + draws.random(n), 90),
    ):
        found = [of.largest(make(150)).interval for _ in range(400)]
        inside = [low <= np.max(make(150)) <= high for low, high in found]
        assert 100 * np.mean(inside) > least
    few = of.largest([3.0, 1.0, math.nan, 2.0])
    assert (few.value, few.interval, few.samples) == (3.0, (2.0, math.inf), 3)
    endless = of.largest([*range(1, 30), math.inf])
    assert endless.value == endless.interval[1] == math.inf
    assert 20 < endless.interval[0] < 40
    assert math.isnan(of.largest([math.nan]).value)


@pytest.mark.parametrize(("count", "low", "high"), [(0, 0.0, 0.3085), (5, 0.1871, 0.8129)])
def test_shares_of_samples_have_exact_intervals(count, low, high):
    # Clopper and Pearson (1934), tables of ten trials.
    found = of.share([True] * count + [False] * (10 - count), over="trees")
    assert found.interval == pytest.approx((low, high), abs=1e-4)
    assert (found.samples, found.over) == (10, "trees")


def test_a_verdict_carries_all_that_a_reader_needs():
    statement = Statement(**ONE | {"why": "ties differ"})
    claim = statement.judge(Quantity(2.5, (2.4, 2.6), "12 runs", 3.0, {"seed": 1}, 12))
    details = "Agrees if 1.8 to 2.2; ties differ; 12 runs; from 2.4 to 2.6 over 12 seeds"
    assert claim.why == f"{details}; no cause found"
    assert claim.reason == "no cause found"
    assert (claim.criterion, claim.definition) == ("1.8 to 2.2", "ties differ")
    assert claim.quantity["interval"] == [2.4, 2.6]
    assert (claim.id, claim.measured, claim.optimum) == ("one", 2.5, 3.0)
    assert claim.provenance == {"seed": 1}


def test_provenance_is_added_where_there_is_none():
    half = of.share([True, False], " runs")
    assert (half.value, half.note) == (0.5, "1 of 2 runs")
    found = of.determined_by({"seed": 1}, {"a": half, "b": Quantity(2.0, provenance={"seed": 3})})
    assert [each.provenance["seed"] for each in found.values()] == [1, 3]


def test_a_quantity_that_no_experiment_returns_is_an_error():
    with raises_naming(SimpluginError, "'one'", "'race'", "'lead'", "speed"):
        judged([Statement(**ONE)], {"speed": 1.0})


def test_a_criterion_has_one_known_key():
    for criterion in ({}, {"above": 1.0, "below": 2.0}, {"over": 1.0}):
        with pytest.raises(ValidationError):
            of.Criterion(**criterion)


QUANTITIES = [
    Quantity(2.1, (1.9, math.inf), "note", 3.0, {"seed": 1}, 12, "trees"),
    Quantity(2.1, (-math.inf, math.inf), samples=1),
    Quantity(math.inf, (math.inf, math.inf), samples=4),
    Quantity(True, (False, True), samples=12),
    Quantity(False),
    Quantity("A"),
    Quantity(2.5, (2.4, 2.6), samples=9, readings={"B": (1.0, math.inf)}, missing="which"),
]


@pytest.mark.parametrize("criterion", [each for each, *_ in CRITERIA], ids=str)
@pytest.mark.parametrize("measured", QUANTITIES, ids=lambda each: str(each.value))
def test_what_was_measured_can_be_judged_again(criterion, measured, monkeypatch):
    former = Statement(**ONE | {"criterion": {"equals": 7.0}, "samples": 3})
    kept = json.loads(json.dumps(finite(plain(former.judge(measured).document()))))
    now = Statement(**ONE | {"criterion": criterion, "samples": 10})
    monkeypatch.setattr(of, "statements", lambda _: (now, Statement(**ONE | {"id": "new"})))
    [again] = judged_again("some_paper", [from_document(Claim, kept)])
    judged_at_once = finite(plain(now.judge(measured).document()))
    assert finite(plain(again.document())) == judged_at_once


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
    with pytest.raises(SimpluginError) as caught:
        statements("some_paper")
    assert message in str(caught.value)
