"""A complete schedule: all tasks one after the other, each on one whole cluster."""

from pathlib import Path

import numpy as np

from simplugin.platforms import Site
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.taskgraphs import Schedule
from simplugin.workloads import GraphSet


def one_by_one(graphs: GraphSet, site: Site) -> Schedule:
    """Return the schedule on the most powerful cluster, with dates that neglect transfers."""
    cluster = int(np.argmax(site.processors * site.speed))
    count = int(site.processors[cluster])
    offsets = zip(graphs.graphs, graphs.first[:-1].tolist(), strict=True)
    order = np.concatenate([first + graph.order for graph, first in offsets])
    seconds = (graphs.alpha + (1 - graphs.alpha) / count) * graphs.flop / site.speed[cluster]
    finish = np.zeros(graphs.n_tasks)
    finish[order] = np.cumsum(seconds[order])
    everyone = site.first[cluster] + np.arange(count)
    return Schedule.of(site, graphs, [everyone] * graphs.n_tasks, finish - seconds, finish, order)


def test_transfers_alone_make_it_longer_than_planned():
    row = run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row
    assert row.best.value <= row["estimate"] <= row["makespan"] < 1.05 * row["estimate"]
