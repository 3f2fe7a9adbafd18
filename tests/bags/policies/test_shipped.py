"""Requirements of every shipped policy, and throughputs that each reaches."""

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from naming import raises_naming
from small_trees import bags_of, execute, tree_of

from simplugin.bags.assessment import experimental, fair
from simplugin.bags.execution import BagExecution
from simplugin.bags.policies.classics import SPREAD, cgbc, fcfs, first_request_delays
from simplugin.bags.policies.load_balancing import CUT, lp
from simplugin.bags.policies.price_negotiation import NegotiationParameters
from simplugin.bags.policies.shipped import POLICIES
from simplugin.core.errors import InfeasibleError, WorkloadError
from simplugin.optimum.steady_state import steady_state
from simplugin.platforms.graphs import Tree

# Two levels, speeds and bandwidths without ties.
TREE = tree_of(
    [-1, 0, 0, 1, 1, 2, 2],
    np.array([0.7, 1.1, 0.4, 1.6, 0.9, 0.5, 1.3]) * 1e8,
    [2.1e6, 4.3e6, 1.2e6, 3.1e6, 0.8e6, 5.2e6],
)
# As many tasks as weight, so that the makespan bounds the fair throughput; 0.5 to 5 s each.
BAGS = bags_of([1e8, 3e8, 0.5e8], [0.3e6, 0.9e6, 2e6], [60, 60, 120], [1.0, 1.0, 2.0])
# Parts of the optimal throughput that policies reach here.
LEAST = {
    "fcfs": 0.3, "bcs": 0.2, "cgbc": 0.5, "lp": 0.8, "data_centric": 0.8, "prices": 0.8, "lag": 0.8
}  # fmt: skip


@cache
def run(name: str, again: int = 0) -> BagExecution:
    """Return an execution on the tree, or one more of them."""
    del again
    return execute(TREE, BAGS, POLICIES[name](TREE, BAGS))


def dates(done: BagExecution) -> list[float]:
    """Return the dates of all completions."""
    return np.concatenate(done.completion).tolist()


@pytest.mark.parametrize("name", POLICIES)
class TestConformance:
    def test_all_tasks_within_the_optimum(self, name):
        policy, done = POLICIES[name](TREE, BAGS), run(name)
        assert policy.name == name
        best = steady_state(TREE, BAGS).fair
        assert done.computed.sum(axis=0).tolist() == [60, 60, 120]
        assert [len(dates) for dates in done.completion] == [60, 60, 120]
        # What is done by the end, over the time taken, would be a steady state: no policy beats
        # the best one. The paper's throughput leaves out the ends, and buffers come on top.
        whole = float(np.min(BAGS.count / BAGS.weight)) / max(dates(done))
        assert whole <= best * (1 + 1e-9)
        assert fair(experimental(done), BAGS.weight) <= 1.15 * best
        if not math.isnan(policy.expected_throughput):
            assert policy.expected_throughput <= best * (1 + 1e-9)
        assert fair(experimental(done), BAGS.weight) >= LEAST.get(name, 0.0) * best

    def test_same_inputs_same_dates(self, name):
        assert dates(run(name, 1)) == dates(run(name))

    def test_names_and_order_of_hosts_do_not_matter(self, name):
        # With a plan, or in turns, there are ties on this tree, which go to the first host.
        order = [0, 2, 1, 6, 5, 4, 3] if name in ("cgbc", "bcs", "lag") else range(7)
        place = np.argsort(order)
        parent = [-1] + [int(place[TREE.parent[host]]) for host in order[1:]]
        arrays = (each[list(order)] for each in (TREE.speed, TREE.bandwidth, TREE.latency))
        other = Tree(tuple("gatebud"), np.array(parent), *arrays)
        assert dates(execute(other, BAGS, POLICIES[name](other, BAGS))) == pytest.approx(
            dates(run(name))
        )

    def test_a_single_host(self, name):
        alone = tree_of([-1], 1e8)
        done = execute(alone, BAGS, POLICIES[name](alone, BAGS))
        assert max(dates(done)) == pytest.approx(60 * 1.0 + 60 * 3.0 + 120 * 0.5)


class TestPlanned:
    def test_rates_are_the_steady_state(self):
        best = steady_state(TREE, BAGS, cut=CUT)
        policy = lp(TREE, BAGS)
        assert policy.expected_throughput == pytest.approx(best.fair, rel=1e-9)
        assert [plan.rates for plan in policy.plans] == [best.rates(host) for host in range(7)]
        assert best.throughput / BAGS.weight == pytest.approx(np.full(3, best.fair), rel=1e-6)

    def test_ports_for_each_link(self):
        wide = lp(TREE, BAGS, port="multi").expected_throughput
        assert wide == pytest.approx(steady_state(TREE, BAGS, port="multi").fair, rel=1e-9)
        # All CPUs are busy: 6.5e8 flop/s for 5e8 flop of one task of x and y, and two of z.
        assert wide == pytest.approx(6.5 / 5)
        assert lp(TREE, BAGS).expected_throughput < 1.2

    def test_cut_removes_minute_flows(self):
        # h1 does 0.9 tasks/s and leaves a tenth of the port, 0.001 tasks/s, to h2.
        tree, bags = tree_of([-1, 0, 0], [0.0, 0.9e8, 1e8], [1e6, 1e4]), bags_of([1e8], [1e6], 50)
        for cut, children in ((1e-3, 2), (0.1, 1)):
            rates = lp(tree, bags, cut=cut).plans[0].rates
            assert sum(rate > 0 for (rate,) in rates[1:]) == children

    @pytest.mark.parametrize("name", ["lp", "cgbc", "prices", "data_centric"])
    def test_nobody_computes(self, name):
        with raises_naming(InfeasibleError, "'h0'"):
            POLICIES[name](replace(TREE, speed=0 * TREE.speed), BAGS)


REFUSED = [
    *(("lag", name, value) for name, value in (("eta", -1.0), ("lead", math.nan), ("spare", 0))),
    ("lag", "window", -0.1),
    *(("data_centric", name, value) for name, value in (("balance", 0.0), ("order", "deep"))),
    ("data_centric", "limit", 0),
    *(("prices", name, 0) for name in ("buffer", "period")),
    *(("negotiation", name, value) for name, value in (("rent", -1.0), ("segments", 0))),
    *(("negotiation", name, value) for name, value in (("tolerance", math.nan), ("cut", 0.5))),
    ("negotiation", "limit", 0),
]


@pytest.mark.parametrize(("policy", "parameter", "value"), REFUSED)
def test_parameters_out_of_range(policy, parameter, value):
    make = (
        NegotiationParameters if policy == "negotiation" else partial(POLICIES[policy], TREE, BAGS)
    )
    with raises_naming(WorkloadError, parameter, value):
        make(**{parameter: value})


class TestBundles:
    def test_theory_is_the_steady_state_of_bundles(self):
        # A bundle is one of x and y, and two of z.
        best = steady_state(TREE, bags_of([5e8], [5.2e6]))
        assert cgbc(TREE, BAGS).expected_throughput == pytest.approx(best.fair, rel=1e-9)
        # All weights a tenth: as many bundles, and ten times the throughput per weight.
        light = replace(BAGS, weight=BAGS.weight / 10)
        assert cgbc(TREE, light).expected_throughput == pytest.approx(10 * best.fair, rel=1e-9)


class TestFirstRequests:
    def test_spread(self):
        delays = first_request_delays(TREE, np.random.default_rng(0))
        slowest = 48.0 / 0.8e6
        assert delays.shape == (7,)
        assert np.all((delays >= 0) & (delays <= SPREAD * slowest))
        assert len(set(delays.tolist())) == 7
        assert delays.max() < 0.01

    def test_latency_counts(self):
        late = replace(TREE, latency=[0.0] + [2.0] * 6)
        delays = first_request_delays(late, np.random.default_rng(0))
        assert delays.max() > SPREAD

    def test_order_decides_which_child_gets_which_type(self):
        # Two children alike but in speed, two types in turn: each child keeps to one type.
        tree, bags = tree_of([-1, 0, 0], [0.0, 3e8, 1e8], 1e6), bags_of([1e8, 3e8], [1.0, 1.0], 90)
        ends = set()
        for seed in range(6):
            delays = first_request_delays(tree, np.random.default_rng(seed))
            done = execute(tree, bags, fcfs(tree, bags), delays=delays)
            ends.add(round(max(dates(done))))
        assert len(ends) == 2
