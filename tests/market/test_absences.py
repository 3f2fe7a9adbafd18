"""Peers that fail, come back, join late or never answer, while bundles are sold and executed."""

import numpy as np
import pytest

from simplugin.errors import InfeasibleError, WorkloadError
from simplugin.market.execution import execute
from simplugin.market.model import Terms
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.platforms import Platform
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.platforms.profiles import Profile, ProfileUse
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle

SITE = PeerSite.numbered([3e9, 2e9, 1e9], [1e8] * 3, latency=0.001)
TWICE = [Bundle("first", 12, 1e9, 1e6), Bundle("second", 12, 1e9, 1e6, release=1.0)]
TERMS, PATIENCE = Terms(alpha=0.1), 2.0


def run(states, negotiation="optimum", terms=TERMS, kind="HOST_AVAIL", **further):
    """Return the deals; `states` has dates at which hosts or links go off (0) or on (1)."""
    changes = []
    for name, lines in states.items():
        changes += [Profile(f"of {name}", lines), ProfileUse(f"of {name}", name, kind)]
    platform = Platform((*SITE.platform().elements, *changes))
    given = {"platform": platform, "patience": PATIENCE} | further
    return execute(SITE, TWICE, terms, negotiation, **given).deals


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_where_nothing_fails_patience_changes_nothing(name):
    for deal, other in zip(run({}, name), run({}, name, patience=None), strict=True):
        assert deal.amounts.tolist() == other.amounts.tolist()
        assert deal.outcome().paid == pytest.approx(other.outcome().paid)
        assert deal.peer_finish == pytest.approx(other.peer_finish, rel=1e-9)
        assert (deal.rounds, deal.messages) == (other.rounds, other.messages)
        assert deal.bytes == other.bytes


def test_what_a_failed_peer_leaves_is_sold_again():
    first, second = run({"peer-1": "0.9 0"})
    values = 3600 / first.times
    sold = largest_benefit(values, 12, 12, 0.9)
    # At 0.35 s a task the first peer has done two.
    done = [2, int(sold.amounts[1]), int(sold.amounts[2])]
    rest = BundleMarket(values[1:] * 0.9 ** np.array(done[1:]), 12 - sum(done), 12, 0.9)
    again = largest_benefit(*rest.arguments)
    assert first.amounts.tolist() == [2, *(again.amounts + done[1:])]
    paid = sold.price * np.array(done) + again.price * np.append(0, again.amounts)
    assert first.outcome().paid == pytest.approx(paid)
    # Noticed when the end of its task is awaited in vain; its last news counts.
    assert first.peer_finish[0] < 0.9 < PATIENCE < first.peer_finish[1]
    assert second.amounts[0] == 0
    assert second.amounts.tolist()[1:] == largest_benefit(values[1:], 12, 12, 0.9).amounts.tolist()
    # The announcement is waited for that long.
    assert second.agreed - second.called == pytest.approx(PATIENCE, abs=0.01)


def test_peers_that_come_back_or_join_take_part_in_the_next_sale():
    back, after = run({"peer-1": "0.9 0\n2.5 1"})
    whole = largest_benefit(*back.market.arguments).amounts.tolist()
    assert back.amounts.tolist() == whole == after.amounts.tolist()
    late, after = run({"peer-1": "0 0\n4 1"})
    assert (late.amounts[0], late.market.caps[0], late.times[0]) == (0, 0, 0.0)
    assert after.amounts.tolist() == whole


@pytest.mark.parametrize("name", NEGOTIATIONS)
def test_peers_that_fail_while_they_negotiate(name):
    for deal in run({"peer-1": "0.9 0", "peer-2": "0.0035 0\n7 1", "peer-3": "30 0"}, name):
        assert deal.market.check(deal.amounts).sum() == 12
        assert np.all(deal.outcome().paid[deal.amounts == 0] == 0)
        assert deal.finished < 30


@pytest.mark.parametrize("name", ["bisection", "optimum"])
def test_a_link_that_fails(name):
    # Peer 1 keeps its host and is heard of again.
    first, second = run({"peer-1-link": "0.5 0\n3.5 1"}, name, kind="LINK_AVAIL")
    assert first.amounts.sum() == 12
    assert second.amounts.tolist() == largest_benefit(*second.market.arguments).amounts.tolist()


def test_tasks_that_nobody_takes_are_refused_with_the_reason():
    off = {"peer-1": "0 0", "peer-2": "1 0", "peer-3": "1.5 0"}
    with pytest.raises(InfeasibleError, match=r"bundle 'first' are left at .* 0 of 3 peers answer"):
        run(off)
    with pytest.raises(InfeasibleError, match=r"2 of 3 peers answer within 2 s: .*m > n N_max"):
        run({"peer-1": "0.9 0"}, terms=Terms(alpha=0.1, n_max=5))
    # A task takes 0.35 s and more, and its transfer 0.011 s.
    for patience in (0.3, 0.012, 0.005):
        with pytest.raises(
            InfeasibleError, match=r"12 tasks of .*give a (longer patience|patience l)"
        ):
            run({}, patience=patience)
    with pytest.raises(WorkloadError, match="patience is 0; give a time above 0 s"):
        run({}, patience=0)
    with pytest.raises(WorkloadError, match="patience is given with overlap"):
        run({}, overlap=True)
    with pytest.raises(WorkloadError, match="patience is given with a grid of sites"):
        execute(PeerGrid(("a",), (SITE,)), TWICE, TERMS, patience=1.0)
