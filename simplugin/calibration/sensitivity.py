"""Sobol indices and Morris screening of the metrics of a campaign.

Only complete designs have indices: a failed or missing run, or one without the metric, is reported
instead. Runs that differ only in seeds are averaged.

References
----------
.. [1] A. Saltelli et al. (2010). Variance based sensitivity analysis of model output. Computer
   Physics Communications 181(2).
.. [2] F. Campolongo, J. Cariboni, A. Saltelli (2007). An effective screening design for sensitivity
   analysis of large models. Environmental Modelling & Software 22(10).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simplugin.campaigns.campaign import Campaign
from simplugin.campaigns.store import CampaignEntry, StoreReader
from simplugin.campaigns.store.tables import plain_cell
from simplugin.core.errors import SimpluginError, StoreError
from simplugin.inputs.messages import suggestion
from simplugin.results.row import Metric
from simplugin.results.tables import Cell, ResultTable
from simplugin.scenarios.designs import Design
from simplugin.scenarios.substitutions import canonical_json
from simplugin.scenarios.sweeps import Variations

_GAP = "gap"
_SEED = re.compile(r"(^|[._])seed$")
INDICES = {"sobol": ("first order", "total"), "morris": ("mu*", "mu", "sigma")}
# Draws of a bootstrap, the percentiles, and how many numbers are held in memory.
_DRAWS, _ENDS, _BATCH = 999, (2.5, 97.5), 2_000_000
# Relative difference up to which metrics are the same.
_ROUNDING = 1e-12

Values = NDArray[np.float64]


def sobol_estimates(values: Values) -> Values:
    """Return the first-order and total indices, with 95 % intervals.

    Parameters
    ----------
    values : float64, shape (n, n_keys + 2)
        A metric in rows of the matrices A and B, and of A with each key of B [1]_; n is a power
        of 2.

    Returns
    -------
    float64, shape (2, n_keys, 3)
        Estimates and the ends of their intervals: percentiles of a bootstrap over the n blocks.
    """
    from scipy.stats import sobol_indices

    n = len(values)

    def indices(rows: NDArray[np.intp]) -> Values:
        """Return both indices of drawn blocks, shape (2, n_keys, n_draws)."""
        drawn = np.moveaxis(values[rows], -1, 0)
        found = sobol_indices(func={"f_A": drawn[0], "f_B": drawn[1], "f_AB": drawn[2:]}, n=n)
        both = np.reshape([found.first_order, found.total_order], (2, len(rows), -1))
        return np.swapaxes(both, 1, 2)

    return _with_intervals(indices, *values.shape)


def morris_estimates(values: Values, points: Values) -> Values:
    """Return mu*, mu and sigma of the elementary effects, with 95 % intervals.

    Parameters
    ----------
    values : float64, shape (n, n_keys + 1)
        A metric along trajectories.
    points : float64, shape (n, n_keys + 1, n_keys)
        Their points, as shares of the ranges.

    Returns
    -------
    float64, shape (3, n_keys, 3)
        Mean of the absolute effects [2]_, mean and standard deviation of the effects; the ends of
        intervals are percentiles of a bootstrap over the trajectories.
    """
    # One key differs in each step.
    steps = np.diff(points, axis=1)
    effects = np.einsum("nsk,ns->kn", steps, np.diff(values, axis=1)) / (steps**2).sum(axis=1).T

    def statistics(rows: NDArray[np.intp]) -> Values:
        """Return all of drawn trajectories, shape (3, n_keys, n_draws)."""
        drawn = effects[:, rows]
        return np.stack([abs(drawn).mean(-1), drawn.mean(-1), drawn.std(-1, ddof=1)])

    return _with_intervals(statistics, *values.shape)


def _with_intervals(
    statistics: Callable[[NDArray[np.intp]], Values], n: int, n_rows: int
) -> Values:
    """Return statistics of n blocks, with intervals from blocks drawn with replacement."""
    drawn = np.random.default_rng(0).integers(n, size=(1 + _DRAWS, n))
    drawn[0] = np.arange(n)
    parts = np.array_split(drawn, 1 + drawn.size * n_rows // _BATCH)
    found = np.concatenate([*map(statistics, parts)], axis=-1)
    return np.stack([found[..., 0], *np.percentile(found[..., 1:], _ENDS, axis=-1)], axis=-1)


@dataclass(frozen=True)
class _Group:
    """Runs of a design with the same other values; positions have shape (n_points, n_seeds)."""

    varied: Mapping[str, Any]
    positions: NDArray[np.intp]


def sensitivities(
    reader: StoreReader, entry: CampaignEntry, metrics: Sequence[str] = ()
) -> list[ResultTable]:
    """Return the sensitivity of metrics to the keys of a design; none without a design.

    A table has the columns of keys that distinguish groups of runs, then ``parameter`` and its
    indices, each with the ends of its 95 % interval. The parameters of a group are in the order of
    their total indices, or of mu*. The note has groups without indices.

    Parameters
    ----------
    reader : StoreReader
        The store.
    entry : CampaignEntry
        The campaign.
    metrics : sequence of str
        Names; by default all metrics with a direction of improvement, or all if there are none.

    Raises
    ------
    SimpluginError
        There is no such metric, or the runs are of another version of the design.
    """
    recipe = entry.recipe or ""
    if '"sobol"' not in recipe and '"morris"' not in recipe:
        return []
    variations = Campaign.from_recipe(json.loads(recipe), entry.text).variations
    records = {run.record.job.position: run.record for run in reader.runs(entry.number)}
    for at, record in records.items():
        expected = variations.varied(*variations.point(at))
        if canonical_json(record.job.varied) != canonical_json(expected):
            remedy = "`simplugin campaign run` does those of the present one"
            raise StoreError("the runs are of another design", file=reader.path, remedy=remedy)
    rows = {at: each.measured.row for at, each in records.items() if each.measured is not None}
    known = {each.name: each for row in rows.values() for each in row}
    best = {row.best.metric for row in rows.values() if row.best is not None}
    known |= {_GAP: Metric(_GAP, None, sense="min")} if best else {}
    if metrics and not known:
        raise SimpluginError("no run of the campaign has been recorded")
    if unknown := [name for name in metrics if name not in known]:
        hint = suggestion(unknown[0], known, "there are")
        raise SimpluginError(f"there is no metric {unknown[0]!r}; {hint}")
    main = [name for name, each in known.items() if each.sense or name in best]
    designs = _groups(variations)
    found = []
    for name in metrics or main or known:
        outcomes: dict[int, float | str] = dict.fromkeys(records, "failed")
        outcomes |= {at: _outcome(row.flat().get(name)) for at, row in rows.items()}
        if not all(isinstance(each, str) for each in outcomes.values()):
            found += [_table(known[name], outcomes, *each) for each in designs]
    return found


def _outcome(cell: float | int | str | None) -> float | str:
    """Return a finite number, or the reason why a run has none."""
    if isinstance(cell, float | int) and math.isfinite(cell):
        return float(cell)
    return "without a finite value"


def _groups(variations: Variations) -> list[tuple[Design, list[_Group]]]:
    """Return the designs, each with the groups of its runs."""
    first, found = 0, dict[Design, list[_Group]]()
    for number in range(len(variations.listed)):
        axes = variations.axes(number)
        sizes = [len(together[0].values) for together in axes]
        keys = [{key for axis in together for key in axis.keys} for together in axes]
        start, first = first, first + math.prod(sizes)
        seeds = [at for at, each in enumerate(keys) if all(_SEED.search(key) for key in each)]
        for at, together in enumerate(axes):
            if (design := together[0].design) is not None:
                last = [at, *(each for each in seeds if each != at)]
                others = [each for each in range(len(axes)) if each not in last]
                positions = np.arange(start, first).reshape(sizes).transpose(*others, *last)
                n_seeds = math.prod(sizes[each] for each in last[1:])
                hidden = {key for each in last for key in keys[each]}
                for runs in positions.reshape(-1, sizes[at], n_seeds):
                    varied = variations.varied(*variations.point(int(runs[0, 0])))
                    rest = {key: value for key, value in varied.items() if key not in hidden}
                    found.setdefault(design, []).append(_Group(rest, runs))
    return [*found.items()]


def _table(
    metric: Metric, outcomes: Mapping[int, float | str], design: Design, groups: Sequence[_Group]
) -> ResultTable:
    """Return the sensitivity of a metric in groups of runs."""
    keys = list(dict.fromkeys(key for group in groups for key in group.varied))
    is_sobol, parameters = design.method == "sobol", [*design.tables]
    kind = "rows of a matrix" if is_sobol else "trajectories"
    lines: list[tuple[Cell, ...]] = []
    notes = [f"95 % intervals of {design.count} {kind}, {groups[0].positions.size:,} runs"]
    for group in groups:
        where = "".join(f", {key} = {value!r}" for key, value in group.varied.items())
        found = [outcomes.get(at, "not done") for at in group.positions.ravel().tolist()]
        values = [each for each in found if not isinstance(each, str)]
        if len(values) < len(found):
            lacking = Counter(each for each in found if isinstance(each, str))
            parts = ", ".join(f"{count:,} runs {state}" for state, count in lacking.items())
            notes.append(f"no indices{where}: {parts}")
            continue
        means = np.reshape(values, group.positions.shape).mean(axis=-1)
        if np.ptp(means) <= _ROUNDING * abs(means).max():
            notes.append(f"no indices{where}: the same at all points, {means[0]:.10g}")
            continue
        blocks = means.reshape(design.count, -1)
        estimates = (
            sobol_estimates(blocks) if is_sobol else morris_estimates(blocks, design.reached())
        )
        about = [plain_cell(group.varied.get(key)) for key in keys]
        # By the total index, or mu*.
        order = np.argsort(-estimates[1 if is_sobol else 0, :, 0], kind="stable").tolist()
        lines += [(*about, parameters[at], *estimates[:, at].ravel().tolist()) for at in order]
    unit = "" if is_sobol else metric.unit
    indices = [f"{name}{end}" for name in INDICES[design.method] for end in ("", " from", " to")]
    columns = (*((key, "") for key in (*keys, "parameter")), *((each, unit) for each in indices))
    return ResultTable(f"Sensitivity of {metric.name}", columns, tuple(lines), "; ".join(notes))
