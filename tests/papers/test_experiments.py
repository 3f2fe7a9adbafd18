"""Experiments of the papers, each on its smallest input."""

import json
from pathlib import Path

import pytest

from simplugin.papers.reproduction_runs import chosen_statements, table
from simplugin.papers.reproductions import CAPABILITIES
from simplugin.papers.statements import judged, statements

# Of each paper the experiments that take under a few seconds.
SHORT = {
    "beaumont": ("enough tasks", "negotiation", "slices", "natural periods"),
    "bertin": ("unscaled", "other steps", "tasks", "platforms, scaled"),
    "ntakpe": ("biCPA", "sites", "mapping"),
    # Its own tests have smaller inputs.
    "zheng": (),
}


@pytest.mark.parametrize(
    ("paper", "experiment"), [(paper, part) for paper, parts in SHORT.items() for part in parts]
)
def test_an_experiment_measures_what_its_statements_need(paper, experiment):
    package = f"simplugin.papers.{paper}"
    chosen = [
        each for each in chosen_statements(package, quick=True) if each.experiment == experiment
    ]
    quantities = table(package, "EXPERIMENTS")[experiment](True)
    assert set(quantities) == {each.quantity for each in chosen}
    assert len(judged(chosen, quantities)) == len(chosen)


@pytest.mark.parametrize("paper", SHORT)
def test_old_rows_have_new_ids(paper):
    """Every row of the reproductions before statements were data is known by its id or reason."""
    rows = json.loads(Path(__file__).with_name(f"{paper}_rows.json").read_text())
    ids = {each.id for each in statements(f"simplugin.papers.{paper}")}
    for new in rows.values():
        assert new in ids or len(new.split()) > 2


@pytest.mark.parametrize("package", [name for name in CAPABILITIES.values() if ".papers." in name])
def test_statements_name_experiments(package):
    experiments = table(package, "EXPERIMENTS")
    assert {each.experiment for each in statements(package)} == set(experiments)
