"""Two runs of a scenario write the same bytes, whatever the hash seed of the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parents[2] / "scenarios"
# Of each kind, and of each family of schedulers.
NAMES = ("bags_failures", "demo", "market_arrivals", "pricing", "taskgraphs")
PROGRAM = """
import sys
from typer.testing import CliRunner
from simplugin.cli.app import app

for scenario in sys.argv[2:]:
    place = f"{sys.argv[1]}/{scenario.rpartition('/')[2]}"
    done = CliRunner().invoke(app, ["run", scenario, "-o", place], catch_exceptions=False)
    assert done.exit_code == 0, done.output
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Directories of two processes, each with what it wrote of all scenarios."""
    place = tmp_path_factory.mktemp("runs")
    runs, files = [], [SCENARIOS / f"{name}.toml" for name in NAMES]
    for seed in "12":
        words = [sys.executable, "-c", PROGRAM, place / seed, *files]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        runs.append(subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True))
    printed = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], printed
    return [place / seed for seed in "12"]


@pytest.mark.parametrize("name", NAMES)
def test_two_runs_write_the_same_files(written, name):
    first, second = (
        {file.name: file.read_bytes() for file in (place / f"{name}.toml").iterdir()}
        for place in written
    )
    assert "result.json" in first
    assert first.keys() == second.keys()
    assert [file for file in first if first[file] != second[file]] == []
    assert b" object at 0x" not in first["result.json"]
