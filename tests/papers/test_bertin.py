"""Runs on the five hosts of the report, and on seeded platforms."""

from collections import Counter

import numpy as np
import pytest

from simplugin.papers.bertin import five_hosts, seeded_platforms
from simplugin.papers.bertin.five_hosts import PROPORTIONAL, REPORTED, RING
from simplugin.papers.bertin.seeded_instances import FAMILIES, SPREADS, instance, instances
from simplugin.papers.bertin.seeded_platforms import MethodResult, chosen, cold_start
from simplugin.papers.statements import judged, statements
from simplugin.platforms.topologies.shapes import FIVE_HOSTS_TREE
from simplugin.pricing.iteration import iterate, settled
from simplugin.pricing.methods import Gradient
from simplugin.pricing.policies.gradient import GradientAssumptions

FINDING = MethodResult(20, 50, 1e-9, 1e-9, 0.5, 1e4, 1e-13)


def test_there_are_125_trees():
    """Cayley: 5 ** 3, all different; the one chosen is there."""
    trees = five_hosts.all_trees()
    found = {frozenset(tree) for tree in trees}
    assert len(found) == len(trees) == 125
    assert frozenset(FIVE_HOSTS_TREE) in found


def test_the_optimum_is_a_third_of_all_computation_each():
    """Links do not bind on the tree chosen: rho_k = (sum of W) / (3 w_k)."""
    best = 2.5e9 / 3 / five_hosts.sharing().flop
    assert five_hosts.optimum()[1] == pytest.approx(best, rel=1e-7)
    assert five_hosts.optimum()[0] == pytest.approx(float(np.log(best).sum()), rel=1e-9)


def test_platforms_side_by_side_do_not_touch():
    """An iteration of several platforms has the throughputs of each alone, to the last bit."""
    platforms = [FIVE_HOSTS_TREE, RING, *five_hosts.all_trees()[17:20]]
    together = five_hosts.throughputs_on(platforms, REPORTED, 100)
    for number, edges in enumerate(platforms):
        sharing = five_hosts.sharing(tuple(edges))
        alone = iterate(Gradient(reading=REPORTED), sharing, PROPORTIONAL, 100)
        assert np.array_equal(together[:, number], alone.throughput)


def test_the_count_of_17_is_reproduced():
    """The report's 17 rounds to 5 %, where throughputs are known one round late."""
    assert settled(five_hosts.error(five_hosts.run(2000)), 0.05) == 17
    assert five_hosts.counts(five_hosts.all_trees()[::10])[:, 0].min() == 17


def test_the_other_counts_come_close():
    """Near 83 and 498; 85 and 414 on the ring, as another implementation of the reading found."""
    assert five_hosts.counts([RING], GradientAssumptions()).tolist() == [[6, 85, 414]]
    found = [settled(five_hosts.error(five_hosts.run(2000)), level) for level in (0.01, 0.005)]
    assert found[0] == pytest.approx(83, rel=0.6)
    assert found[1] == pytest.approx(498, rel=0.05)


def test_measures_by_hand():
    """Averages skip the start; falls and changes are between neighbours."""
    assert five_hosts.averaged(np.arange(9.0), 4).tolist() == [2.5, 6.5]
    throughput = np.array([[1.0, 4.0], [1.0, 3.5], [2.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert five_hosts.falls(throughput).tolist() == [2, 3]
    assert five_hosts.changes(throughput) == pytest.approx([0.125, 1.0, 1.0, 0.0])


VERDICTS = [
    ([{}], set()),
    ([{"near": 26, "exact": 61}] * 12, {"cold-local", "exact-local"}),
    ([{"near": None}], {"cold-local-worst"}),
    ([{"apart": 1e-8}], {"actors-local"}),
    ([{"worst": 1.0}], {"stable-local"}),
    ([{"apart": np.nan, "date": np.nan}] * 12, set()),
]


@pytest.mark.parametrize(("changed", "disagreeing"), VERDICTS)
def test_verdicts_on_markets(monkeypatch, changed, disagreeing):
    """Medians and the worst of 12 platforms decide, each for its own statement."""
    findings = iter(FINDING._replace(**change) for change in [*changed, *[{}] * 12])
    monkeypatch.setattr(seeded_platforms, "chosen", lambda _: chosen(quick=True))
    monkeypatch.setattr(seeded_platforms, "examine", lambda *_, **__: next(findings))
    known = statements("simplugin.papers.bertin")
    about = [each for each in known if each.experiment == "cold start, markets"]
    claims = judged(about, cold_start("market", False))
    assert {claim.id for claim in claims if not claim.agrees} == disagreeing
    assert {claim.id for claim in claims if claim.agrees is False} == disagreeing


def test_a_quick_worst_platform_confirms_nothing(monkeypatch):
    """A part of the platforms refutes a bound on the worst, or leaves it open."""
    about = [
        each for each in statements("simplugin.papers.bertin") if each.id == "cold-local-worst"
    ]
    monkeypatch.setattr(seeded_platforms, "examine", lambda *_, **__: FINDING)
    assert judged(about, cold_start("market", True))[0].agrees is None
    monkeypatch.setattr(seeded_platforms, "examine", lambda *_, **__: FINDING._replace(near=151))
    assert judged(about, cold_start("market", True))[0].agrees is False


def test_all_families_and_spreads_are_there():
    found = list(instances())
    assert len(found) == len({i.name for i in found}) == 200
    counts = Counter((i.family, i.spread) for i in found)
    assert set(counts) == {(family, spread) for family in FAMILIES for spread in SPREADS}
    assert min(counts.values()) >= 16
    assert {i.name.split("-")[1] for i in found} == {s for row in FAMILIES.values() for s in row}
    hosts = [i.graph.n_hosts for i in found]
    assert 5 <= min(hosts) < 8
    assert 150 < max(hosts) <= 200
    assert {len(i.applications) for i in found} == set(range(2, 21))


def test_uneven_throughputs_lie_orders_of_magnitude_apart():
    # At equal shares of all computation, tasks per second are inverse to computation per task.
    spans = [np.ptp(np.log10(i.sharing.flop)) for i in instances(60) if i.spread == "strong"]
    assert np.median(spans) > 3
    assert max(spans) <= 4


def test_fewer_instances_are_the_first_of_more():
    for number, first in enumerate(instances(5)):
        alone = instance(number)
        assert alone.name == first.name
        assert np.array_equal(alone.sharing.bandwidth, first.sharing.bandwidth)
        assert alone.applications == first.applications
    assert instance(3, seed=1).name != instance(3, seed=2).name
