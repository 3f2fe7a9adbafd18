"""The choice of sites: rules, the account that the global scheduler keeps, and estimates."""

import numpy as np
import pytest

from simplugin.errors import InfeasibleError
from simplugin.market.agents.global_schedulers import Desk, Directory
from simplugin.market.agents.messages import Submission
from simplugin.market.dispatch import (
    DISPATCHERS,
    Situation,
    earliest,
    estimated_completion,
    first_idle,
    round_robin,
)
from simplugin.market.model import Terms
from simplugin.platforms.peer_sites import PeerSite
from simplugin.workloads.bundles import Bundle


def test_first_idle_takes_the_quickest_of_the_idle():
    assert first_idle(Situation((3.0, 1.0, 2.0), (0.0,) * 3, (True, False, True), 7)) == 2
    assert first_idle(Situation((2.0, 2.0), (0.0,) * 2, (True, True), 7)) == 0
    assert first_idle(Situation((3.0, 1.0), (1.0,) * 2, (False, False), 7)) is None


def test_round_robin_goes_round():
    sites = [round_robin(Situation((1.0,) * 3, (9.0,) * 3, (False,) * 3, n)) for n in range(5)]
    assert sites == [0, 1, 2, 0, 1]


def test_earliest_counts_the_backlog():
    assert earliest(Situation((3.0, 1.0), (0.0, 1.5), (True, False), 0)) == 1
    assert earliest(Situation((3.0, 1.0), (0.0, 2.5), (True, False), 0)) == 0
    assert earliest(Situation((3.0, 1.0), (0.0, 2.0), (True, False), 0)) == 0


def _desk(dispatch, estimates):
    schedulers = tuple(f"ls-{site}" for site in range(len(estimates[0])))
    desk = Desk(Directory("gs", schedulers, dispatch, estimates))
    bundle = Bundle("b", 1, 1.0, 1.0)
    desk.waiting.extend(Submission(number, bundle) for number in range(len(estimates)))
    return desk


def _handed(desk, now):
    chosen = []
    while (each := desk.next(now)) is not None:
        chosen.append((each[0].number, each[1]))
    return chosen


def test_a_queue_is_first_in_first_served():
    desk = _desk("first_idle", ((5.0, 9.0), (5.0, 9.0), (1.0, 1.0)))
    # The third would be done at once, but waits its turn.
    assert _handed(desk, 0.0) == [(0, 0), (1, 1)]
    assert _handed(desk, 1.0) == []
    desk.finish(0, 5.0)
    assert _handed(desk, 5.0) == [(2, 0)]
    desk.finish(1, 9.0)
    desk.finish(0, 9.0)
    assert (desk.done, desk.handed) == (3, 3)


def test_earliest_knows_what_sites_still_have():
    estimates = ((4.0, 10.0),) * 4
    # Site 0 is done at 4, 8, then 12: the third goes to site 1, which is done at 10.
    assert _handed(_desk("earliest", estimates), 0.0) == [(0, 0), (1, 0), (2, 1), (3, 0)]


def test_earliest_lets_overdue_bundles_count_nothing():
    desk = _desk("earliest", ((4.0, 10.0),))
    assert _handed(desk, 0.0) == [(0, 0)]
    desk.waiting.append(Submission(0, Bundle("late", 1, 1.0, 1.0)))
    # At 7 the first is three seconds late: site 0 counts as done, not as done before now.
    assert desk._situation(7.0, (4.0, 10.0)).backlog == (0.0, 0.0)
    assert desk._situation(1.0, (4.0, 10.0)).backlog == (3.0, 0.0)
    assert _handed(desk, 7.0) == [(0, 0)]


def test_estimates_are_what_the_best_assignment_takes():
    site = PeerSite.numbered(np.array([4.0, 1.0]), np.array([1e9, 1e9]))
    bundle = Bundle("b", 6, 4.0, 0.0)
    terms = Terms(alpha=0.5, price_unit=1.0, setup=0.0)
    # Tasks take 1 s and 4 s, and are worth 1, 1/2, 1/4, 1/8, ... and 1/4, 1/8, ...: of the best six
    # four are at the first, which takes 4 s, and two at the other, which takes 8 s.
    assert estimated_completion(site, bundle, terms) == 8.0
    with pytest.raises(InfeasibleError, match="cannot be placed"):
        estimated_completion(site, bundle, Terms(n_max=2))


def test_all_rules_have_names():
    assert set(DISPATCHERS) == {"first_idle", "round_robin", "earliest"}
