import numpy as np
import pytest

from simplugin.bags.instances import instance
from simplugin.bags.negotiation_claims import negotiated
from simplugin.bags.prices.root import Terms
from simplugin.bags.steady_claims import is_sliced, optimal, periodic, proposition1, star
from simplugin.optimum.steady_state import steady_state

SEED = 2008


def test_slices():
    tree, bags = star(np.random.default_rng(0))
    hosts = np.argsort(-tree.bandwidth)
    high, low = np.argmax(bags.ratio), np.argmin(bags.ratio)
    compute = np.zeros((tree.n_hosts, bags.n_applications))
    # The others are on the host in the middle, all of them.
    compute[hosts[1], :] = 1.0
    compute[hosts[0], high] = compute[hosts[2], low] = 1.0
    assert is_sliced(tree, bags, compute)
    compute[hosts[0], low], compute[hosts[2], high] = 1.0, 1.0
    assert not is_sliced(tree, bags, compute)


def test_proposition1():
    [claim] = proposition1(quick=True)
    assert claim.agrees
    assert claim.measured == "on 40 of 40 stars"


def test_periodic_schedules_lose_a_constant():
    [natural] = optimal(quick=True)
    [rounded] = periodic(quick=True)
    assert natural.agrees
    assert rounded.agrees


@pytest.mark.parametrize(("reading", "number"), [("A", 1), ("B", 2), ("C", 0)])
def test_actors_negotiate_the_optimum(reading, number):
    tree, bags = instance(reading, SEED, number)
    found = negotiated(tree, bags, Terms(rent=0.0))
    assert found.fair == pytest.approx(steady_state(tree, bags).fair, rel=1e-9)
    # Each round has a message down and one up for each link, of more than its headers.
    assert found.bytes_sent > found.rounds * 2 * (tree.n_hosts - 1) * 40
    assert found.duration > 0
