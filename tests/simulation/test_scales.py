"""The unit of flop and of time decides nothing, in any kind of run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simplugin.bags.execution import execute as execute_bags
from simplugin.bags.policies.shipped import POLICIES as BAGS_POLICIES
from simplugin.market.execution import execute as execute_market
from simplugin.market.model import MarketTerms
from simplugin.optimum.fair_sharing import fair_sharing
from simplugin.platforms import Host, Link, Platform, Route, Zone
from simplugin.platforms.graphs import Graph, Tree
from simplugin.platforms.peers import PeerSite
from simplugin.platforms.sites import MultiCluster
from simplugin.pricing.deployment import deploy
from simplugin.pricing.execution import PeriodicSettings, negotiate, simulate_periodic
from simplugin.pricing.methods import Market
from simplugin.simulation import SimGridOptions, simulate
from simplugin.taskgraphs.execution import execute as execute_graphs
from simplugin.taskgraphs.policies.allocation import scrap_max
from simplugin.workloads import AlphaFair, Application, Bags, GraphSet, TaskGraph
from simplugin.workloads.bundles import Bundle

# What is scaled: work and speeds by the first, dates by the second and rates by its inverse.
SCALES = st.tuples(st.floats(-9, 9), st.floats(-9, 9))
CORNERS = [(-9.0, 0.0), (9.0, 0.0), (0.0, -9.0), (0.0, 9.0), (-9.0, 9.0)]


def priced(flop: float, time: float) -> list[np.ndarray]:
    """Return throughputs and dates of negotiations, in the units of the unscaled run."""
    graph = Graph.duplex(
        ["A", "B", "C"],
        np.array([0.3, 0.0, 0.7]) * flop / time,
        np.array([(0, 1), (1, 2)]),
        np.array([4e3, 1e3]) / time,
        1e-3 * time,
    )
    applications = [
        Application("x", "A", 0.001 * flop, 10.0),
        Application("y", "B", 0.002 * flop, 3.0),
    ]
    sharing = deploy(graph, applications)
    rounds = negotiate(graph, sharing, Market(), 25, AlphaFair()).trajectory
    kept = simulate_periodic(
        graph,
        applications,
        sharing,
        Market(relaxation=0.5),
        AlphaFair(),
        PeriodicSettings(until=20.2 * time, period=0.5 * time),
    )
    best = fair_sharing(sharing).throughput
    return [best * time, rounds.throughput * time, rounds.date / time, kept.throughput * time]


def computed(flop: float, time: float) -> list[np.ndarray]:
    """Return dates of bags."""
    tree = Tree(
        ("root", "a", "b", "c"),
        [-1, 0, 0, 1],
        np.array([1.0, 0.0, 3.0, 2.0]) * flop / time,
        np.array([np.inf, 5e6, 2e6, 3e6]) / time,
        np.array([0.0, 1e-3, 2e-3, 0.0]) * time,
    )
    bags = Bags(("x", "y"), np.array([0.4, 0.7]) * flop, [3e5, 1e5], 1.0, 12)
    found = []
    for name in ("cgbc", "prices", "data_centric"):
        done = execute_bags(tree, bags, BAGS_POLICIES[name](tree, bags))
        found += [done.computed.astype(float), *(each / time for each in done.completion)]
    return found


def mapped(flop: float, time: float) -> list[np.ndarray]:
    """Return dates of task graphs."""
    lab = MultiCluster("lab", (("a", 3, 2.0 * flop / time), ("b", 2, 3.0 * flop / time)))
    chain = TaskGraph(
        "chain",
        ("1", "2", "3"),
        flop=np.array([1.0, 5.0, 2.0]) * flop,
        alpha=[0.1, 0.2, 0.0],
        byte=np.zeros(3),
        edges=[(0, 1), (0, 2)],
        edge_byte=[0.0, 0.0],
    )
    graphs = GraphSet((chain, replace(chain, name="later")), release=np.array([0.0, 0.5]) * time)
    site = lab.site()
    allocations = [scrap_max(each, site, 0.5) for each in graphs.graphs]
    done = execute_graphs(graphs, site, platform=lab.platform(), decisions=allocations)
    return [done.schedule.start / time, done.schedule.finish / time]


def sold(flop: float, time: float) -> list[np.ndarray]:
    """Return amounts and dates of a bundle."""
    site = PeerSite.numbered(
        np.array([3.0, 0.2, 0.5]) * flop / time,
        np.array([4e6, 1e6, 2e6]) / time,
        latency=1e-3 * time,
    )
    bundle = Bundle("b", 12, 0.3 * flop, 10**5)
    terms = MarketTerms(alpha=0.05, setup=0.01 * time, price_unit=time)
    deal = execute_market(site, bundle, terms, "optimum").deals[0]
    return [deal.amounts.astype(float), np.array([deal.price]), np.asarray(deal.peer_finish) / time]


async def compute_and_send(me, flop, time, urgent, bounded):
    """Return dates of executions that share cores, and of transfers that share a link."""
    jobs = [me.exec_async(0.7 * flop), me.exec_async(1.3 * flop, **urgent)]
    await me.sleep_for(0.21 * time)
    jobs += [me.exec_async(0.4 * flop, **bounded), me.sendto_async("ada", "bob", 10**6)]
    jobs += [me.exec_async(0.9 * flop), me.sendto_async("bob", "ada", 3 * 10**6)]
    await me.wait_all(jobs)
    return [job.finish_time for job in jobs]


def simulated(flop: float, time: float) -> list[np.ndarray]:
    """Return dates of a simulation, and of one with the model of parallel tasks."""
    hosts = [Host("ada", flop / time, cores=2), Host("bob", flop / time)]
    wire = Link("wire", 8e6 / time, 0.01 * time)
    platform = Platform(Zone("zone", "Full", [*hosts, wire], [Route("ada", "bob", ["wire"])]))
    shapes = {"priority": 2.5}, {"bound": 0.3 * flop / time}
    parallel = SimGridOptions(host_model="ptask_L07", tcp_gamma=0)
    return [
        np.array(
            simulate(
                platform, [("ada", compute_and_send, flop, time, *more)], options=options
            ).value_of("compute_and_send")
        )
        / time
        for options, more in ((SimGridOptions.linear(), shapes), (parallel, ({}, {})))
    ]


@pytest.mark.parametrize("run", [priced, computed, mapped, sold, simulated])
def test_units_do_not_matter(run):
    expected = run(1.0, 1.0)

    @settings(max_examples=8)
    @given(SCALES)
    def check(exponents):
        found = run(*(10.0**each for each in exponents))
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, rel=1e-6, abs=1e-9)

    for corner in CORNERS:
        check = example(corner)(check)
    check()
