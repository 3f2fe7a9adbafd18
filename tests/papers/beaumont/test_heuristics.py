import math

import numpy as np
import pytest

from simplugin.papers.beaumont import heuristics
from simplugin.papers.beaumont.campaign import FEW, PolicySetting
from simplugin.papers.beaumont.experiments import figure5, figure6, histogram, logarithms
from simplugin.papers.beaumont.heuristics import section_6_2

PAPERS = {"lp": 1.0, "data_centric": 1.164, "cgbc": 1.156, "fcfs": 1.564, "bcs": 1e6}


@pytest.fixture
def judged(fake, verdicts):
    """Return a function that gives the verdicts on heuristics with invented throughputs."""

    def given(fair, experiment="heuristics", measure=heuristics.heuristics, quick=False):
        fake(fair)
        return verdicts(experiment, measure(quick=quick))

    return given


def test_numbers_of_the_paper_agree(judged):
    def fair(_reading, _number, setting):
        return 1 / PAPERS[setting.policy]

    found = judged(fair)
    names = ("data-centric-mean", "cgbc-mean", "fcfs-mean", "bcs-near-zero", "ranking")
    assert {name: found[name] for name in names} == dict.fromkeys(names, True)
    assert found["fcfs-worst"] is found["data-centric-same"] is found["one-reading"] is False
    # Eight trees do not tell the worst of 150.
    assert judged(fair, quick=True)["fcfs-worst"] is None


def test_numbers_that_only_some_readings_give_cannot_be_told(fake, verdicts):
    fake(lambda reading, _, s: 0.8 / 1.156 if (reading, s.policy) == ("A", "cgbc") else 0.8)
    found = heuristics.heuristics(quick=False)
    # LP has 0.8 of the optimum, which is 1 here.
    mean = found["cgbc.mean"]
    assert (mean.optimum, mean.value) == pytest.approx((0.8, 1.156))
    assert mean.readings == {name: pytest.approx((1.0, 1.0)) for name in "BCD"}
    agrees = verdicts("heuristics", found)
    assert (agrees["cgbc-mean"], agrees["cgbc-worst"]) == (None, True)
    assert found["fewest.misses"].note.startswith("A misses ")


@pytest.mark.parametrize(
    ("worst", "many", "agrees"), [(2.2, 1, True), (2.2, 60, False), (math.inf, 60, False)]
)
def test_cgbc_may_be_twice_behind_by_chance_only(judged, worst, many, agrees):
    found = judged(lambda _r, n, s: 1 / worst if n < many and s.policy == "cgbc" else 1.0)
    assert found["cgbc-worst"] is agrees


def test_what_is_expected_stands_beside_the_worst(fake):
    expected = {"cgbc": 0.5, "lp": 0.99}
    fake(lambda _r, _n, s: (1.0, expected.get(s.policy, 1.0)))
    found = heuristics.heuristics(quick=True)["cgbc.worst"]
    assert "B 1 (at most 1.98 expected)" in found.note


def test_small_and_large_trees(judged, fake):
    behind = {"lp": (1, 1), "fcfs": (1.31, 2.04), "cgbc": (1.1, 1.24)}

    def fair(_reading, number, setting):
        return 1 / behind.get(setting.policy, (1.1, 1.1))[number % 5 > 2]

    fake(fair)
    found = heuristics.heuristics(quick=True)
    assert found["fcfs.growth"].value == pytest.approx(2.04 / 1.31)
    assert found["cgbc_over_fcfs.small"].value == pytest.approx(1.31 / 1.1)
    assert found["cgbc_over_fcfs.growth"].value == pytest.approx(2.04 / 1.24 / (1.31 / 1.1))
    # Two large trees of eight may be none, so that nothing is known of them.
    assert found["fcfs.growth"].interval == (-math.inf, math.inf)
    names = ("fcfs-growth", "cgbc-fcfs-small", "cgbc-fcfs-large")
    assert [judged(fair)[name] for name in names] == [True, True, True]
    behind["cgbc"] = (1.1, 2.0)
    assert [judged(fair)[name] for name in names] == [True, True, False]
    behind["fcfs"] = (2.04, 2.04)
    assert [judged(fair)[name] for name in names] == [False, False, False]


def test_lp_is_ahead_of_each_heuristic_on_most_trees(judged):
    assert judged(lambda _r, n, s: 1.0 if s.policy == "lp" or n < 20 else 0.9)["lp-ahead"]
    behind = {"cgbc": 100, "lp": 150}
    assert not judged(lambda _r, n, s: 1.0 if n < behind.get(s.policy, 0) else 0.9)["lp-ahead"]


@pytest.mark.parametrize(
    ("fcfs", "cgbc", "agrees"), [(1.5, 1.1, True), (1.3, 1.1, False), (1.5, 0.99, False)]
)
def test_ranking_needs_lp_first_and_fcfs_far_behind(judged, fcfs, cgbc, agrees):
    behind = {"cgbc": cgbc, "fcfs": fcfs}
    assert judged(lambda _r, _n, s: 1 / behind.get(s.policy, 1.0))["ranking"] is agrees


def test_numbers_by_hand(column):
    throughputs = {
        "data_centric": (1 / 1.04, 1 / 1.04, 1 / 1.04, 1 / 1.5, 1.0),
        "cgbc": (0.5, 0.5, 1.0, 0.25, 0.25),
        "fcfs": (0.5, 1.0, 1.0, 0.1, 0.4),
        "bcs": (1e-9, 1e-9, 0.5, 0.5, 0.5),
    }
    columns = {name: column(*each, theory=None) for name, each in throughputs.items()}
    found = section_6_2({"lp": column(*[1.0] * 5, theory=1 / (1 - 0.09426))} | columns)
    # The last two trees are large.
    expected = {"deviation": 0.09426, "data_centric.mean": (1.04**3 * 1.5) ** 0.2}
    expected |= {"data_centric.worst": 1.5, "data_centric.same": 0.8, "bcs.near_zero": 0.4}
    expected |= {"cgbc.mean": 2 ** (6 / 5), "cgbc.large": 4.0, "cgbc.worst": 4.0}
    expected |= {"fcfs.mean": 50**0.2, "fcfs.large": 5.0, "fcfs.worst": 10.0, "lp.ahead": 0.6}
    assert {name: found[name].value for name in expected} == pytest.approx(expected)


def test_what_readings_and_variants_agree_with(fake):
    behind = PAPERS | {"lp": 1.01}

    def fair(reading, _number, setting):
        if reading != "B, kilobits":
            # With ten slots for each type, applications starve in reading D.
            own = reading == "D" and dict(setting.parameters).get("buffer_per_application")
            return 0.0 if own else 1.0
        return 1 / behind[setting.policy]

    fake(fair)
    note = heuristics.variants(False)["fewest.misses"].note
    lines = dict(each.split(" misses ") for each in note.split("; "))
    assert len(lines) == len(heuristics.VARIANTS) == 27
    assert "fcfs-mean" in lines["B, kilobits"]
    assert "fcfs-mean" not in lines["A"]
    starving = {name for name, agreed in lines.items() if "bcs-near-zero" in agreed}
    assert starving == {"B, kilobits", "D, ten slots each"}


def test_requests_in_turn_are_executed_so(fake):
    asked = []
    fake(lambda _r, _n, setting: asked.append(setting) or 1.0)
    heuristics.campaign("C, requests in turn", (1,), 5)
    heuristics.campaign("A", (1,), 5)
    assert asked[3] == PolicySetting("fcfs", single_requests=True)
    assert asked[8] == PolicySetting("fcfs", orders=5)


def test_deviations_with_usual_and_large_buffers(judged, fake):
    def with_large(large, usual=0.91):
        return lambda _r, _n, setting: large if setting.buffer == 100 else usual

    fake(with_large(0.997))
    found = heuristics.deviation(quick=True)["deviation.larger"]
    assert (found.value, found.samples) == (pytest.approx(0.003), 5)
    assert "with ten slots 0.0900" in found.note
    for fair, agrees in ((with_large(0.997), True), (with_large(0.98), False)):
        told = judged(fair)["deviation"], judged(fair, "deviation", heuristics.deviation)
        assert told == (True, {"deviation-larger": agrees})


def test_enough_tasks_are_within_one_percent(fake):
    fake(lambda _r, _n, s: 1.009 if s.count == 2000 else 1.0)
    assert heuristics.enough_tasks(quick=True)["tasks.enough"].value == 1
    fake(lambda _r, n, s: 0.98 if (s.count, n, s.policy) == (2000, 5, "lp") else 1.0)
    assert heuristics.enough_tasks(quick=True)["tasks.enough"].value == pytest.approx(11 / 12)


def test_failures_of_data_centric_by_order(fake, verdicts):
    def with_failures(fails):
        def fair(_reading, number, setting):
            order = dict(setting.parameters).get("order", "fast")
            return (1.0, 1.0) if setting.policy == "lp" else fails(order, number)

        fake(fair)
        found = heuristics.node_orders(False)
        agrees = verdicts("orders of nodes", found)
        return found, agrees["data-centric-orders"], agrees["data-centric-expected"]

    found, *agrees = with_failures(lambda _o, n: (0.1, 0.1) if n == 7 else (1.0, 1.0))
    assert found["orders.worst"].value == pytest.approx(10)
    assert found["orders.expected"].value == 1
    assert agrees == [True, True]
    # The least of all orders counts.
    found, *agrees = with_failures(lambda o, n: (0.1, 1.0) if (o, n) == ("slow", 7) else (1.0, 1.0))
    assert found["orders.worst"].value == 1
    assert agrees == [False, False]
    # A throughput of 0 is no large ratio, and no failure is no agreement.
    found, *agrees = with_failures(lambda _o, n: (0.0, 1.0) if n == 7 else (1.0, 1.0))
    assert found["orders.worst"].value == 1
    assert agrees == [False, False]


def test_values_out_of_range_are_in_the_first_and_last_bin(column):
    edges = np.array([0.0, 1.0, 2.0])
    assert histogram(np.array([-5.0, 0.5, 1.5, 1.6, 9.0]), edges)[1].tolist() == [2, 3]
    found = logarithms(column(1.0, 1.0, math.e, 0.0), column(0.0, 1e-9, 1.0, 0.0))
    assert found == pytest.approx([8.0, 8.0, 1.0, 0.0])


def test_figures_show_every_tree(fake):
    fake(lambda _r, _n, s: 1.0 if s.policy == "lp" else 0.0 if s.policy == "bcs" else 0.5)
    figures = {each.name: each for each in figure5(quick=True) + figure6(quick=False)}
    assert len(figures) == 7
    for name, each in figures.items():
        for edges, heights in each.series.values():
            assert len(edges) == len(heights) + 1
            assert heights.sum() == (len(FEW) if name == "figure5" else 150)
    assert figures["figure6c"].series["reading D"][1][-1] == 150
    edges, heights = figures["figure6d"].series["reading A"]
    [bin_of_all] = np.flatnonzero(heights)
    assert edges[bin_of_all] <= math.log(2) <= edges[bin_of_all + 1]
