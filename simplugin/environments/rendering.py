"""The Gantt chart of an episode up to a date, as an image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simplugin.reports.gantt import gantt
from simplugin.reports.schedules import draw_schedule
from simplugin.scenarios import ScenarioResult


def image(outcome: ScenarioResult, date: float, title: str) -> NDArray[np.uint8]:
    """Draw what has happened by a date.

    Parameters
    ----------
    outcome : ScenarioResult
        The outcome of the episode, or of a future of it.
    date : float
        What begins later is not drawn, and what ends later is cut [s].
    title : str
        Title of the drawing.

    Returns
    -------
    uint8, shape (height, width, 3)
    """
    if outcome.schedule is not None:
        bars = tuple(
            replace(bar, finish=min(bar.finish, date))
            for bar in outcome.schedule.bars
            if bar.start < date
        )
        now = {"now": date}
        chart = draw_schedule(
            replace(outcome.schedule, bars=bars, facts="", dates=now, completion=())
        )
    else:
        trace = outcome.result.trace
        begun = trace.start < date
        columns = {name: getattr(trace, name)[begun] for name in trace.dtypes}
        columns["end"] = np.minimum(columns["end"], date)
        off = {
            host: tuple((start, min(end, date)) for start, end in times if start < date)
            for host, times in outcome.result.off_times.items()
        }
        shown = replace(outcome.result, clock=date, trace=replace(trace, **columns), off_times=off)
        chart = gantt(shown, title=title, only=shown.hosts.name)
    return replace(chart, dpi=80).pixels()
