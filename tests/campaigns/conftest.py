"""A directory with a platform, a deployment, actors and a scenario that runs."""

import shutil
from pathlib import Path

import pytest

LAB = Path(__file__).parents[1] / "lab"


@pytest.fixture
def lab(tmp_path):
    return Path(
        shutil.copytree(LAB, tmp_path / "lab", ignore=shutil.ignore_patterns("__pycache__"))
    )
