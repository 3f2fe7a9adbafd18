"""Draws of a federation: each cluster has its own, which follow their laws and the seed."""

import numpy as np
import pytest

from simplugin.platforms import Cluster
from simplugin.platforms.federations.federation import Federation
from simplugin.platforms.federations.parts import ClusterGroup, SiteBackbone, SiteGroup, Wire
from simplugin.platforms.laws import Law

WIRE = Wire(1e9, 1e-3)
LAW = Law("lognormal", (3e9, 0.5))
# A site without draws.
FIXED = SiteGroup("t", tuple(ClusterGroup(name, 2, 1e9, 1e8, 1e-4) for name in "ab"))


def _drawn(*clusters, seed=1):
    sites = (SiteGroup("s", clusters, repeat=2), FIXED)
    platform = Federation("f", sites, SiteBackbone("star", WIRE), seed).platform()
    return {part.id: part for part, _ in platform.walk() if isinstance(part, Cluster)}


def _drawn_cluster(name, **changes):
    fields = {
        "hosts": Law("uniform", (5.0, 50.0)),
        "speed": LAW,
        "bandwidth": Law("log-uniform", (1e7, 1e9)),
        "latency": Law("exponential", (1e-4,)),
        "cores": Law("uniform", (1.0, 8.0)),
        "repeat": 3,
    }
    return ClusterGroup(name, **(fields | changes))


def test_each_cluster_has_draws_of_its_own():
    clusters = _drawn(_drawn_cluster("c"))
    drawn = [clusters[f"c{at}.s{site}"] for site in (1, 2) for at in (1, 2, 3)]
    for name in ("speed", "bandwidth", "latency"):
        assert len({getattr(cluster, name) for cluster in drawn}) == 6
    for cluster in drawn:
        assert 5 <= cluster.host_count <= 50
        assert 1 <= cluster.cores <= 8
        assert 1e7 <= cluster.bandwidth <= 1e9


def test_neither_more_clusters_nor_other_laws_change_the_draws_of_the_rest():
    before = _drawn(_drawn_cluster("c"))
    after = _drawn(
        _drawn_cluster("new", repeat=None), _drawn_cluster("c", repeat=5, latency=1e-5, hosts=7)
    )
    for site in (1, 2):
        for at in (1, 2, 3):
            old, new = before[f"c{at}.s{site}"], after[f"c{at}.s{site}"]
            for name in ("speed", "bandwidth", "cores"):
                assert getattr(old, name) == getattr(new, name)
            assert (new.latency, new.host_count) == (1e-5, 7)


def test_the_seed_decides():
    one, again, other = (_drawn(_drawn_cluster("c"), seed=seed) for seed in (1, 1, 2**63))
    assert one == again
    assert one.keys() == other.keys()
    assert all(one[name] != other[name] for name in one if ".s" in name)


def test_draws_follow_their_law():
    clusters = _drawn(ClusterGroup("c", 1, LAW, 1e8, 1e-4, repeat=500))
    speeds = np.array([cluster.speed for cluster in clusters.values() if ".t" not in cluster.id])
    assert len(speeds) == 1000
    assert speeds.mean() == pytest.approx(3e9, rel=0.07)
    assert speeds.std() / speeds.mean() == pytest.approx(0.5, rel=0.15)


def test_a_draw_of_less_than_one_host_is_one():
    tiny = Law("constant", (0.2,))
    assert _drawn(_drawn_cluster("c", hosts=tiny, cores=tiny))["c1.s1"].host_count == 1
