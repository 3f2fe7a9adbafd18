"""Experiments of the papers, each on its smallest input."""

import pytest

from simplugin.papers.reproduction_runs import chosen_statements, table
from simplugin.papers.reproductions import CAPABILITIES
from simplugin.papers.statements import judged, statements

# Experiments that take about a second; those of markets have their own tests.
SHORT = {"beaumont": ("slices", "natural periods"), "bertin": ("unscaled", "tasks")}
SHORT |= {"ntakpe": ("sites", "biCPA", "mapping")}


@pytest.mark.parametrize(
    ("paper", "experiment"), [(paper, each) for paper, names in SHORT.items() for each in names]
)
def test_an_experiment_measures_what_its_statements_need(paper, experiment):
    package = f"simplugin.papers.{paper}"
    known = chosen_statements(package, quick=True)
    chosen = [each for each in known if each.experiment == experiment]
    quantities = table(package, "EXPERIMENTS")[experiment](True)
    assert set(quantities) == {each.quantity for each in chosen}
    assert len(judged(chosen, quantities)) == len(chosen)


@pytest.mark.parametrize("package", CAPABILITIES.values())
def test_statements_name_experiments(package):
    experiments = table(package, "EXPERIMENTS")
    assert {each.experiment for each in statements(package)} == set(experiments)
