"""What policies lose in settings, against runs made one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simplugin.bags.campaign import Setting, measured
from simplugin.bags.campaign_summary import Ratios
from simplugin.bags.execution import execute
from simplugin.bags.instances import SEEDS, instance
from simplugin.bags.losses import POLICIES, Loss, losses
from simplugin.bags.policies import policy_called
from simplugin.bags.realism import arguments
from simplugin.bags.throughput import experimental, fair
from simplugin.optimum.steady_state import steady_state

SEED, NUMBERS = SEEDS[0], (0, 1, 5)
NO_RATIOS = Ratios(np.zeros(1), np.array([5]))


def lost(*values: float) -> Loss:
    """Return a loss by how many times as high throughputs are in the plain setting."""
    with np.errstate(divide="ignore"):
        return Loss("s", "p", Ratios(np.log(values), np.full(len(values), 5)), NO_RATIOS, NO_RATIOS)


def test_nothing_is_lost_in_the_plain_setting():
    for each in losses("A", SEED, NUMBERS, ("lp", "fcfs"), ("plain",)):
        assert each.lost.log.tolist() == each.by_slope.log.tolist() == [0.0] * len(NUMBERS)
        assert each.undone == 0
    assert each.policy == "fcfs"
    assert each.behind.mean > 1


def test_a_loss_is_what_two_runs_say():
    (found,) = losses("A", SEED, (1,), ("fcfs",), ("load comes",))
    tree, bags = instance("A", SEED, 1)
    horizon = float(bags.count[0]) / steady_state(tree, bags).fair
    made = policy_called("fcfs")(tree, bags)
    plain = execute(tree, bags, made)
    further = arguments("load comes", tree, np.random.default_rng([SEED, 1, 5]), horizon)
    loaded = execute(tree, bags, made, **further)
    ratio = fair(experimental(plain), bags.weight) / fair(experimental(loaded), bags.weight)
    assert found.lost.log == pytest.approx([math.log(ratio)], abs=1e-9)


def test_trees_where_nothing_is_left_count():
    found = lost(2.0, 1.0, math.inf)
    assert found.parts == pytest.approx([0.5, 0.0, 1.0])
    assert found.starved == 1
    # The square root of 2 is the geometric mean of what is left of two.
    assert found.written() == "29.3% (at most 100.0%), nothing left on 1 of 3 trees"
    assert lost(math.inf).written() == "all (at most 100.0%), nothing left on 1 of 1 trees"
    # A throughput of 0 in both settings is nothing left, though nothing was lost.
    assert lost(math.nan, 0.5).starved == 1
    assert lost(math.nan, 0.5).parts == pytest.approx([-1.0])
    # Where there was none, and now is some, nothing is lost.
    assert lost(0.0, 2.0).starved == 0
    assert lost(0.0, 2.0).parts == pytest.approx([0.5])
    assert lost(math.nan).written() == "has nothing to lose"


def test_tasks_left_undone_are_said():
    assert replace(lost(2.0), undone=3).written().endswith("%), tasks undone on 3 trees")


def test_all_policies_meet_with_the_same():
    # What a fixed order of requests makes of a setting does not depend on who ran before.
    first, other = (Setting(name, conditions="availability") for name in ("fcfs", "lag"))
    measured.cache_clear()
    alone = measured("A", SEED, 0, first)
    measured.cache_clear()
    measured("A", SEED, 0, other)
    assert measured("A", SEED, 0, first) == alone


def test_lp_that_knows_the_window_does_better():
    setting = "default model, latency 6 ms to 10 s"
    known, unknown = losses("A", SEED, (1, 2, 7), ("lp", "lp, unmeasured"), (setting,))
    assert known.behind.log.tolist() == [0.0] * 3
    assert unknown.behind.mean > 1
    assert unknown.lost.mean > known.lost.mean


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_runs(policy):
    found = measured("A", SEED, 1, replace(POLICIES[policy], conditions="availability"))
    tree, bags = instance("A", SEED, 1)
    # Means are those of the tree: more than the optimum of a better draw is not to be had.
    assert 0 <= found.fair < 1.5 * steady_state(tree, bags).fair
    assert found.fair > 0 or policy == "bcs"
    assert found.slope > 0
    assert found.all_done


def test_policies_are_told_apart():
    assert len({each.key for each in POLICIES.values()}) == len(POLICIES)
