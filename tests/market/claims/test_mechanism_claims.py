"""Claims on misreports and payments, from invented measurements and from a few real ones."""

from dataclasses import replace

import numpy as np
import pytest

from simplugin.market import mechanism_claims, misreport_claims
from simplugin.market.clinching import ascending_clock
from simplugin.market.instances import instance
from simplugin.market.mechanisms import lowest_uniform, reported, uniform
from simplugin.market.misreport_claims import (
    Survey,
    largest_gain,
    site_market,
    survey,
    telling_reports,
)
from simplugin.market.misreports import deviations

HONEST = Survey(gain=0.0, loss=0.0, captive=False, ratio=0.8, rational=True, losers=0.0)


@pytest.fixture
def surveyed(monkeypatch):
    def given(*found):
        for module in (misreport_claims, mechanism_claims):
            monkeypatch.setattr(module, "surveys", lambda _quick: list(found))

    return given


@pytest.fixture
def gained(monkeypatch):
    """Let the most that a report gains be a number, for every rule and range."""

    def given(amount):
        for module in (misreport_claims, mechanism_claims):
            monkeypatch.setattr(module, "most_gain", lambda *_: amount)

    return given


def test_nobody_gains_where_no_survey_says_so(surveyed):
    surveyed(HONEST, HONEST)
    assert misreport_claims.misreports(True)[0].agrees


def test_one_liar_is_enough(surveyed):
    surveyed(HONEST, replace(HONEST, gain=0.02, loss=0.01))
    claim, _ = misreport_claims.misreports(True)
    assert not claim.agrees
    assert "in 1 of 2 markets" in claim.measured
    assert "1.00% of U^G on average, 2.00% at most" in claim.measured


def test_markets_with_captive_tasks_are_counted_apart(surveyed):
    surveyed(HONEST, replace(HONEST, gain=0.9, captive=True))
    claim, _ = misreport_claims.misreports(True)
    assert claim.agrees
    assert "In 1 further markets" in claim.why


def test_peers_of_the_chosen_site_gain_by_reporting_less():
    claim = misreport_claims.misreports(True)[1]
    assert not claim.agrees
    market = site_market("neutral")
    reports = deviations(market)
    lying = [each.factor for each in reports if each.gain > 0]
    assert all(0.5 < factor < 1 for factor in lying)
    assert f"neutral: {len(lying)} of 12, at {min(lying):.3f} to {max(lying):.3f}" in claim.measured


@pytest.mark.parametrize(("amount", "agrees"), [(0.0, True), (1e-12, True), (1e-6, False)])
def test_gains_are_judged_by_rounding(gained, surveyed, amount, agrees):
    gained(amount)
    surveyed(HONEST)
    _, over, either = misreport_claims.verification(True)
    assert (over.agrees, either.agrees) == (agrees, agrees)
    assert mechanism_claims.vcg(True)[0].agrees == agrees


def test_under_reporting_is_found_where_it_gains():
    # In a market in which a peer gains much by a lie, reports below the truth show it.
    seed = next(seed for seed in range(50) if survey(seed).gain > 0.1 and not survey(seed).captive)
    assert largest_gain(seed, uniform, "measured", 0.0) > 0.1
    assert largest_gain(seed, uniform, "measured", 1.0) <= 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_the_best_of_all_lies_is_among_the_reports_tried(seed):
    # What `deviations` finds for each number of tasks, by a formula.
    found = largest_gain(seed, uniform, "measured", 0.0)
    assert found == pytest.approx(survey(seed).gain, rel=1e-6, abs=1e-12)


def test_reports_that_are_tried_get_every_number_of_tasks():
    market = instance(7, 40).market
    for peer in range(market.n_peers):
        got = set()
        for factor in telling_reports(market, peer):
            factors = np.ones(market.n_peers)
            factors[peer] = factor
            got.add(int(uniform(reported(market, factors)).amounts[peer]))
        least = max(0, market.m - int(np.delete(market.caps, peer).sum()))
        assert got == set(range(least, int(market.caps[peer]) + 1))
        assert np.all(telling_reports(market, peer, 1.0) >= 1)


def test_payments_that_are_nearly_those_of_vcg_are_told_from_it(surveyed, monkeypatch):
    surveyed(HONEST)
    assert mechanism_claims.vcg(True)[0].agrees
    # The price of the best value that is not served is VCG's for who gets one task.
    monkeypatch.setattr(mechanism_claims, "defined_vcg", lowest_uniform)
    assert not mechanism_claims.vcg(True)[0].agrees


@pytest.mark.parametrize(
    "changed", [{"ratio": 1.1}, {"rational": False}], ids=["dearer", "not rational"]
)
def test_vcg_may_not_bring_more_nor_charge_too_much(surveyed, gained, changed):
    gained(0.0)
    surveyed(HONEST)
    assert mechanism_claims.vcg(True)[1].agrees
    surveyed(HONEST, replace(HONEST, **changed))
    assert not mechanism_claims.vcg(True)[1].agrees


def test_the_mean_of_first_prices_is_too_much(gained, surveyed, monkeypatch):
    gained(0.0)
    surveyed(HONEST)
    claim = mechanism_claims.vcg(True)[2]
    assert not claim.agrees
    # Fig. 4 gives 83.3 as that mean: 83,300 G$ for 1000 tasks.
    assert "all pay 83300 for tasks worth" in claim.measured
    monkeypatch.setattr(mechanism_claims, "first_mean_price", lowest_uniform)
    assert mechanism_claims.vcg(True)[2].agrees


def test_the_clock_is_compared_with_vcg(monkeypatch):
    monkeypatch.setattr(mechanism_claims, "QUICK_MARKETS", 5)
    (claim,) = mechanism_claims.clock(True)
    assert claim.agrees

    def dear(market, **options):
        found = ascending_clock(market, **options)
        settlement = replace(found.settlement, payments=found.settlement.payments * 1.001)
        return replace(found, settlement=settlement)

    monkeypatch.setattr(mechanism_claims, "ascending_clock", dear)
    (dearer,) = mechanism_claims.clock(True)
    assert not dearer.agrees
    monkeypatch.undo()
    fine = mechanism_claims.clock_deal(None)
    assert claim.optimum == pytest.approx(fine.payments.sum())
    assert f"{fine.rounds} rounds, {fine.messages} messages" in claim.measured


def test_the_clock_on_simgrid_is_compared_with_vcg(monkeypatch):
    monkeypatch.setattr(mechanism_claims, "QUICK_MARKETS", 2)
    run = mechanism_claims.clock_deal

    def dear(tick):
        deal = run(tick)
        return replace(deal, payments=deal.payments * (1 + 1e-6))

    monkeypatch.setattr(mechanism_claims, "clock_deal", dear)
    (claim,) = mechanism_claims.clock(True)
    assert not claim.agrees


def test_a_survey_adds_up():
    found = survey(3)
    assert found.gain >= 0
    assert 0 <= found.loss < 1
    assert 0 <= found.ratio <= 1
    assert found.rational


def test_figures_show_that_only_the_uniform_price_invites_lies():
    measured, verified = mechanism_claims.FIGURES["misreports"](True)
    most = {name: np.max(up) for name, (_, up) in measured.series.items()}
    assert most["uniform price, measured time"] > 1.001
    assert np.max(verified.series["uniform price"][1]) == pytest.approx(1, abs=1e-9)
    assert most["VCG, measured time"] == pytest.approx(1, abs=1e-9)


def test_parts_are_named():
    assert list(mechanism_claims.PARTS) == [
        "misreports",
        "verification",
        "game",
        "misreports on SimGrid",
        "vcg",
        "clock",
    ]
