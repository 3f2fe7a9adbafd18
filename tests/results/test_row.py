import json
import pickle

import pytest
from naming import raises_naming

from simplugin.core.errors import SimpluginError
from simplugin.results.row import Best, Metric, Row

METRICS = (Metric("makespan", 12.0, "s"), Metric("jobs", 3), Metric("energy", None, "J"))


@pytest.mark.parametrize(
    ("sense", "best", "gap"), [("min", 10.0, 0.2), ("max", 10.0, -0.2), ("max", 15.0, 0.2)]
)
def test_gap_is_relative_and_signed(sense, best, gap):
    row = Row(METRICS, best=Best("makespan", best, sense=sense))
    assert row.gap == pytest.approx(gap)


def test_no_gap_to_nothing():
    assert Row(METRICS).gap is None
    assert Row(METRICS, best=Best("energy", 1.0)).gap is None
    assert Best("x", 0.0).gap(0.0) == 0.0
    assert Best("x", 0.0).gap(1.0) == float("inf")


def test_flat_has_optimum_or_bound():
    flat = Row(METRICS, best=Best("makespan", 10.0, "bound")).flat()
    assert flat == {
        "makespan": 12.0,
        "jobs": 3,
        "energy": None,
        "optimum": None,
        "bound": 10.0,
        "gap": pytest.approx(0.2),
    }


def test_it_is_plain_data():
    row = Row(METRICS, {"seed": 1}, Best("makespan", 10.0))
    assert pickle.loads(pickle.dumps(row)) == row
    document = json.loads(json.dumps(row.document()))
    assert document["metrics"]["makespan"] == {"value": 12.0, "unit": "s"}
    assert document["best"]["value"] == 10.0
    assert document["provenance"] == {"seed": 1}


def test_unknown_and_double_names():
    with raises_naming(SimpluginError, "'makspan'", "'makespan'"):
        Row(METRICS)["makspan"]
    with raises_naming(SimpluginError, "'zzz'"):
        Row(METRICS, best=Best("zzz", 1.0))
    with raises_naming(SimpluginError, "'jobs'"):
        Row((Metric("jobs", 1), Metric("jobs", 2)))
