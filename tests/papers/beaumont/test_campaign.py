import numpy as np
import pytest
from small_trees import execute

from simplugin.bags.assessment import experimental, slope
from simplugin.bags.policies.classics import first_come_first_served, first_request_delays
from simplugin.bags.policy import BagPolicy
from simplugin.optimum.steady_state import steady_state
from simplugin.papers.beaumont.campaign import PolicySetting, measured, measurements
from simplugin.papers.beaumont.instances import instance

SEED = 2008


def test_a_measurement_is_that_of_executions():
    tree, bags = instance("B", SEED, 0)
    setting = PolicySetting("fcfs", orders=2)
    [row] = measurements("B", SEED, [0], setting)
    policy = BagPolicy("fcfs", first_come_first_served)
    fair, steady = [], []
    for order in range(2):
        delays = first_request_delays(tree, np.random.default_rng([SEED, 0, 4, order]))
        done = execute(tree, bags, policy, delays=delays)
        fair.append(experimental(done).min())
        steady.append(slope(done).min())
    assert row.fair == pytest.approx(np.mean(fair))
    assert row.slope == pytest.approx(np.mean(steady))
    assert row.optimum == steady_state(tree, bags).fair
    assert (row.all_done, row.theory, row.n_hosts) == (True, None, 5)
    assert (row.reading, row.seed, row.number, row.setting) == ("B", SEED, 0, setting)
    assert measured("B", SEED, 0, setting) is row


def test_errors_are_in_what_policies_expect():
    exact, wrong = (measured("A", SEED, 0, PolicySetting("lp", errors=each)) for each in (0.0, 0.2))
    # What is known is measured from within, exactly with linear sharing.
    assert exact.theory == pytest.approx(exact.optimum, rel=1e-6)
    assert 0.01 < abs(wrong.theory / exact.theory - 1) <= 0.2
    assert wrong.optimum == exact.optimum


def test_all_policies_meet_with_the_same():
    # The executions under drawn conditions do not depend on those measured before.
    first, other = (PolicySetting(name, conditions="availability") for name in ("fcfs", "lag"))
    measured.cache_clear()
    alone = measured("A", SEED, 0, first)
    measured.cache_clear()
    measured("A", SEED, 0, other)
    assert measured("A", SEED, 0, first) == alone
