"""Claims on misreports and payments, from invented measurements and from a few real ones."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simplugin.market import mechanism_claims, misreport_claims
from simplugin.market.clinching import ascending_clock
from simplugin.market.mechanisms import lowest_uniform, uniform
from simplugin.market.misreport_claims import Survey, largest_gain, site_market, survey
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
    found = largest_gain(seed, uniform, "measured", 30, 0.25)
    assert 0.01 < found <= survey(seed).gain * (1 + 1e-6)
    assert largest_gain(seed, uniform, "measured", 30, 1.0) <= 1e-9


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
    (claim,) = mechanism_claims.clock(True)
    assert not claim.agrees


@pytest.mark.parametrize(
    ("end", "anarchy", "settle", "harmless"),
    [("settled", 1.01, True, True), ("cycle", 1.2, False, False), ("open", 1.0, False, True)],
)
def test_games_are_judged_by_their_ends(monkeypatch, end, anarchy, settle, harmless):
    played = SimpleNamespace(ended=end, anarchy=anarchy, revenue=9.0)
    monkeypatch.setattr(misreport_claims, "game", lambda _seed: (played, 10.0))
    settles, costs = misreport_claims.games(True)
    assert settles.agrees == settle
    assert costs.agrees == harmless
    assert "income 0.90 of that of the truth" in costs.measured


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
