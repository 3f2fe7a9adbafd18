#!/usr/bin/env python3
"""Make sure that SimGrid is in the cache: build it once per machine, or wrap one that is installed.

Its bindings are compiled for the Python that runs this.

It needs nothing but Python's standard library, a C++ compiler, cmake, ninja and Boost's headers.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

from build_progress import Progress, StepError
from simgrid_cache import cache_root, ensure, file_digest, find_fault, key_of
from simgrid_recipe import Recipe, answer_of_compiler, compiler
from simgrid_release import BINDINGS_OPTIONS, CHECKOUT, OPTIONS, Release, pinned

# Part of every key: raise it when the layout of a prefix changes.
_LAYOUT = 2
_TOOLS = {"cmake": "cmake", "git": "git", "ninja": "ninja-build", "strip": "binutils"}


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--system",
        metavar="PREFIX",
        default=os.environ.get("SIMGRID_PREFIX") or None,
        help="use the SimGrid installed there, headers included (default: $SIMGRID_PREFIX)",
    )
    parser.add_argument(
        "--print-prefix",
        action="store_true",
        help="only print where SimGrid is; fail if it is not there",
    )
    parser.add_argument("--stamp", type=Path, help="file to keep the prefix in; touched on change")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        release = pinned()
        system = System(Path(arguments.system), release) if arguments.system else None
        library = place_of(release, system)
        prefix = prefix_of(release, library)
        if arguments.print_prefix:
            refuse_fault(prefix, library, arguments.system)
        else:
            make(release, system, library, prefix)
    except StepError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next run starts afresh.", file=sys.stderr)
        return 130
    if arguments.stamp:
        update_stamp(arguments.stamp, prefix)
    else:
        print(prefix)
    return 0


class System:
    """A SimGrid that is installed: where its library and headers are.

    Parameters
    ----------
    prefix : pathlib.Path
        What it was installed with as CMAKE_INSTALL_PREFIX.
    release : Release
        The version that it must have.

    Raises
    ------
    StepError
        Library or headers are missing or of another version.
    """

    def __init__(self, prefix: Path, release: Release) -> None:
        self.include = prefix / "include"
        header = self.include / "simgrid/version.h"
        if not header.is_file():
            raise StepError(
                f"SIMGRID_PREFIX={prefix} has no headers: {header} is missing; "
                "unset it to have SimGrid built"
            )
        numbers = re.findall(
            r"define SIMGRID_VERSION_(?:MAJOR|MINOR)\s+(\d+)", header.read_text(encoding="utf-8")
        )
        if ".".join(numbers) != release.version:
            raise StepError(
                f"SIMGRID_PREFIX={prefix} is SimGrid {'.'.join(numbers) or '?'}, "
                f"not {release.version}; unset it to have that one built"
            )
        multiarch = sysconfig.get_config_var("MULTIARCH") or ""
        places = [prefix / "lib" / multiarch, prefix / "lib", prefix / "lib64"]
        name = f"libsimgrid.so.{release.version}"
        found = [place / name for place in places if (place / name).is_file()]
        if not found:
            raise StepError(f"SIMGRID_PREFIX={prefix} has headers but no lib/{name}")
        self.library = found[0]


def place_of(release: Release, system: System | None) -> Path:
    """Return the directory of the library that version, options and compiler determine."""
    ingredients = {
        "layout": _LAYOUT,
        "release": [release.version, release.sha256],
        "compiler": [compiler(), answer_of_compiler("--version")],
    }
    if system is None:
        patches = [file_digest(path) for path in (*release.patches, *release.scripts)]
        key = key_of({**ingredients, "options": OPTIONS, "patches": patches})
        return cache_root() / f"libsimgrid-{release.version}-{key}"
    headers = sorted(system.include.glob("simgrid/**/*.h*"))
    installed = [file_digest(path) for path in (system.library, *headers)]
    key = key_of({**ingredients, "installed": installed})
    return cache_root() / f"libsimgrid-{release.version}-system-{key}"


def prefix_of(release: Release, library: Path) -> Path:
    """Return the directory of a library with its bindings for this Python."""
    python = [sysconfig.get_config_var("SOABI"), release.pybind11]
    options = [release.standard, *BINDINGS_OPTIONS]
    key = key_of({"library": library.name, "python": python, "options": options})
    return cache_root() / f"simgrid-{release.version}-{key}"


def refuse_fault(prefix: Path, library: Path, system: str | None) -> None:
    """Raise unless prefix and library are whole."""
    if fault := find_fault(library) or find_fault(prefix):
        setting = f" SIMGRID_PREFIX={system}" if system else ""
        command = f"make -C {CHECKOUT} simgrid{setting}"
        raise StepError(f"SimGrid is not ready: {fault}; build it (some minutes) with\n  {command}")


def make(release: Release, system: System | None, library: Path, prefix: Path) -> None:
    """Build library and prefix unless they are there and whole."""
    about = {
        "version": release.version,
        "standard": release.standard,
        "compiler": answer_of_compiler("--version"),
    }

    def make_library(workspace: Path, progress: Progress) -> Path:
        require_tools()
        recipe = Recipe(release, library.parent, workspace, progress)
        if system is None:
            return recipe.from_source()
        return recipe.around_system(system.library, system.include)

    def make_prefix(workspace: Path, progress: Progress) -> Path:
        require_tools()
        return Recipe(release, library.parent, workspace, progress).bindings(library)

    ensure(library, f"SimGrid {release.version}", about, make_library)
    ensure(prefix, f"SimGrid {release.version} for Python", about, make_prefix)


def require_tools() -> None:
    """Raise when something that the build needs is missing."""
    missing = [package for tool, package in _TOOLS.items() if not shutil.which(tool)]
    boost = [compiler(), "-x", "c++", "-E", "-include", "boost/version.hpp", "/dev/null"]
    if subprocess.run(boost, capture_output=True, check=False).returncode:
        missing.append("libboost-dev")
    if importlib.util.find_spec("pip") is None:
        missing.append("python3-pip")
    if missing:
        raise StepError(f"Missing; install with\n  sudo apt-get install {' '.join(missing)}")


def update_stamp(stamp: Path, prefix: Path) -> None:
    """Write the prefix to a file, unless it holds that already and the prefix is no newer."""
    text = f"{prefix}\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == text:
        built = (prefix / "manifest.json").stat().st_mtime
        if built <= stamp.stat().st_mtime:
            return
    stamp.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
