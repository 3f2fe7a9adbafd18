"""The C++ programs that benchmarks stand beside, compiled once for the SimGrid in use."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "simplugin" / "benchmarks"


def compiled_program(name: str) -> Path:
    """Compile benchmarks/<name>.cpp unless that was done before; return the program."""
    prefix = subprocess.run(
        [sys.executable, HERE.parent / "tools" / "build_simgrid.py", "--print-prefix"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    source = HERE / f"{name}.cpp"
    key = hashlib.sha256(source.read_bytes() + prefix.encode()).hexdigest()[:16]
    program = CACHE / f"{name}-{key}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        compiler = shutil.which("g++") or "c++"
        unfinished = program.with_suffix(f".{os.getpid()}")
        linking = [f"-L{prefix}/lib", "-lsimgrid", f"-Wl,-rpath,{prefix}/lib"]
        options = ["-std=c++17", "-O3", "-DNDEBUG", f"-I{prefix}/include"]
        subprocess.run([compiler, *options, source, "-o", unfinished, *linking], check=True)
        unfinished.rename(program)
    return program
