from collections import Counter

import numpy as np

from simplugin.papers.bertin.seeded_instances import FAMILIES, SPREADS, instance, instances


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
