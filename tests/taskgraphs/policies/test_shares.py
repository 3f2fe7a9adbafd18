"""Contributions and Eqs. (1) and (2) of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import graph_of

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import LILLE, NANCY
from simplugin.taskgraphs.policies.shares import (
    checked_shares,
    contribution,
    proportional,
    weighted,
)

SITE = LILLE.site()
GAMMAS = st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=12)


def diamond(flop):
    """Return a fork and a join, with data that must not count."""
    return graph_of("diamond", flop, [(0, 1), (0, 2), (1, 3), (2, 3)], 1e9, 0.2)


def test_contributions_by_hand():
    graphs = [diamond((1e9, 2e9, 5e9, 1e9)), diamond((4e9, 4e9, 0.0, 0.0))]
    # Lille's slowest processors have 3.647 GFlop/s; the path is a, c, d, and a, b, d.
    paths = contribution(graphs, SITE, "cp")
    assert paths.tolist() == pytest.approx([7e9 / 3.647e9, 8e9 / 3.647e9])
    assert contribution(graphs, SITE, "width").tolist() == [2.0, 2.0]
    assert contribution(graphs, SITE, "work").tolist() == [9e9, 8e9]
    # Shares do not depend on the site.
    other = proportional(contribution(graphs, NANCY.site(), "cp"))
    assert proportional(paths).tolist() == pytest.approx(other.tolist())
    with pytest.raises(WorkloadError, match="graphs have no 'height'; give 'cp', 'width' or"):
        contribution(graphs, SITE, "height")


def test_equations_by_hand():
    assert proportional([1, 3]).tolist() == [0.25, 0.75]
    # Eq. (2): 0.7 / 2 + 0.3 * 0.25, and 0.7 / 2 + 0.3 * 0.75.
    assert weighted([1, 3], 0.7).tolist() == pytest.approx([0.425, 0.575])


@given(GAMMAS, st.floats(0, 1), st.floats(1e-6, 1e6))
def test_equations(gamma, mu, unit):
    shares = weighted(gamma, mu)
    assert float(np.sum(shares)) == pytest.approx(1)
    assert np.all((shares > 0) & (shares <= 1 + 1e-12))
    assert weighted(gamma, 0.0).tolist() == proportional(gamma).tolist()
    assert weighted(gamma, 1.0).tolist() == [1 / len(gamma)] * len(gamma)
    assert weighted([each * unit for each in gamma], mu) == pytest.approx(shares)


@pytest.mark.parametrize("gamma", [[0.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf], []])
def test_refused_contributions(gamma):
    with pytest.raises(WorkloadError, match="give numbers >= 0, not all 0"):
        proportional(gamma)


@pytest.mark.parametrize("mu", [-0.1, 1.1, np.nan])
def test_refused_mu(mu):
    with pytest.raises(WorkloadError, match=f"mu is {mu}; give a number from 0 to 1"):
        weighted([1.0, 2.0], mu)


class TestCheckedShares:
    def test_given_back(self):
        shares = checked_shares([0.25, 1.0], 2)
        assert shares.dtype == np.float64
        assert shares.tolist() == [0.25, 1.0]

    @pytest.mark.parametrize("wrong", [0.0, 1.01, np.nan])
    def test_out_of_range(self, wrong):
        with pytest.raises(WorkloadError, match=r"'mine' gives graph 1 the share .* up to 1"):
            checked_shares([0.5, wrong], 2, "policy 'mine'")

    def test_no_share_at_all(self):
        # In proportion to nothing.
        with pytest.raises(WorkloadError, match=r"up to 1; use a weighted policy, 'wps_...', or"):
            checked_shares(proportional([1.0, 0.0]), 2, "policy 'ps_work'")

    @pytest.mark.parametrize("shares", [[0.5], [[0.5, 0.5]]])
    def test_wrong_shape(self, shares):
        with pytest.raises(WorkloadError, match=r"the policy gives shares of shape .*give \(2,\)"):
            checked_shares(shares, 2)
