"""Which pairs of hosts are asked for."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

from simplugin.platforms import Cluster, Host, Platform, Zone
from simplugin.platforms.host_pairs import telling_pairs


def cluster(name: str, count: int) -> Cluster:
    return Cluster(name, f"1-{count}", 1e9, 1e8, 1e-4, prefix=name)


def hosts(count: int) -> Platform:
    return Platform(Zone("all", "Full", tuple(Host(f"h{at}", 1e9) for at in range(count))))


def test_a_host_stands_for_its_cluster() -> None:
    office = Zone("office", "Full", (Host("x", 1e9), Host("y", 1e9)))
    chosen = telling_pairs(
        Platform(Zone("all", "Full", (cluster("a", 30), cluster("b", 1), office)))
    )
    assert chosen.complete
    wanted = {*permutations(("a2", "b1", "x", "y"), 2), ("a1", "a2"), ("a2", "a1")}
    assert set(chosen.pairs) == wanted
    assert len(chosen.pairs) == len(wanted)


def test_every_host_is_in_a_sample() -> None:
    chosen = telling_pairs(hosts(50), 200)
    assert not chosen.complete
    assert len(set(chosen.pairs)) == 200
    assert all(source != destination for source, destination in chosen.pairs)
    for end in range(2):
        assert Counter(pair[end] for pair in chosen.pairs) == {f"h{at}": 4 for at in range(50)}
    assert telling_pairs(hosts(50), 200) == chosen


def test_too_many_hosts_even_for_one_pair_each() -> None:
    chosen = telling_pairs(hosts(50), 20)
    assert not chosen.complete
    assert len(chosen.pairs) == 20
    assert all(source != destination for source, destination in chosen.pairs)


def test_as_many_as_allowed_is_all() -> None:
    assert telling_pairs(hosts(5), 20).complete
    assert not telling_pairs(hosts(5), 19).complete


def test_one_host_has_no_pair() -> None:
    assert telling_pairs(hosts(1)).pairs == ()


def test_the_first_of_many_pairs_are_a_sample() -> None:
    chosen = telling_pairs(hosts(40))
    assert chosen.complete
    assert {*chosen.pairs} == {*permutations((f"h{at}" for at in range(40)), 2)}
    # In order the first 78 would start at two hosts.
    assert len({source for source, _ in chosen.pairs[:78]}) > 20
