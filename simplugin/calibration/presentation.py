"""Figures and tables of a calibration, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import make_interp_spline

from simplugin.calibration.calibrating import CalibratedParameter, Calibration
from simplugin.calibration.study import Study
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import Cell, ResultTable
from simplugin.scenarios.ranges import ParameterTable

# Figures of pairs of parameters at most.
MOST_PAIRS = 10
# Ratio of positive values from which on an axis is logarithmic.
_WIDE = 10.0
# Points of a curve, so that none is marked.
_SMOOTH = 81
# Losses of points of pairs, as multiples of the least; names with the numbers of their colours.
_BOUNDS = (1.0, 1.1, 2.0, 10.0)
_NEAR = {"least loss": 5, "up to 1.1 times": 10, "up to 2 times": 0, "up to 10 times": 4}
_PAIRS = {**_NEAR, "over 10 times": 6, "failed": 3}
# Numbers of the colours of lines and of dots.
_LINES = {"least so far": 0, "all others fitted again": 0, "interval of 95 %": 5, "as measured": 6}
_DOTS = {"evaluation": 4, "evaluated": 0, "fitted": 0, "held out": 5, **_PAIRS}
_USES = ("fitted", "held out")
_plot = partial(CurvePlot, whole=True, dots=(*_DOTS,), colours=_LINES | _DOTS)
_cloud = partial(_plot, square=True)
_TESTS = (
    "trend: Kendall's tau of errors and column; bend: tau of errors and distance from the middle"
    " rank; groups: H of Kruskal and Wallis; p is corrected after Holm, and approximate"
)


def search_figure(found: Calibration) -> CurvePlot:
    """Return the loss of each evaluation, and the least so far."""
    losses = np.array(found.history)
    numbers = np.arange(1, len(losses) + 1)
    least = np.minimum.accumulate(losses)
    steps = np.repeat(numbers, 2)[1:], np.repeat(least, 2)[:-1]
    series = {"evaluation": (numbers, losses), "least so far": steps}
    names = "Loss over the evaluations of the search", "evaluation", f"loss, {found.loss}"
    return _plot("loss", *names, series, log_y=_wide(losses))


def profile_figures(study: Study, found: Calibration) -> list[CurvePlot]:
    """Return the profiles of the parameters that have one."""
    tables = study.parameters
    return [_profile(each, tables[each.key]) for each in found.parameters if each.curve[1:]]


def _profile(of: CalibratedParameter, table: ParameterTable) -> CurvePlot:
    """Return the profile of a parameter with its interval."""
    pairs = {table.number_of(value): 100 * each for value, each in of.curve}
    values, errors = np.array([*pairs]), np.array([*pairs.values()])
    limit, least, is_log = 100 * of.limit, np.min(errors), table.scale == "log"
    series: dict[str, tuple[ArrayLike, ArrayLike]] = {}
    if of.profile is not None:
        low, high = map(table.number_of, of.profile)
        # The signed root is almost linear in the parameter.
        roots = np.sqrt(np.maximum(errors**2 - least**2, 0))
        roots *= np.sign(values - values[np.argmin(errors)])
        spaced, scale = (np.geomspace, np.log) if is_log else (np.linspace, np.asarray)
        across = spaced(min(low, values[0]), max(high, values[-1]), _SMOOTH)
        between = make_interp_spline(scale(values), roots, k=1)(scale(across))
        series["all others fitted again"] = across, np.sqrt(least**2 + between**2)
        level = np.full(_SMOOTH, limit)
        level[[0, -1]] = least
        across = np.concatenate([[low], np.linspace(low, high, _SMOOTH - 2), [high]])
        series["interval of 95 %"] = across, level
    series["evaluated"] = values, errors
    title = f"Profile of {of.key}{'' if of.identified else ' (not identified)'}"
    return _plot(
        *(f"profile-{of.key}", title, _axis(of.key, table), "relative error, rms [%]", series),
        lines={} if of.profile else {"excluded above": limit},
        log_x=is_log and _wide(values),
        log_y=_wide(errors),
    )


def pair_figures(study: Study, found: Calibration) -> list[CurvePlot]:
    """Return the evaluations in planes of two parameters, by loss; `MOST_PAIRS` at most."""
    losses = np.array(found.history)
    numbers = np.searchsorted(np.min(losses) * np.array(_BOUNDS), losses)
    kinds = np.array([*_PAIRS])[np.where(np.isfinite(losses), numbers, -1)]
    columns = zip(study.parameters.items(), zip(*found.tried, strict=True), strict=True)
    parameters = [
        (key, table, np.array([*map(table.number_of, values)])) for (key, table), values in columns
    ]
    figures = []
    for (one, first, x), (other, second, y) in [*combinations(parameters, 2)][:MOST_PAIRS]:
        there = [(name, kinds == name) for name in reversed(_PAIRS) if name in kinds]
        series = {name: (x[which], y[which]) for name, which in there}
        names = f"pair-{one}-{other}", f"Evaluations by {one} and {other}"
        axes = _axis(one, first), _axis(other, second)
        log_x, log_y = first.scale == "log", second.scale == "log"
        figures.append(_cloud(*names, *axes, series, log_x=log_x, log_y=log_y))
    return figures


def prediction_figures(found: Calibration) -> list[CurvePlot]:
    """Return predicted over measured values of each metric."""
    figures = []
    for metric in dict.fromkeys(each.metric for each in found.values):
        rows = [each for each in found.values if each.metric == metric]
        measured = np.array([each.measured for each in rows])
        predicted = np.array([each.calibrated for each in rows])
        held_out = np.array([each.held_out for each in rows])
        line = np.linspace(np.min(measured), np.max(measured), _SMOOTH)
        series = {"as measured": (line, line)}
        for name, which in zip(_USES, (~held_out, held_out), strict=True):
            series |= {name: (measured[which], predicted[which])} if which.any() else {}
        names = f"Predicted {metric}", f"measured {metric}", f"predicted {metric}"
        log = _wide(measured)
        figures.append(_cloud(f"predicted-{metric}", *names, series, log_x=log, log_y=log))
    return figures


def result_tables(found: Calibration) -> list[ResultTable]:
    """Return parameters, losses, values, and tests of the errors."""
    parameters = [
        (
            each.key,
            _text([each.value]),
            _interval(each, each.profile or each.plausible) + " (linear)" * each.is_linear,
            _interval(each, each.bootstrap),
            "" if each.identified else "not identified",
        )
        for each in found.parameters
    ]
    losses: list[tuple[Cell, ...]] = [(name, *each.values()) for name, each in found.losses.items()]
    values = [
        (each.row, each.metric, _USES[each.held_out], each.measured, each.calibrated, each.error)
        for each in found.values
    ]
    tests = [astuple(each)[:-1] for each in found.patterns]
    means = [f"{name} {100 * error:+.2f} %" for name, error in found.systematic.items()]
    note = f"mean error of fitted rows: {', '.join(means)}"
    factor = "constant factor: the uncalibrated scenario times the best factor for each metric"
    # A loss of the user's is any number.
    unit = "" if ":" in found.loss else ":%"
    losses_of = ("calibrated", "uncalibrated", "constant factor")
    heads = ",".join([found.loss.replace(":", "."), *(name + unit for name in losses_of)])
    return [
        _table("Parameters", "parameter,value,95 % (profile),95 % (bootstrap),", parameters),
        _table("Losses", heads, losses, factor),
        _table("Findings", "", [(each,) for each in found.findings()]),
        _table("Values", "row,metric,,measured,predicted,error:%", values, note),
        _table("Errors by column", "metric,column,test,statistic,p", tests, _TESTS),
    ]


def _table(
    title: str, columns: str, lines: Sequence[tuple[Cell, ...]], note: str = ""
) -> ResultTable:
    """Return a table of columns that are written as ``name:unit`` with commas between."""
    heads = [each.partition(":") for each in columns.split(",")]
    return ResultTable(title, tuple((name, unit) for name, _, unit in heads), tuple(lines), note)


def _axis(key: str, table: ParameterTable) -> str:
    """Return the label of an axis of a parameter."""
    if table.choices is not None:
        names = ", ".join(f"{number}: {each}" for number, each in enumerate(table.choices))
        return f"{key} ({names})"
    return f"{key} [{table.unit}]" if table.unit else key


def _wide(values: NDArray[np.float64]) -> bool:
    """Return True if values have a logarithmic axis; infinite ones are left out."""
    finite = values[np.isfinite(values)]
    return 0 < float(np.min(finite)) < float(np.max(finite)) / _WIDE


def _interval(of: CalibratedParameter, values: Sequence[Any] | None) -> str:
    """Return an interval; it is marked if it touches an end of the range."""
    cut = of.plausible is None and of.identified and not {*(values or ())}.isdisjoint(of.ends or ())
    return _text(values) + " (end of range)" * cut


def _text(values: Sequence[Any] | None) -> str:
    """Return values with few digits."""
    texts = (f"{each:.5g}" if isinstance(each, float) else str(each) for each in values or "-")
    return ", ".join(texts)
