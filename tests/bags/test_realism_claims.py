"""Claims about realistic runs, from losses made up for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simplugin.bags import realism_claims
from simplugin.bags.campaign_summary import Ratios
from simplugin.bags.losses import POLICIES, Loss
from simplugin.bags.realism import SETTINGS
from simplugin.bags.realism_claims import CHANGES, FAILURES, NETWORK, PARTS, QUICK, WHOLE


def made(setting: str, policy: str, lost: float, behind: float) -> Loss:
    """Return a loss that is the same on two trees."""
    one, other = (Ratios(np.log([value] * 2), np.array([5, 10])) for value in (lost, behind))
    return Loss(setting, policy, one, one, other)


def give(monkeypatch, values, **changes: Loss) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Let claims find these losses, by policy or by setting and policy; return what they ask."""
    asked = []

    def losses(reading, seed, numbers, policies, settings):
        assert (reading, seed) == ("A", 2008)
        assert len(set(numbers)) == len(numbers)
        asked.append((tuple(policies), tuple(settings)))
        return [
            changes.get(policy)
            or made(
                setting, policy, *values.get(f"{setting}: {policy}", values.get(policy, (1, 1)))
            )
            for setting in settings
            for policy in policies
        ]

    monkeypatch.setattr(realism_claims, "losses", losses)
    return asked


def test_settings_are_all_claimed_once():
    assert [*NETWORK, *CHANGES, *FAILURES] == [name for name in SETTINGS if name != "plain"]


def test_policies_of_the_paper_and_ours_are_all_in():
    assert {"lp", "data_centric", "cgbc", "fcfs", "bcs", "prices", "lag"} == set(WHOLE)
    assert set(QUICK) < set(WHOLE)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("quick", [True, False])
def test_parts_ask_for_what_there_is(monkeypatch, part, quick):
    asked = give(monkeypatch, {})
    assert PARTS[part](quick)
    for policies, settings in asked:
        assert set(policies) <= set(POLICIES)
        assert set(settings) <= set(SETTINGS)


@pytest.mark.parametrize(
    ("prices", "lag", "agrees"), [(0.99, 1.16, True), (1.01, 1.0, False), (0.9, 1.2, False)]
)
def test_who_loses_holds_ours_against_lp(monkeypatch, prices, lag, agrees):
    give(monkeypatch, {"prices": (1.25, prices), "lag": (0.8, lag)})
    (claim,) = PARTS["failing hosts"](True)
    assert claim.agrees is agrees
    # Throughput over 1.25 is 20 % less.
    assert claim.measured == (
        "lp 0.0% (at most 0.0%); data_centric 0.0% (at most 0.0%);"
        " prices 20.0% (at most 20.0%); lag -25.0% (at most -25.0%)"
    )


@pytest.mark.parametrize("policy", ["prices", "lag"])
def test_ours_may_not_starve_anywhere(monkeypatch, policy):
    fine = made("hosts fail", policy, 1.0, 0.9)
    behind = Ratios(np.array([0.0, np.inf]), np.array([5, 10]))
    starved = replace(fine, lost=behind, behind=behind)
    for other, agrees in ((fine, True), (starved, False), (replace(fine, undone=1), False)):
        give(monkeypatch, {}, **{policy: other})
        (claim,) = PARTS["failing hosts"](True)
        assert claim.agrees is agrees
    give(monkeypatch, {}, **{policy: starved})
    (claim,) = PARTS["failing hosts"](True)
    assert f"{policy} 0.0% (at most 100.0%), nothing left on 1 of 2 trees" in claim.measured


def test_measured_rates_agree_where_lp_loses_less_with_them(monkeypatch):
    for known, unknown, agrees in ((1.1, 1.3, True), (1.3, 1.1, False)):
        give(monkeypatch, {"lp": (known, 1.0), "lp, unmeasured": (unknown, 1.0)})
        (claim,) = PARTS["measured rates"](True)
        assert claim.agrees is agrees


@pytest.mark.parametrize(
    ("calm", "loaded", "agrees"), [(1.0, 0.8, True), (0.8, 0.85, False), (1.2, 1.1, False)]
)
def test_replanning_must_gain_more_than_where_nothing_changes(monkeypatch, calm, loaded, agrees):
    values = {
        f"{setting}: {policy}": (1.0, behind)
        for setting, behind in (("plain", calm), ("load comes", loaded))
        for policy in ("data_centric", "prices")
    }
    give(monkeypatch, values)
    claims = PARTS["replanning"](True)
    assert [claim.agrees for claim in claims] == [agrees] * 2
    assert f"{1 / loaded - 1:+.1%} (load comes)" in claims[0].why
