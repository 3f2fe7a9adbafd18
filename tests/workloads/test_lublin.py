"""Traces by the model of Lublin and Feitelson beside a sample of its program."""

import math

import numpy as np
import pytest
from scipy import stats

from simplugin.core.errors import WorkloadError
from simplugin.formats.swf import read_swf
from simplugin.workloads.lublin import LublinModel, lublin


def test_the_published_sample(shared_data):
    """Sizes, run times and gaps have the distributions of 4,000 jobs that the program drew."""
    sample = read_swf(shared_data / "jobs" / "swf" / "lublin_256_first4000.swf.gz")
    drawn = lublin(40_000, 256, seed=7)
    for one, other in (
        (sample.processors, drawn.processors),
        (sample.run_time, drawn.run_time),
        (np.diff(sample.submit), np.diff(drawn.submit)),
    ):
        assert stats.ks_2samp(one, other).pvalue > 0.05
    # Large jobs run longer: medians of run times by class of size.
    for low, high in ((1, 1), (2, 32), (33, 256)):
        medians = [
            np.median(each.run_time[(low <= each.processors) & (each.processors <= high)])
            for each in (sample, drawn)
        ]
        assert abs(math.log(medians[0] / medians[1])) < 0.5
    # Parts of the day differ from those of all jobs no more than in other samples of this length.
    days, samples = day(drawn.submit), np.split(drawn.submit, 10)
    distances = [abs(day(each) - days).sum() for each in samples]
    assert abs(day(sample.submit) - days).sum() < max(distances)


def day(dates: np.ndarray) -> np.ndarray:
    """Return the parts of the jobs that are submitted in each two hours of the day."""
    return np.bincount((dates % 86400 // 7200).astype(int), minlength=12) / len(dates)


def test_shares_of_the_model():
    trace = lublin(50_000, 256, seed=1)
    serial = trace.processors == 1
    powers = (trace.processors & (trace.processors - 1)) == 0
    error = 4 * math.sqrt(0.25 / 50_000)
    assert abs(serial.mean() - 0.244) < error
    # Of the others, some are powers of two by rounding.
    assert 0.82 - error < powers.mean() < 0.9
    assert trace.processors.max() == 256
    assert trace.run_time.max() <= math.exp(12)


def test_draws_are_reproducible_and_in_range():
    one, same, other = (lublin(500, 100, seed=seed, overestimate=2.0) for seed in (3, 3, 4))
    assert one == same
    assert one != other
    assert one.is_sorted
    assert one.processors.max() <= 100
    assert (one.requested_time >= one.run_time).all()
    assert (one.requested_time <= np.maximum(np.ceil(3 * one.run_time), 1)).all()
    assert (lublin(5, 100, seed=3, overestimate=None).requested_time == -1).all()
    serial = lublin(200, 100, seed=3, model=LublinModel(serial=1.0))
    assert (serial.processors == 1).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_jobs": 0},
        {"n_nodes": 1},
        {"seed": -1},
        {"overestimate": -1.0},
        {"overestimate": math.nan},
    ],
)
def test_parameters_out_of_range(wrong):
    with pytest.raises(WorkloadError):
        lublin(**{"n_jobs": 5, "n_nodes": 8, "seed": 1} | wrong)
    with pytest.raises(WorkloadError):
        LublinModel(a1=0)
    with pytest.raises(WorkloadError):
        LublinModel(small=1.5)
