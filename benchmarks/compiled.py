"""The C++ programs that benchmarks stand beside, compiled once for the SimGrid in use."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tools"))
from simgrid_cache import cache_root  # noqa: E402
from simgrid_release import pinned  # noqa: E402

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "simplugin" / "benchmarks"


def compiled_program(name: str, example: str | None = None) -> Path:
    """Compile benchmarks/<name>.cpp unless that was done before; return the program.

    Of an example of SimGrid, headers and nodes come from SimGrid's source archive.
    """
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
        with tempfile.TemporaryDirectory() as directory:
            sources = [source, *(unpack(example, Path(directory)) if example else ())]
            options = ["-std=c++17", "-O3", "-DNDEBUG", f"-I{prefix}/include", f"-I{directory}"]
            subprocess.run([compiler, *options, *sources, "-o", unfinished, *linking], check=True)
        unfinished.rename(program)
    return program


def unpack(example: str, directory: Path) -> list[Path]:
    """Unpack headers and nodes of a C++ example of SimGrid; return what is to be compiled."""
    with tarfile.open(cache_root() / pinned().archive) as archive:
        for member in archive:
            path = Path(member.name)
            if path.match(f"examples/cpp/{example}/*") and path.suffix in (".hpp", ".cpp"):
                (directory / path.name).write_bytes(archive.extractfile(member).read())
    return list(directory.glob("*-node.cpp"))
