"""Schedulers beside those of SAGA, and searches beside its PISA.

    pip install --no-deps anrg-saga==2.1.0 pysmt==0.9.6   # on Python 3.11: --ignore-requires-python
    PYTHONHASHSEED=0 python benchmarks/adversaries.py [makespans|searches] [--seeds N]

Without --no-deps SAGA (MIT) brings a solver, and needs graphviz to be built. `makespans` compares
schedules without contention on SAGA's random graphs and networks, of which transfers within a host
take no time. A difference is one of ties if another order of tasks and hosts makes both equal. Else
ours is scheduled in SAGA's reading of the paper; what still differs is not understood. `searches`
gives the annealing of `simplugin adversary` the instances, the moves, the evaluations and the
schedulers of PISA.
"""

import argparse
import json
import random
import statistics
import tempfile
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np

from simplugin.calibration.annealing import STEP, InstanceSpace, Variable, anneal
from simplugin.platforms.sites import Site
from simplugin.scenarios.ranges import ParameterTable
from simplugin.taskgraphs.policies import single_processors as ours
from simplugin.taskgraphs.policies.lists import Draft
from simplugin.workloads.task_graphs import GraphSet, TaskGraph

SCHEDULERS = {"heft": "Heft", "cpop": "Cpop", "peft": "PEFT", "min_min": "MinMin"}
SCHEDULERS |= {"max_min": "MaxMin", "sufferage": "Sufferage"}
PISA = {"heft": "HEFT", "cpop": "CPoP", "min_min": "MinMin", "max_min": "MaxMin"}
PAIRS = [("heft", "cpop"), ("cpop", "heft"), ("heft", "min_min"), ("min_min", "max_min")]
READINGS = {
    "heft": "mean transfer: pairs of a host with itself counted once, not twice",
    "cpop": "downward rank adds the task's own time, not its predecessor's; several critical paths",
    "peft": "optimistic costs with the link of each pair, not the mean transfer",
    "min_min": "tasks that become ready wait for the end of the batch",
    "max_min": "tasks that become ready wait for the end of the batch",
}
ORDERS = 40
# PISA's 0.1, as a share of the range from 0.1 to 1.
PISA_STEP = 1 / 9


class Weight:
    """Uniform weights, drawn by `random` as all others."""

    def sample(self):
        """Return a weight."""
        return [random.uniform(0.1, 1.0)]


def saga_makespan(name, tasks, edges, speeds, links):
    """Return the makespan of SAGA's scheduler."""
    import saga.schedulers
    from saga import Network

    scheduler = getattr(saga.schedulers, f"{SCHEDULERS[name]}Scheduler")()
    network = Network.create(speeds.items(), [(*pair, speed) for pair, speed in links.items()])
    return scheduler.schedule(network, saga_graph(tasks, edges)).makespan


def saga_graph(tasks, edges):
    """Return SAGA's graph, without another source and sink."""
    from saga import TaskGraph as SagaGraph
    from saga import TaskGraphEdge, TaskGraphNode

    nodes = (TaskGraphNode(name=name, cost=cost) for name, cost in tasks.items())
    arcs = (TaskGraphEdge(source=a, target=b, size=size) for (a, b), size in edges.items())
    return SagaGraph(tasks=frozenset(nodes), dependencies=frozenset(arcs))


def our_makespan(name, tasks, edges, speeds, links):
    """Return the makespan of ours."""
    at, place = ({name: n for n, name in enumerate(each)} for each in (tasks, speeds))
    flop = np.array([*tasks.values()])
    pairs = np.array([(at[a], at[b]) for a, b in edges], dtype=np.int64).reshape(-1, 2)
    count = np.zeros(len(flop))
    graph = TaskGraph("g", tuple(tasks), flop, count, count, pairs, np.array([*edges.values()]))
    shared = np.full((len(speeds), len(speeds)), np.inf)
    for (a, b), speed in links.items():
        shared[place[a], place[b]] = shared[place[b], place[a]] = speed
    hosts, own = tuple((host,) for host in speeds), np.full(len(speeds), np.inf)
    speed = np.array([*speeds.values()])
    site = Site("s", tuple(speeds), hosts, speed, own, np.zeros_like(shared), shared)
    return getattr(ours, name)(GraphSet((graph,)), site).makespan


def saga_means(self):
    """Return mean times as SAGA has them: of edges over all pairs, in one order."""
    time, transfer = MEANS(self)
    count = self.site.n_processors
    return time, transfer * count / (count + 1)


MEANS = Draft.mean_times


class Batches(ours._Waiting):
    """Tasks that become ready wait until all that were ready are placed."""

    def entries(self):
        """Return the first batch."""
        self.next, found = [], super().entries()
        self.left = len(found)
        return found

    def placed(self, task):
        """Return the next batch at the end of one."""
        self.next += super().placed(task)
        self.left -= 1
        found, self.next = (self.next, []) if not self.left else ([], self.next)
        self.left += len(found)
        return found


def saga_costs(placing):
    """Return the optimistic costs with the link of each pair of hosts."""
    graphs, after = placing.graphs, placing.graphs.successors
    cost = np.zeros((graphs.n_tasks, placing.site.n_clusters))
    for task in graphs.union.order[::-1].tolist():
        if (successors := after.of(task)).size:
            there = cost[successors] + placing.time[:, successors].T
            byte = graphs.edge_byte[after.edges_of(task), np.newaxis, np.newaxis]
            ways = there[:, np.newaxis] + byte / placing.site.shared
            cost[task] = np.max(np.min(ways, axis=2), axis=0)
    return cost


@ours._scheduler
def saga_cpop(placing):
    """Schedule as SAGA's CPoP."""
    graphs, site = placing.graphs, placing.site
    time, transfer = placing.mean_times()
    up, down = graphs.union.bottom_levels(time, transfer), np.zeros(graphs.n_tasks)
    for task in graphs.union.order.tolist():
        before, edges = graphs.predecessors.of(task), graphs.predecessors.edges_of(task)
        own = graphs.flop[task] / np.mean(site.speed)
        down[task] = np.max(down[before] + transfer[edges] + own, initial=0.0)
    rank = up + down
    entries = np.flatnonzero(np.diff(graphs.predecessors.start) == 0)
    for task in ours._by_priority(graphs, rank):
        if np.isclose(rank[task], np.max(rank[entries])):
            placing.put_on(task, int(np.argmax(site.speed)))
        else:
            placing.put(task)


def in_their_reading(name, *instance):
    """Return the makespan of ours in SAGA's reading."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(Draft, "mean_times", saga_means))
        stack.enter_context(patch.object(ours, "cpop", saga_cpop))
        stack.enter_context(patch.object(ours, "_optimistic_costs", saga_costs))
        if name in ("min_min", "max_min"):
            stack.enter_context(patch.object(ours, "_Waiting", Batches))
        return our_makespan(name, *instance)


def shuffled(instance):
    """Return an instance with tasks and hosts under other names, in another order."""
    tasks, edges, speeds, links = instance
    names = [dict(zip(each, random.sample([*each], len(each)), strict=True)) for each in
             (tasks, speeds)]  # fmt: skip
    mixed = [{new[old]: each[old] for old in random.sample([*each], len(each))}
             for new, each in zip(names, (tasks, speeds), strict=True)]  # fmt: skip
    ends = [{(new[a], new[b]): value for (a, b), value in each.items()}
            for new, each in zip(names, (edges, links), strict=True)]  # fmt: skip
    return mixed[0], ends[0], mixed[1], ends[1]


def same(one, other):
    """Return True if two makespans are equal up to rounding."""
    return abs(one - other) <= 1e-9 * max(one, other)


def verdict(name, instance):
    """Return how the makespans of an instance compare."""
    makespans = our_makespan(name, *instance), saga_makespan(name, *instance)
    if same(*makespans):
        return "equal"
    orders = [instance, *(shuffled(instance) for _ in range(ORDERS))]
    theirs = {saga_makespan(name, *each) for each in orders}
    for how, function in (("ties", our_makespan), ("reading", in_their_reading)):
        if any(same(function(name, *each), other) for each in orders for other in theirs):
            return how
    return "not understood"


def drawn(number):
    """Return an instance of SAGA's: names and costs of tasks, edges, speeds, links."""
    from saga.schedulers.data import random as data
    from saga.utils import random_graphs

    random.seed(number)
    weights = [lambda *_: random.uniform(0.1, 1.0)] * 2
    families = [
        lambda: random_graphs.get_diamond_dag(Weight()),
        lambda: random_graphs.get_chain_dag(5, Weight()),
        lambda: random_graphs.get_fork_dag(Weight()),
        lambda: random_graphs.get_branching_dag(3, 2, Weight()),
        lambda: data.gen_parallel_chains(1, 3, 3, *weights)[0],
        lambda: data.gen_in_trees(1, 2, 3, *weights)[0],
        lambda: data.gen_out_trees(1, 2, 3, *weights)[0],
    ]
    graph = families[number % len(families)]()
    network = data.gen_random_networks(1, random.randint(3, 5), *weights)[0]
    return (
        {each.name: each.cost for each in sorted(graph.tasks)},
        {(each.source, each.target): each.size for each in sorted(graph.dependencies)},
        {each.name: each.speed for each in sorted(network.nodes)},
        {(e.source, e.target): e.speed for e in sorted(network.edges) if e.source != e.target},
    )


def makespans(count):
    """Return how many makespans agree, by scheduler."""
    found = {name: Counter() for name in SCHEDULERS}
    for number in range(count):
        instance = drawn(number)
        for name, verdicts in found.items():
            verdicts[verdict(name, instance)] += 1
    return found


def first_instance(seed):
    """Return the first instance of a search: a chain and a network, as PISA's authors draw them."""
    random.seed(seed)
    tasks = {f"t{n}": random.uniform(0.1, 1.0) for n in range(random.randint(3, 5))}
    names = [*tasks]
    edges = {pair: random.uniform(0.1, 1.0) for pair in pairwise(names)}
    speeds = {f"n{n}": random.uniform(0.1, 1.0) for n in range(random.randint(3, 5))}
    hosts = [*speeds]
    pairs = [(a, b) for at, a in enumerate(hosts) for b in hosts[at + 1 :]]
    return tasks, edges, speeds, {pair: random.uniform(0.1, 1.0) for pair in pairs}


def pisa(one, other, instance, seed):
    """Return the ratio that SAGA's PISA finds, and how many instances it evaluates."""
    from saga import Network
    from saga.pisa import SimulatedAnnealing

    tasks, edges, speeds, links = instance
    network = Network.create(speeds.items(), [(*pair, speed) for pair, speed in links.items()])
    random.seed(seed)
    with tempfile.TemporaryDirectory() as directory:
        search = SimulatedAnnealing(
            name="search",
            scheduler=PISA[one],
            base_scheduler=PISA[other],
            initial_network=network,
            initial_task_graph=saga_graph(tasks, edges),
            data_dir=Path(directory),
        )
        energies = [each.neighbor_energy for each in search.run_iter()]
    return max(energies), len(energies)


def annealing(one, other, instance, seed, evaluations, step=STEP):
    """Return the ratio that ours finds."""
    tasks, edges, speeds, links = instance
    names, table = [*tasks], ParameterTable(low=0.1, high=1.0)
    pairs = tuple((names.index(a), names.index(b)) for a, b in edges)
    space = InstanceSpace(
        {
            "speeds": Variable(table, ((),) * len(speeds), True),
            "links": Variable(table, ((),) * len(links), True),
            "tasks": Variable(table, ((),) * len(tasks), True),
            "edges": Variable(table, pairs, True, len(tasks)),
        },
        step,
    )

    def ratio(found):
        """Return the ratio of SAGA's schedulers."""
        values = space.values(found)
        changed = (
            dict(zip(tasks, values["tasks"], strict=True)),
            {(names[a], names[b]): size for a, b, size in values["edges"]},
            dict(zip(speeds, values["speeds"], strict=True)),
            dict(zip(links, values["links"], strict=True)),
        )
        return saga_makespan(one, *changed) / saga_makespan(other, *changed)

    values = [*speeds.values(), *links.values(), *tasks.values(), *edges.values()]
    start = space.at((value - 0.1) / 0.9 for value in values)
    first = [(start, ratio(start))]
    many = {"evaluations": evaluations - 1, "seed": seed}
    return max(
        anneal(space, first, lambda every: [ratio(each) for each in every], **many)[0].history
    )


def searches(count):
    """Yield the names of two schedulers and the median ratios of both searches."""
    for one, other in PAIRS:
        ratios = []
        for seed in range(count):
            instance = first_instance(seed)
            theirs, evaluations = pisa(one, other, instance, seed)
            same = (one, other, instance, seed, evaluations)
            ratios.append((theirs, annealing(*same, PISA_STEP), annealing(*same)))
        medians = [round(statistics.median(each), 3) for each in zip(*ratios, strict=True)]
        better = [sum(each[at] >= each[0] for each in ratios) for at in (1, 2)]
        yield (
            f"{one} against {other}",
            {
                "evaluations": evaluations,
                "PISA, ours with its steps, ours": medians,
                f"not worse of {count}": better,
            },
        )


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["makespans", "searches"])
    parser.add_argument("--instances", type=int, default=350)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    if given.what != "searches":
        for name, verdicts in makespans(given.instances).items():
            print(name, json.dumps(verdicts), READINGS.get(name, "") * ("reading" in verdicts))
    if given.what != "makespans":
        for name, figures in searches(given.seeds):
            print(name, json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
