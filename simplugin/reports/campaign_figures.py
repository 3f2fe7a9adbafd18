"""All figures of a campaign, as files for a paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from simplugin.core.errors import SimpluginError
from simplugin.reports.comparisons import (
    Values,
    labels_of_groups,
    number,
    rows_by_group,
    values_by_group,
    varied_within,
)
from simplugin.reports.curves import curves
from simplugin.reports.distributions import (
    box_plot,
    draw_ecdfs,
    draw_parameter,
    draw_profiles,
    profiles,
)
from simplugin.reports.image_files import Chart, absence, write_all_letters, write_image
from simplugin.reports.page.contents import CampaignReport, Column
from simplugin.reports.paper_sheet import DPI
from simplugin.reports.schedules import chart_of, draw_schedule
from simplugin.reports.sensitivities import draw_sensitivity
from simplugin.reports.statistics import finite

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

# The layout of the first format, which is faster to draw, is used for both.
_SUFFIXES = (".png", ".pdf")
# Minimum number of instances of a profile.
_LEAST_INSTANCES = 2
# Names of seeds, which are not sizes.
_SEEDS = re.compile(r"(^|[._])seed$")

# Number of kept runs among the main figures.
_MAIN_RUNS = 2

Which = Literal["main", "all"]
_WHICH: tuple[Which, ...] = ("main", "all")
_Draw = Callable[[], "Figure | Chart"]
# As `sha256sum` has it: the digest of each file that was written, and its name.
LIST = "figures.sha256"


def write_figures(
    report: CampaignReport, directory: str | PathLike[str], which: Which = "main"
) -> WrittenFigures:
    """Write the figures of a campaign as PDF and PNG.

    Of each metric that is not the same in all runs: boxes and ECDFs by group
    (``makespan-box.pdf``, ``makespan-ecdf.pdf``); where it is known whether less or more is
    better, all values are above 0 and groups have runs to compare, performance profiles
    (``makespan-profile.pdf``); and means over each number that groups vary, other than seeds
    (``makespan-over-workload-count.pdf``). Of designs the sensitivity of metrics
    (``sensitivity-of-makespan.pdf``). Of each run that was kept its curves and its Gantt chart
    (``run-7-rounds.pdf``, ``run-7-gantt.pdf``), and the figures of reproductions by capability.

    Figures that this function wrote for a report before, and that are not of this one, are removed
    from the directory. It knows them by a list with their digests, ``figures.sha256``.

    Parameters
    ----------
    report : CampaignReport
        Campaign of the report.
    directory : path
        Made if it is not there; files of the same names are replaced.
    which : {"main", "all"}
        Metrics and runs to draw. The main metrics are those with a direction of improvement, such
        as the one that an optimum is known of and the gap to it, or the first
        if there are none; the main runs are the first two that were kept.

    Returns
    -------
    WrittenFigures
        The files in the order of the metrics, and warnings about missing figures, such as
        values so far apart that no axis shows them.

    Raises
    ------
    SimpluginError
        `which` is neither, or a file cannot be written.
    """
    if which not in _WHICH:
        raise SimpluginError(f"which is {which!r}; choose {' or '.join(map(repr, _WHICH))}")
    target = Path(directory)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimpluginError(f"{target}: cannot be made: {error.strerror}") from error
    written = WrittenFigures()
    names: set[str] = set()
    absent: dict[str, None] = {}
    for wanted, draw in _figures(report, which):
        # With a number behind it if another file has that name.
        numbered = (wanted, *(f"{wanted}-{count}" for count in range(2, len(names) + 3)))
        name = next(each for each in numbered if each not in names)
        try:
            drawn = draw()
        except SimpluginError as error:
            written.warnings.append(f"no figure {name}: {error}")
            names.add(name)
            continue
        figure = drawn.figure if isinstance(drawn, Chart) else drawn
        names.add(name)
        absent |= dict.fromkeys(write_all_letters(figure))
        for suffix in _SUFFIXES:
            written.append(target / f"{name}{suffix}")
            write_image(figure, written[-1], dpi=DPI)
            figure.set_layout_engine("none")
    replace_former(target, written)
    if absent:
        written.warnings.append(absence("".join(absent)))
    return written


def _figures(report: CampaignReport, which: Which) -> Iterator[tuple[str, _Draw]]:
    """Go through the names of files and what draws them."""
    metrics = report.metrics()
    if which == "main":
        metrics = tuple(each for each in metrics if each.sense is not None) or metrics[:1]
    # At each value of a key of a design there are few runs, which differ in all other keys.
    skipped = {key for each in report.sensitivities for key in each.column("parameter")}
    for metric in metrics:
        values = values_by_group(report, metric)
        every, _, _ = finite([value for each in values.values() for value in each.values()])
        # Unless it is the same in all runs.
        if len(np.unique(every)) < 2:
            continue
        name = _file_name(metric.name)
        labels = labels_of_groups(report)
        named = {labels[group]: each for group, each in values.items()}
        for kind, draw in _metric_figures(metric, named):
            yield f"{name}-{kind}", draw
        for parameter in varied_within(report, rows_by_group(report).values()):
            if parameter.name in skipped or _SEEDS.search(parameter.name):
                continue
            if found := parameter.amounts():
                over = partial(_over, report, metric, parameter.shown, *found)
                yield f"{name}-over-{_file_name(parameter.name)}", over
    for analysis in report.sensitivities:
        if analysis.lines:
            yield _file_name(analysis.title), partial(draw_sensitivity, analysis)
    for kept in report.kept[: _MAIN_RUNS if which == "main" else None]:
        start = "" if kept.position is None else f"run-{kept.position}-"
        for each in kept.figures:
            yield f"{start}{_file_name(each.name)}", partial(curves, [each])
        if chart := chart_of(kept):
            title = "\n".join(filter(None, [kept.title, chart.title]))
            yield f"{start}gantt", partial(draw_schedule, replace(chart, title=title))
    for capability, figures in report.figures.items():
        for each in figures:
            yield _file_name(f"{capability}-{each.name}"), partial(curves, [each])


def _metric_figures(metric: Column, values: Mapping[str, Values]) -> Iterator[tuple[str, _Draw]]:
    """Yield the figures of a metric by group: the ends of their names, and what draws them.

    There are performance profiles if there is a best group on enough instances.
    """
    groups = {name: list(each.values()) for name, each in values.items()}
    for kind, draw in (("box", box_plot), ("ecdf", draw_ecdfs)):
        yield kind, partial(draw, groups, label=metric.shown, unit=metric.unit)
    finite_values, _, _ = finite([value for each in groups.values() for value in each])
    if metric.sense is not None and len(values) > 1 and finite_values.min() > 0:
        ratios = profiles(values, sense=metric.sense)
        if ratios.n >= _LEAST_INSTANCES:
            yield "profile", partial(draw_profiles, ratios, label=metric.shown)


def _over(
    report: CampaignReport, metric: Column, name: str, places: Sequence[float | None], unit: str
) -> Figure:
    """Draw a metric over a parameter."""
    labels = labels_of_groups(report)
    series = {
        labels[group]: (
            [number(places[row]) for row in rows],
            [number(metric.values[row]) for row in rows],
        )
        for group, rows in rows_by_group(report).items()
    }
    return draw_parameter(
        series, parameter=name, parameter_unit=unit, label=metric.shown, unit=metric.unit
    )


def _file_name(name: str) -> str:
    """Return a name without characters that are special to file systems, shells or LaTeX."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "x"


class WrittenFigures(list[Path]):
    """The files of a report, in the order in which they were written.

    Attributes
    ----------
    warnings : list of str
        Figures that are missing or incomplete, with the reason.
    """

    def __init__(self) -> None:
        super().__init__()
        self.warnings: list[str] = []


def replace_former(directory: Path, written: Iterable[Path]) -> None:
    """Remove figures of the report before, and list those of this one.

    Only listed files with an unchanged digest are removed: files of others,
    and edited figures, stay.

    Parameters
    ----------
    directory : Path
        Directory of the figures.
    written : iterable of Path
        Figures of this report.

    Raises
    ------
    SimpluginError
        A file cannot be removed, or the list not be read or written.
    """
    digests = {path.name: _digest(path) for path in written}
    place = directory / LIST
    try:
        former = place.read_text(encoding="utf-8", errors="replace") if place.is_file() else ""
        for line in former.splitlines():
            digest, _, name = line.partition("  ")
            path = directory / name
            # Only names in this directory, even if the list was edited.
            known = name and name == path.name and name not in digests
            if known and path.is_file() and _digest(path) == digest:
                path.unlink()
        lines = [f"{digest}  {name}\n" for name, digest in digests.items()]
        place.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        culprit = error.filename or place
        raise SimpluginError(f"{culprit}: cannot be replaced: {error.strerror}") from error


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return sha256(path.read_bytes()).hexdigest()
