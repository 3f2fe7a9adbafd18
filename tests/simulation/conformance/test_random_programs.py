"""Random programs give the same on both back ends, with pauses, and with somebody who looks.

``--random-programs=200`` runs 2,000 of them.
"""

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
from random_programs import HANDLES, KINDS, PLATFORM, PROFILED, SAME, placements

from simplugin.simulation import Placement, Result, SimGridOptions, simulate, simulation


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
    whole = simulate(file, actors, **choices).digest()
    with simulation(file, actors, **choices) as sim:
        for date in sorted(pauses):
            sim.run_until(max(date, sim.clock))
            with sim.branch(quiet=True) as branch:
                assert branch.run().digest() == whole
            assert sim.clock >= date or sim.at_end
            _ = sim.links, sim.actors
            for host in sim.hosts:
                assert not host.flops < 0
            for activity in sim.activities:
                left = activity.remaining
                assert isnan(left) or 0 <= left <= activity.amount * (1 + 1e-9)
            sim.step()
        assert sim.run().digest() == whole


def watts(states: int) -> str:
    """Return the wattages of a host with some power states."""
    return f'<prop id="wattage_per_state" value="{",".join(["90:110:170"] * states)}"/>'


MEASURED = (
    PLATFORM.replace('speed="1Gf">', f'speed="1Gf">{watts(1)}')
    .replace('speed="1Gf"/>', f'speed="1Gf">{watts(1)}</host>')
    .replace('speed="2Gf,1Gf"/>', f'speed="2Gf,1Gf">{watts(2)}</host>')
    .replace('core="4"/>', f'core="4">{watts(1)}</host>')
    .replace('latency="250ms"/>', 'latency="250ms"><prop id="wattage_range" value="10:30"/></link>')
)


async def watch(me: Any, dates: list[float], looks: bool) -> None:
    """Read all that can be read at these dates, or nothing."""
    for date in dates:
        await me.sleep_until(date)
        if looks:
            for _, activity in HANDLES:
                _ = activity.remaining
            for host in me.hosts:
                _ = host.load, host.speed, host.available_speed, host.energy
            for link in me.links:
                _ = link.load, link.bandwidth, link.figures, link.energy
            me.route("ada", "cyd")


@settings(max_examples=25)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 10_000),
    dates=st.lists(st.floats(0.01, 20.0), min_size=1, max_size=8).map(sorted),
    optim=st.sampled_from(["Lazy", "Full"]),
)
def test_looking_changes_nothing(
    kind: str, seed: int, dates: list[float], optim: Any, tmp_path_factory: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "measured.xml"
    file.write_text(MEASURED)
    plugins = {"plugin": "link_load"}
    options = SimGridOptions(cpu_optim=optim, network_optim=optim, extra=plugins)
    unseen, seen = (
        simulate(
            file,
            [*placements(kind, seed), Placement("safe", watch, (dates, looks))],
            options=options,
            energy=True,
        )
        for looks in (False, True)
    )
    # Whether it looks is an argument.
    assert replace(seen, provenance=unseen.provenance) == unseen
