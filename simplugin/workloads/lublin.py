"""Job traces by the model of Lublin and Feitelson."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simplugin.core.elementary import exp, log2, power
from simplugin.core.errors import WorkloadError
from simplugin.inputs.locations import shown
from simplugin.workloads.job_traces import COMPLETED, JobTrace
from simplugin.workloads.parameter_ranges import whole

Floats = NDArray[np.float64]
_BUCKETS = 48
_BUCKET = 86400.0 / _BUCKETS
# The day of the arrival distribution begins in this bucket.
_FIRST_BUCKET = 11
# Natural logarithms of the longest run time and time between arrivals [s].
_LONGEST, _LONGEST_GAP = 12, 13


@dataclass(frozen=True, kw_only=True)
class LublinModel:
    """Parameters of the model of Lublin and Feitelson [1]_, in the names of its program.

    The defaults are those for all jobs together, batch and interactive. Gamma distributions have a
    shape ``a`` and a scale ``b``.

    Attributes
    ----------
    serial : float
        Part of the jobs that are serial.
    power_of_two : float
        Part of the jobs with a power of two of nodes.
    low, middle, high : float
        Logarithms to base 2 of the smallest parallel job, of the border between small and large
        ones, and of the largest one; by default the machine's, and 2.5 less for the border.
    small : float
        Part of the parallel jobs that are small.
    a1, b1, a2, b2 : float
        The two gamma distributions of the logarithm of the run time [s].
    slope, constant : float
        The first one has the probability ``slope * nodes + constant``.
    gap_shape, gap_scale : float
        Gamma distribution of the logarithm of the times between arrivals in the rush hours [s].
    rush : float
        Factor of `gap_shape` for the whole day.
    day_shape, day_scale : float
        Gamma distribution of arrivals over the day, which begins at 5:00, in half hours.

    References
    ----------
    .. [1] U. Lublin, D. Feitelson (2003). The workload on parallel supercomputers: modeling the
       characteristics of rigid jobs. Journal of Parallel and Distributed Computing 63(11).
    """

    serial: float = 0.244
    power_of_two: float = 0.576
    low: float = 0.8
    middle: float | None = None
    high: float | None = None
    small: float = 0.86
    a1: float = 4.2
    b1: float = 0.94
    a2: float = 312.0
    b2: float = 0.03
    slope: float = -0.0054
    constant: float = 0.78
    gap_shape: float = 10.2303
    gap_scale: float = 0.4871
    rush: float = 1.0225
    day_shape: float = 8.1737
    day_scale: float = 3.9631

    def __post_init__(self) -> None:
        """Raise WorkloadError for a value out of range."""
        for name in ("a1", "b1", "a2", "b2", "gap_shape", "gap_scale", "rush", "day_shape"):
            if not 0 < getattr(self, name) < math.inf:
                raise WorkloadError(f"{name} is {shown(getattr(self, name))}; give a number > 0")
        for name in ("serial", "power_of_two", "small"):
            if not 0 <= getattr(self, name) <= 1:
                raise WorkloadError(f"{name} is {shown(getattr(self, name))}; give a part of 1")


def lublin(
    n_jobs: int,
    n_nodes: int,
    *,
    seed: int,
    overestimate: float | None = 0.0,
    model: LublinModel | None = None,
) -> JobTrace:
    """Return a trace of random jobs by the model of Lublin and Feitelson.

    Sizes, run times (whole seconds) and submissions (whole seconds, a daily cycle that begins at
    midnight) follow the published program. The model has no requested times; here they are uniform
    from the run time to ``1 + overestimate`` times it.

    Parameters
    ----------
    n_jobs, n_nodes : int
        Number of jobs, and of nodes of the machine, at least 2.
    seed : int
        Seed of the random draws.
    overestimate : float, optional
        The largest excess of a requested time, in run times; None for no requested times.
    model : LublinModel, optional
        Other parameters.

    Returns
    -------
    JobTrace
        In the order of submission. `trace_jobs` makes jobs of it, `scaled_log` sets their load.

    Raises
    ------
    WorkloadError
        A parameter is out of range.
    """
    count = whole("n_jobs", n_jobs, most=100_000_000)
    nodes = whole("n_nodes", n_nodes, least=2, most=10_000_000)
    if overestimate is not None and not 0 <= overestimate < math.inf:
        raise WorkloadError(f"overestimate is {shown(overestimate)}; give a number from 0 on")
    used = LublinModel() if model is None else model
    draw = np.random.default_rng(whole("seed", seed, least=0))
    sizes = np.minimum(_sizes(used, count, nodes, draw), nodes)
    run_times = np.floor(exp(_log_run_times(used, sizes, draw)))
    columns = {
        "submit": np.floor(_submissions(used, count, draw)),
        "run_time": run_times,
        "processors": sizes,
        "requested_processors": sizes,
        "status": np.full(count, COMPLETED),
    }
    if overestimate is not None:
        excess = 1 + overestimate * draw.random(count)
        columns["requested_time"] = np.maximum(np.ceil(run_times * excess), 1)
    return JobTrace(columns, (("Version", "2.2"), ("MaxNodes", str(nodes))))


def _sizes(model: LublinModel, count: int, nodes: int, draw: Generator) -> Floats:
    """Return numbers of nodes: 1, or powers of 2 that are uniform in two stages."""
    high = float(log2(np.array(float(nodes)))) if model.high is None else model.high
    middle = max(high - 2.5, model.low) if model.middle is None else model.middle
    kind, stage, place = draw.random(count), draw.random(count), draw.random(count)
    small = stage <= model.small
    low, top = np.where(small, model.low, middle), np.where(small, middle, high)
    exponent = low + place * (top - low)
    rounded = np.where(
        kind <= model.serial + model.power_of_two, np.floor(exponent + 0.5), exponent
    )
    parallel = np.floor(power(np.full(count, 2.0), rounded) + 0.5)
    return np.where(kind <= model.serial, 1.0, parallel)


def _log_run_times(model: LublinModel, sizes: Floats, draw: Generator) -> Floats:
    """Return the logarithms of run times, of which none is too long."""
    first = np.clip(model.slope * sizes + model.constant, 0, 1)
    values = np.full(len(sizes), math.inf)
    while len(again := np.flatnonzero(values > _LONGEST)):
        chosen = draw.random(len(again)) <= first[again]
        shape = np.where(chosen, model.a1, model.a2)
        values[again] = draw.gamma(shape, np.where(chosen, model.b1, model.b2))
    return values


def _submissions(model: LublinModel, count: int, draw: Generator) -> Floats:
    """Return dates of submission: gaps in points, of which each half hour of the day has some."""
    from scipy.special import gammainc

    shape = model.gap_shape * model.rush
    gaps = np.full(count, math.inf)
    while len(again := np.flatnonzero(gaps > _LONGEST_GAP)):
        gaps[again] = draw.gamma(shape, model.gap_scale, len(again))
    edges = np.arange(_FIRST_BUCKET, _FIRST_BUCKET + _BUCKETS + 1) - 0.5
    shares = np.diff(gammainc(model.day_shape, edges / model.day_scale))
    day = np.roll(shares / shares.mean(), _FIRST_BUCKET - 1)
    # A gap of _BUCKET seconds is worth a point; a day has as many points as half hours.
    points = np.cumsum(exp(gaps)) / _BUCKET
    days, rest = np.divmod(points, _BUCKETS)
    paid = np.concatenate([[0.0], np.cumsum(day)])
    paid[-1] = _BUCKETS
    return np.asarray(days * 86400.0 + np.interp(rest, paid, np.arange(_BUCKETS + 1) * _BUCKET))
