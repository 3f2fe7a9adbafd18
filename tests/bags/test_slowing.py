import numpy as np
import pytest

from simplugin.bags.execution import execute
from simplugin.bags.planned import lp
from simplugin.bags.realism import SLOWS, arguments
from simplugin.platforms.graphs import Tree
from simplugin.workloads.applications import Bags

# A fast host behind a slow link, and a slow one behind a fast link.
TREE = Tree(
    ("root", "far", "near"),
    np.array([-1, 0, 0]),
    np.array([0.0, 4e8, 2e8]),
    np.array([np.inf, 1e6, 1e9]),
    np.zeros(3),
)


def of(byte):
    return Bags(("a",), np.array([1e8]), np.array([byte]), np.ones(1), np.array([400]))


@pytest.mark.parametrize(("byte", "slowed"), [(1.0, "far"), (1e6, "near")])
def test_the_host_with_most_work_slows(byte, slowed):
    draws = np.random.default_rng(0)
    platform = arguments(SLOWS, TREE, draws, 100.0, of(byte))["platform"]
    plain = arguments(SLOWS, TREE, draws, 100.0, of(1.0))["platform"]
    done = [
        execute(TREE, of(byte), lp(TREE, of(byte)), platform=each).computed.sum(axis=1)
        for each in (None, platform)
    ]
    host = TREE.hosts.index(slowed)
    # Half of its speed for most of the run costs it tasks, which the others get.
    assert done[1][host] < 0.9 * done[0][host]
    assert done[1].sum() == done[0].sum() == 400
    assert (platform.elements == plain.elements) == (slowed == "far")
