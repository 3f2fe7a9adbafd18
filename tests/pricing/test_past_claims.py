from dataclasses import replace

import numpy as np
import pytest

from simplugin.pricing import past_claims
from simplugin.pricing.past_claims import chosen, local
from simplugin.pricing.survey import Finding

FINDING = Finding("x", 10, 20, 50, 0.0, 1e-9, 0.0, 1e-9, 0.5, 1e4, 1e-13)


@pytest.fixture
def fare(monkeypatch):
    """Let methods fare as a list of findings says, and return the claims."""

    def measured(findings):
        turns = iter(findings)
        monkeypatch.setattr(past_claims, "chosen", lambda _: chosen(quick=True))
        monkeypatch.setattr(past_claims, "examine", lambda *_, **__: next(turns))
        return local(True)

    return measured


def test_few_platforms_are_of_all_kinds():
    few = list(chosen(quick=True))
    assert {each.family for each in few} == {"trees", "stars", "clusters", "cycles"}
    assert {each.spread for each in few} == {"homogeneous", "mild", "strong"}


def test_median_and_worst(fare):
    fast, exact = fare([replace(FINDING, near=near) for near in range(10, 22)])
    assert fast.measured == "15.5 rounds (median), 21 (worst)"
    assert exact.measured == "1e-6 in 50 rounds (median)"
    assert fast.agrees
    assert exact.agrees
    assert "within 1 % after 0.5 s" in fast.why


def test_gaps_of_the_objective_are_told(fare):
    _, exact = fare(
        [replace(FINDING, objective_gap=1e-9)] * 11 + [replace(FINDING, objective_gap=2e-3)]
    )
    assert "the objective 1e-09 and 0.002 short" in exact.why


@pytest.mark.parametrize(
    "change",
    [{"near": None}, {"near": 151}, {"apart": 1e-8}],
    ids=["never near", "late", "actors do otherwise"],
)
def test_one_platform_is_enough_to_disagree(fare, change):
    fast, _ = fare([*[FINDING] * 11, replace(FINDING, **change)])
    assert not fast.agrees


def test_slow_medians_disagree(fare):
    fast, exact = fare([replace(FINDING, near=26, exact=61)] * 12)
    assert not fast.agrees
    assert not exact.agrees


def test_pure_iterations_are_said_to_be(fare):
    fast, _ = fare([replace(FINDING, apart=np.nan, date=np.nan)] * 12)
    assert fast.agrees
    assert fast.why.endswith("Pure iterations")
