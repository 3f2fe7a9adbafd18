"""Importing costs little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = ("simgrid", "pandas", "scipy", "cloudpickle", "pydantic", "lxml", "matplotlib")


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, simplugin.simulation\n"
        "from simplugin.simulation import simulate, Placement, SimGridOptions\n"
        "import simplugin.simulation.simulate\n"
        "assert callable(simplugin.simulation.simulate)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == "[]"
