"""What the claims about negotiations measure, against what is known of it."""

from dataclasses import replace

import numpy as np
import pytest

from simplugin.errors import InfeasibleError
from simplugin.market import negotiation_claims, negotiation_survey, negotiation_times
from simplugin.market.instances import instance
from simplugin.market.negotiation_claims import FIGURES, PARTS
from simplugin.market.negotiation_figures import negotiation_listing
from simplugin.market.negotiation_survey import clocks, counting, drawn_market, effort
from simplugin.market.negotiation_times import LATENCY, simulated
from simplugin.market.negotiations import NEGOTIATIONS, negotiate
from simplugin.optimum.bundle_benefit import largest_benefit


@pytest.fixture(scope="module")
def claims():
    return {part: make(True) for part, make in PARTS.items()}


def test_all_hold_but_that_clocks_rest(claims):
    missed = {part for part, made in claims.items() if not all(each.agrees for each in made)}
    assert missed == {"clocks of fixed step"}
    assert claims["large markets"] == []


def test_each_says_by_what_it_is_judged_and_what_determines_it(claims):
    for made in claims.values():
        for each in made:
            assert "grees if" in each.why
            assert {"N_max", "seeds"} & set(each.provenance)


def test_an_inexact_negotiation_would_not_hold(monkeypatch):
    monkeypatch.setattr(negotiation_claims, "CLEARING", ("commodity",))
    (claim,) = PARTS["negotiated maximum"](True)
    assert not claim.agrees


def test_a_bar_that_is_missed_is_told(monkeypatch):
    monkeypatch.setattr(negotiation_claims, "FEW_ROUNDS", 5)
    assert not any(each.agrees for each in PARTS["rounds"](True))


def test_worths_that_are_told_are_counted():
    told = [0]
    values, m, caps, q = instance(5).arguments
    agreed = negotiate(counting(NEGOTIATIONS["commodity"], told), values, m, caps, q)
    assert told == [len(values)]
    told = [0]
    # A double auction's peers tell the first task's worth, and another after each sale.
    agreed = negotiate(counting(NEGOTIATIONS["double_auction"], told), values, m, caps, q)
    assert told == [len(values) + agreed.amounts.sum()]


def test_effort_is_that_of_single_negotiations():
    found = effort("secant", True)
    market = drawn_market(7, own_rates=False)
    agreed = negotiate(NEGOTIATIONS["secant"], market.values, market.m, market.caps, market.q)
    assert found.rounds[7] == agreed.rounds
    assert found.messages[7] == agreed.messages / market.n_peers
    assert found.bytes[7] == agreed.bytes / market.n_peers
    assert np.ptp(drawn_market(7, own_rates=True).q) > 0


def test_clocks_of_smaller_steps_cycle_less_and_take_longer():
    large, small = clocks(0.3, True), clocks(0.03, True)
    assert large.count == small.count == 60
    assert small.cycles < large.cycles
    assert np.median(small.rounds) > np.median(large.rounds)


def test_an_end_of_another_kind_is_no_end_of_a_clock(monkeypatch):
    def fails(*_):
        raise InfeasibleError("another reason")

    monkeypatch.setattr(negotiation_survey, "negotiate", fails)
    with pytest.raises(InfeasibleError, match="another reason"):
        clocks(0.21, True)


def test_payments_are_compared_too(monkeypatch):
    monkeypatch.setattr(negotiation_times, "NEGOTIATIONS", {"clinching": NEGOTIATIONS["clinching"]})
    (same,) = simulated.__wrapped__()
    assert same.differs == 0

    def pays_less(*given, **further):
        found = negotiate(*given, **further)
        return replace(found, payments=found.payments * (1 - 1e-6))

    monkeypatch.setattr(negotiation_times, "negotiate", pays_less)
    (other,) = simulated.__wrapped__()
    assert other.differs == np.inf


def test_negotiating_takes_two_latencies_a_round():
    for each in simulated():
        least = (2 * each.rounds + 1) * LATENCY
        assert least <= each.own_time <= 1.01 * least
        assert each.differs <= 1e-9


def test_the_table_has_a_line_a_negotiation():
    listing = negotiation_listing(quick=True)
    assert list(listing.column("Negotiation")) == list(NEGOTIATIONS)
    exact = dict(zip(listing.column("Negotiation"), listing.column("Exact"), strict=True))
    assert {name for name, count in exact.items() if count == 60} == {
        "isgbmat", "optimum", "bisection", "median", "secant", "clinching"
    }  # fmt: skip


def test_secants_rounds_do_not_grow_with_tasks_or_peers():
    tasks, peers = FIGURES["negotiations"](True)
    assert max(tasks.series["secant"][1]) <= 6
    assert max(peers.series["secant"][1]) <= 6
    assert tasks.series["isgbmat"][1][-1] > 100


def test_the_optimum_is_the_mean_of_the_largest_benefits(claims):
    common = [best_of(drawn_market(seed, own_rates=False)) for seed in range(60)]
    own = [best_of(drawn_market(seed, own_rates=True)) for seed in range(60)]
    for each in claims["negotiated maximum"]:
        assert each.optimum == pytest.approx(np.mean([common, own]))
        reached = float(each.measured.split("all benefits is ")[1].split()[0])
        assert reached == pytest.approx(each.optimum, abs=0.06)
    assert claims["ISGBMAT as messages"][0].optimum == pytest.approx(np.mean(common))


def best_of(market):
    return largest_benefit(market.values, market.m, market.caps, market.q).benefit
