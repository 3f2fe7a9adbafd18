"""Directories with scenarios that run, and what these need."""

import pytest

# A task takes 1 s + 1 s on the one peer, 0.5 s + 2 s on the other: the first is worth 5 and 4,
# each further one half as much. Of 5, 4, 2.5, 2, 1.25, 1 three are sold.
SCENARIO = """
title = "Three tasks"
[platform]
generator = "peer_site"
parameters = { speed = ["1Gf", "2Gf"], bandwidth = ["100MBps", "50MBps"] }
[workload]
kind = "bundles"
alpha = 0.5
price_unit = 10.0
setup = 0.0
[[workload.bundles]]
flop = "1Gf"
byte = "100MB"
count = 3
[scheduler]
name = "market.optimum"
[simulation.options]
network_model = "CM02"
crosstraffic = false
tcp_gamma = 0.0
[output]
curves = "curves.svg"
"""
GRID = """
title = "Two sites"
[platform]
generator = "peer_grid"
[platform.parameters]
latency = "1ms"
sites = [
    { speed = ["1Gf"], bandwidth = ["100MBps"] },
    { speed = ["2Gf", "2Gf"], bandwidth = ["50MBps", "50MBps"] },
]
[workload]
kind = "bundles"
global_scheduler = "global-scheduler"
sites = [{ name = "one", scheduler = "scheduler-1" }, { name = "two", scheduler = "scheduler-2" }]
setup = "10ms"
[[workload.bundles]]
name = "first"
flop = "1Gf"
count = 10
copies = 2
period = "1s"
[[workload.bundles]]
name = "later"
byte = "50MB"
count = 3
release = "1m"
[scheduler]
name = "market.optimum"
"""
POLICY = """
import numpy as np

def all_to_one(values, m, caps, q, *, peer=0):
    return np.where(np.arange(len(values)) == peer, m, 0), 1.0

def anywhere(values, m, caps, q, seed):
    draws = np.random.default_rng(seed).integers(0, len(values), m)
    return np.bincount(draws, minlength=len(values)), 0.0

def too_few(values, m, caps, q):
    return [0] * len(values), 1.0

def breaks_later(values, m, caps, q):
    if m != 10 and len(values) > 0:
        1 // 0
    return all_to_one(values, m, caps, q)

def priceless(values, m, caps, q):
    return all_to_one(values, m, caps, q)[0], np.nan

def priceless_later(values, m, caps, q):
    amounts, price = all_to_one(values, m, caps, q)
    return amounts, price if m == 10 else np.nan

def nothing(values, m, caps, q):
    return None

def scalar():
    return 1.0

def in_turn(*, first: int = 0, breaks: bool = False):
    from simplugin.market import Agreement, BundleNegotiation, Call

    def scheduler(n_peers, m, generator):
        amounts = np.zeros(n_peers, dtype=int)
        for peer in np.roll(range(n_peers), -first).tolist():
            [(_, taken)] = yield Call((peer,), ("left", m - amounts.sum()))
            amounts[peer] = taken * (1 // (1 - breaks))
        return Agreement(amounts, 1.0)

    class Peer:
        def __init__(self, value, cap, q, generator):
            self.cap = cap

        def reply(self, message):
            return ("taken", min(self.cap, message[1]))

    return BundleNegotiation("in turn", scheduler, Peer)
"""
JOBS = "\n".join(
    f"{number} {submit} 0 {run} 2 -1 -1 2 -1 -1 1 {user} 1 -1 1 1 -1 -1"
    for number, (submit, run, user) in enumerate(
        [(100, 10, 7), (110, 20, 7), (120, 30, 7), (400, 8, 7), (405, 4, 7)], 1
    )
)


def written(directory, text):
    (directory / "mine.py").write_text(POLICY)
    (directory / "log.swf").write_text(JOBS + "\n")
    (directory / "scenario.toml").write_text(text)
    return directory / "scenario.toml"


@pytest.fixture
def three(tmp_path):
    return written(tmp_path, SCENARIO)


@pytest.fixture
def two_sites(tmp_path):
    return written(tmp_path, GRID)


# A task that is perfectly parallel, with nothing to hand on.
TASK = 'digraph one { only [size="8e9", alpha="0"] }\n'
# Two equal ones on four processors of 1 Gflop/s.
TWO_TASKS = """
title = "Two tasks"
[platform]
generator = "multi_cluster"
parameters = { clusters = [{ name = "c", processors = 4, speed = "1Gf" }], name = "here" }
[workload]
kind = "taskgraphs"
[[workload.graphs]]
file = "one.dot"
count = 2
[scheduler]
name = "taskgraphs.es"
[output]
gantt = "gantt.svg"
graphs = "graphs.svg"
"""
SHARES = """
import numpy as np

def thrifty(graphs, site, *, part=0.5):
    return np.full(len(graphs), part)

def nonsense(graphs, site):
    return [0.5]

def whole(graphs, site):
    from simplugin.taskgraphs import heft

    return heft(graphs, site)

def hasty(graphs, site):
    import dataclasses

    made = whole(graphs, site)
    return dataclasses.replace(made, finish=made.finish / 2)

def broken(graphs, site):
    return graphs.graphs

def side_by_side(graphs, site, *, count: int = 1):
    return Mapper(count)

def on_two(graphs, site, *, count: int = 1):
    return [simple(graph, site, 0.5) for graph in graphs][:count]

def simple(graph, site, share):
    from simplugin.taskgraphs import scrap_max

    return scrap_max(graph, site, share)

def to_one(graphs, site):
    def revise(now, active, mapped, forecast):
        return {graph: simple(graphs.graphs[graph], site, 0.25) for graph in active}

    return revise

class Mapper:
    def __init__(self, count):
        self.count = count

    def map_ready(self, now, tasks):
        from types import SimpleNamespace

        parts = np.arange(4).reshape(-1, self.count)
        return [SimpleNamespace(task=each, processors=parts[each]) for each in tasks]

    def started(self, task, date):
        pass

    def finished(self, task, date):
        pass
"""


@pytest.fixture
def two(tmp_path):
    (tmp_path / "one.dot").write_text(TASK)
    (tmp_path / "mine.py").write_text(SHARES)
    (tmp_path / "scenario.toml").write_text(TWO_TASKS)
    return tmp_path / "scenario.toml"
