from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.workloads import SharedDeployment

# Two applications on three hosts in a row. The first goes a -> b -> c, the second c -> b -> a.
ROW: dict[str, Any] = {
    "applications": ("east", "west"),
    "hosts": ("a", "b", "c"),
    "links": ("a->b", "b->c", "c->b", "b->a"),
    "flop": np.array([10.0, 20.0]),
    "byte": np.array([1.0, 3.0]),
    "weight": np.array([1.0, 2.0]),
    "speed": np.array([100.0, 200.0, 0.0]),
    "bandwidth": np.array([8.0, 4.0, 30.0, 0.0]),
    "application": np.array([0, 1, 0, 1, 0, 1]),
    "host": np.array([0, 2, 1, 1, 2, 0]),
    "parent": np.array([-1, -1, 0, 1, 2, 3]),
    "link": np.array([-1, -1, 0, 2, 1, 3]),
    "computes": np.array([True, False, True, True, False, True]),
}


def row(**changes: Any) -> SharedDeployment:
    """Return the two applications in a row, some fields changed."""
    return SharedDeployment(**(ROW | changes))


def with_entry(name: str, place: int, value: float) -> dict[str, Any]:
    """Return one column of the row, one entry changed."""
    column = ROW[name].copy()
    column[place] = value
    return {name: column}


@st.composite
def forests(draw: st.DrawFn) -> SharedDeployment:
    """Trees of any shape, several agents a host and a link, level by level."""
    applications, hosts, links = (draw(st.integers(1, most)) for most in (3, 4, 4))
    application, parent = list(range(applications)), [-1] * applications
    level = range(applications)
    for _ in range(draw(st.integers(0, 5))):
        above = sorted(draw(st.lists(st.sampled_from(level), min_size=1, max_size=6)))
        level = range(len(parent), len(parent) + len(above))
        application += [application[agent] for agent in above]
        parent += above
    n = len(parent)
    places = st.lists(st.integers(0, 11), min_size=n, max_size=n)
    return SharedDeployment(
        tuple(f"application {k}" for k in range(applications)),
        tuple(f"host {i}" for i in range(hosts)),
        tuple(f"link {i}" for i in range(links)),
        np.arange(1.0, applications + 1),
        np.arange(2.0, applications + 2),
        np.ones(applications),
        np.ones(hosts),
        np.ones(links),
        np.array(application),
        np.array(draw(places)) % hosts,
        np.array(parent),
        np.where(np.array(parent) < 0, -1, np.array(draw(places)) % links),
        np.ones(n, dtype=bool),
    )


def ancestors(sharing: SharedDeployment, agent: int) -> list[int]:
    """Return an agent and all above it."""
    way = [agent]
    while sharing.parent[way[-1]] >= 0:
        way.append(int(sharing.parent[way[-1]]))
    return way


def test_depths_levels_and_masters():
    sharing = row()
    assert sharing.depth.tolist() == [0, 0, 1, 1, 2, 2]
    assert sharing.levels == (slice(0, 2), slice(2, 4), slice(4, 6))
    assert sharing.masters.tolist() == [0, 1]
    assert (sharing.n_applications, sharing.n_hosts) == (2, 3)
    assert (sharing.n_links, sharing.n_agents) == (4, 6)


def test_masters_are_in_the_order_of_applications():
    swapped = row(**with_entry("application", 0, 1) | {"application": 1 - ROW["application"]})
    assert swapped.masters.tolist() == [1, 0]


def test_rates_become_throughputs_and_loads():
    sharing = row()
    rate = np.array([1.0, 0.0, 2.0, 3.0, 4.0, 5.0])
    assert sharing.gather(rate).tolist() == [7, 8, 6, 8, 4, 5]
    assert sharing.throughput(rate).tolist() == [7, 8]
    assert sharing.host_load(rate).tolist() == [10 + 100, 20 + 60, 40]
    assert sharing.link_load(rate).tolist() == [6, 4, 24, 15]


def test_gather_takes_several_values_an_agent_and_leaves_them():
    rate = np.array([1.0, 0.0, 2.0, 3.0, 4.0, 5.0])
    both = np.stack([rate, 10 * rate], axis=1)
    assert row().gather(both).tolist() == [[each, 10 * each] for each in (7, 8, 6, 8, 4, 5)]
    assert both[:, 0].tolist() == rate.tolist()


OVERLOADS = [
    ([1, 0, 2, 0, 0, 0], 0.0),
    # 10 flop a task on 100 flop/s: 12 tasks are a fifth too many.
    ([12, 0, 0, 0, 0, 0], 0.2),
    # 10 bytes of the first application on the first link's 8.
    ([0, 0, 10, 0, 0, 0], 0.25),
    # The last host computes nothing, and the last link carries nothing.
    ([0, 0, 0, 0, 1, 0], np.inf),
    ([0, 0, 0, 0, 0, 1], np.inf),
]


@pytest.mark.parametrize(("rate", "overload"), OVERLOADS)
def test_the_overload_is_relative_to_the_capacity(rate, overload):
    assert row().overload(np.array(rate, dtype=float)) == pytest.approx(overload, rel=1e-12)


@given(forests())
def test_trees_of_any_shape(sharing):
    ways = [ancestors(sharing, agent) for agent in range(sharing.n_agents)]
    assert sharing.depth.tolist() == [len(way) - 1 for way in ways]
    for depth, level in enumerate(sharing.levels):
        assert np.all(sharing.depth[level] == depth)
    assert sum(level.stop - level.start for level in sharing.levels) == sharing.n_agents
    rate = np.arange(1.0, sharing.n_agents + 1)
    gathered, link_load = np.zeros(sharing.n_agents), np.zeros(sharing.n_links)
    for agent, way in enumerate(ways):
        for above in way:
            gathered[above] += rate[agent]
            if sharing.link[above] >= 0:
                byte = sharing.byte[sharing.application[agent]]
                link_load[sharing.link[above]] += byte * rate[agent]
    # Integers: sums are exact in any order.
    assert sharing.gather(rate).tolist() == gathered.tolist()
    assert sharing.link_load(rate).tolist() == link_load.tolist()
    total = float((sharing.flop[sharing.application] * rate).sum())
    assert sharing.host_load(rate).sum() == total


SENSELESS = [
    with_entry("speed", 0, -1),
    with_entry("byte", 1, np.nan),
    with_entry("flop", 1, 0),
    with_entry("weight", 0, 0),
    {"speed": np.ones(2)},
    {"link": np.ones(5)},
    {"weight": np.ones((2, 1))},
    with_entry("application", 2, 2),
    with_entry("host", 2, -1),
    with_entry("link", 2, 4),
    with_entry("link", 2, -1),
    with_entry("link", 0, 1),
    with_entry("parent", 2, 4),
    with_entry("parent", 5, 1),
    with_entry("application", 4, 1),
    with_entry("parent", 3, -1) | with_entry("link", 3, -1),
    {"application": np.zeros(6, dtype=int)},
]


@pytest.mark.parametrize("changes", SENSELESS)
def test_what_makes_no_sense_is_refused(changes):
    with raises_naming(WorkloadError, next(iter(changes))):
        row(**changes)
