"""Values of generators that make no sense: refused with culprit and remedy."""

import pytest

from simplugin.errors import PlatformError
from simplugin.scenarios.generators.calls import generator_called

# What each lacks to be called.
NEEDED = {
    "multi_cluster": {"clusters": [{"name": "c", "processors": 3, "speed": "2Gf"}]},
    "random_graph": {"shape": "grid", "n_hosts": 6},
    "random_tree": {"n_hosts": 6, "max_degree": 2},
    "ring": {"n_hosts": 5},
    "small_world": {"n_hosts": 8},
}
CLUSTER = {"name": "c", "processors": 3, "speed": "2Gf"}


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("random_tree", {"n_hosts": "abc"}, "hosts of a tree is 'abc'; give a whole number from 1"),
        ("random_tree", {"n_hosts": 5.5}, "hosts of a tree is 5.5; give a whole number from 1"),
        ("random_tree", {"n_hosts": True}, "hosts of a tree is True"),
        ("random_tree", {"max_degree": "x"}, "children is 'x'; give a whole number"),
        ("random_tree", {"root_computes": "no"}, "root_computes is 'no'; give true or false"),
        ("random_tree", {"bandwidth_law": ["uniform"]}, "bandwidth_law is ['uniform']; choose"),
        ("random_tree", {"speeds": ["1", "2"]}, "speeds is '1', which has no unit"),
        ("random_tree", {"latencies": ["6ms"]}, "latencies is ['6ms']; give the smallest and"),
        ("random_tree", {"latencies": [0, 1]}, "latencies is (0.0, 1.0); give the smallest"),
        ("random_tree", {"latencies": [2, 1]}, "latencies is (2.0, 1.0); give the smallest"),
        ("random_tree", {"latencies": [1, 2], "latency": "1ms"}, "give one of them"),
        ("random_graph", {"n_hosts": "x"}, "number of hosts is 'x'; give a whole number from 2"),
        ("random_graph", {"shape": ["grid"]}, "no shape ['grid']; give one of recursive"),
        ("random_graph", {"decades": "x"}, "decades is 'x'; give a number from 0 to 100"),
        ("random_graph", {"decades": -3}, "decades is -3; give a number from 0 to 100"),
        ("random_graph", {"decades": 1e4}, "decades is 10000.0; give a number from 0 to 100"),
        ("random_graph", {"forwarding": 3}, "forwarding only is 3; give a number from 0 to 1"),
        ("random_graph", {"forwarding": "x"}, "forwarding only is 'x'; give a number"),
        ("small_world", {"rewired": "x"}, "rewired is 'x'; give a number from 0 to 1"),
        ("small_world", {"neighbours": 3}, "3 neighbours; give an even number"),
        ("multi_cluster", {"clusters": [CLUSTER | {"processors": 2.5}]}, "processors of cluster "
         "'c' of site 'site' is 2.5; give a whole number from 1 on"),
        ("multi_cluster", {"clusters": [CLUSTER | {"processors": "x"}]}, "is 'x'; give a whole"),
        ("multi_cluster", {"clusters": [CLUSTER | {"speed": "3"}]}, "clusters[0].speed is '3', wh"),
        ("multi_cluster", {"clusters": [CLUSTER | {"name": 5}]}, "has no name (5)"),
        ("multi_cluster", {"clusters": 3}, "clusters is 3; give a list of tables"),
        ("multi_cluster", {"one_switch": "no"}, "one switch of site 'site' is 'no'; give true"),
        ("peer_site", {"seed": "x"}, "the seed is 'x'; give a whole number from 0 on"),
        ("peer_grid", {"seed": 1.5}, "the seed is 1.5; give a whole number from 0 on"),
        ("peer_site", {"speed": ["1"], "bandwidth": ["1MBps"]}, "'1', which has no unit"),
        ("peer_site", {"uplink": "7"}, "uplink is '7', which has no unit; write e.g."),
        *(
            (name, {"seed": seed}, f"the seed is {seed!r}; give a whole number from 0 on")
            for name in ("ring", "random_tree", "random_graph", "star")
            for seed in ("abc", 1.5, -1, None, True)
        ),
    ],
)  # fmt: skip
def test_values_that_make_no_sense_are_told_with_culprit_and_remedy(name, parameters, message):
    with pytest.raises(PlatformError) as caught:
        generator_called(name).platform(NEEDED.get(name, {}) | parameters)
    assert message in str(caught.value)
