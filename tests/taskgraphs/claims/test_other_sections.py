"""Claims of sections 4 and 5, published figures, rechecks, bounds, and what goes past the paper."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from simplugin.taskgraphs import (
    bound_claims,
    campaign,
    past_claims,
    published_claims,
    readings_claims,
    recheck_claims,
    section4_claims,
    section5_claims,
)
from simplugin.taskgraphs.campaign import Setting
from simplugin.taskgraphs.global_ordering import postponing_example
from simplugin.taskgraphs.mapping import plan
from simplugin.taskgraphs.readings import PAPER
from simplugin.taskgraphs.section4_claims import Use, constrained, power_in_use
from simplugin.taskgraphs.section5_claims import Postponed, example, packing, postponing
from simplugin.taskgraphs.section7_tables import QUICK_PART
from simplugin.workloads.graph_generators import FAMILIES


def test_power_in_use():
    graphs, allocations, site = postponing_example()
    # One processor works 10 s, the other 5 s, both at once for a while.
    mean, peak = power_in_use(plan(graphs, allocations, site))
    assert (mean, peak) == (pytest.approx(0.75), 1.0)


def uses(monkeypatch, **by_procedure):
    found = {name.replace("_", "-").upper(): each for name, each in by_procedure.items()}
    monkeypatch.setattr(section4_claims, "uses", lambda procedure: found[procedure])
    return constrained(quick=False)


def test_constraints_are_respected_or_not(monkeypatch):
    good = [Use(0.8, 100.0, 0.5, 0.9, 0, 10)] * 99
    bad = [Use(0.8, 100.0, 0.9, 0.9, 0, 10)]
    [one, two, *_] = uses(monkeypatch, scrap=good + bad, scrap_max=good[1:] + 2 * bad)
    assert (one.measured, one.agrees) == ("99.0 %", True)
    assert (two.measured, two.agrees) == ("98.0 %", False)
    assert "within beta in 0.0 %" in one.why


def test_loose_constraints_and_waiting_tasks(monkeypatch):
    scrap = [Use(0.2, 90.0, 0.1, 0.1, 2, 10), Use(1.0, 110.0, 0.5, 0.5, 0, 10)]
    scrap_max = [Use(0.2, 100.0, 0.1, 0.1, 0, 10), Use(1.0, 100.0, 0.5, 0.5, 0, 10)]
    *_, loose, waiting = uses(monkeypatch, scrap=scrap, scrap_max=scrap_max)
    assert loose.agrees
    assert loose.measured.startswith("SCRAP 1.1000 times as long; SCRAP-MAX shorter in 100 %")
    assert waiting.agrees
    assert "under SCRAP 10.0 %" in waiting.why
    *_, loose, waiting = uses(monkeypatch, scrap=scrap_max, scrap_max=scrap)
    assert not loose.agrees
    assert (waiting.measured, waiting.agrees) == ("10.0 % of tasks", False)


def test_quick_runs_cannot_judge_shares_of_scenarios():
    assert constrained(quick=True) == []


def test_figure_1():
    postponed, efficient = example(True)
    assert postponed.measured == "starts at 6 s, then at 0 s"
    assert postponed.agrees
    # 2 s, 1 s and then twice 1 s, one after the other, after 6 s.
    assert (efficient.measured, efficient.optimum) == ("10 s against 11 s", 10.0)
    assert efficient.agrees


def test_small_graphs_start_at_once_or_not(monkeypatch):
    waits = {True: 0.0, False: 2.0}
    monkeypatch.setattr(
        section5_claims, "smallest", lambda _case, ready: Postponed(waits[ready], 0.5)
    )
    [claim] = postponing(quick=True)
    assert claim.agrees
    for ready, by_list in ((0.2, 2.0), (0.0, 0.0)):
        waits |= {True: ready, False: by_list}
        assert not postponing(quick=True)[0].agrees


def test_packing_pays_or_not(fake):
    def longer(factor, strategy="s"):
        def outcome(_case, setting):
            off = setting.readings == replace(PAPER, packing="off")
            return 1.0, 100 * (factor if off and setting.strategy == strategy else 1.1**off)

        return outcome

    fake(longer(1.1))
    [claim] = packing(quick=True)
    assert (claim.measured, claim.agrees) == ("s 1.100 times", True)
    fake(longer(0.9, "es"))
    assert packing(quick=True)[0].agrees
    assert not packing(quick=False)[0].agrees


def test_published_figures():
    claims = published_claims.published(True)
    assert [claim.measured for claim in claims[:3]] == ["218.630", "3241.080", 20]
    assert all(claim.agrees for claim in claims)
    assert claims[3].why.count(";") == 20


def test_twenty_rows():
    listing = published_claims.believed_listing()
    assert len(listing.lines) == 20
    assert listing.lines[-1][1] == pytest.approx(218.630, abs=5e-4)


def test_a_run_is_rechecked_from_its_trace(monkeypatch):
    monkeypatch.setattr(recheck_claims, "QUICK_RUNS", ((2, "lille"),))
    monkeypatch.setattr(recheck_claims, "QUICK_STRATEGIES", ("es",))
    [claim] = recheck_claims.rechecked(True)
    assert claim.agrees
    assert "in 3 runs of 1 strategies" in claim.why
    # An activity for each task at least.
    assert int(claim.measured.split()[3]) > 50


def test_violations_disagree_and_are_told(monkeypatch):
    trace = SimpleNamespace(result=SimpleNamespace(trace=[0] * 7))
    monkeypatch.setattr(recheck_claims, "executed", lambda *_args, **_options: trace)
    monkeypatch.setattr(recheck_claims, "violations", lambda _done: ["too early"])
    [claim] = recheck_claims.rechecked(True)
    assert not claim.agrees
    assert claim.measured == "9 violations of 63 activities"
    assert "s, 4 random graphs on sophia: too early" in claim.why


def test_gaps_to_bounds(fake, monkeypatch):
    monkeypatch.setattr(bound_claims, "bound_of", lambda _case: 80.0)
    fake(lambda _case, setting: (1.0, 120.0 if setting.strategy == "es" else 100.0))
    claims = {
        claim.claim.split(",")[0]: claim for claim in bound_claims.gaps("random", quick=False)
    }
    assert len(claims) == 10
    assert (claims["random: es"].measured, claims["random: es"].optimum) == (120.0, 80.0)
    assert "is 50.0 % in the mean" in claims["random: es"].why
    assert claims["random: the best of the eight strategies"].measured == 100.0
    assert all(claim.agrees for claim in claims.values())
    monkeypatch.setattr(bound_claims, "bound_of", lambda _case: 110.0)
    agreeing = [claim.agrees for claim in bound_claims.gaps("random", quick=False)]
    assert sum(agreeing) == 1


def test_bounds_are_below_what_is_possible():
    [case, *_] = QUICK_PART.cases("fft")
    own = section5_claims.own_makespans(case, "online", PAPER)
    assert 0 < bound_claims.bound_of(case) <= sum(own)


@pytest.mark.parametrize(
    ("slowdown", "makespan", "agrees"), [(0.9, 90.0, True), (0.7, 90.0, False), (0.9, 101.0, False)]
)
def test_dominating(fake, slowdown, makespan, agrees):
    def outcome(_case, setting):
        return (slowdown, makespan) if setting.strategy == "balanced" else (0.8, 100.0)

    fake(outcome)
    assert [claim.agrees for claim in past_claims.dominating("fft", quick=False)] == [agrees] * 2
    [claim] = past_claims.dominating("fft", quick=True)
    assert f"not less fair or not longer: {'none' if agrees else 's, es'}" in claim.why
    assert "WPS-width with a mu of 0.3." in claim.why


def test_runs_in_which_ours_are_ahead(fake):
    def outcome(case, setting):
        if setting.strategy != "balanced":
            return 0.8, 100.0
        # Fairer in three of four runs, no longer in one of two sites' independently.
        return (0.9 if case.number % 4 else 0.7), (90.0 if case.site == "lille" else 101.0)

    fake(outcome)
    [claim] = past_claims.dominating("random", quick=True)
    assert "on average" in claim.claim
    words = "Of 16 runs it is fairer in 75 %, no longer in 50 %, both in 38 %"
    assert words in claim.why
    assert claim.agrees


@pytest.mark.parametrize("family", past_claims.MU)
def test_weight_of_the_rival_is_the_papers(family):
    [case, *_] = QUICK_PART.cases(family)
    graphs, site = campaign.graphs_of(case), campaign.multi_cluster_of(case).site()
    used = campaign.strategy_of(Setting(past_claims.RIVAL), family)(graphs, site)
    told = campaign.strategy_of(Setting(past_claims.RIVAL, mu=past_claims.MU[family]), family)
    assert used.tolist() == told(graphs, site).tolist()
    if family != "strassen":
        other = campaign.strategy_of(Setting(past_claims.RIVAL, mu=0.9), family)
        assert used.tolist() != other(graphs, site).tolist()


def test_estimates(monkeypatch):
    off = {"alone": 1.1, "together": 0.95}

    def planned(_case, setting):
        factor = off[setting.readings.redistribution]
        return SimpleNamespace(makespan=100.0, planned=100.0 * factor)

    monkeypatch.setattr(past_claims, "measured", planned)
    [claim] = past_claims.estimates(quick=False)
    assert claim.agrees
    assert claim.measured == "off by 5.0 %, by 10.0 % alone"
    off["together"] = 0.85
    assert not past_claims.estimates(quick=False)[0].agrees
    assert past_claims.estimates(quick=True) == []


def test_readings_are_compared_by_statements(fake):
    unfair = dict(zip(readings_claims.STRATEGIES, (5, 3, 6, 4, 7, 4, 2, 3), strict=True))

    def outcome(_case, setting):
        off = setting.readings.packing == "off"
        return 1 - 0.1 * (1 if off else unfair[setting.strategy]), 100.0

    fake(outcome)
    claims = {claim.claim.split(":")[0]: claim for claim in readings_claims.alternatives(False)}
    assert claims.keys() == readings_claims.ALTERNATIVES.keys()
    assert all(claim.agrees for claim in claims.values())
    assert "R1" in claims["no packing"].why
    assert "lost none, won none" in claims["first come"].why
    assert claims["mean reference"].measured.count("as chosen") == 2
    listing = readings_claims.readings_listing()
    held = dict(zip(listing.column("reading"), listing.column("of 20 random"), strict=True))
    assert held["no packing"] < held["as chosen"] == held["planned"]
    ratios = np.array(listing.column("U WPS-width/S"), dtype=float)
    assert ratios[0] == pytest.approx(0.4)
    # The other way round the alternative fits better.
    fake(lambda case, s: outcome(case, replace(s, readings=replace(PAPER, packing="off")))
         if s.readings == PAPER else outcome(case, replace(s, readings=PAPER)))  # fmt: skip
    claims = {claim.claim.split(":")[0]: claim for claim in readings_claims.alternatives(False)}
    assert not claims["no packing"].agrees


def test_quick_runs_have_no_other_readings():
    assert readings_claims.alternatives(quick=True) == []
    numbered = [len(readings_claims.numbered(family)) for family in FAMILIES]
    assert numbered == [20, 10, 5]
