import numpy as np
import pytest

from simplugin.bags.campaign import Setting, measured, rows
from simplugin.bags.classics import first_request_delays
from simplugin.bags.decisions import first_come_first_served
from simplugin.bags.execution import execute
from simplugin.bags.instances import instance
from simplugin.bags.nodes import Policy
from simplugin.bags.throughput import experimental, slope
from simplugin.optimum.steady_state import steady_state

SEED = 2008


def test_a_measurement_is_that_of_executions():
    tree, bags = instance("B", SEED, 0)
    setting = Setting("fcfs", orders=2)
    [row] = rows("B", SEED, 0, [setting])
    policy = Policy("fcfs", first_come_first_served)
    fair, steady = [], []
    for order in range(2):
        delays = first_request_delays(tree, np.random.default_rng([SEED, 0, 4, order]))
        done = execute(tree, bags, policy, delays=delays)
        fair.append(experimental(done).min())
        steady.append(slope(done).min())
    assert row.fair == pytest.approx(np.mean(fair))
    assert (row.lowest, row.highest) == (min(fair), max(fair))
    assert row.slope == pytest.approx(np.mean(steady))
    assert row.optimum == steady_state(tree, bags).fair
    assert row.all_done
    assert row.theory is None
    assert row.n_hosts == 5
    assert (row.reading, row.seed, row.number, row.setting) == ("B", SEED, 0, "fcfs orders=2")
    assert measured("B", SEED, 0, setting) is row


def test_what_is_known_is_measured_from_within():
    # Exact with linear sharing, so that LP expects the optimum.
    [row] = rows("A", SEED, 1, [Setting("lp")])
    assert row.theory == pytest.approx(row.optimum, rel=1e-6)


def test_errors_are_in_what_policies_expect():
    exact, wrong = rows("A", SEED, 0, [Setting("lp"), Setting("lp", errors=0.2)])
    assert exact.theory is not None
    assert wrong.theory is not None
    assert 0.01 < abs(wrong.theory / exact.theory - 1) <= 0.2
    assert wrong.optimum == exact.optimum
    assert wrong.setting == "lp errors=0.2"


def test_settings_differ_by_their_keys():
    settings = [
        Setting("prices"),
        Setting("prices", (("typed", True),)),
        Setting("prices", buffer=100),
        Setting("prices", orders=2),
        Setting("prices", conditions="x"),
    ]
    assert len({each.key for each in settings}) == len(settings)
    assert settings[0].key == "prices"
    assert settings[1].key == "prices typed=True"
