"""What policies lose in settings, against runs made one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simplugin.bags.execution import execute
from simplugin.bags.instances import SEEDS, instance
from simplugin.bags.losses import POLICIES, listing, losses, throughputs
from simplugin.bags.policies import policy_called
from simplugin.bags.realism import arguments
from simplugin.bags.throughput import experimental, fair
from simplugin.optimum.steady_state import steady_state

SEED, NUMBERS = SEEDS[0], (0, 1, 5)


def test_nothing_is_lost_in_the_plain_setting():
    for each in losses("A", SEED, NUMBERS, ("lp", "fcfs"), ("plain",)):
        assert each.lost.log.tolist() == each.by_slope.log.tolist() == [0.0] * len(NUMBERS)
    assert each.policy == "fcfs"
    assert each.behind.mean > 1


def test_a_loss_is_what_two_runs_say():
    (found,) = losses("A", SEED, (1,), ("fcfs",), ("load comes",))
    tree, bags = instance("A", SEED, 1)
    horizon = float(bags.count[0]) / steady_state(tree, bags).fair
    made = policy_called("fcfs")(tree, bags)
    plain = execute(tree, bags, made)
    further = arguments("load comes", tree, np.random.default_rng([SEED, 1, 6]), horizon)
    loaded = execute(tree, bags, made, **further)
    ratio = fair(experimental(plain), bags.weight) / fair(experimental(loaded), bags.weight)
    assert found.lost.log == pytest.approx([math.log(ratio)], abs=1e-9)


def test_all_policies_meet_with_the_same():
    # What a fixed order of requests makes of a setting does not depend on who ran before.
    throughputs.cache_clear()
    alone = throughputs("A", SEED, 0, "fcfs", "availability")
    throughputs.cache_clear()
    throughputs("A", SEED, 0, "lag", "availability")
    assert throughputs("A", SEED, 0, "fcfs", "availability") == alone


def test_lp_that_knows_the_window_does_better():
    setting = "default model, latency 6 ms to 10 s"
    known, unknown = losses("A", SEED, (1, 2, 7), ("lp", "lp, unmeasured"), (setting,))
    assert known.behind.log.tolist() == [0.0] * 3
    assert unknown.behind.mean > 1
    assert unknown.lost.mean > known.lost.mean


@pytest.mark.parametrize("policy", POLICIES)
def test_every_contender_runs(policy):
    formula, by_slope = throughputs("A", SEED, 0, policy, "availability")
    tree, bags = instance("A", SEED, 0)
    # Means are those of the tree: more than the optimum of a better draw is not to be had.
    assert 0 < formula < 1.5 * steady_state(tree, bags).fair
    assert by_slope > 0


def test_listing_shows_percent_of_what_there_was():
    found = losses("A", SEED, (0, 1), ("lag",), ("plain", "load comes"))
    table = listing(found, "Reading A")
    assert table.column("setting") == ("plain", "load comes")
    assert table.column("loses")[0] == 0
    (lost,) = table.column("loses")[1:]
    assert lost == pytest.approx(1 - math.exp(-np.mean(found[1].lost.log)))
    assert table.column("trees apart") == (0, 0)
