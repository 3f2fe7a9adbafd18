"""Bundles that were sold and executed, assessed by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from market_draws import bundle_markets
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.market.assessment import BundleAssessment, demand_curve
from simplugin.market.execution import BundleExecution
from simplugin.market.model import Deal, PricedAssignment, heterogeneity, jain_index
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.workloads.bundle_markets import BundleMarket
from simplugin.workloads.bundles import Bundle


def site(name, n_peers):
    speed = np.arange(1, n_peers + 1) * 1e6
    return PeerSite.numbered(speed, np.full(n_peers, 1e6), prefix=name, scheduler=f"{name}-desk")


def deal(values, amounts, price, finish, **further):
    market = BundleMarket(values, int(np.sum(amounts)), 9, 0.5)
    dates = {"submitted": 0.0, "called": 1.0, "agreed": 2.0, "finished": float(np.max(finish))}
    whole = {"bundle": 0, "site": 0, "rounds": 3, "messages": 10, "bytes": 480.0}
    times = 10 / np.asarray(values, dtype=float)
    given_ = dates | whole | {"price": price, "times": times} | further
    return Deal(market=market, amounts=np.array(amounts), peer_finish=np.array(finish), **given_)


def assessed(where, *deals):
    bundles = tuple(
        Bundle(f"b{number}", each.market.m, 1.0, 0.0) for number, each in enumerate(deals)
    )
    return BundleAssessment(BundleExecution(where, bundles, deals, SimpleNamespace()))


# 5 + 2.5 and 4: what is left is worth 1.25 and 2. A third peer, at 1, gets nothing.
ONE = deal([5, 4, 1], [2, 1, 0], 2.25, [7.0, 4.0, 2.0])


@pytest.fixture
def one():
    return assessed(site("p", 3), ONE)


@pytest.fixture
def several():
    # At the first site the second bundle could be worth 9 + 4.5, and is worth 9 + 3.
    grid = PeerGrid(("here", "there"), (site("p", 2), site("r", 2)))
    return assessed(
        grid,
        deal([5, 4], [2, 1], 2.25, [7.0, 4.0], submitted=0.5),
        deal([9, 3], [1, 1], 3.0, [20.0, 14.0], bundle=1, submitted=3.0, called=8.0, agreed=9.0),
        deal([1, 8], [0, 1], 6.0, [4.0, 5.0], bundle=2, site=1, submitted=3.0, called=3.5,
             agreed=4.0),
    )  # fmt: skip


def values_of(told):
    return {metric.name: metric.value for metric in told.metrics()}


def test_peers_may_pay_what_is_no_multiple_of_the_price():
    told = assessed(site("p", 3), replace(ONE, payments=np.array([3.25, 1.0, 0.0])))
    [peers] = told.listings()
    assert peers.column("payment") == (3.25, 1.0, 0.0)
    assert peers.column("profit") == pytest.approx((7.5 - 3.25, 4.0 - 1.0, 0.0))
    assert values_of(told)["revenue"] == pytest.approx(4.25)
    assert values_of(told)["profits"] == pytest.approx(7.25)


def test_numbers_of_one_bundle(one):
    found = values_of(one)
    times = np.array([5.0, 2.0, 0.0])
    assert found == pytest.approx(
        {
            "benefit": 11.5,
            "revenue": 3 * 2.25,
            "profits": 11.5 - 3 * 2.25,
            "price": 2.25,
            "clears_above": 2.0,
            "clears_up_to": 2.5,
            "completion": 5.0,
            "total_time": 7.0,
            "fairness": times.sum() ** 2 / (3 * (times**2).sum()),
            # Speeds 1, 2, 3 and equal bandwidths.
            "heterogeneity": 0.5 * np.sqrt(2 / 3),
            "makespan": 7.0,
            # 5 s where 4 were expected, 2 s where 2.5 were.
            "ect_error": 0.25,
            "negotiation": 1.0,
            "rounds": 3,
            "messages": 10,
            "exchanged": 480.0,
            "tasks": 3,
            "peers_used": 2,
        }
    )
    assert (one.best.metric, one.best.value, one.best.sense) == ("benefit", 11.5, "max")


def test_peers_of_one_bundle(one):
    [peers] = one.listings()
    assert peers.column("peer") == ("p-1", "p-2", "p-3")
    assert peers.column("speed") == (1e6, 2e6, 3e6)
    assert peers.column("base price") == (5.0, 4.0, 1.0)
    assert peers.column("tasks") == peers.column("best") == (2, 1, 0)
    assert peers.column("income") == pytest.approx((7.5, 4.0, 0.0))
    assert peers.column("payment") == pytest.approx((4.5, 2.25, 0.0))
    assert peers.column("profit") == pytest.approx((3.0, 1.75, 0.0))
    assert peers.column("by ECT") == pytest.approx((4.0, 2.5, 0.0))
    assert peers.column("real") == pytest.approx((5.0, 2.0, 0.0))


def test_numbers_of_several_bundles(several):
    found = values_of(several)
    assert found["benefit"] == pytest.approx(11.5 + 12 + 8)
    assert several.best.value == pytest.approx(11.5 + 13.5 + 8)
    assert found["price"] == pytest.approx((3 * 2.25 + 2 * 3 + 6) / 6)
    assert found["completion"] == pytest.approx((5 + 11 + 1) / 3)
    assert found["bundles"] == 3
    assert found["mean_wait"] == pytest.approx((0.5 + 5 + 0.5) / 3)
    assert found["mean_response"] == pytest.approx((6.5 + 17 + 2) / 3)
    # Two tenths of the largest and of the one below, numpy's linear interpolation.
    assert found["response_95"] == pytest.approx(0.9 * 17 + 0.1 * 6.5)
    times = np.array([16.0, 7.0, 0.0, 1.0])
    assert found["fairness"] == pytest.approx(times.sum() ** 2 / (4 * (times**2).sum()))
    # 11 s instead of 10/9 are the worst.
    assert found["ect_error"] == pytest.approx(11 / (10 / 9) - 1)
    assert found["makespan"] == 20.0
    assert "clears_above" not in found


def test_tables_of_several_bundles(several):
    bundles, peers = several.listings()
    assert bundles.column("bundle") == ("b0", "b1", "b2")
    assert bundles.column("site") == ("here", "here", "there")
    assert bundles.column("gap") == pytest.approx((0.0, 1.5 / 13.5, 0.0))
    assert bundles.column("took") == (6.5, 17.0, 2.0)
    assert peers.column("peer") == ("p-1", "p-2", "r-1", "r-2")
    assert peers.column("site") == ("here", "here", "there", "there")
    assert peers.column("tasks") == (3, 2, 0, 1)
    assert peers.column("best") == (4, 1, 0, 1)
    assert peers.column("income") == pytest.approx((7.5 + 9, 4 + 3, 0, 8))
    shortened = several.listings(most=1)
    assert [len(table.lines) for table in shortened] == [1, 1]
    assert [table.note[:10] for table in shortened] == ["and 2 more", "and 3 more"]


def test_queue_over_time(several):
    [queue] = [figure for figure in several.figures() if figure.name == "queue"]
    # Submitted at 0.5, 3, 3; begun at 1, 8, 3.5; done at 7, 20, 5.
    for name, expected in (
        ("all", {0.2: 0, 0.7: 1, 2: 1, 4: 3, 6: 2, 10: 1}),
        ("waiting", {0.2: 0, 0.7: 1, 2: 0, 3.2: 2, 4: 1, 9: 0}),
    ):
        dates, counts = queue.series[name]
        for date, count in expected.items():
            assert counts[np.searchsorted(dates, date) - 1] == count, (name, date)
        assert counts[-1] == 0


def test_panels_of_one_bundle(one):
    allocation, prices, demand = one.figures()
    edges, heights = allocation.series["sold"]
    assert edges.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert heights.tolist() == [2, 1, 0]
    assert prices.series["its last task"][1] == pytest.approx([2.5, 4, 1])
    assert prices.series["mean of all its tasks"][1] == pytest.approx([3.75, 4, 1])
    assert prices.lines == demand.lines == {"market price": 2.25}


@settings(max_examples=40)
@given(bundle_markets())
def test_demand_is_the_number_of_tasks_worth_a_price(market):
    prices, tasks = demand_curve(market)
    assert np.all(np.diff(prices) <= 1e-12 * prices[:-1])
    assert np.all(np.diff(tasks) >= 0)
    ranks = np.arange(market.m)
    each = (market.values[:, None] * market.q[:, None] ** ranks)[ranks < market.caps[:, None]]
    for price, bought in list(zip(prices, tasks, strict=True))[::100]:
        assert np.sum(each >= price * (1 + 1e-9)) <= bought <= np.sum(each >= price * (1 - 1e-9))
    assert tasks[-1] >= min(1.5 * market.m, len(each)) - 1e-9


MARKET = BundleMarket([7.0, 12.0], 4, 4, 0.5)


@pytest.mark.parametrize(
    ("amounts", "n_times", "names"),
    [([1, 2], 2, ["3", "4"]), ([2, 2], 3, ["times", "[0., 0., 0.]"])],
)
def test_invalid_amounts_and_times_are_refused(amounts, n_times, names):
    with raises_naming(WorkloadError, *names):
        PricedAssignment(MARKET, np.array(amounts), 1.0, np.zeros(n_times))


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20).filter(any))
def test_fairness_is_between_one_over_n_and_one(times):
    index = jain_index(times)
    assert 1 / len(times) - 1e-12 <= index <= 1 + 1e-12


def test_fairness_counts_peers_without_tasks():
    assert jain_index([5.0] * 11 + [0.0]) == pytest.approx(11 / 12)
    with pytest.raises(WorkloadError):
        jain_index([0.0, 0.0])


def test_heterogeneity_is_the_mean_of_two_standard_deviations_of_populations():
    # Deviations of 1, 3 from their mean are 1; those of 0, 0, 6 (not of a sample) sqrt(8).
    assert heterogeneity([1.0, 3.0], [5.0, 5.0]) == pytest.approx(0.5)
    assert heterogeneity([0.0, 0.0, 6.0], [1.0, 1.0, 1.0]) == pytest.approx(np.sqrt(8) / 2)
