import numpy as np
import pytest

from simplugin.market.misreport_claims import site_market
from simplugin.market.model import completion_times
from simplugin.market.section5_sites import chosen_site
from simplugin.market.simulated_misreports import PARTS, simulated_lie
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundles import Bundle


def test_the_gain_is_that_of_two_markets_by_hand() -> None:
    found = simulated_lie("neutral")
    truth = site_market("neutral")
    peer, factor = found.report.peer, found.report.factor
    values = truth.values.copy()
    values[peer] *= factor
    profits = []
    for told in (truth.values, values):
        best = largest_benefit(told, truth.m, truth.caps, truth.q)
        tasks = best.amounts[peer]
        worth = truth.values[peer] * sum(truth.q[peer] ** k for k in range(tasks))
        profits.append(worth - tasks * best.price)
    assert found.gain == pytest.approx(profits[1] / profits[0] - 1, abs=1e-6)
    assert found.gain > 1e-3
    assert factor < 1


def test_a_lie_lengthens_the_bundle_as_its_tasks_move() -> None:
    found = simulated_lie("neutral")
    times = completion_times(chosen_site(), Bundle.of_class("neutral"))
    truth = site_market("neutral")
    honest = largest_benefit(truth.values, truth.m, truth.caps, truth.q).amounts
    lying = found.report.settlement.amounts
    expected = np.max(lying * times) / np.max(honest * times)
    assert found.completion == pytest.approx(expected, rel=1e-6)
    assert expected > 1.01


@pytest.mark.parametrize("quick", [True, False])
def test_claims_agree(quick: bool) -> None:
    (claim,) = PARTS["misreports on SimGrid"](quick)
    assert claim.agrees
    assert ("communication" in str(claim.measured)) is not quick
