"""Contributions and Eqs. (1) and (2) of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.platforms.sites import LILLE, NANCY
from simplugin.taskgraphs.policies.shares import (
    checked_shares,
    contribution,
    proportional,
    weighted,
)
from simplugin.workloads.task_graphs import TaskGraph

SITE = LILLE.site()
GAMMAS = st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=12)


def diamond(flop: tuple[float, float, float, float], name: str = "diamond") -> TaskGraph:
    """Return a fork and a join, with data that must not count."""
    edges = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
    return TaskGraph(
        name, tuple("abcd"), np.array(flop), np.full(4, 0.2), np.zeros(4), edges, np.full(4, 1e9)
    )


class TestContribution:
    def test_by_hand(self) -> None:
        graphs = [diamond((1e9, 2e9, 5e9, 1e9)), diamond((4e9, 4e9, 0.0, 0.0), "other")]
        # Lille's slowest processors have 3.647 GFlop/s; the path is a, c, d, and a, b, d.
        paths = contribution(graphs, SITE, "cp")
        assert paths.tolist() == pytest.approx([7e9 / 3.647e9, 8e9 / 3.647e9])
        assert contribution(graphs, SITE, "width").tolist() == [2.0, 2.0]
        assert contribution(graphs, SITE, "work").tolist() == [9e9, 8e9]

    def test_shares_do_not_depend_on_the_site(self) -> None:
        graphs = [diamond((1e9, 2e9, 5e9, 1e9)), diamond((4e9, 4e9, 1e9, 0.0), "other")]
        one, other = (
            proportional(contribution(graphs, site, "cp")) for site in (SITE, NANCY.site())
        )
        assert one.tolist() == pytest.approx(other.tolist())

    def test_refused(self) -> None:
        with pytest.raises(WorkloadError, match="graphs have no 'height'; give 'cp', 'width' or"):
            contribution([diamond((1.0, 1.0, 1.0, 1.0))], SITE, "height")  # type: ignore[arg-type]


class TestEquations:
    def test_by_hand(self) -> None:
        assert proportional([1, 3]).tolist() == [0.25, 0.75]
        # Eq. (2): 0.7 / 2 + 0.3 * 0.25, and 0.7 / 2 + 0.3 * 0.75.
        assert weighted([1, 3], 0.7).tolist() == pytest.approx([0.425, 0.575])

    @given(GAMMAS, st.floats(0, 1))
    def test_are_one_together(self, gamma: list[float], mu: float) -> None:
        shares = weighted(gamma, mu)
        assert float(np.sum(shares)) == pytest.approx(1)
        assert np.all((shares > 0) & (shares <= 1 + 1e-12))

    @given(GAMMAS)
    def test_ends_of_mu(self, gamma: list[float]) -> None:
        assert weighted(gamma, 0.0).tolist() == proportional(gamma).tolist()
        assert weighted(gamma, 1.0).tolist() == [1 / len(gamma)] * len(gamma)

    @given(GAMMAS, st.floats(1e-6, 1e6))
    def test_units_do_not_matter(self, gamma: list[float], unit: float) -> None:
        scaled = weighted([each * unit for each in gamma], 0.3)
        assert scaled.tolist() == pytest.approx(weighted(gamma, 0.3).tolist())

    @pytest.mark.parametrize("gamma", [[0.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf], []])
    def test_refused_contributions(self, gamma: list[float]) -> None:
        with pytest.raises(WorkloadError, match="give numbers >= 0, not all 0"):
            proportional(gamma)

    @pytest.mark.parametrize("mu", [-0.1, 1.1, np.nan])
    def test_refused_mu(self, mu: float) -> None:
        with pytest.raises(WorkloadError, match="give a number from 0 to 1"):
            weighted([1.0, 2.0], mu)


class TestCheckedShares:
    def test_given_back(self) -> None:
        shares = checked_shares([0.25, 1.0], 2)
        assert shares.dtype == np.float64
        assert shares.tolist() == [0.25, 1.0]

    @pytest.mark.parametrize("wrong", [0.0, -0.5, 1.01, np.nan, np.inf])
    def test_out_of_range(self, wrong: float) -> None:
        with pytest.raises(WorkloadError, match=r"'mine' gives graph 1 the share .* up to 1"):
            checked_shares([0.5, wrong], 2, "policy 'mine'")

    def test_no_share_at_all(self) -> None:
        # In proportion to nothing.
        with pytest.raises(WorkloadError, match=r"up to 1; use a weighted policy, 'wps_...', or"):
            checked_shares(proportional([1.0, 0.0]), 2, "policy 'ps_work'")

    @pytest.mark.parametrize("shares", [[0.5], [[0.5, 0.5]], 0.5])
    def test_wrong_shape(self, shares: object) -> None:
        with pytest.raises(WorkloadError, match=r"the policy gives shares of shape .*give \(2,\)"):
            checked_shares(shares, 2)  # type: ignore[arg-type]
