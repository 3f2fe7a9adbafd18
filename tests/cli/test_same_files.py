"""Two runs of a scenario write the same bytes, whatever the hash seed of the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "scenario", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda p: p.stem
)
def test_two_runs_write_the_same_files(scenario, tmp_path):
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "simplugin.cli", "run", scenario, "-o", tmp_path / seed],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in "12"
    ]
    printed = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], printed
    first, second = (
        {file.name: file.read_bytes() for file in (tmp_path / seed).iterdir()} for seed in "12"
    )
    assert "result.json" in first
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert b" object at 0x" not in first["result.json"]
