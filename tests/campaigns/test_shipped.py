"""Scenarios, platforms and deployments of the project itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from simplugin.campaigns import load_scenario, run_scenario
from simplugin.formats.check import check

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
GENERATED = sorted((ROOT / "platforms_xml").glob("lille_nancy.xml"))


def test_there_are_some():
    assert SCENARIOS
    assert GENERATED


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario_runs(path):
    outcome = run_scenario(load_scenario(path))
    assert outcome.row["makespan"] > 0
    assert outcome.row["actors_killed"] == 0


@pytest.mark.parametrize("name", ["demo", "slow_backbone"])
def test_master_and_workers(name):
    outcome = run_scenario(load_scenario(ROOT / "scenarios" / f"{name}.toml"))
    tasks = sum(outcome.result.values("worker"))
    # 150 of either application, with 180 and 45 Gflop, 20 and 240 MB.
    assert tasks == 300
    assert outcome.row["computed"] == pytest.approx(150 * 225e9)
    assert outcome.result.links.row("grelon_link_1_UP")["bytes"] == pytest.approx(
        150 * 260e6 + 24 * 1e3
    )
    # No schedule beats all hosts at full speed, nor the master's link.
    speeds = 6 * 3.647e9 + 3 * 4.311e9 + 3 * 4.384e9 + 4 * 3.379e9 + 8 * 3.185e9
    assert outcome.result.clock >= 150 * 225e9 / speeds
    assert outcome.result.clock >= 150 * 260e6 / 125e6


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem)
def test_generated_file_is_what_its_command_makes(path, tmp_path):
    command = path.read_text().splitlines()[2].removeprefix("<!-- ").removesuffix(" -->").split()
    assert command[0] == "python"
    made = tmp_path / path.name
    subprocess.run([sys.executable, *command[1:-1], made], cwd=ROOT, check=True)
    text = made.read_text().replace(str(made), command[-1])
    assert text == path.read_text()


def test_files_are_clean():
    files = [*(ROOT / "platforms_xml").glob("lille_nancy.xml")]
    files += (ROOT / "deployments").glob("master_worker.xml")
    assert check(files) == []
