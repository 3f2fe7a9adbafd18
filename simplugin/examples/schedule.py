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
    flop = np.concatenate([graph.flop for graph in graphs.graphs])
    alpha = np.concatenate([graph.alpha for graph in graphs.graphs])
    seconds = (alpha + (1 - alpha) / count) * flop / site.speed[cluster]
    finish = np.zeros(graphs.n_tasks)
    finish[order] = np.cumsum(seconds[order])
    return Schedule(
        site=site,
        graphs=graphs,
        cluster=np.full(graphs.n_tasks, cluster),
        start=finish - seconds,
        finish=finish,
        processor_start=count * np.arange(graphs.n_tasks + 1),
        processor=np.tile(site.first[cluster] + np.arange(count), graphs.n_tasks),
        order=order,
    )


def test_transfers_alone_make_it_longer_than_planned():
    row = run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row
    assert row.best.value <= row["estimate"] <= row["makespan"] < 1.05 * row["estimate"]
