"""All figures of a campaign, as files for a paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simplugin.errors import SimpluginError
from simplugin.reports.curves import curves
from simplugin.reports.distributions import draw_boxes, draw_ecdfs
from simplugin.reports.groups import number, pairing_columns, rows_by_group, values_by_group
from simplugin.reports.page.activity_charts import activity_chart
from simplugin.reports.paper_sheet import Width, write_sheet
from simplugin.reports.parameter_plots import draw_parameter
from simplugin.reports.profile_plots import draw_profiles
from simplugin.reports.profiles import profiles
from simplugin.reports.schedules import draw_schedule
from simplugin.reports.statistics import finite

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

    from simplugin.reports.page.contents import CampaignReport, Column, KeptRun

# The one that is drawn faster decides where everything is.
_SUFFIXES = (".png", ".pdf")
# What a file of each width is called behind its kind.
_ENDINGS: dict[Width, str] = {"column": "", "page": "-wide"}
# Fewer instances make no profile.
_LEAST_INSTANCES = 2
# Numbers that stand for draws, not for a size.
_SEEDS = re.compile(r"(^|[._])seed$")

_Drawn = tuple[str, Callable[[Width], "Figure"]]


def write_figures(
    report: CampaignReport,
    directory: str | PathLike[str],
    *,
    widths: Sequence[Width] = ("column",),
) -> list[Path]:
    """Write the figures of a campaign as PDF and PNG.

    Of each metric that is not the same in all runs: boxes and ECDFs by group
    (``makespan-box.pdf``, ``makespan-ecdf.pdf``); where it is known whether less or more is
    better, all values are above 0 and groups have runs to compare, performance profiles
    (``makespan-profile.pdf``); and means over each number that groups vary, other than seeds
    (``makespan-over-workload-count.pdf``). Of each run that was kept its curves and its Gantt chart
    (``run-7-rounds.pdf``, ``run-7-gantt.pdf``), and the figures of reproductions by capability.

    Parameters
    ----------
    report : CampaignReport
        What is reported.
    directory : path
        Made if it is not there; files of the same names are replaced.
    widths : sequence of {"column", "page"}
        How wide the figures of metrics are, 3.4 or 7 inches; names of the latter end with
        ``-wide``.

    Returns
    -------
    list of Path
        What was written, in the order of the metrics.

    Raises
    ------
    SimpluginError
        A file cannot be written.
    """
    target = Path(directory)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimpluginError(f"{target}: cannot be made: {error.strerror}") from error
    written: list[Path] = []
    names: set[str] = set()
    for metric in report.metrics():
        for kind, draw in _figures_of(report, metric):
            name = _unused(f"{_file_name(metric.name)}-{kind}", names)
            for width in widths:
                figure = draw(width)
                for suffix in _SUFFIXES:
                    path = target / f"{name}{_ENDINGS[width]}{suffix}"
                    write_sheet(figure, path)
                    figure.set_layout_engine("none")
                    written.append(path)
    for run, kept in enumerate(report.kept):
        written += _kept(kept, run, target, names)
    for capability, figures in report.figures.items():
        for each in figures:
            name = _unused(_file_name(f"{capability}-{each.name}"), names)
            written += _both(target, name, partial(curves, [each]))
    return written


def _figures_of(report: CampaignReport, metric: Column) -> Iterator[_Drawn]:
    """Go through the kinds of figures that a metric has."""
    values = values_by_group(report, metric)
    groups = {name: list(each.values()) for name, each in values.items()}
    every, _, _ = finite([value for each in groups.values() for value in each])
    if len(np.unique(every)) < 2:
        return
    label, unit = metric.name, metric.unit
    yield "box", lambda width: draw_boxes(groups, label=label, unit=unit, width=width)
    yield "ecdf", lambda width: draw_ecdfs(groups, label=label, unit=unit, width=width)
    if metric.sense is not None and len(groups) > 1 and float(every.min()) > 0:
        compared = profiles(values, sense=metric.sense)
        if compared.n >= _LEAST_INSTANCES:
            yield "profile", lambda width: draw_profiles(compared, label=label, width=width)
    rows = rows_by_group(report)
    for parameter in pairing_columns(report):
        if parameter.numeric and not _SEEDS.search(parameter.name):
            yield _over(metric, parameter, rows)


def _over(metric: Column, parameter: Column, rows: dict[str, list[int]]) -> _Drawn:
    """Return the figure of a metric over a parameter."""
    series = {
        name: (
            [number(parameter.values[row]) for row in chosen],
            [number(metric.values[row]) for row in chosen],
        )
        for name, chosen in rows.items()
    }

    def draw(width: Width) -> Figure:
        return draw_parameter(
            series, parameter=parameter.name, parameter_unit=parameter.unit, label=metric.name,
            unit=metric.unit, width=width,
        )  # fmt: skip

    return f"over-{_file_name(parameter.name)}", draw


def _kept(kept: KeptRun, run: int, target: Path, names: set[str]) -> list[Path]:
    """Write curves and charts of a run of which more is known."""
    start = f"run-{run if kept.position is None else kept.position}"
    written: list[Path] = []
    for each in kept.figures:
        name = _unused(f"{start}-{_file_name(each.name)}", names)
        written += _both(target, name, partial(curves, [each]))
    chart = kept.schedule
    if chart is None and kept.activities is not None:
        chart = activity_chart(kept.activities, title=kept.title)
    if chart is not None and chart.bars:
        name = _unused(f"{start}-gantt", names)
        written += _both(target, name, partial(draw_schedule, chart))
    return written


def _both(target: Path, name: str, draw: Callable[[Path], None]) -> list[Path]:
    """Draw a file of each kind."""
    paths = [target / f"{name}{suffix}" for suffix in _SUFFIXES]
    for path in paths:
        draw(path)
    return paths


def _file_name(name: str) -> str:
    """Return a name without what file systems, shells and LaTeX read in their own way."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "x"


def _unused(name: str, names: set[str]) -> str:
    """Return a name that no file has yet, with a number behind it if need be, and note it."""
    free = name
    count = 2
    while free in names:
        free, count = f"{name}-{count}", count + 1
    names.add(free)
    return free
