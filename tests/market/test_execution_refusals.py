"""Executions that are impossible are refused with the reason."""

import numpy as np
import pytest

from simplugin.errors import ActorError, InfeasibleError, WorkloadError
from simplugin.market.execution import execute
from simplugin.market.model import Terms
from simplugin.market.policies.negotiation import Agreement, Call, Negotiation
from simplugin.market.policies.shipped import NEGOTIATIONS
from simplugin.platforms.peers import PeerGrid, PeerSite
from simplugin.workloads.bundles import Bundle

SITE = PeerSite.numbered(np.array([3e7, 1e7]), np.array([1e7, 2e7]))
BUNDLE = Bundle.of_class("neutral", 20)


def none_at_all(values, *_):
    """Place no task."""
    return np.zeros(len(values), dtype=int), 1.0


def agreed(amounts):
    """Return a negotiation that ends with amounts."""

    def scheduler(*_):
        yield Call((0,), ("open", 20))
        return Agreement(np.array(amounts), 1.0)

    return Negotiation("odd", scheduler, NEGOTIATIONS["bisection"].peer)


def gives_up(*_):
    """End without an agreement."""
    raise InfeasibleError("it goes round in circles")


def divides(*_):
    """Fail."""
    return 1 // 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"bundles": []}, WorkloadError, "there is no bundle"),
        ({"terms": Terms(n_max=9)}, InfeasibleError, r"20 tasks cannot be placed: 2 peers take at"),
        ({"terms": [Terms()] * 2}, WorkloadError, "there are terms for 2 sites; give one for each"),
        ({"negotiation": "haggling"}, WorkloadError, "negotiation is 'haggling'; give one of"),
        ({"negotiation": None}, WorkloadError, "negotiation is None; give one of isgbmat"),
        ({"negotiation": none_at_all}, WorkloadError, "none_at_all: 0 tasks are placed"),
        ({"negotiation": agreed([9, 9])}, WorkloadError, r"'odd' gives 2 peers \[9, 9\] tasks of"),
        ({"negotiation": agreed([20])}, WorkloadError, r"'odd' gives 2 peers \[20\] tasks of"),
        ({"negotiation": agreed([21, -1])}, WorkloadError, r"'odd' gives 2 peers \[21, -1\]"),
        ({"negotiation": gives_up}, InfeasibleError, "it goes round in circles"),
        ({"counters": "forgotten"}, WorkloadError, "counters is 'forgotten'"),
        ({"counters": 0.0}, WorkloadError, "counters is 0.0"),
        ({"dispatch": "anywhere"}, WorkloadError, "dispatch is 'anywhere'"),
        (
            {"believed": PeerSite.numbered(np.ones(2), np.ones(2), "cp")},
            WorkloadError,
            "believed has other peers",
        ),
    ],
)
def test_refuses(arguments, error, message):
    given = {"bundles": BUNDLE, "terms": Terms(), "negotiation": "optimum"} | arguments
    with pytest.raises(error, match=message):
        execute(SITE, **given)


def test_refuses_values_that_discounts_used_up():
    bundles = [Bundle.of_class("neutral", 400, str(n)) for n in range(3)]
    with pytest.raises(WorkloadError, match=r"peer 'peer-\d' has sold \d+ tasks at alpha 0\.9, so"):
        execute(SITE, bundles, Terms(alpha=0.9), "optimum", counters="kept")


def test_values_are_lost_no_sooner_than_numbers_end():
    # 0.1^400 is none, but 1e300 of it is: powers of q alone would be lost before.
    bundles = [Bundle.of_class("neutral", 800, str(n)) for n in range(2)]
    terms = Terms(alpha=0.9, price_unit=1e300)
    first, second = execute(SITE, bundles, terms, "optimum", counters="kept").deals
    assert 0.1**400 == 0
    left = np.log10(first.market.values) - first.amounts
    np.testing.assert_allclose(np.log10(second.market.values), left, rtol=1e-9)


def test_refuses_a_bundle_that_no_site_of_the_grid_can_place():
    small = PeerSite.numbered(np.ones(1), np.ones(1), "cp", scheduler="ls")
    grid = PeerGrid(("a", "b"), (SITE, small))
    with pytest.raises(
        InfeasibleError, match=r"no site can take .*'a': 20 .*'b': 20 .*1 peers take"
    ):
        execute(grid, BUNDLE, Terms(n_max=9), "optimum")
    assert execute(grid, BUNDLE, Terms(n_max=10), "optimum").deals[0].site == 0


def test_other_errors_stay_those_of_actors():
    with pytest.raises(ActorError, match=r"local scheduler on .*ZeroDivisionError") as caught:
        execute(SITE, BUNDLE, negotiation=divides)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


class Smuggler:
    """A peer that hands itself over."""

    def reply(self, _):
        """Return itself."""
        return ("here I am", self)


def test_only_numbers_are_sent():
    scheduler = NEGOTIATIONS["optimum"].scheduler
    smuggling = Negotiation("smuggling", scheduler, lambda *_: Smuggler())
    with pytest.raises(WorkloadError, match="let it send a kind and numbers"):
        execute(SITE, BUNDLE, negotiation=smuggling)
