"""Random programs give the same on both back ends; ``--random-programs=200`` runs 2,000 of them."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from conformance import Scenario, run
from differences import differences
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import KINDS, PLATFORM, PROFILED, SAME, placements

from simplugin.simulation import Result, SimGridOptions, simulate, simulation


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--random-programs")))


@pytest.mark.parametrize("kind", SAME)
def test_same_on_both(kind: str, seed: int, tmp_path: Path) -> None:
    platform = PROFILED if seed % 2 else PLATFORM
    # Other models of SimGrid, which keep what is left in another way.
    optim: Any = "Full" if seed % 3 == 2 else "Lazy"
    options = replace(SimGridOptions.linear(), cpu_optim=optim, network_optim=optim)
    scenario = Scenario(f"{kind}{seed}", platform, placements(kind, seed), {}, options=options)
    reference, measured = (run(scenario, name, tmp_path) for name in ("threads", "coroutines"))
    assert reference.values["keep"]
    assert list(differences(vars(reference), vars(measured))) == []


@pytest.mark.parametrize("seed", range(8))
def test_a_crowd_ends_the_same_way_twice(seed: int, tmp_path: Path) -> None:
    (tmp_path / "platform.xml").write_text(PLATFORM)

    def play() -> Result:
        actors = placements("everything", seed, crowded=True)
        return simulate(tmp_path / "platform.xml", actors, until=1000.0, wall_limit=30)

    result = play()
    assert len(result.trace) > 15
    assert (result.trace.end >= result.trace.start).all()
    assert result.clock >= result.trace.end.max()
    assert result.digest() == play().digest()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("platform") / "platform.xml"
    path.write_text(PLATFORM)
    return path


@settings(max_examples=20)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 10_000),
    pauses=st.lists(st.floats(0.0, 120.0), max_size=12),
    optim=st.sampled_from(["Lazy", "Full"]),
)
def test_pauses_change_nothing(
    kind: str, seed: int, pauses: list[float], optim: Any, file: Path
) -> None:
    options = SimGridOptions(cpu_optim=optim, network_optim=optim)
    actors = placements(kind, seed)
    choices: dict[str, Any] = {"options": options, "wall_limit": 60.0}
    with simulation(file, actors, **choices) as sim:
        for date in sorted(pauses):
            sim.run_until(max(date, sim.clock))
            assert sim.clock >= date or sim.at_end
            for host in sim.hosts:
                assert not host.flops < 0
            for activity in sim.activities:
                left = activity.remaining
                assert isnan(left) or 0 <= left <= activity.amount * (1 + 1e-9)
            sim.step()
        paused = sim.run()
    assert paused.digest() == simulate(file, actors, **choices).digest()
