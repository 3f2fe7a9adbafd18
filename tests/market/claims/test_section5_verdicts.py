"""Verdicts on section 5 follow measurements: each turns where a measurement is another."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from simplugin.market import section5_fairness_claims as fairness
from simplugin.market import section5_printed_claims as printed
from simplugin.market import section5_row_claims as row_claims
from simplugin.market import section5_selection_claims as selection
from simplugin.market import section5_table_claims as table
from simplugin.market.section5 import ALGORITHMS, PAPER, SETTINGS, Row
from simplugin.market.section5_fairness import THRESHOLD, Curve
from simplugin.optimum.bundle_benefit import BestBundle, largest_benefit
from simplugin.workloads.bundle_markets import BundleMarket


def verdicts(found):
    """Whether each claim agrees."""
    return [each.agrees for each in found]


def scaled(row, benefit=1.0, completion=1.0, total=1.0):
    """A row with other figures."""
    return Row(row.benefit * benefit, row.completion * completion, row.total * total)


def rows_of(tables):
    """What stands for `rows`: for each class its table."""
    return lambda setting, *_: tables[setting.kind]


@pytest.mark.parametrize(("part", "agrees"), [(0.0, False), (0.5, False), (0.55, True)])
def test_relations_hold_in_more_than_half_of_settings(monkeypatch, part, agrees):
    held = np.zeros((20, 3, 9), dtype=bool)
    held[: int(20 * part), :, 4] = True
    monkeypatch.setattr(table, "holding", lambda *_: held)
    assert verdicts(table.relations(True)) == [place == 4 and agrees for place in range(9)]
    # All nine hold where the fifth does, if the others always do.
    held[..., [0, 1, 2, 3, 5, 6, 7, 8]] = True
    assert verdicts(table.whole(True)) == [agrees]


@pytest.mark.parametrize(("factor", "agrees"), [(1 - 1e-6, False), (1 + 1e-12, True)])
def test_isgbmat_below_the_maximum_is_not_best(monkeypatch, factor, agrees):
    rows = table.rows

    def other(setting, seed, runs, policies):
        return {
            name: scaled(row, factor) for name, row in rows(setting, seed, runs, policies).items()
        }

    monkeypatch.setattr(table, "rows", other)
    monkeypatch.setattr(table, "QUICK_SITES", 2)
    assert verdicts(table.best_benefit(True)) == [agrees]


def extremes(monkeypatch, quick, exceptions):
    """Claims where the commodity market is last but in some of 12 settings."""
    middle, worst, first = Row(1.5, 1.5, 1.5), Row(1.0, 2.0, 2.0), Row(1.2, 1.0, 1.2)

    def rows(setting, seed, _runs):
        names = ["commodity", "double_auction", "proportional_share"]
        # In exceptions both claims are wrong: the auction is last, and first is another.
        odd = len(SETTINGS) * seed + SETTINGS.index(setting) < exceptions
        found = (first, worst, middle) if odd else (worst, middle, first)
        return dict(zip(names, found, strict=True))

    monkeypatch.setattr(table, "CHOSEN", SimpleNamespace(rows=rows))
    monkeypatch.setattr(table, "scope", lambda _: (4, 1))
    return table.extremes(quick)


@pytest.mark.parametrize(("exceptions", "agrees"), [(0, True), (5, True), (6, False), (12, False)])
def test_the_worst_and_the_shortest_are_so_in_more_than_half(monkeypatch, exceptions, agrees):
    assert verdicts(extremes(monkeypatch, True, exceptions)) == [agrees, agrees]


@pytest.mark.parametrize(("exceptions", "agrees"), [(0, True), (1, False)])
def test_every_case_means_every(monkeypatch, exceptions, agrees):
    *_, every = extremes(monkeypatch, False, exceptions)
    assert every.claim == "CM(flat) performs worst in every case"
    assert every.measured == f"in all three metrics in {12 - exceptions} of 12 settings"
    assert every.agrees == agrees


def test_an_auction_that_prefers_the_expensive_is_seen(monkeypatch):
    outcome = table.outcome

    def other(site, setting, policy, seed=0):
        if policy != "double_auction":
            return outcome(site, setting, policy, seed)
        values = setting.market(site)[0].values
        return SimpleNamespace(amounts=np.where(values == values.max(), 1000, 0), total=1.0)

    assert verdicts(table.expensive(True)) == [False]
    monkeypatch.setattr(table, "outcome", other)
    assert verdicts(table.expensive(True)) == [True]


def test_times_on_simgrid_are_compared(monkeypatch):
    simulated = table.simulated

    def later(setting, policy):
        found = simulated(setting, policy)
        return SimpleNamespace(
            completion=found.completion * (1 + 2e-6), total=found.total, benefit=found.benefit
        )

    monkeypatch.setattr(table, "simulated", later)
    assert verdicts(table.measured(True)) == [False]


def test_four_that_vary_are_four(monkeypatch):
    monkeypatch.setattr(table, "outcome", lambda *args: SimpleNamespace(benefit=float(args[-1])))
    assert verdicts(table.averaged(True)) == [True]


@pytest.mark.parametrize("metric", ["benefit", "completion", "total"])
def test_figures_of_table_1_are_close_if_all_three_are_in_some_class(monkeypatch, metric):
    near = {name: scaled(row, 1.09, 0.91, 1.09) for name, row in PAPER.items()}
    far = {name: scaled(row, 2.0) for name, row in PAPER.items()}
    off = {name: scaled(row, **{metric: 1.11}) for name, row in PAPER.items()}
    tables = {"computation": far, "neutral": near, "communication": off}
    monkeypatch.setattr(row_claims, "rows", rows_of(tables))
    assert verdicts(row_claims.figures(True)) == [True] * 4
    tables["neutral"] = off
    assert verdicts(row_claims.figures(True)) == [False] * 4


def test_ratios_are_near_if_all_are_in_some_class(monkeypatch):
    monkeypatch.setattr(row_claims, "rows", rows_of(dict.fromkeys(["neutral"], PAPER) | {
        kind: PAPER | {"commodity": scaled(PAPER["commodity"], 0.9, 1.2, 1.2)}
        for kind in ("computation", "communication")
    }))  # fmt: skip
    assert verdicts(row_claims.ratios(True)) == [True] * 3
    worse = PAPER | {"commodity": scaled(PAPER["commodity"], 1.02, 1.06, 1.06)}
    monkeypatch.setattr(row_claims, "rows", lambda *_: worse)
    assert verdicts(row_claims.ratios(True)) == [False] * 3


def test_sums_are_possible_up_to_twelve_times(monkeypatch):
    edge = {name: Row(1.0, 10.0, 120.0) for name in ALGORITHMS}
    edge["isgbmat"] = Row(1.0, 10.0, 120.1)
    monkeypatch.setattr(printed, "PAPER", edge)
    assert verdicts(printed.sums(True)) == [True, True, True, False]


def test_units_are_not_hours_where_hours_need_peers_far_apart(monkeypatch):
    far = {name: scaled(row, 3600.0) for name, row in PAPER.items()}
    monkeypatch.setattr(printed, "PAPER", far)
    assert verdicts(printed.unit(True)) == [False]


def test_table_1_would_be_of_figure_4_with_its_mean_price(monkeypatch):
    paper = PAPER | {"proportional_share": Row(6e4, 3.6e6 / (12 * 83.3), 4e4)}
    monkeypatch.setattr(printed, "PAPER", paper)
    assert verdicts(printed.same_platform(True)) == [True]


@pytest.mark.parametrize(
    ("amounts", "agrees"), [((9, 0), True), ((9, 1), False), ((0, 0), False), ((0, 9), False)]
)
def test_only_the_slow_peer_may_be_idle(monkeypatch, amounts, agrees):
    first, slow = amounts
    found = SimpleNamespace(amounts=np.array([first] + [1] * 8 + [slow] + [1] * 2), price=30.0)
    monkeypatch.setattr(selection, "outcome", lambda *_: found)
    monkeypatch.setattr(selection, "QUICK_SITES", 1)
    assert verdicts(selection.slow_peer(True)) == [agrees]


def test_an_exception_refutes_self_selection(monkeypatch):
    market = BundleMarket([10.0, 6.0, 1.0], 10, 10, 0.9)
    best = largest_benefit(market.values, market.m, market.caps, market.q)
    assert best.amounts[2] == 0
    assert selection.exceptions(market, best) == 0
    for amounts in ([9, 0, 1], [10, 0, 0]):
        other = BestBundle(**{**vars(best), "amounts": np.array(amounts)})
        assert selection.exceptions(market, other) >= 1
    monkeypatch.setattr(selection, "QUICK_SITES", 2)
    assert verdicts(selection.self_selection(True)) == [True]
    calls = iter([1] + [0] * 1000)
    monkeypatch.setattr(selection, "exceptions", lambda *_: next(calls))
    assert verdicts(selection.self_selection(True)) == [False]


@pytest.mark.parametrize(("price", "agrees"), [(83.3, True), (84.1, True), (84.2, False)])
def test_the_market_price_is_compared_with_the_papers(monkeypatch, price, agrees):
    monkeypatch.setattr(selection, "outcome", lambda *_: SimpleNamespace(price=price))
    assert verdicts(selection.market_price(True)) == [agrees]


@pytest.mark.parametrize(("tasks", "agrees"), [(996, True), (997, False)])
def test_lambda_one_is_possible_for_multiples_of_twelve(monkeypatch, tasks, agrees):
    monkeypatch.setattr(fairness, "TASKS", tasks)
    assert verdicts(fairness.floor_share(True)) == [agrees]


def drawn(*curves):
    """What stands for `curves`, from their fairness at lambda 1, 2, ...; two are past all caps."""
    some = [
        Curve(np.arange(1.0, 1 + len(each)), np.array(each), float(len(each) - 1))
        for each in curves
    ]
    return lambda *_: some


HIGH, MIDDLE, LOW = (0.8, 0.9, 1.0, 1.0), (0.7, 0.8, 0.9, 0.9), (0.2, 0.6, 0.7, 0.7)


@pytest.mark.parametrize(("start", "agrees"), [(0.2, True), (0.89, True), (0.9, False)])
def test_fairness_is_poor_if_all_curves_start_low(monkeypatch, start, agrees):
    monkeypatch.setattr(fairness, "curves", drawn((start, 0.95, 0.95), MIDDLE, LOW))
    assert verdicts(fairness.poor(True)) == [agrees]


@pytest.mark.parametrize(
    ("last", "agrees"),
    [
        (LOW, True),
        # It falls, or dips, or stays.
        ((0.7, 0.6, 0.5, 0.5), False),
        ((0.2, 0.6, 0.5, 0.5), False),
        ((0.5, 0.5, 0.5, 0.5), False),
    ],
)
def test_fairness_rises_if_no_curve_falls(monkeypatch, last, agrees):
    monkeypatch.setattr(fairness, "curves", drawn(HIGH, MIDDLE, last))
    assert verdicts(fairness.rising(True)) == [agrees, agrees]


@pytest.mark.parametrize(("last", "agrees"), [(LOW, True), ((0.2, 0.8, 0.7, 0.7), False)])
def test_curves_that_touch_have_no_order(monkeypatch, last, agrees):
    monkeypatch.setattr(fairness, "curves", drawn(HIGH, MIDDLE, last))
    monkeypatch.setattr(fairness, "_QUICK_SITES", 1)
    assert verdicts(fairness.ordered(True)) == [agrees]


@pytest.mark.parametrize(("last", "agrees"), [(LOW, True), ((0.2, 0.6, 0.7, 0.71), False)])
def test_fairness_that_still_moves_has_not_converged(monkeypatch, last, agrees):
    monkeypatch.setattr(fairness, "curves", drawn(HIGH, MIDDLE, last))
    assert verdicts(fairness.converging(True)) == [agrees]


@pytest.mark.parametrize("odd", [None, 0.03])
def test_one_site_at_one_rate_is_an_exception(monkeypatch, odd):
    def ends(seed, _degree, setting):
        return (0.6, 0.5) if seed == 0 and setting.alpha == odd else (0.5, 0.6)

    monkeypatch.setattr(fairness, "ends", ends)
    assert verdicts(fairness.sites_rising(True)) == [odd is None]


@pytest.mark.parametrize(("factor", "agrees"), [(0.75, False), (1.15, True), (1.25, False)])
def test_the_turning_rate_is_within_a_fifth(monkeypatch, factor, agrees):
    monkeypatch.setattr(fairness, "turning_rate", lambda *_: factor * THRESHOLD)
    assert verdicts(fairness.threshold(False)) == [agrees]
