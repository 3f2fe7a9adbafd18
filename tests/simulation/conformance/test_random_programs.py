"""Random programs give the same on both back ends; ``--random-programs=250`` runs 2,250 of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance import Scenario, differences, run
from random_programs import KINDS, PLATFORM, placements


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("seed", range(metafunc.config.getoption("--random-programs")))


@pytest.mark.parametrize("kind", KINDS)
def test_same_on_both(kind: str, seed: int, tmp_path: Path) -> None:
    scenario = Scenario(f"{kind}{seed}", PLATFORM, placements(kind, seed), {})
    reference, measured = (run(scenario, name, tmp_path) for name in ("threads", "coroutines"))
    assert reference.values["keep"]
    assert list(differences(reference.values, measured.values)) == []
    assert list(differences(reference.clock, measured.clock)) == []
    assert list(differences(reference.states, measured.states)) == []
    assert list(differences(reference.finished, measured.finished)) == []
    assert list(differences(reference.totals["busy"], measured.totals["busy"])) == []
