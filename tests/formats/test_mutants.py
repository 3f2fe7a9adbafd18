"""A small sample of mutants; the benchmark compares thousands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks/mutants.py"
# SimGrid loads values that cannot mean what they say.
DELIBERATE = re.compile(r"the (speed|bandwidth|latency|backbone \w+|loopback \w+) of ")


def test_check_agrees_with_simgrid_on_mutants() -> None:
    command = [sys.executable, BENCHMARK, "--count", "150", "--json"]
    answer = json.loads(subprocess.check_output(command))
    assert set(answer["verdicts"]) == {"loads", "lost", "refused"}
    wrong = [
        row
        for row in answer["classes"]
        if row["kind"] != "false warning" and not DELIBERATE.match(row["said"])
    ]
    assert wrong == []
