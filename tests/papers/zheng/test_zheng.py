"""Experiments on markets of task bundles, against allocations and loops made anew."""

import importlib
import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from dynamic_programming import dynamic_programming
from hypothesis import given
from hypothesis import strategies as st

from simplugin.market.mechanisms import uniform
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.papers.statements import judged, statements
from simplugin.papers.zheng import fairness, policies, table1, theorems
from simplugin.papers.zheng.experiments import EXPERIMENTS, FIGURES
from simplugin.papers.zheng.random_markets import drawn_markets, random_market
from simplugin.papers.zheng.rates import balanced
from simplugin.papers.zheng.reports import largest_gain, simulated_lie, survey, telling_reports
from simplugin.papers.zheng.settings import SETTINGS, ExperimentSetting
from simplugin.papers.zheng.strategic_reports import deviations, reported
from simplugin.platforms.twelve_peers import DEGREES, chosen_site, consistent_site, scaled_site
from simplugin.scenarios.outputs import finite, plain
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import lcg_bundles

PAPER = "simplugin.papers.zheng"
SIZES = {"computation": (1000, 1), "neutral": (500, 500), "communication": (1, 1000)}
# Of the trace, the smallest bundles.
FEW = sorted(lcg_bundles(), key=lambda row: row.count)[:10]
FEW.sort(key=lambda row: row.release)
# How little each experiment can do.
SMALLEST = {
    "arrivals": {"QUICK_PIECES": (1, 2), "QUICK_INSTANCES": 5, "lcg_bundles": lambda: FEW},
    "reports": {"QUICK_MARKETS": 3, "QUICK_TRIED": 1, "QUICK_GAMES": 1},
    "table1": {"QUICK_SITES": 2, "QUICK_VARIED_SITES": 2, "QUICK_RUNS": 2},
    "fairness": {"QUICK_SITES": 1},
    "negotiations": {"QUICK_INSTANCES": 4},
    # The loop as printed ends in the last of these markets.
    "policies": {"QUICK_INSTANCES": 8, "drawn_markets": lambda count: drawn_markets(35)[-count:]},
    "times": {"QUICK_UPLINKS": (0.5,), "QUICK_DRAWS": 2, "SETTINGS": SETTINGS[:1]},
    "rates": {"QUICK_SITES": 1, "QUICK_MARKETS": 3, "QUICK_TASKS": 105, "lcg_bundles": lambda: FEW},
    "theorems": {"QUICK_DRAWS": 5, "QUICK_SMALL": 3, "FAST": (2.0, 10.0), "SLOW": 1000},
}


@pytest.fixture
def smallest(monkeypatch):
    modules = [importlib.import_module(f"{PAPER}.{name}") for name in SMALLEST]
    every = [each for module in modules for each in vars(module).values()]
    cached = [each for each in every if hasattr(each, "cache_clear")]
    for module, constants in zip(modules, SMALLEST.values(), strict=True):
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


@pytest.mark.usefixtures("smallest")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_measures_what_its_statements_need(name):
    chosen = [each for each in statements(PAPER) if each.experiment == name]
    claims = judged(chosen, EXPERIMENTS[name](True))
    assert claims
    json.dumps([finite(plain(each.document())) for each in claims], allow_nan=False)


@pytest.mark.usefixtures("smallest")
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_a_point_for_each_name_and_states_its_terms(name):
    for figure in FIGURES[name](True):
        for label in (figure.x_label, figure.y_label):
            assert label
            assert "G$" not in label or "an hour" in label
        for series, (x, y) in figure.series.items():
            assert len(x) == len(y) + figure.bars
            assert np.all(np.isfinite(np.asarray(y, dtype=float)))
            assert len(figure.names.get(series, x)) == len(x)


def times_of(site, kind):
    """Eq. (4), written anew."""
    flop, byte = SIZES[kind]
    return 0.005 + byte / (site.bandwidth / 1e6) + flop / (site.speed / 1e6)


def sold(times, alpha, cap=1000):
    """Return tasks of each peer, benefit and price of the most valuable thousand of all values."""
    worth = (3600 / times)[:, None] * (1 - alpha) ** np.arange(cap)
    best = np.argsort(-worth, axis=None, kind="stable")[:1000]
    values = worth.ravel()[best]
    return np.bincount(best // cap, minlength=12), values.sum(), values[-1]


def test_the_printed_table_1_has_its_orders_and_one_impossible_row():
    assert table1._holds(table1.PAPER) == [True] * 9
    assert str(table1.PAPER["isgbmat"]) == "62765 G$, 1:37:50, 16:48:25"
    # Equal values have no order.
    near = table1.Table1Row(1.0 + 1e-12, 2.0 - 1e-12, 3.0)
    equal = dict.fromkeys(table1.PAPER, table1.Table1Row(1.0, 2.0, 3.0)) | {"isgbmat": near}
    assert not any(table1._holds(equal))
    # Proportional Share's 16:56:31 is more than 12 times 1:23:46.
    rows = table1.PAPER.items()
    assert [name for name, row in rows if 12 * row.completion < row.total] == ["proportional_share"]


@pytest.mark.parametrize(
    ("kind", "alpha", "factor"),
    [("computation", 0.01, None), ("neutral", 0.003, 1.5), ("communication", 0.03, 1.0)],
)
def test_isgbmat_sells_the_most_valuable_tasks(kind, alpha, factor):
    setting, site = ExperimentSetting(kind, alpha, factor), consistent_site(3)
    times = times_of(site, kind)
    amounts, benefit, price = sold(times, alpha, 1000 if factor is None else int(factor * 84))
    found = table1.row(setting, "isgbmat", 3)
    assert found.benefit == pytest.approx(benefit, rel=1e-9)
    assert found.completion == pytest.approx(np.max(amounts * times), rel=1e-12)
    assert found.total == pytest.approx(np.sum(amounts * times), rel=1e-12)
    assert table1.outcome(site, setting, "isgbmat").price == pytest.approx(price, rel=1e-9)


def test_the_auction_is_averaged_over_its_seeds():
    setting = ExperimentSetting("neutral")
    each = [table1.outcome(chosen_site(), setting, "double_auction", seed) for seed in range(4)]
    found = table1.row(setting, "double_auction", runs=4)
    assert found.benefit == pytest.approx(np.mean([one.benefit for one in each]), rel=1e-12)
    assert found.total == pytest.approx(np.mean([one.total for one in each]), rel=1e-12)
    assert len({one.benefit for one in each}) == 4


def test_other_readings_change_the_orders_that_they_must():
    # Bids of next values are the maximum; those that prefer the expensive take less time in total.
    for reading, order in (("marginal", 0), ("mean", 7), ("dearest", 7)):
        readings = {"double_auction": f"double_auction_{reading}"}
        assert not table1.holding(SETTINGS, 2, 1, readings=readings)[..., order].any()


@given(st.floats(1, 100))
def test_two_halves_reach_the_spread_that_is_needed(spread):
    # Kantorovich's inequality is tight for half of the tasks at either end.
    benefit, total = 500 * 1.0 + 500 * spread, 3600 * (500 / 1.0 + 500 / spread)
    needed = table1.spread_needed(table1.Table1Row(benefit, total, total), 3600.0)
    assert needed == pytest.approx(spread, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 5])
def test_bounds_of_the_slow_peer_are_sharp(seed):
    site = consistent_site(seed)
    alpha, most = table1.idle_bounds(site)
    assert table1.cleared(site, alpha * 0.999).amounts[9] == 0
    assert table1.cleared(site, alpha * 1.001).amounts[9] > 0
    for n_max in range(84, 120):
        assert (table1.cleared(site, 0.01, n_max).amounts[9] == 0) == (n_max >= most)


def test_the_rate_of_a_price_clears_it():
    site = chosen_site()
    rate = table1.rate_of_price(site, 83.3)
    below, above = (table1.cleared(site, rate * factor).price for factor in (0.999, 1.001))
    assert below > 83.3 > above


def fair(site, alpha, cap):
    """FI of computation-intensive tasks."""
    times = times_of(site, "computation")
    each = sold(times, alpha, cap)[0] * times
    return each.sum() ** 2 / (12 * np.sum(each**2))


@pytest.mark.parametrize(("degree", "alpha"), [(DEGREES[0], 0.002), (DEGREES[2], 0.02)])
def test_points_of_figure_5_are_those_of_the_sorted_values(degree, alpha):
    setting = ExperimentSetting("computation", alpha)
    found = fairness.curve(degree, setting, 0.25)
    site = scaled_site(0, degree)
    caps = np.floor(found.factors * 84 + 1e-9).astype(int)
    np.testing.assert_allclose(found.fairness, [fair(site, alpha, cap) for cap in caps], rtol=1e-9)
    ends = fairness.ends(0, degree, setting)
    assert (found.fairness[0], found.fairness[-1]) == pytest.approx(ends, rel=1e-9)
    assert found.converges
    assert found.fairness[found.factors < found.free][-1] != found.fairness[-1]


@pytest.mark.parametrize("number", range(4))
def test_small_markets_by_plain_loops(number):
    market = theorems.small_market(number)
    values, m, q = market.values.tolist(), market.m, float(market.q[0])
    n = len(values)
    states = [s for s in itertools.product(range(m + 1), repeat=n) if sum(s) == m]
    each = {s: [v * (1 - q**k) / (1 - q) for v, k in zip(values, s, strict=True)] for s in states}
    worth = {s: sum(parts) for s, parts in each.items()}
    best = max(worth.values())
    found = theorems._small_market(market)
    assert (found.states, found.exceptions) == (len(states), 0)
    assert found.maxima == sum(value > best * (1 - 1e-13) for value in worth.values())
    moves = losing = 0
    for state in (s for s in states if min(s) > 0):
        means = np.divide(each[state], state)
        for source, target in itertools.permutations(range(n), 2):
            # At the price that is the source's mean, the target has a profit.
            if means[target] > means[source] * (1 + 1e-9):
                moves += 1
                after = list(state)
                after[source] -= 1
                after[target] += 1
                losing += worth[tuple(after)] < worth[state] * (1 - 1e-14)
    assert (found.moves, found.losing) == (moves, losing)


@pytest.mark.parametrize("number", range(3))
def test_made_states_are_balanced_and_moves_change_them(number):
    market, amounts = theorems.made_state(number)
    assert market.mean_prices(amounts) == pytest.approx(np.ones(market.n_peers), rel=1e-9)
    benefit = market.benefit(amounts)
    pairs = itertools.permutations(np.eye(market.n_peers, dtype=int), 2)
    most = max(market.benefit(amounts - source + target) for source, target in pairs)
    found = theorems._made_state(market, amounts)
    assert found.rises == (most - benefit > 1e-9 * benefit)
    best = largest_benefit(*market.arguments).benefit
    assert found.loss == pytest.approx(1 - benefit / best, abs=1e-12)


def test_two_is_approached_and_not_passed():
    fast, ratios, limits = theorems.extreme_markets()
    assert np.all(ratios <= 2)
    # The closed form for ever more slow peers; whole tasks come near.
    assert ratios[:3] == pytest.approx(limits[:3], rel=5e-3)
    assert ratios[-1] > 1.96
    x = (np.array(fast) - 1 - np.log(fast)) / (np.array(limits) - 1)
    assert -np.expm1(-x) / x == pytest.approx(1 / np.array(fast), rel=1e-9)


def test_repaired_runs_are_optimal_by_all_pairs_of_peers():
    # Nothing is gained by moving one task from any peer to another: enough, as values fall.
    for trial in policies.trials(policies.REPAIRED, True):
        market, amounts = trial.drawn.market, trial.run.amounts
        with np.errstate(divide="ignore"):
            last = np.where(amounts > 0, market.worth(amounts), np.inf)
            following = np.where(amounts < market.caps, market.worth(amounts + 1), 0)
        assert trial.failure == ""
        assert following.max() <= last.min() * (1 + 1e-9)
        assert trial.run.price == pytest.approx(last.min(), rel=1e-9)


def test_failures_are_called_what_they_are():
    def fits(drawn):
        amounts = drawn.best.amounts
        return np.ptp(amounts) > 1 and np.all(drawn.market.caps > amounts)

    trial = next(each for each in policies.trials(policies.REPAIRED, True) if fits(each.drawn))
    amounts = trial.drawn.best.amounts
    one = np.eye(len(amounts), dtype=int)
    most, least = one[np.argmax(amounts)], one[np.argmin(amounts)]
    for change, words in (
        ({"amounts": amounts - most}, "too few tasks"),
        ({"amounts": amounts + least}, "too many tasks"),
        ({"amounts": amounts + least - most}, "too little benefit"),
        ({"price": 2 * trial.run.price}, "no clearing price"),
    ):
        assert trial._replace(run=replace(trial.run, **change)).failure == words


@pytest.mark.usefixtures("smallest")
def test_gaps_are_those_to_dynamic_programming():
    found, placed = policies.gaps(True)
    assert placed == 8 * len(found)
    for seed, (market, _) in enumerate(policies.drawn_markets(8)[:4]):
        best = dynamic_programming(*market.arguments)
        for name in ("commodity", "proportional_share", "double_auction_mean"):
            amounts, _ = policies.POLICIES[name](*market.arguments)
            benefit = np.sum(market.values * (1 - market.q**amounts) / (1 - market.q))
            assert found[name][seed] == pytest.approx(1 - benefit / best, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 3])
def test_the_best_of_all_lies_is_among_the_reports_tried(seed):
    # What `deviations` finds for each number of tasks, by a formula.
    found = largest_gain(seed, uniform, "measured")
    assert found == pytest.approx(survey(seed).gain, rel=1e-6, abs=1e-12)
    assert largest_gain(seed, uniform, "measured", 1.0) <= 1e-9


def test_reports_that_are_tried_get_every_number_of_tasks():
    market = random_market(7, 40)
    for peer in range(market.n_peers):
        got = set()
        for factor in telling_reports(market, peer):
            factors = np.ones(market.n_peers)
            factors[peer] = factor
            got.add(int(uniform(reported(market, factors)).amounts[peer]))
        least = max(0, market.m - int(np.delete(market.caps, peer).sum()))
        assert got == set(range(least, int(market.caps[peer]) + 1))
        assert np.all(telling_reports(market, peer, 1.0) >= 1)


def test_a_lie_on_simgrid_gains_as_in_two_markets_by_hand():
    setting = ExperimentSetting("neutral")
    best, gain, longer = simulated_lie(setting)
    truth, times = setting.market()
    values = truth.values.copy()
    values[best.peer] *= best.factor
    profits, ends = [], []
    for told in (truth.values, values):
        found = largest_benefit(told, truth.m, truth.caps, truth.q)
        tasks = found.amounts[best.peer]
        worth = truth.values[best.peer] * sum(truth.q[best.peer] ** k for k in range(tasks))
        profits.append(worth - tasks * found.price)
        ends.append(np.max(found.amounts * times))
    assert gain == pytest.approx(profits[1] / profits[0] - 1, abs=1e-6)
    assert gain > 1e-3
    assert longer == pytest.approx(ends[1] / ends[0], rel=1e-6)
    assert max(each.gain for each in deviations(truth)) == pytest.approx(best.gain)


def test_rates_of_two_peers():
    times = np.array([1.0, 2.0])
    found = balanced(BundleMarket(3600 / times, 300, 300, 0.99), times)
    assert (found.exact, found.own.amounts.tolist()) == (True, [200, 100])
    assert found.own.completion == found.bound == pytest.approx(200)
    assert found.own.benefit == pytest.approx(found.common.benefit)
    assert (found.own.fairness, found.least) == pytest.approx((1, 1))
