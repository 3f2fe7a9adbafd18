#!/usr/bin/env python3
"""Install a wheel with what it requires in an empty environment of this Python, and use it there.

Needs the tests beside it, which run on a copy, and an index of packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parent.parent
_SIMULATE = """
import sys, simplugin
from simplugin import Cluster, Platform, simulate

async def work(me):
    await me.execute(2e9)

cluster = Cluster("lab", "0-1", 1e9, bandwidth=125e6, latency=50e-6, prefix="lab-")
for back_end in ("coroutines", "threads"):
    result = simulate(Platform(cluster), [("lab-0", work)], back_end=back_end)
    assert result.clock == 2.0, result.clock
    print(back_end, result.clock, result.provenance["simgrid"])
assert simplugin.__file__.startswith(sys.prefix), simplugin.__file__
"""


def main() -> int:
    """Run the command."""
    wheel = Path(sys.argv[1]).resolve(strict=True)
    with tempfile.TemporaryDirectory(prefix="try-wheel-") as name:
        place = Path(name)
        subprocess.run([sys.executable, "-m", "venv", place / "empty"], check=True)
        (place / "simulate.py").write_text(_SIMULATE, encoding="utf-8")
        # Those tests that need nothing else of the checkout.
        shutil.copy(_CHECKOUT / "pyproject.toml", place)
        for part in ("conftest.py", "support", "simulation/conftest.py", "simulation/conformance"):
            source, copy = _CHECKOUT / "tests" / part, place / "tests" / part
            copy.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
        pip = "python -m pip --disable-pip-version-check"
        commands = (
            f"{pip} install -qq {wheel}",
            f"{pip} check",
            "simplugin --version",
            "python simulate.py",
            "simplugin reproduce pricing --quick",
            f"{pip} install -qq hypothesis pytest",
            "python -m pytest -q tests",
        )
        environment = {**os.environ, "PATH": f"{place}/empty/bin:{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)
        for command in commands:
            print(f"$ {command}", flush=True)
            words = command.split()
            program = place / "empty/bin" / words[0]
            status = subprocess.run([program, *words[1:]], cwd=place, env=environment, check=False)
            if status.returncode:
                print(f"{wheel.name}: {command} failed", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
