#!/usr/bin/env python3
"""Record what simplugin prints, writes and measures, and compare a later version with it.

    .venv/bin/python tools/yardstick.py record
    .venv/bin/python tools/yardstick.py compare

It only calls commands that users call: every scenario of `scenarios/`, `reproduce all --quick`,
quick runs of benchmarks, and the help of each command. `record` runs everything twice;
values that differ between the two runs (times, memory) are kept by name only. `compare` prints what
moved and exits with status 1 if a value did. Digests of files and results that differ while the
values agree are listed but no failure: on another CPU the last digits of dates differ.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
RECORD = CHECKOUT / "tests/yardstick.json.gz"
# Dates follow from IEEE arithmetic; what solvers computed, and plans made from it, are less exact.
RELATIVE = 1e-6
ABSOLUTE = 1e-9
BENCHMARKS = {
    "actors": ("--quick",),
    "bags": ("--quick",),
    "campaigns": ("--runs", "200", "--simulations", "20"),
    "market": ("--quick",),
    "mutants": ("--count", "200"),
    "optima": ("--quick",),
    # The other parts take minutes.
    "platforms": ("--quick", "files", "totals"),
    "pricing": ("--quick",),
    "simulate": ("--quick",),
    "taskgraphs": ("--quick",),
}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
VARIES = "varies"
# What two runs may agree on by chance.
MEMORY = re.compile(r"^benchmarks / .*(peak|memory)")
# Of longer series, only about so many values are kept.
MOST = 100
# What names an entry of a list, so that a new entry does not shift the others.
NAMES = ("id", "claim", "name")


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument(
        "--file", type=Path, default=RECORD, help="the record (tests/yardstick.json.gz)"
    )
    arguments = parser.parse_args()
    found = measure()
    if arguments.action == "record":
        again = measure()
        kept = {
            path: value if same(value, again.get(path)) else VARIES for path, value in found.items()
        }
        text = json.dumps(kept, indent=0, sort_keys=True)
        arguments.file.write_bytes(gzip.compress(text.encode(), mtime=0))
        varying = sum(value == VARIES for value in kept.values())
        print(f"{len(kept)} values, {varying} of them vary; wrote {arguments.file}")
        return 0
    recorded = json.loads(gzip.decompress(arguments.file.read_bytes()))
    return report(recorded, found)


def measure() -> dict[str, Any]:
    """Return every value by its path."""
    with tempfile.TemporaryDirectory(prefix="yardstick-") as directory:
        scratch = Path(directory)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts: dict[str, Any] = {}
            # It takes all cores by itself.
            parts["reproductions"] = reproductions(scratch)
            parts["benchmarks"] = dict(
                zip(BENCHMARKS, pool.map(benchmark, BENCHMARKS), strict=True)
            )
            scenarios = sorted(path.stem for path in CHECKOUT.glob("scenarios/*.toml"))
            results = pool.map(scenario, scenarios, [scratch] * len(scenarios))
            parts["scenarios"] = dict(zip(scenarios, results, strict=True))
            parts["help"] = help_texts()
        files = {
            str(path.relative_to(scratch)): f"sha256:{digest(path)}"
            for path in sorted(scratch.rglob("*"))
            if path.is_file() and path.suffix != ".sqlite"
        }
    files |= {
        str(path.relative_to(CHECKOUT)): f"sha256:{digest(path)}"
        for path in sorted((CHECKOUT / "scenarios/recorded").iterdir())
    }
    found = dict(leaves({**parts, "files": files}))
    return {path: VARIES if MEMORY.match(path) else value for path, value in found.items()}


def command(*words: str | Path) -> str:
    """Return what a command prints."""
    answer = subprocess.run(
        [str(word) for word in words],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "120", "LC_ALL": "C.UTF-8"},
    )
    if answer.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{answer.stderr}")
    return answer.stdout


def simplugin(*words: str | Path) -> str:
    """Return what the command `simplugin` of this environment prints."""
    return command(Path(sys.executable).with_name("simplugin"), *words)


def scenario(name: str, scratch: Path) -> Any:
    """Return the result of a scenario, and leave its files."""
    return json.loads(simplugin("run", f"scenarios/{name}.toml", "--json", "-o", scratch / name))


def reproductions(scratch: Path) -> Any:
    """Return the claims of the quick reproductions, and leave their files and the report."""
    place = scratch / "reproductions"
    found = json.loads(simplugin("reproduce", "all", "--quick", "--json", "-o", place))
    simplugin("report", place / "store.sqlite", "-o", place / "report")
    return found


def benchmark(name: str) -> Any:
    """Return the results of a benchmark's quick run."""
    script = CHECKOUT / f"benchmarks/{name}.py"
    printed = command(sys.executable, script, *BENCHMARKS[name], "--json")
    return json.loads(printed.splitlines()[-1])


def help_texts() -> dict[str, str]:
    """Return the help of `simplugin` and of each of its commands."""
    found: dict[str, str] = {}
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        words = waiting.pop()
        text = found[" ".join(("simplugin", *words))] = simplugin(*words, "--help")
        _, _, commands = text.partition("─ Commands ─")
        waiting += [(*words, name) for name in re.findall(r"^│ ([a-z0-9][\w-]*) ", commands, re.M)]
    return found


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of everything in nested containers."""
    if isinstance(value, list) and len(value) > MOST and not isinstance(value[0], list | dict):
        step = -(-len(value) // MOST)
        value = {"length": len(value)} | {str(i): value[i] for i in range(0, len(value), step)}
    elif isinstance(value, list):
        keys = [
            next((str(item[key]) for key in NAMES if key in item), "")
            if isinstance(item, dict)
            else ""
            for item in value
        ]
        named = all(keys) and len(set(keys)) == len(keys)
        value = dict(zip(keys if named else map(str, range(len(keys))), value, strict=True))
    if not isinstance(value, dict):
        yield path, value
        return
    for key, item in value.items():
        yield from leaves(item, f"{path} / {key}" if path else str(key))


def same(recorded: Any, now: Any) -> bool:
    """Return True if two values agree; numbers in texts are compared as numbers."""
    if isinstance(recorded, str) and isinstance(now, str):
        if recorded.startswith("sha256:"):
            return recorded == now
        numbers = [NUMBER.findall(text) for text in (recorded, now)]
        return NUMBER.sub("#", recorded) == NUMBER.sub("#", now) and all(
            same(float(a), float(b)) for a, b in zip(*numbers, strict=True)
        )
    if isinstance(recorded, float) and isinstance(now, float | int):
        return math.isclose(recorded, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(recorded) is type(now) and bool(recorded == now)


def report(recorded: dict[str, Any], found: dict[str, Any]) -> int:
    """Print what moved; return the exit status."""
    bytes_only = [
        path
        for path in recorded.keys() & found.keys()
        if recorded[path] != found[path] and is_digest(path, recorded[path])
    ]
    lines = [f"gone: {path}" for path in sorted(recorded.keys() - found.keys())]
    lines += [f"new: {path}" for path in sorted(found.keys() - recorded.keys())]
    for path in sorted(recorded.keys() & found.keys()):
        old, new = recorded[path], found[path]
        if old != VARIES and not is_digest(path, old) and not same(old, new):
            lines.append(f"moved: {path}: {short(old)} -> {short(new)}")
    print("\n".join(lines))
    for path in sorted(bytes_only):
        print(f"other bytes: {path}")
    varying = sum(value == VARIES for value in recorded.values())
    print(
        f"{len(lines)} of {len(recorded)} values moved; {len(bytes_only)} digests differ; "
        f"{varying} values vary from run to run and are not compared"
    )
    return 1 if lines else 0


def is_digest(path: str, value: Any) -> bool:
    """Return True if a value stands for the bytes of something."""
    return path.endswith((" / digest", "_sha256")) or (
        isinstance(value, str) and value.startswith("sha256:")
    )


def short(value: Any) -> str:
    """Return a value for a line."""
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
