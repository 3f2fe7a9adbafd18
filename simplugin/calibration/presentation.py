"""Figures and tables of a calibration, as plain data."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simplugin.calibration.calibrating import CalibratedParameter, Calibration
from simplugin.calibration.measurements import SHIPPED_LOSSES
from simplugin.calibration.study import ParameterTable, Study
from simplugin.results.curves import CurvePlot
from simplugin.results.tables import Cell, ResultTable

Vector = NDArray[np.float64]
# Ratio of positive values from which on an axis is logarithmic.
_WIDE, _DECADE = 100.0, 10.0
# Points of a curve, so that none is marked.
_SMOOTH = 81
# Figures of pairs of parameters at most.
_MOST_PAIRS = 10
# Losses of points of pairs as multiples of the least, and numbers of their colours.
_CLASSES = (
    (math.inf, "over 10 times the least loss", 6),
    (10.0, "up to 10 times", 4),
    (2.0, "up to 2 times", 0),
    (1.1, "up to 1.1 times", 10),
)
_NUMBER = re.compile(r"^\d+\.\d+(e[+-]\d+)?(?=\w*$)")
_FAILED, _BEST, _GREY, _HELD_OUT = 3, 5, 6, 5


def search_figure(found: Calibration) -> CurvePlot:
    """Return the loss of each evaluation, and the least so far."""
    factor, unit = (100.0, "%") if found.loss in SHIPPED_LOSSES else (1.0, "")
    losses = factor * np.array(found.history)
    numbers = np.arange(1, len(losses) + 1)
    finite = losses[np.isfinite(losses)]
    least = np.minimum.accumulate(losses)
    series = {
        "evaluation": (numbers, losses),
        "least so far": (np.repeat(numbers, 2)[1:], np.repeat(least, 2)[:-1]),
    }
    return CurvePlot(
        name="loss",
        title="Loss over the evaluations of the search",
        x_label="evaluation",
        y_label=f"loss, {found.loss}{unit and f' [{unit}]'}",
        series=series,
        log_y=_is_log(finite, _DECADE),
        whole=True,
        dots=("evaluation",),
        colours={"evaluation": 4, "least so far": 0},
    )


def profile_figures(study: Study, found: Calibration) -> list[CurvePlot]:
    """Return the profiles of the parameters that have one."""
    return [
        _profile(each, study.parameters[each.key], label)
        for each, label in zip(found.parameters, _labels(study), strict=True)
        if each.limit is not None and len(each.curve) > 1
    ]


def _profile(of: CalibratedParameter, table: ParameterTable, label: str) -> CurvePlot:
    """Return the profile of a parameter with its interval."""
    assert of.limit is not None
    pairs = dict(sorted((table.number_of(value), 100 * each) for value, each in of.curve))
    values, errors = np.array([*pairs]), np.array([*pairs.values()])
    limit = 100 * of.limit
    is_log = _is_log(errors, _DECADE)
    series = {}
    if of.profile is not None:
        ends = np.array([table.number_of(each) for each in of.profile])
        # The signed root is almost linear in the parameter.
        best, least = table.number_of(of.value), np.min(errors)
        roots = np.sign(values - best) * np.sqrt(np.maximum(errors**2 - least**2, 0))
        low, high = min(ends[0], values[0]), max(ends[1], values[-1])
        if table.scale == "log":
            across = np.geomspace(low, high, _SMOOTH)
            up = make_interp_spline(np.log(values), roots, k=1)(np.log(across))
        else:
            across = np.linspace(low, high, _SMOOTH)
            up = make_interp_spline(values, roots, k=1)(across)
        series["all others fitted again"] = (across, np.sqrt(least**2 + up**2))
        floor = least if is_log else least - 0.1 * (limit - least)
        across = np.linspace(ends[0], ends[1], _SMOOTH)
        across = np.concatenate([ends[[0]], across, ends[[1]]])
        up = np.concatenate([[floor], np.full(_SMOOTH, limit), [floor]])
        series["interval of 95 %"] = (across, up)
    series["evaluated"] = (values, errors)
    return CurvePlot(
        name=f"profile-{label}",
        title=f"Profile of {label}{'' if of.identified else ' (not identified)'}",
        x_label=_axis(label, table),
        y_label="relative error, rms [%]",
        series=series,
        lines={} if of.profile else {"excluded above": limit},
        log_x=table.scale == "log" and _is_log(values, _DECADE),
        log_y=is_log,
        whole=True,
        dots=("evaluated",),
        colours={"all others fitted again": 0, "interval of 95 %": _HELD_OUT, "evaluated": 0},
    )


def pair_figures(study: Study, found: Calibration) -> list[CurvePlot]:
    """Return the evaluations in planes of two parameters, coloured by loss; ten at most."""
    losses = np.array(found.history)
    least = float(np.min(losses))
    bounds = np.array([bound for bound, _, _ in _CLASSES])
    # Of each point the last class whose bound is not below its loss.
    which = np.sum(losses[:, None] <= least * bounds, axis=1) - 1
    which[~np.isfinite(losses)] = -1
    names = {text: colour for _, text, colour in _CLASSES}
    tables = [*study.parameters.values()]
    points = np.array(
        [
            [table.number_of(value) for table, value in zip(tables, each, strict=True)]
            for each in found.tried
        ]
    )
    labels = _labels(study)
    figures = []
    for one, other in [*combinations(range(len(tables)), 2)][:_MOST_PAIRS]:
        groups = {"failed": -1} | {name: number for number, name in enumerate(names)}
        series = {
            name: (points[which == number, one], points[which == number, other])
            for name, number in groups.items()
            if np.any(which == number)
        }
        best = int(np.argmin(losses))
        series["least loss"] = (points[[best], one], points[[best], other])
        figures.append(
            CurvePlot(
                name=f"pair-{labels[one]}-{labels[other]}",
                title=f"Evaluations by {labels[one]} and {labels[other]}",
                x_label=_axis(labels[one], tables[one]),
                y_label=_axis(labels[other], tables[other]),
                series=series,
                log_x=tables[one].scale == "log",
                log_y=tables[other].scale == "log",
                whole=True,
                dots=tuple(series),
                colours={"failed": _FAILED, "least loss": _BEST, **names},
                square=True,
            )
        )
    return figures


def prediction_figures(found: Calibration) -> list[CurvePlot]:
    """Return predicted over measured values of each metric."""
    figures = []
    for metric in dict.fromkeys(each.metric for each in found.values):
        rows = [each for each in found.values if each.metric == metric]
        pairs = np.array([[each.measured, each.calibrated] for each in rows])
        held_out = np.array([each.held_out for each in rows])
        finite = pairs[np.isfinite(pairs)]
        is_log = _is_log(finite, _WIDE)
        ends = np.min(finite), np.max(finite)
        diagonal = np.geomspace(*ends, _SMOOTH) if is_log else np.linspace(*ends, _SMOOTH)
        series = {"as measured": (diagonal, diagonal)}
        for name, which in (("fitted", ~held_out), ("held out", held_out)):
            if np.any(which):
                series[name] = (pairs[which, 0], pairs[which, 1])
        figures.append(
            CurvePlot(
                name=f"predicted-{metric}",
                title=f"Predicted and measured {metric}",
                x_label=f"measured {metric}",
                y_label=f"predicted {metric}",
                series=series,
                log_x=is_log,
                log_y=is_log,
                whole=True,
                dots=("fitted", "held out"),
                colours={"as measured": _GREY, "fitted": 0, "held out": _HELD_OUT},
                square=True,
            )
        )
    return figures


def result_tables(found: Calibration) -> list[ResultTable]:
    """Return parameters, losses, tests of the errors, and values."""
    parameters = [
        (
            each.key,
            _text(each.value),
            _interval(each.profile or each.plausible) + " (linear)" * each.is_linear,
            _interval(each.bootstrap),
            "" if each.identified else "not identified",
        )
        for each in found.parameters
    ]
    columns = ("calibrated", "uncalibrated", "constant_factor")
    losses: list[tuple[Cell, ...]] = [
        (name.replace("_", "-"), *(each[column] for column in columns))
        for name, each in found.losses.items()
    ]
    tests = [
        (each.metric, each.column, each.kind, each.statistic, each.p_value)
        for each in found.patterns
    ]
    values = [
        (
            each.row,
            each.metric,
            each.measured,
            each.calibrated,
            each.calibrated / each.measured - 1,
            each.uncalibrated,
            "held out" if each.held_out else "",
        )
        for each in found.values
    ]
    means = [f"{name} {100 * error:+.2f} %" for name, error in found.systematic.items()]
    return [
        _table("Parameters", "parameter,value,95 % (profile),95 % (bootstrap),", parameters),
        _table(
            "Losses",
            f"{found.loss},calibrated:%,uncalibrated:%,constant factor:%",
            losses,
            "constant factor: the uncalibrated scenario times the best factor for each metric",
        ),
        _table(
            "Values",
            "row,metric,measured,calibrated,error:%,uncalibrated,",
            values,
            f"mean error of fitted rows: {', '.join(means)}",
        ),
        *(
            [
                _table(
                    "Errors by column",
                    "metric,column,test,statistic,p",
                    tests,
                    "trend: Kendall's tau of errors and the column; bend: that of errors and the"
                    " distance of a value's rank from the middle; groups: H of Kruskal and Wallis;"
                    " p is corrected for the number of tests after Holm, and approximate",
                )
            ]
            if tests
            else []
        ),
    ]


def _table(
    title: str, columns: str, lines: Sequence[tuple[Cell, ...]], note: str = ""
) -> ResultTable:
    """Return a table of columns that are written as ``name:unit`` with commas between."""
    heads = [each.partition(":") for each in columns.split(",")]
    return ResultTable(title, tuple((name, unit) for name, _, unit in heads), tuple(lines), note)


def _labels(study: Study) -> list[str]:
    """Return the last words of the parameters' keys; whole keys where these say too little."""
    last = [key.rpartition(".")[2] for key in study.parameters]
    return [
        word if last.count(word) == 1 and word != "name" else key
        for word, key in zip(last, study.parameters, strict=True)
    ]


def _axis(label: str, table: ParameterTable) -> str:
    """Return the label of an axis of a parameter."""
    if table.choices is not None:
        names = ", ".join(f"{number}: {each}" for number, each in enumerate(table.choices))
        return f"{label} ({names})"
    return f"{label} [{table.unit}]" if table.unit else label


def _is_log(values: Vector, ratio: float) -> bool:
    """Return True if values are positive, and their extremes a ratio or more apart."""
    return bool(len(values)) and 0 < float(np.min(values)) < float(np.max(values)) / ratio


def _text(value: Any) -> str:
    """Return a value with few digits; texts are numbers with a unit, or choices."""
    if isinstance(value, float):
        return f"{value:.5g}"
    return _NUMBER.sub(lambda found: f"{float(found[0]):.5g}", str(value))


def _interval(values: Sequence[Any] | None) -> str:
    """Return the text of an interval or of plausible values."""
    return "-" if values is None else ", ".join(map(_text, values))
