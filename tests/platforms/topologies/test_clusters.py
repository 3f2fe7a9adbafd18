from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from simplugin.errors import PlatformError
from simplugin.formats.platform_xml import platform_text
from simplugin.platforms import Platform
from simplugin.platforms.laws import Law
from simplugin.platforms.topologies import clusters
from simplugin.platforms.topologies.clusters import Parts
from simplugin.simulation.resolve import resolve


def number(name: str) -> int:
    return int(name.rpartition("-")[2])


def joined(platform: Platform, count: int):
    """Return what SimGrid makes of a platform all of whose hosts reach each other."""
    resolved = resolve(platform, 10**9)
    assert not resolved.unreachable
    assert platform.host_count == len(resolved.hosts) == count
    assert len(resolved.routes) == count * (count - 1)
    return resolved


@pytest.mark.parametrize("sizes", [[5], [4, 3], [2, 3, 4]])
def test_routes_of_a_torus_go_round_the_shorter_way(sizes: list[int]) -> None:
    resolved = joined(clusters.torus(sizes, Parts(latency=1e-3)), math.prod(sizes))
    for route in resolved.routes:
        ends = number(route.source), number(route.destination)
        places = np.array(np.unravel_index(ends, sizes, order="F"))
        apart = np.abs(np.diff(places, axis=1))[:, 0].tolist()
        hops = sum(min(gap, size - gap) for gap, size in zip(apart, sizes, strict=True))
        assert len(route.links) == hops
        assert route.latency == pytest.approx(hops * 1e-3)


@pytest.mark.parametrize(
    ("children", "parents", "parallel"),
    [([4, 3], None, None), ([2, 3, 2], None, None), ([4, 4], [1, 2], [1, 2])],
)
def test_routes_of_a_fat_tree_go_up_as_far_as_they_must(children, parents, parallel) -> None:
    below = list(itertools.accumulate(children, lambda a, b: a * b))
    resolved = joined(clusters.fat_tree(children, parents, parallel), below[-1])
    for route in resolved.routes:
        ends = number(route.source), number(route.destination)
        level = next(i for i, n in enumerate(below, 1) if ends[0] // n == ends[1] // n)
        assert len(route.links) == 2 * level
    # As many links between two levels as the lower one has parents, in both directions.
    above = [1, *children[:-1]] if parents is None else parents
    count, links = below[-1], 0
    cables = parallel or [1] * len(children)
    for child, width, alike in zip(children, above, cables, strict=True):
        links += count * width * alike
        count = count * width // child
    assert len(resolved.links) == 2 * links


@pytest.mark.parametrize(("groups", "routers", "hosts"), [(4, 4, 2), (3, 5, 1), (1, 3, 2)])
def test_a_dragonfly_joins_all_groups(groups: int, routers: int, hosts: int) -> None:
    resolved = joined(clusters.dragonfly(groups, routers, hosts), groups * routers * hosts)
    within, between = groups * math.comb(routers, 2), math.comb(groups, 2)
    assert len(resolved.links) == 2 * (groups * routers * hosts + within + between)
    for route in resolved.routes:
        group, router = divmod(number(route.source) // hosts, routers)
        other, last = divmod(number(route.destination) // hosts, routers)
        # Router n leads to group n.
        away = (router != other) + 1 + (last != group)
        hops = router != last if group == other else away
        assert len(route.links) == 2 + hops


def test_parallel_links_of_a_dragonfly_are_one_wide_link() -> None:
    made = clusters.dragonfly(2, 3, 1, group_links=4, router_links=2, parts=Parts(bandwidth=1e8))
    width = Counter((link.name.split("_")[0], link.bandwidth) for link in resolve(made, []).links)
    assert set(width) == {("local", 1e8), ("green", 2e8), ("blue", 4e8)}


def test_a_flat_cluster_is_one_element() -> None:
    made = clusters.flat_cluster(40, Parts(speed=2e9, cores=8, latency=1e-4))
    assert len(platform_text(made)) < 500
    resolved = joined(made, 40)
    assert {(host.speed, host.cores) for host in resolved.hosts} == {(2e9, 8)}
    assert {round(route.latency, 12) for route in resolved.routes} == {2e-4}


def test_a_star_is_drawn_in_round_figures() -> None:
    made = clusters.star(40, np.random.default_rng(3))
    resolved = joined(made, 41)
    speeds = np.array([host.speed for host in resolved.hosts])
    assert np.allclose(speeds % 1e8, 0) | np.allclose(speeds % 1e8, 1e8)
    assert 1e9 <= speeds.min() < speeds.max() < 10e9
    widths = np.array([link.bandwidth for link in resolved.links])
    assert 10e6 <= widths.min() < widths.max() <= 125e6
    assert {len(route.links) for route in resolved.routes} == {2}


def test_a_star_has_the_laws_it_is_told() -> None:
    generators = [np.random.default_rng(3) for _ in range(2)]
    usual = clusters.star(5, generators[0])
    told = clusters.star(5, generators[1], speed=Law("uniform", (1.0, 2.0)), latency=0.0)
    ((one,), (two,)) = usual.elements, told.elements
    assert [link.bandwidth for link in one.links] == [link.bandwidth for link in two.links]
    assert all(1 <= host.speed <= 2 for host in two.hosts)
    assert {link.latency for link in two.links} == {0.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: clusters.torus([]), r"sizes is \[\]; give a list"),
        (lambda: clusters.torus([4, 0]), "a number of sizes is 0"),
        (lambda: clusters.fat_tree([4, 4], [1]), "parents has 1 numbers; give 2"),
        (lambda: clusters.fat_tree([4, 4.5]), r"a number of children is 4\.5"),
        (lambda: clusters.dragonfly(5, 4), "give at least as many routers as groups"),
        (lambda: clusters.dragonfly(0), "groups is 0"),
        (lambda: clusters.flat_cluster(0), "number of hosts is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message) -> None:
    with pytest.raises(PlatformError, match=message):
        make()
