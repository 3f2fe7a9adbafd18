"""When statements of section 7 agree, and which are judged."""

import json

import numpy as np
import pytest

from simplugin.taskgraphs import section7_judgements as judge
from simplugin.taskgraphs.campaign import COUNTS, SITES, STRATEGIES
from simplugin.taskgraphs.section7_claims import example_claims, family_claims, weight_claims
from simplugin.taskgraphs.section7_statements import FFT, RANDOM, STATEMENTS, STRASSEN
from simplugin.taskgraphs.section7_tables import FULL, PART, QUICK, table

BY_KEY = {each.key: each for statements in STATEMENTS.values() for each in statements}


def agrees(key, averages, random=None):
    return BY_KEY[key].judge(averages, random or averages)[1]


def test_every_statement_has_a_key_of_its_own():
    assert len(BY_KEY) == len(RANDOM) + len(FFT) + len(STRASSEN)


@pytest.mark.parametrize("each", RANDOM, ids=lambda each: each.key)
def test_what_the_paper_tells_agrees_with_itself(each, told):
    words, verdict = each.judge(told(), told())
    assert verdict, words


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("R1", {"ps_width": (1.01, 1.95)}),
        ("R1", {"ps_cp": (0.99, 1.05)}),
        ("R2", {"ps_cp": (0.99, 1.05)}),
        ("R3", {"wps_cp": (0.75, 1.03)}),
        ("R4", {"es": (0.73, 1.4)}),
        ("R5", {"wps_work": (0.49, 1.06)}),
        ("R6", {"wps_width": (0.61, 1.16)}),
        ("R6", {"wps_width": (0.41, 1.16)}),
        ("R7", {"ps_cp": (1.21, 1.05)}),
        ("R8", {"wps_width": (0.5, 1.01)}),
        ("R9", {"wps_width": (0.5, 0.99)}),
        ("R10", {"s": (1.0, 1.15)}),
        ("R11", {"es": (0.64, 1.96)}),
        ("R12", {"ps_width": (0.84, 1.6)}),
        ("R13", {"wps_work": (0.65, 1.1)}),
        ("R13", {"wps_work": (0.65, 1.01)}),
        ("R14", {"es": (0.64, 1.14)}),
        ("R15", {"wps_width": (0.5, 1.25)}),
        ("R16", {"wps_width": (0.7, 1.16)}),
        ("R17", {"es": (0.0, 1.4)}),
        ("R18", {"wps_width": (0.5, 1.22)}),
        ("M1", {"wps_cp": (1.05, 1.03)}),
        ("M1", {"wps_cp": (0.84, 1.3)}),
    ],
)
def test_what_contradicts_a_statement_disagrees(key, changed, told):
    assert not agrees(key, told(**changed))


def test_statements_about_fft_graphs(told):
    assert agrees("F2", told(ps_width=(0.55, 1.1)))
    assert not agrees("F2", told())
    assert agrees("F3", told(ps_width=(0.55, 1.1)))
    assert not agrees("F3", told())
    assert agrees("F4", told(es=(0.64, 1.9)))
    assert not agrees("F4", told(es=(0.64, 1.6)))
    assert agrees("F5", told())
    assert not agrees("F5", told(ps_width=(0.55, 1.1)))
    assert agrees("F8", told(ps_width=(0.6, 1.1)))
    assert not agrees("F8", told())
    assert agrees("F9", told())
    assert not agrees("F9", told(wps_work=(0.65, 1.22)))


def test_families_are_compared(told):
    fairer = told(**{name: (0.3, 1.0) for name in STRATEGIES})
    for key in ("F1", "T5"):
        assert agrees(key, fairer, told())
        assert not agrees(key, told(), fairer)
    assert agrees("F7", told(s=(1.0, 1.05)), told())
    assert not agrees("F7", told(), told(s=(1.0, 1.05)))
    assert agrees("F10", told(), told())
    upside = told(**{name: (1 + n, 2 - n / 8) for n, name in enumerate(STRATEGIES)})
    turned = told(**{name: (9 - n, 1 + n / 8) for n, name in enumerate(STRATEGIES)})
    assert judge.same_ranking(upside, turned)[0] == "-1.00, -1.00"
    assert not agrees("F10", upside, turned)


def test_statements_about_strassen_graphs(told):
    equal = (0.64, 1.4)
    assert agrees("T1", told(ps_width=equal, wps_width=equal))
    assert not agrees("T1", told())
    assert not agrees("T1", told(ps_width=equal, wps_width=(0.65, 1.4)))
    assert agrees("T2", told(wps_work=(0.8, 1.06)))
    assert not agrees("T2", told(wps_work=(0.64, 1.06)))
    assert agrees("T3", told(wps_work=(0.8, 0.91)))
    assert not agrees("T3", told(wps_work=(0.8, 1.2)))
    assert agrees("T4", told())
    assert not agrees("T4", told(es=(0.6, 1.05)))


def test_slopes_before_and_after_a_weight(told):
    words, verdict = BY_KEY["M1"].judge(told(), told())
    # From (1.1, 1.02) by (0.84, 1.04) to (0.64, 1.4), half a unit of mu each.
    assert words == "unfairness -0.52, then -0.40; makespan +0.04, then +0.72"
    assert verdict


def test_campaign_is_that_of_the_paper(fake):
    fake(lambda _case, _setting: (1.0, 100.0))
    assert (FULL.counts, FULL.runs, FULL.sites) == (COUNTS, 100, SITES)
    assert len(FULL.cases("random")) == 500
    assert set(PART.cases("fft")) <= set(FULL.cases("fft"))
    assert set(QUICK["fft"].cases("fft")) <= set(FULL.cases("fft"))
    found = table("random", FULL)
    assert (found.strategies, found.counts) == (STRATEGIES, COUNTS)


def test_averages_of_measurements(fake):
    # A slowdown of 0.5 among n of 1: the mean is 1 - 0.5 / n, and so is unfairness.
    fake(lambda _case, setting: (0.5, 100.0 + 10 * STRATEGIES.index(setting.strategy)))
    found = table("fft", QUICK["fft"])
    assert found.unfair("es") == pytest.approx([1 - 1 / n for n in found.counts])
    assert found.length("wps_work") == pytest.approx(1.7)
    assert np.all(found.planned == pytest.approx(1.1 * found.makespan))


def test_quick_runs_leave_out_what_they_cannot_judge(fake):
    fake(lambda _case, setting: (0.5 + 0.05 * STRATEGIES.index(setting.strategy), 100.0))
    for family, statements in STATEMENTS.items():
        few, everything = (family_claims(family, quick=quick) for quick in (True, False))
        assert 0 < len(few) < len(everything) == len(statements)
        assert few[0].provenance["sites"] == ["lille", "sophia"]
        for claim in everything:
            document = claim.document()
            assert type(document["agrees"]) is bool
            json.dumps(document, allow_nan=False)


def test_weights(fake):
    # Fairer and longer with mu, less so and more so from 0.7 on; WPS-width fairest with 0.4.
    def outcome(_case, setting):
        mu = 0.5 if setting.mu is None else setting.mu
        if setting.strategy == "wps_width":
            return 1 - abs(mu - 0.4), 100.0
        return min(0.3 + mu, 1.0), 100 + 10 * mu + 50 * max(mu - 0.7, 0)

    fake(outcome)
    trends, bend, random, fft = weight_claims(quick=False)
    assert trends.agrees
    assert bend.agrees
    assert bend.measured.endswith("makespan +10 s, then +60 s")
    assert (random.paper, random.measured, random.agrees) == (0.5, 0.4, True)
    assert (fft.paper, fft.measured, fft.agrees) == (0.3, 0.4, True)
    fake(lambda _case, setting: (1 - abs(setting.mu - 0.7), 100 - setting.mu**2))
    trends, bend, random, _ = weight_claims(quick=False)
    assert not trends.agrees
    assert not bend.agrees
    assert (random.measured, random.agrees) == (0.7, False)
    assert len(weight_claims(quick=True)) == 2


def test_numbers_of_the_text():
    claims = example_claims(True)
    assert [claim.agrees for claim in claims] == [True] * 3
    assert claims[-1].measured == 2.56
