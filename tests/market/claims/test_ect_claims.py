from dataclasses import replace

import numpy as np
import pytest

from simplugin.market import ect_claims
from simplugin.market.ect_claims import (
    CROSS,
    FIGURES,
    PARTS,
    TERMS,
    dealt,
    deviation,
    exact,
    linear,
    models,
    negotiating,
    overlap,
    sizes,
    uplink,
)
from simplugin.market.model import completion_times
from simplugin.market.section5_sites import chosen_site
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundles import CLASSES, Bundle


def test_all_parts_agree():
    claims = [claim for part in PARTS.values() for claim in part(True)]
    assert [claim.claim for claim in claims if not claim.agrees] == []
    assert len(claims) == 11


def test_deviations_are_of_peers_with_tasks():
    assert deviation(np.array([1.0, 7.0, 3.0]), np.array([2.0, 0.0, 3.0])) == 0.5
    assert deviation(np.array([3.0]), np.array([2.0])) == 0.5


@pytest.mark.parametrize("kind", CLASSES)
def test_estimates_are_exact(kind):
    deal = linear(kind)
    times = completion_times(chosen_site(), Bundle.of_class(kind), 0.005)
    best = largest_benefit(3600 / times, 1000, 1000, 0.99)
    np.testing.assert_array_equal(deal.amounts, best.amounts)
    np.testing.assert_allclose(deal.outcome().times, best.amounts * times, rtol=1e-6)
    assert np.asarray(TERMS.alpha) == 0.01


def test_estimates_that_are_off_do_not_agree(monkeypatch):
    slow = replace(chosen_site(), latency=0.05)
    monkeypatch.setattr(
        ect_claims, "linear", lambda kind: dealt(slow, Bundle.of_class(kind, ect_claims.TASKS))
    )
    [claim] = exact(True)
    assert not claim.agrees


def test_other_factors_do_not_agree(monkeypatch):
    options, _ = ect_claims._MODELS["cross-traffic alone"]
    monkeypatch.setattr(ect_claims, "_MODELS", {"cross-traffic alone": (options, CROSS + 1e-4)})
    [claim] = models(True)
    assert not claim.agrees


def test_others_can_fail(monkeypatch):
    monkeypatch.setattr(ect_claims, "overlapped", ect_claims.one_by_one)
    monkeypatch.setattr(ect_claims, "shared_transfers", lambda *_: np.array([1.0]))
    monkeypatch.setattr(ect_claims, "VARIATIONS", (1.0,))
    monkeypatch.setattr(ect_claims, "WIDE_AREA", 1e-5)
    monkeypatch.setattr(ect_claims, "_QUICK_NEGOTIATIONS", ("optimum",))
    assert not any(part(True)[0].agrees for part in (overlap, uplink, negotiating))
    # Tasks whose sizes vary twice as much as said.
    kept = np.random.default_rng
    monkeypatch.setattr(ect_claims.np.random, "default_rng", lambda seed: _Wide(kept(seed)))
    [claim] = sizes(True)
    assert not claim.agrees


class _Wide:
    """A generator whose normal draws have twice the spread."""

    def __init__(self, generator):
        self._generator = generator

    def standard_normal(self, count):
        """Return such draws."""
        return 2 * self._generator.standard_normal(count)


def test_the_figure_shows_contention():
    [figure] = FIGURES["shared uplink"](True)
    shares, measured = figure.series["communication"]
    assert measured[0] == pytest.approx(1.0, rel=1e-6)
    assert np.all(np.diff(measured) >= -1e-9)
    # A narrow uplink is busy all the time.
    site, bundle = chosen_site(), Bundle.of_class("communication")
    narrow = site.bandwidth.sum() * shares[-1]
    estimate = linear("communication").estimated().completion
    assert measured[-1] == pytest.approx(1000 * bundle.byte / narrow / estimate, rel=1e-3)
