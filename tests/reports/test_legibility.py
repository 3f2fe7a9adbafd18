"""No text of a drawing covers another or is cut, whatever is drawn."""

import json
from pathlib import Path

import numpy as np
import pytest

from simplugin.papers.reproductions import CAPABILITIES
from simplugin.reports import gantt
from simplugin.reports.curves import curves
from simplugin.reports.schedules import draw_schedule
from simplugin.results.charts import Bar, ScheduleChart
from simplugin.results.curves import CurvePlot
from simplugin.scenarios.outputs import from_document

STORED = Path(__file__).parents[2] / "docs/reproductions"
PAPERS = sorted(CAPABILITIES)
LONG = "a title that says all that there is to say about the run, and then some more of it; " * 3
ROUNDS = np.arange(500)


@pytest.mark.parametrize("paper", PAPERS)
def test_stored_figures(paper, every_text, illegible):
    document = json.loads((STORED / f"{paper}.json").read_text(encoding="utf-8"))
    figure = curves(
        [from_document(CurvePlot, each) for each in document["figures"]], title=LONG
    ).figure
    assert illegible(every_text(figure)) == []


def test_long_words(every_text, illegible):
    swings = {f"host {n} of {LONG[:60]}": (ROUNDS, np.sin(ROUNDS * n) + 2) for n in (1, 2, 3)}
    bars = {"sold $x": (np.arange(8.0), np.arange(7)), "_optimum": (np.arange(8.0), np.arange(7))}
    figures = [
        CurvePlot("f", LONG, "round", "price [utility/flop] of each host", swings, log_y=True),
        CurvePlot("g", LONG, "peer", LONG[:70], bars, lines={"mean": 3.0}, bars=True),
        CurvePlot("h", "", "n", "ratio", {"a": ([10, 100, 1000, 10000], [1, 2, 3, 4])}, log_x=True),
    ]
    figure = curves(figures, title=LONG).figure
    assert len(figure.axes) == 5
    assert illegible(every_text(figure)) == []


def test_schedules_of_many_hosts(every_text, illegible):
    clusters = tuple((f"gros-{number}.nancy.grid5000.fr", 3) for number in range(40))
    bars = tuple(Bar(n % 2, (n,), n / 9, 4.0 + n / 7, "render") for n in range(120))
    thin = tuple(range(2, 120, 3))
    chart = ScheduleChart("c", LONG, clusters, ("render", LONG[:90]), bars, LONG, transfers=thin)
    assert illegible(every_text(draw_schedule(chart).figure)) == []


@pytest.mark.parametrize("by", ["host", "actor"])
def test_gantt_charts(result, by, every_text, illegible):
    assert illegible(every_text(gantt(result, by=by, title="Two transfers").figure)) == []
