"""The study of graphs that arrive over time."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.taskgraphs import arrivals_claims
from simplugin.taskgraphs.arrivals import (
    OURS,
    Arrivals,
    Trial,
    bound,
    runs,
    settings,
    submitted,
    summary,
    tried,
)
from simplugin.taskgraphs.campaign import Case, Setting, measured, own_makespans
from simplugin.taskgraphs.readings import PAPER

CASE = Case("strassen", 3, 0, "lille")


def test_dates_scale_with_rho_and_with_makespans_alone():
    one, other = (submitted(Arrivals(CASE, rho)).release for rho in (0.1, 1.0))
    assert one[0] == 0
    assert np.all(np.diff(one) > 0)
    assert other == pytest.approx(10 * one)
    elsewhere = Case("strassen", 3, 0, "rennes")
    alone = [np.mean(own_makespans(case, "online", PAPER)) for case in (CASE, elsewhere)]
    there = submitted(Arrivals(elsewhere, 1.0)).release
    assert there == pytest.approx(other * alone[1] / alone[0])


def test_mean_time_between_submissions():
    # Of 9 x 40 exponential numbers the mean is within 4 of its standard deviations, 1 / sqrt(360).
    gaps = [
        np.random.default_rng([6774, number, 10, 1]).exponential(size=9) for number in range(40)
    ]
    assert abs(np.mean(gaps) - 1) < 4 / np.sqrt(360)
    drawn = submitted(Arrivals(CASE, 0.5)).release
    mean = 0.5 * np.mean(own_makespans(CASE, "online", PAPER))
    again = np.random.default_rng([6774, 0, 3, 1]).exponential(size=2)
    assert np.diff(drawn) == pytest.approx(mean * again)


@pytest.mark.parametrize("setting", [Setting("es"), Setting("es", revision="arrival")])
def test_without_time_between_it_is_the_campaign(setting):
    found, usual = tried(Arrivals(CASE, 0.0), setting), measured(CASE, Setting("es"))
    assert found.own == usual.own
    assert found.shared == usual.shared
    assert found.unfairness == usual.unfairness
    assert found.makespan == usual.makespan


def test_makespans_count_from_submission_and_nobody_beats_the_bound():
    arrivals = Arrivals(CASE, 0.3)
    release = submitted(arrivals).release
    for setting in (*settings("es").values(), OURS):
        found = tried(arrivals, setting)
        assert found.makespan == pytest.approx(np.max(release + found.shared))
        assert found.makespan >= bound(arrivals) * (1 - 1e-3)


def test_far_apart_nobody_suffers():
    for setting in list(settings("wps_width").values())[1:]:
        found = tried(Arrivals(CASE, 100.0), setting)
        # The end of an instant is waited for, a part of 1e-9 of the date, which is late here.
        assert found.slowdown == pytest.approx(np.ones(3), rel=1e-4)


def test_summary_by_hand():
    arrivals = Arrivals(CASE, 1.0)
    one = Trial(arrivals, "", (1.0, 1.0), (1.0, 2.0), 4.0)  # slowdowns 1 and 1/2
    other = Trial(arrivals, "", (1.0, 3.0), (4.0, 4.0), 6.0)  # 1/4 and 3/4
    found = summary([one, other])
    assert (found.unfairness, found.slowdown, found.worst, found.makespan) == (
        pytest.approx(0.5), pytest.approx(0.625), pytest.approx(0.375), 5.0,
    )  # fmt: skip


def test_runs_are_all_combinations():
    found = runs("fft", 0.3, numbers=range(2), sites=("lille", "nancy"), seed=5)
    assert [(each.case.number, each.case.site) for each in found] == [
        (0, "lille"), (0, "nancy"), (1, "lille"), (1, "nancy"),
    ]  # fmt: skip
    assert {(each.case.count, each.case.seed, each.rho) for each in found} == {(10, 5, 0.3)}


def test_quick_claims_and_figures(monkeypatch):
    # Small graphs instead of the study's: what is said must follow from the numbers.
    small = [Arrivals(CASE, 0.1)]
    monkeypatch.setattr(arrivals_claims, "_runs", lambda *_: small)
    claims = [claim for part in arrivals_claims.PARTS.values() for claim in part(True)]
    [claim] = claims
    static, _, event = (summary([tried(small[0], each)]) for each in settings("wps_width").values())
    assert claim.agrees == (event.slowdown > static.slowdown and event.makespan < static.makespan)
    assert f"{static.slowdown:.2f} to {event.slowdown:.2f}" in str(claim.measured)
    [figure] = [each for part in arrivals_claims.FIGURES.values() for each in part(True)]
    assert list(figure.series) == ["rebalanced (ours)", "static", "arrival", "event"]
    assert figure.series["event"] == ([event.makespan], [event.unfairness])


def test_full_claims_compare_both(monkeypatch):
    small = [Arrivals(CASE, 0.1)]
    monkeypatch.setattr(arrivals_claims, "_runs", lambda *_: small)
    claims = arrivals_claims.PARTS["arrivals, ours, 0.1"](False)
    ours = summary([tried(small[0], OURS)])
    assert len(claims) == 4
    for claim, setting in zip(claims, settings("wps_width").values(), strict=False):
        rival = summary([tried(small[0], setting)])
        assert claim.agrees == (
            ours.unfairness < rival.unfairness and ours.makespan <= rival.makespan
        )
        assert claim.optimum == pytest.approx(bound(small[0]))
    assert len(arrivals_claims.PARTS["arrivals, 0.1"](False)) == 4
