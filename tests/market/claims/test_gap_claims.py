import numpy as np
import pytest

from simplugin.market.gap_claims import (
    EXACT,
    FIGURES,
    PARTS,
    READINGS,
    assigned,
    exactness,
    feasibility,
    gap_listing,
    passes,
    policies,
    survey,
)
from simplugin.market.instances import instance
from simplugin.market.policies import POLICIES
from simplugin.optimum.bundle_programs import dynamic_programming


def test_all_policies_are_compared():
    assert set(READINGS) == set(POLICIES) - {"optimum", "isgbmat_printed"}
    assert [claim.claim.split()[0] for claim in policies(quick=True)] == list(READINGS)


def test_gaps_are_those_to_dynamic_programming():
    found = survey(quick=True)
    for seed in range(12):
        drawn = instance(seed)
        if drawn.m > 200:
            continue
        best = dynamic_programming(*drawn.arguments)
        for name, gaps in found.gaps.items():
            sums = [
                value * np.sum(drawn.q ** np.arange(amount))
                for value, amount in zip(drawn.values, assigned(name, drawn), strict=True)
            ]
            assert gaps[seed] == pytest.approx(1 - sum(sums) / best, abs=1e-9)


def test_claims():
    assert set(PARTS) == {"gaps", "feasibility", "passes", "exactness"}
    claims = policies(quick=True)
    assert all(claim.agrees for claim in claims)
    for claim in claims:
        if claim.claim.split()[0] in EXACT:
            assert claim.measured.startswith("the largest in 100 of 100 markets")
    [placed] = feasibility(quick=True)
    assert placed.measured == f"in {100 * len(READINGS)} of {100 * len(READINGS)} assignments"
    [counted] = passes(quick=True)
    assert counted.agrees
    assert "1999 for 1000 tasks" in counted.measured
    [exact] = exactness(quick=True)
    assert exact.agrees
    assert "20 of 20" in exact.measured


def test_published_gaps():
    # Of Table 1: 60424, 61976 and 60790 of 62765.
    published = {name: each.published for name, each in READINGS.items() if each.published}
    assert published == pytest.approx(
        {
            "commodity": 2341 / 62765,
            "double_auction": 789 / 62765,
            "proportional_share": 1975 / 62765,
        }
    )


def test_listing_and_figures():
    listing = gap_listing(quick=True)
    assert listing.column("Policy") == tuple(READINGS)
    for line in listing.lines:
        assert 0 <= line[4] <= line[5] <= line[6] < 1
    [gaps, counted] = FIGURES["gaps"](True)
    for x, y in (*gaps.series.values(), *counted.series.values()):
        assert np.all(np.diff(x) >= 0)
        assert (len(x), y[-1]) == (100, 1)
    assert not set(EXACT) & set(gaps.series)
