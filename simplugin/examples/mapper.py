"""An online mapper: ready tasks to processors in turn, each on one."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from simplugin.platforms import Site
from simplugin.scenarios import load_scenario, run_scenario
from simplugin.workloads import GraphSet


class PlacedTask(NamedTuple):
    """A task and its processors, all of one cluster; any object with these names will do."""

    task: int
    processors: list[int]


class RoundRobin:
    """The mapper, called after each end of tasks and each submission of graphs."""

    def __init__(self, graphs: GraphSet, site: Site, *, first: int = 0) -> None:
        self.count, self.next = len(site.names), first

    def map_ready(self, now: float, tasks: Iterable[int]) -> Iterable[PlacedTask]:
        """Map tasks that became ready; others may be left for a later call."""
        for task in tasks:
            yield PlacedTask(task, [self.next % self.count])
            self.next += 1

    def started(self, task: int, date: float) -> None:
        """Do nothing: a task has started; `finished` is called when it ends."""

    finished = started


def test_the_makespan_is_above_its_bound():
    row = run_scenario(load_scenario(Path(__file__).with_suffix(".toml"))).row
    assert row.best.value <= row["makespan"] < 20 * row.best.value
