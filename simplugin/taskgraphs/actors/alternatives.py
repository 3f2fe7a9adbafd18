"""Places that a task may get instead of the one that its scheduler decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from simplugin.platforms.sites import Site
from simplugin.taskgraphs.policies.mapping import Assignment
from simplugin.taskgraphs.timing import Local, redistribution_time
from simplugin.workloads.task_graphs import GraphSet


class MappingOptions(Sequence[Assignment]):
    """Options of a choice: the scheduler's own place, then the best one on each other cluster.

    Those on other clusters come by their estimated ends.
    Their estimates are made when the first of them is read, so that a chooser which reads none
    costs nothing. They hold for the date of the choice only.

    Parameters
    ----------
    count : int
        Number of options.
    make : callable
        Returns them.
    """

    def __init__(self, count: int, make: Callable[[], Sequence[Assignment]]) -> None:
        self._count, self._make = count, make
        self._made: Sequence[Assignment] | None = None
        self._is_over = False

    def __len__(self) -> int:
        """Return the number of options."""
        return self._count

    @overload
    def __getitem__(self, index: int) -> Assignment: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Assignment]: ...

    def __getitem__(self, index: int | slice) -> Assignment | Sequence[Assignment]:
        """Return an option."""
        if self._made is None:
            if self._is_over:
                raise RuntimeError("the options of a choice are read before it is taken")
            self._made = self._make()
        return self._made[index]

    def __reduce__(self) -> tuple[type[tuple[Assignment, ...]], tuple[list[Assignment]]]:
        """Pickle as a tuple."""
        return tuple, (list(self),)

    def close(self) -> None:
        """Note that the choice is taken."""
        self._is_over = True


@dataclass(frozen=True, eq=False)
class MappingObservation:
    """Observation of a choice between places of a task.

    Attributes
    ----------
    task : int
        Number in the graph set.
    flop : float
        Its work [flop].
    byte : float
        Data of all its inputs [byte].
    ready : int
        Tasks of submitted graphs whose predecessors have finished, and which have not started.
    options : sequence of Assignment
        The options.
    """

    task: int
    flop: float
    byte: float
    ready: int
    options: Sequence[Assignment]

    @property
    def start(self) -> NDArray[np.float64]:
        """Estimated start of the task with each option [s], shape (n_options,)."""
        return np.array([each.start for each in self.options])

    @property
    def finish(self) -> NDArray[np.float64]:
        """Estimated end of the task with each option [s], shape (n_options,)."""
        return np.array([each.finish for each in self.options])

    @property
    def allocation(self) -> NDArray[np.int64]:
        """Number of processors of each option, shape (n_options,)."""
        return np.array([len(each.processors) for each in self.options])


class PlaceEstimates:
    """Estimates of the dates of a task on any processors, at one date.

    A processor is free when the tasks before in its queue have taken their times one after the
    other; a task starts when its processors are free and its data are there, which are sent from
    the date on, each redistribution as if it were alone.

    Parameters
    ----------
    graphs, site, local
        Of the execution.
    held : list of (tuple of int or None)
        Processors of each mapped task.
    """

    def __init__(
        self,
        graphs: GraphSet,
        site: Site,
        local: Local,
        held: list[tuple[int, ...] | None],
    ) -> None:
        self._graphs, self._site, self._local, self._held = graphs, site, local, held
        self._flop, self._alpha = graphs.flop.tolist(), graphs.alpha.tolist()
        self._speed = site.speed.tolist()
        self.cluster_of = np.repeat(np.arange(site.n_clusters), site.processors).tolist()

    def time(self, task: int, count: int, cluster: int) -> float:
        """Return the duration of a task [s]."""
        alpha: float = self._alpha[task]
        return float((alpha + (1 - alpha) / count) * self._flop[task] / self._speed[cluster])

    def free(self, now: float, queue: Sequence[int], began: float | None) -> float:
        """Return when the tasks of a queue will have ended [s].

        Parameters
        ----------
        now : float
            The date [s].
        queue : sequence of int
            Tasks on one processor.
        began : float, optional
            The start of the first, if it runs [s].
        """
        date = now if began is None else min(began, now)
        for number, task in enumerate(queue):
            held: Sequence[int] = self._held[task] or ()
            date += self.time(task, len(held), self.cluster_of[held[0]])
            date = max(date, now) if not number else date
        return date

    def options(
        self, task: int, decided: Sequence[int], now: float, free: Callable[[int], float]
    ) -> list[Assignment]:
        """Return the options of a task.

        Parameters
        ----------
        task : int
            The task.
        decided : sequence of int
            The processors that the scheduler decides.
        now : float
            The date [s].
        free : callable
            Returns when a processor is free [s].
        """
        graphs, first = self._graphs, self._site.first.tolist()
        edges = graphs.predecessors.edges_of(task)
        edges = edges[graphs.edge_byte[edges] > 0]
        sources: list[tuple[int, ...]] = [
            self._held[each] or () for each in graphs.edges[edges, 0].tolist()
        ]
        bytes_, counts = graphs.edge_byte[edges], np.array([len(each) for each in sources])
        origins = np.array([self.cluster_of[each[0]] for each in sources], dtype=np.int64)

        def on(processors: tuple[int, ...], cluster: int) -> Assignment:
            """Return the task on some processors."""
            arrival = now
            if sources:
                data = redistribution_time(
                    self._site, bytes_, origins, counts, cluster, len(processors)
                )
                if self._local == "kept":
                    data[[each == processors for each in sources]] = 0.0
                arrival += float(data.max())
            start = max(arrival, *map(free, processors))
            finish = start + self.time(task, len(processors), cluster)
            return Assignment(task, cluster, np.array(processors), start, finish)

        own = on(tuple(decided), self.cluster_of[decided[0]])
        others = []
        for cluster, (begin, end) in enumerate(pairwise(first)):
            if cluster == own.cluster:
                continue
            count = min(len(decided), end - begin)
            soonest = sorted(range(begin, end), key=free)[:count]
            places = {tuple(sorted(soonest))}
            if self._local == "kept":
                places |= {
                    each for each in sources if len(each) == count and begin <= each[0] < end
                }
            # Of equal ones those with the lowest numbers.
            among = [on(each, cluster) for each in sorted(places)]
            others.append(min(among, key=lambda each: each.finish))
        return [own, *sorted(others, key=lambda each: each.finish)]
