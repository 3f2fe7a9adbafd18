import math
from dataclasses import replace

import numpy as np
import pytest

from simplugin.bags.campaign_summary import (
    BCS,
    CGBC,
    CGBC_WORST,
    FCFS,
    FCFS_WORST,
    QUANTITIES,
    Ratios,
    best,
    deviations,
    policies_listing,
    quantities,
    ratios,
    readings_listing,
    score,
)
from simplugin.errors import WorkloadError

SEED = 2008


def test_ratios_by_hand(column):
    found = ratios(column(4.0, 1.0, 1.0, 8.0, 1.0), column(1.0, 1.0, 2.0, 2.0, 0.0))
    assert found.mean == pytest.approx((4 * 1 * 0.5 * 4) ** 0.25)
    # Of the two trees of 50 and 100 nodes one has a throughput.
    assert found.large == pytest.approx(4.0)
    assert found.small == pytest.approx((4 * 1 * 0.5) ** (1 / 3))
    assert found.worst == math.inf
    assert found.positive == 0.6
    assert found.apart == 1
    assert found.near_zero == 0.2
    assert found.same == 0.4
    assert found.written() == "1.682, worst inf (1 apart)"


def test_same_is_within_five_percent_or_better(column):
    assert ratios(column(1.0, 1.0, 1.0), column(0.951, 0.949, 3.0)).same == pytest.approx(2 / 3)


def test_nothing_over_nothing_is_apart(column):
    found = ratios(column(0.0, 2.0), column(0.0, 1.0))
    assert (found.apart, found.mean, found.worst) == (1, 2.0, 2.0)


def test_ratios_of_different_trees(column):
    with pytest.raises(WorkloadError, match="different trees"):
        ratios(column(1.0), column(1.0, seed=1))
    with pytest.raises(WorkloadError, match="different trees"):
        ratios([], [])


def test_best_is_that_of_a_policy_that_reaches_the_optimum(column):
    found = column(0.8, 0.0, 0.2, optimum=0.4)
    assert best(found) == pytest.approx(1.0)


def test_deviations_leave_out_what_expects_nothing(row):
    found = [replace(row, fair=0.9), replace(row, theory=None), replace(row, fair=1.1, slope=0.7)]
    assert deviations(found) == pytest.approx([0.1, -0.1])
    assert deviations(found, by="slope") == pytest.approx([0.0, 0.3])


def test_distances():
    assert CGBC.distance(1.156) == 0
    assert CGBC.distance(2 * 1.156) == pytest.approx(math.log(2))
    assert CGBC.distance(1.156 / 2) == pytest.approx(math.log(2))
    assert CGBC.distance(math.inf) == CGBC.distance(math.nan) == CGBC.distance(0.0) == 2
    assert CGBC_WORST.distance(1.1) == 0
    assert CGBC_WORST.distance(0.0) == 2
    assert CGBC_WORST.distance(4.0) == pytest.approx(math.log(2))
    assert FCFS_WORST.distance(20.0) == 0
    assert FCFS_WORST.distance(math.inf) == 0
    assert FCFS_WORST.distance(4.0) == pytest.approx(math.log(2))
    as_said = {each: each.paper for each in QUANTITIES}
    assert score(as_said) == 0
    assert score(as_said | {CGBC: 2 * CGBC.paper}) == pytest.approx(math.log(2) / len(QUANTITIES))


@pytest.fixture
def paper_like(column):
    """Return measurements with the paper's numbers; FCFS is worse on large trees."""
    lp = column(*[1.0] * 10, theory=1 / (1 - 0.09426))
    near = [1 / 1.156] * 3 + [1 / 1.243] * 2
    small = (1.564**5 / 2.0399**2) ** (1 / 3)
    turns = [1 / small] * 3 + [1 / 2.0399] * 2
    return {
        "lp": lp,
        "data_centric": column(*[1 / 1.04] * 7, *[1 / 1.5] * 3, theory=None),
        "cgbc": column(*near * 2, theory=None),
        "fcfs": column(*turns * 2, theory=None),
        "bcs": column(*[1e-9] * 4, *[0.5] * 6, theory=None),
    }


def test_quantities_by_hand(paper_like):
    found = {each.name: value for each, value in quantities(paper_like).items()}
    assert found["deviation"] == pytest.approx(0.09426)
    assert found["LP / FCFS"] == pytest.approx(1.564)
    assert found["LP / FCFS, large trees"] == pytest.approx(2.0399)
    assert found["LP / CGBC, large trees"] == pytest.approx(1.243)
    assert found["LP / CGBC"] == pytest.approx((1.156**3 * 1.243**2) ** 0.2)
    assert found["LP / DATA-CENTRIC, worst"] == pytest.approx(1.5)
    assert found["DATA-CENTRIC as good as LP"] == pytest.approx(0.7)
    assert found["BCS near zero"] == pytest.approx(0.4)


def test_nearest_reading_comes_first(paper_like):
    near = quantities(paper_like)
    far = near | {CGBC: 5.0, FCFS: 9.0}
    listing = readings_listing({"far": far, "near": near})
    assert [line[0] for line in listing.lines] == ["paper", "near", "far"]
    assert listing.column("LP / CGBC")[2] == 5.0


def test_policies_beside_lp(column):
    lp = column(2.0, 4.0, 2.0)
    listing = policies_listing({"lp": lp, "x": column(1.0, 1.0, setting="x")}, "title")
    assert listing.column("LP / it") == (1.0, pytest.approx(8**0.5))
    assert listing.column("trees") == (3, 2)


def test_near_zero_is_a_thousandth():
    found = Ratios(np.log([999.0, 1001.0]), np.array([5, 5]))
    assert found.near_zero == 0.5
    assert BCS.paper == 0.35
