"""Claims on balanced states, against plain loops, and when they would be judged otherwise."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from simplugin.market import theorem_claims, theorem_measurements
from simplugin.market.theorem_claims import FIGURES, PARTS
from simplugin.market.theorem_measurements import (
    drawn_markets,
    extreme_markets,
    made_state,
    made_states,
    small_market,
    small_markets,
)


@pytest.mark.parametrize("name", PARTS)
def test_claims_are_plain_and_say_their_criterion(name):
    for claim in PARTS[name](True):
        document = json.loads(json.dumps(claim.document()))
        assert isinstance(claim.agrees, bool)
        assert "Agrees if" in document["why"]
        assert document["provenance"]["alpha"]


def test_which_hold():
    verdicts = {name: [claim.agrees for claim in PARTS[name](True)] for name in PARTS}
    assert all(verdicts.pop("what holds"))
    assert not any(itertools.chain(*verdicts.values()))


def test_the_least_example():
    [claim] = theorem_claims.least_example(True)
    half = Fraction(1, 2)
    worth = {
        amounts: sum(
            value * half**k
            for value, number in zip((7, 12), amounts, strict=True)
            for k in range(number)
        )
        for amounts in ((0, 4), (1, 3), (2, 2), (3, 1), (4, 0))
    }
    assert claim.measured == worth[1, 3]
    assert claim.optimum == max(worth.values()) == worth[2, 2]


@pytest.mark.parametrize("number", range(8))
def test_small_markets_by_plain_loops(number):
    market = small_market(number)
    values, m, q = market.values.tolist(), market.m, float(market.q[0])
    n = len(values)
    states = [s for s in itertools.product(range(m + 1), repeat=n) if sum(s) == m]
    worth = {
        s: sum(v * (1 - q**k) / (1 - q) for v, k in zip(values, s, strict=True)) for s in states
    }
    best = max(worth.values())
    found = small_markets(True)[number]
    assert (found.states, found.exceptions) == (len(states), 0)
    assert found.maxima == sum(each > best * (1 - 1e-13) for each in worth.values())
    busy = [s for s in states if min(s) > 0]
    means = {
        s: [v * (1 - q**k) / (1 - q) / k for v, k in zip(values, s, strict=True)] for s in busy
    }
    near = min(busy, key=lambda s: np.var(means[s]))
    loss = 1 - worth[near] / max(worth[s] for s in busy)
    assert found.near_loss == pytest.approx(loss, abs=1e-12)
    moves = losing = 0
    for state in busy:
        for source, target in itertools.permutations(range(n), 2):
            # At the price that is the source's mean, the target has a profit.
            if means[state][target] > means[state][source] * (1 + 1e-9):
                moves += 1
                after = list(state)
                after[source] -= 1
                after[target] += 1
                losing += worth[tuple(after)] < worth[state] * (1 - 1e-14)
    assert (found.moves, found.losing) == (moves, losing)


# The last three: none that rises, and one that changes all the same.
@pytest.mark.parametrize("number", [*range(8), 104, 168, 225])
def test_balanced_states_that_are_made_by_plain_loops(number):
    market, amounts = made_state(number)
    q = float(market.q[0])

    def benefit(given):
        return sum(v * (1 - q**k) / (1 - q) for v, k in zip(market.values, given, strict=True))

    means = [
        v * (1 - q**k) / (1 - q) / k for v, k in zip(market.values, amounts.tolist(), strict=True)
    ]
    assert means == pytest.approx([1.0] * len(means), rel=1e-9)
    changes = []
    for source, target in itertools.permutations(range(len(amounts)), 2):
        after = amounts.copy()
        after[source] -= 1
        after[target] += 1
        changes.append(benefit(after) - benefit(amounts))
    found = made_states(False)[number]
    assert found.rises == (max(changes) > 1e-9)
    assert found.changes == (max(np.abs(changes)) > 1e-9)
    # Climb to the top: the benefit is concave.
    given = amounts.astype(int).copy()
    while True:
        following, last = market.values * q**given, market.values * q ** (given - 1.0)
        last[given == 0] = np.inf
        source, target = int(np.argmin(last)), int(np.argmax(following))
        if following[target] <= last[source] * (1 + 1e-12):
            break
        given[source] -= 1
        given[target] += 1
    assert found.loss == pytest.approx(1 - benefit(amounts) / benefit(given), abs=1e-11)


def test_what_is_said_of_random_markets():
    found = drawn_markets(True)
    assert all(each.supported and not each.wrongly_supported for each in found)
    # A single peer that has all is balanced at its own mean price.
    assert all(each.balanced for each in found if each.active == 1)
    assert all(0 <= each.loss < 0.5 for each in found)
    for each in found:
        # Prices that clear are not below the marginal ones, nor above.
        if each.mean_clears:
            assert each.mean_worth == pytest.approx(1, abs=1e-6) or each.mean_demand <= 1
    loss = [100 * each.loss for each in found]
    words = theorem_claims.theorem3(True)[1].measured
    assert f"{np.mean(loss):.2f} % on average, {max(loss):.1f} % at most" in words


def test_two_is_approached_and_not_passed():
    fast, ratios, limits = extreme_markets(True)
    assert np.all(ratios <= 2)
    # The closed form for ever more slow peers; whole tasks come near.
    assert ratios[:3] == pytest.approx(limits[:3], rel=5e-3)
    assert ratios[-1] > 1.96
    for value, limit in zip(fast, limits, strict=True):
        x = (value - 1 - np.log(value)) / (limit - 1)
        assert -np.expm1(-x) / x == pytest.approx(1 / value, rel=1e-9)


def test_other_measurements_would_be_judged_otherwise(monkeypatch):
    """What would make each claim agree, or not."""
    fine = replace(
        drawn_markets(True)[0], balanced=True, mean_clears=True, mean_demand=1.0, loss=0.0
    )
    made = replace(made_states(True)[0], rises=False, changes=False, loss=0.0)
    small = replace(small_markets(True)[0], near_is_maximal=True, near_loss=0.0, losing=0)

    def give(drawn, made, small):
        for name, value in (
            ("drawn_markets", drawn),
            ("made_states", made),
            ("small_markets", small),
        ):
            monkeypatch.setattr(theorem_claims, name, lambda _, value=value: [value])

    give(fine, made, small)
    for name in ("Theorem 1", "Theorem 2", "Theorem 3", "Eq. (8)", "what holds"):
        assert all(claim.agrees for claim in PARTS[name](True)), name
    give(fine, replace(made, changes=True), small)
    assert not theorem_claims.theorem1(True)[0].agrees
    give(replace(fine, balanced=False), made, replace(small, losing=1))
    assert [claim.agrees for claim in theorem_claims.theorem2(True)] == [False, False]
    give(replace(fine, loss=0.01), replace(made, loss=0.01), small)
    assert [claim.agrees for claim in theorem_claims.theorem3(True)] == [False, False]
    give(replace(fine, mean_clears=False), made, replace(small, near_is_maximal=False))
    assert [claim.agrees for claim in theorem_claims.equation8(True)] == [False, False]
    give(replace(fine, supported=False, loss=0.51), made, small)
    assert [claim.agrees for claim in theorem_claims.what_holds(True)] == [False, False]
    give(replace(fine, wrongly_supported=True), made, small)
    assert not theorem_claims.what_holds(True)[0].agrees
    give(fine, made, replace(small, exceptions=1))
    assert not theorem_claims.what_holds(True)[0].agrees


def test_figures_show_what_was_measured():
    loss, ratio = FIGURES["balance"](True)
    [(x, y)] = loss.series.values()
    assert np.all(np.diff(x) >= 0)
    assert y[-1] == 1.0
    assert len(x) == theorem_measurements.QUICK_DRAWS
    assert ratio.lines == {"2": 2.0}
    assert ratio.series["whole tasks"][1].max() < 2


def test_no_claim_says_its_source_twice():
    for part in PARTS.values():
        for claim in part(True):
            assert not claim.why.startswith(claim.source)
