"""Claims on discount rates and mixed sizes, from invented measurements and from a few real ones."""

from dataclasses import replace

import numpy as np
import pytest

from simplugin.errors import InfeasibleError
from simplugin.market import rate_claims
from simplugin.market.outcomes import Outcome
from simplugin.market.rate_claims import Balanced, balanced, on_site
from simplugin.workloads.bundle_markets import BundleMarket

TIMES = np.array([1.0, 2.0])
MARKET = BundleMarket(3600 / TIMES, 300, 300, 0.99)


def outcome(first):
    amounts = np.array([first, 300 - first])
    return Outcome.estimated(MARKET, amounts, 1.0, TIMES)


GOOD = Balanced(outcome(180), outcome(200), np.array([0.01, 0.01]), 200.0, True)


@pytest.fixture
def measured(monkeypatch):
    def given(found):
        monkeypatch.setattr(rate_claims, "on_site", lambda _kind, seed=0: found(seed))
        monkeypatch.setattr(rate_claims, "balanced", lambda *_: GOOD)
        monkeypatch.setattr(rate_claims, "QUICK_SITES", 2)
        monkeypatch.setattr(rate_claims, "QUICK_MARKETS", 3)

    return given


def judged():
    fairer, exact, early, _, anywhere = rate_claims.rates(True)
    return fairer.agrees, exact.agrees, early.agrees, anywhere.agrees


def test_balanced_workloads_agree(measured):
    measured(lambda _seed: GOOD)
    assert judged() == (True, True, True, True)


def test_less_fair_on_another_site(measured):
    worse = Balanced(GOOD.common, outcome(150), GOOD.alpha, 200.0, True)
    measured(lambda seed: worse if seed == 1 else GOOD)
    # What comes late elsewhere does not count against the chosen site.
    assert judged() == (False, True, True, True)
    assert "FI rises in 3 of 6 settings" in rate_claims.rates(True)[0].measured


def test_late_on_the_chosen_site(measured):
    late = Balanced(GOOD.common, outcome(196), GOOD.alpha, 200.0, True)
    measured(lambda _seed: late)
    assert judged() == (True, True, False, True)


def test_another_optimum_than_wanted(measured):
    measured(lambda _seed: replace(GOOD, exact=False))
    assert judged() == (True, False, True, True)


def test_markets_without_rates_are_counted(measured, monkeypatch):
    measured(lambda _seed: GOOD)

    def refused(*_):
        if not counted:
            counted.append(1)
            raise InfeasibleError("none")
        return GOOD

    counted = []
    monkeypatch.setattr(rate_claims, "balanced", refused)
    claim = rate_claims.rates(True)[-1]
    assert not claim.agrees
    assert claim.measured.startswith("for 2 of 3, the optimum as wanted in 2")


def test_all_together_at_less_benefit_only_where_a_peer_is_slow(measured):
    # Of two peers that both work anyhow, none is a price that is too low.
    measured(lambda _seed: GOOD)
    assert not rate_claims.rates(True)[3].agrees
    times = np.array([1.0, 100.0])
    slow = balanced(times, 3600 / times, 300, 0.01)
    assert slow.own.amounts.tolist() == [300, 0]
    measured(lambda _seed: slow)
    claim = rate_claims.rates(True)[3]
    assert claim.agrees
    # The quick one finishes 298 tasks when the slow one finishes 2. At a price of 36 those of the
    # quick one fall from 3600 to that half a task after the last.
    falls = 100 ** (-np.arange(298) / 297.5)
    part = (3600 * falls.sum() + 2 * 36) / slow.common.benefit
    assert f"at {part:.0%} of the benefit" in claim.measured


def test_rates_of_two_peers():
    found = balanced(TIMES, 3600 / TIMES, 300, 0.01)
    assert found.exact
    assert found.own.amounts.tolist() == [200, 100]
    assert found.own.completion == found.bound == pytest.approx(200)
    assert found.own.benefit == pytest.approx(found.common.benefit)
    assert found.own.fairness == pytest.approx(1)


def test_the_chosen_site_becomes_fairer_at_the_same_benefit():
    found = on_site("computation")
    assert found.exact
    assert found.own.benefit == pytest.approx(found.common.benefit, rel=1e-9)
    assert found.own.fairness > found.common.fairness
    assert found.bound <= found.own.completion < found.common.completion


def test_proportional_share_is_compared_by_completion(monkeypatch):
    monkeypatch.setattr(rate_claims, "QUICK_SITES", 1)
    (claim,) = rate_claims.finishing(True)
    assert "longer in 0" in claim.measured

    def same(values, m, caps, q, /):
        del caps, q
        return rate_claims.balanced_split(1 / values, m), 1.0

    monkeypatch.setitem(rate_claims.POLICIES, "proportional_share", same)
    (claim,) = rate_claims.finishing(True)
    assert claim.agrees
    assert claim.measured.startswith("the same completion time in 3 of 3")


@pytest.mark.parametrize(("part", "agrees"), [(0.995, True), (0.98, False)])
def test_mixed_sizes_are_judged_by_the_worst_bundle(monkeypatch, part, agrees):
    def invented(place, transfers):
        return (part if place == 0 and not transfers else 1.0), 0.1 * place

    monkeypatch.setattr(rate_claims, "kept", invented)
    (claim,) = rate_claims.mixed_sizes(True)
    assert claim.agrees == agrees


def test_a_bundle_of_the_trace_loses_by_being_dealt_as_identical():
    part, variation = rate_claims.kept(0, False)
    assert 0.5 < part < 1
    assert variation > 0


def test_the_figure_has_a_point_for_each_peer():
    (figure,) = rate_claims.FIGURES["rates"](True)
    common, own = (np.asarray(up) for _, up in figure.series.values())
    assert len(common) == len(own) == 12
    assert own.max() < common.max()
    assert figure.lines["lower bound of completion"] <= own.max()


def test_optima_are_those_of_the_common_rate_and_of_whole_tasks(measured):
    measured(lambda _seed: GOOD)
    _, exact, early, _, anywhere = rate_claims.rates(True)
    for claim in (exact, anywhere):
        assert claim.optimum == pytest.approx(GOOD.common.benefit)
    # 200 and 100 tasks end at once.
    assert early.optimum == pytest.approx(1)
