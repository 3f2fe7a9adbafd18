"""The redrawn figures, from invented measurements."""

import numpy as np
import pytest

from simplugin.taskgraphs import section7_figures
from simplugin.taskgraphs.campaign import COUNTS, STRATEGIES
from simplugin.taskgraphs.claims import FIGURES, PARTS
from simplugin.taskgraphs.section7_figures import figure2, front, sharing, trade_off


@pytest.fixture
def outcomes(fake):
    def outcome(_case, setting):
        if setting.strategy == "balanced":
            return 1.0, 90.0
        return 0.9, 100.0 + STRATEGIES.index(setting.strategy) + 10 * (setting.mu or 0)

    fake(outcome)


@pytest.mark.usefixtures("outcomes")
def test_figures_have_a_curve_for_each_strategy():
    unfair, length = sharing(False, family="fft")
    assert (unfair.name, length.name) == ("figure4-unfairness", "figure4-makespan")
    assert list(length.series) == [*section7_figures.NAMES.values(), "balanced (ours)"]
    across, up = length.series["PS-cp"]
    assert tuple(across) == COUNTS
    # Relative to the best of the eight, which ours need not be behind.
    assert up == pytest.approx(1.02)
    assert length.series["balanced (ours)"][1] == pytest.approx(0.9)
    assert "100 runs" in length.title


@pytest.mark.usefixtures("outcomes")
def test_figure_2_has_a_curve_for_each_number_of_graphs():
    _, length = figure2(False)
    assert list(length.series) == [f"{count} graphs" for count in COUNTS]
    across, up = length.series["6 graphs"]
    assert up == pytest.approx(107 + 10 * np.array(across))
    assert (across[0], across[-1]) == (0, 1)


@pytest.mark.usefixtures("outcomes")
def test_trade_off_has_all_strategies_and_a_front():
    [figure] = trade_off(False, family="random")
    assert figure.names["ours"] == ("balanced", "rebalanced")
    assert len(figure.series["the paper's"][0]) == 8
    assert list(figure.series) == [
        "the paper's", "ours", "front", "WPS-cp by mu", "WPS-width by mu", "WPS-work by mu",
    ]  # fmt: skip
    # Ours dominate.
    assert figure.series["front"] == (pytest.approx([0.9]), pytest.approx([0.0]))


def test_front():
    points = [(1.0, 3.0), (2.0, 1.0), (1.5, 3.0), (2.0, 2.0), (3.0, 0.5), (4.0, 0.5)]
    assert front(points) == [(1.0, 3.0), (2.0, 1.0), (3.0, 0.5)]


def test_parts_and_figures_have_names_of_their_own():
    assert not set(PARTS) & set(FIGURES)
