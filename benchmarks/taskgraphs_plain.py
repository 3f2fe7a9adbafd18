"""SCRAP-MAX and mapping in plain Python: what the compiled ones stand beside.

Written as one would without a compiler: lists, a heap of finishes, nothing recomputed that need not
be. Both give the same schedules as the compiled ones, which the benchmark checks.
"""

from __future__ import annotations

import heapq
from itertools import pairwise

from simplugin.taskgraphs.policies.allocation import caps, reference_of


def lists(neighbours, values) -> list[list[int]]:
    """Return an adjacency as lists, of tasks or of edges."""
    cuts = neighbours.start.tolist()
    return [values.tolist()[a:b] for a, b in pairwise(cuts)]


def scrap_max(graph, site, beta):
    """Return times and processors by cluster, as `simplugin.taskgraphs.scrap_max`."""
    reference = reference_of(site)
    speed, most = reference.speed, caps(graph, reference, site).tolist()
    flop, alpha, level = graph.flop.tolist(), graph.alpha.tolist(), graph.level.tolist()
    after = lists(graph.successors, graph.successors.task)
    entries, backwards = graph.entries.tolist(), graph.order.tolist()[::-1]
    limit = beta * (site.power / speed) * (1 + 1e-9)

    def seconds(task, count):
        return (alpha[task] + (1 - alpha[task]) / count) * flop[task] / speed

    count, used = [1] * graph.n_tasks, [0] * (max(level) + 1)
    for each in level:
        used[each] += 1
    time = [seconds(task, 1) for task in range(graph.n_tasks)]
    below = [0.0] * graph.n_tasks
    while True:
        for task in backwards:
            below[task] = time[task] + max((below[each] for each in after[task]), default=0.0)
        task, best, chosen = max(entries, key=below.__getitem__), 0.0, -1
        while task >= 0:
            if count[task] < most[task] and used[level[task]] + 1 <= limit:
                worth = time[task] / count[task]
                worth -= seconds(task, count[task] + 1) / (count[task] + 1)
                if worth > best:
                    best, chosen = worth, task
            task = max(after[task], key=below.__getitem__, default=-1)
        if chosen < 0:
            break
        count[chosen] += 1
        used[level[chosen]] += 1
        time[chosen] = seconds(chosen, count[chosen])
    return time, [
        [fewest(flop[task], alpha[task], time[task], fast, size) for task in range(graph.n_tasks)]
        for fast, size in zip(site.speed.tolist(), site.processors.tolist(), strict=True)
    ]


def fewest(flop, alpha, limit, speed, size):
    """Return the fewest processors on which a task takes no longer."""
    low, high = 1, size
    while low < high:
        middle = (low + high) // 2
        if (alpha + (1 - alpha) / middle) * flop / speed <= limit * (1 + 1e-12):
            high = middle
        else:
            low = middle + 1
    return low


class Mapping:
    """A mapping by the rules of `simplugin.taskgraphs.plan`, in plain Python."""

    def __init__(self, graphs, allocations, site) -> None:
        self.flop, self.alpha = graphs.flop.tolist(), graphs.alpha.tolist()
        self.byte = graphs.edge_byte.tolist()
        self.before = lists(graphs.predecessors, graphs.predecessors.task)
        self.inputs = lists(graphs.predecessors, graphs.predecessors.edge)
        self.after = lists(graphs.successors, graphs.successors.task)
        self.speed, self.bandwidth = site.speed.tolist(), site.bandwidth.tolist()
        self.latency, self.shared = site.latency.tolist(), site.shared.tolist()
        self.first, self.n_clusters = site.first.tolist(), site.n_clusters
        time = [each for times, _ in allocations for each in times]
        self.count = [
            [each for _, processors in allocations for each in processors[cluster]]
            for cluster in range(site.n_clusters)
        ]
        self.bottom = [0.0] * graphs.n_tasks
        for number, graph in enumerate(graphs.graphs):
            for each in graph.order.tolist()[::-1]:
                task = each + int(graphs.first[number])
                rest = max((self.bottom[other] for other in self.after[task]), default=0.0)
                self.bottom[task] = time[task] + rest
        self.release = graphs.release[graphs.graph_of].tolist()
        self.free = [0.0] * site.n_processors
        self.place = {}

    def run(self):
        """Return cluster, processors, start and finish of each task, in the order of mapping."""
        missing = [len(each) for each in self.before]
        events = [(self.release[task], task, True) for task, n in enumerate(missing) if not n]
        heapq.heapify(events)
        while events:
            dates, ready = events[0][0] * (1 + 1e-9), []
            while events and events[0][0] <= dates:
                now, task, arrives = heapq.heappop(events)
                if arrives:
                    ready.append(task)
                    continue
                for each in self.after[task]:
                    missing[each] -= 1
                    if not missing[each]:
                        ready.append(each)
            for task in sorted(ready, key=lambda task: (-self.bottom[task], task)):
                heapq.heappush(events, (self.map(task, now), task, False))
        return self.place

    def map(self, task, now):
        """Map one task; return when it finishes."""
        options = [self.best(task, cluster, now) for cluster in range(self.n_clusters)]
        cluster = min(range(self.n_clusters), key=lambda each: options[each][0])
        finish, start, count, processors = options[cluster]
        for each in processors[:count]:
            self.free[each] = finish
        self.place[task] = cluster, sorted(processors[:count]), start, finish
        return finish

    def best(self, task, cluster, now):
        """Return finish, start, number and order of processors in a cluster, packed."""
        numbers = range(self.first[cluster], self.first[cluster + 1])
        processors = sorted(numbers, key=self.free.__getitem__)
        whole = self.option(task, cluster, self.count[cluster][task], processors, now)
        found = whole
        if self.free[processors[whole[2] - 1]] > now:
            for count in range(whole[2] - 1, 0, -1):
                other = self.option(task, cluster, count, processors, now)
                packs = other[1] < whole[1] and other[0] <= whole[0]
                if packs and (found is whole or other[:2] < found[:2]):
                    found = other
        return *found, processors

    def option(self, task, cluster, count, processors, now):
        """Return finish, start and number of processors."""
        start = self.free[processors[count - 1]]
        arrival = now
        for before, edge in zip(self.before[task], self.inputs[task], strict=True):
            if self.byte[edge]:
                source, held = self.place[before][:2]
                sent = self.byte[edge] / (len(held) * self.bandwidth[source])
                received = self.byte[edge] / (count * self.bandwidth[cluster])
                passed = self.byte[edge] / self.shared[source][cluster]
                takes = self.latency[source][cluster] + max(sent, received, passed)
                arrival = max(arrival, now + takes)
        start = max(start, arrival)
        alpha = self.alpha[task]
        took = (alpha + (1 - alpha) / count) * self.flop[task] / self.speed[cluster]
        return start + took, start, count
