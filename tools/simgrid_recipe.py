"""The steps that turn SimGrid's source distribution into what plug-in and wheel are made from.

Layout of a library, which no Python has a part in, and of a prefix, one for each Python::

    lib/libsimgrid...so.4.1    include/simgrid/...    kernel/src/...  (what it does not install)
    licenses/                  share/simgrid.dtd, share/examples, share/teshsuite

    python/simgrid.*.so        and links to all of the library
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from build_progress import Progress, StepError
from simgrid_cache import file_digest
from simgrid_release import BINDINGS_OPTIONS, OPTIONS, Release

_NOTICE = """\
{library} and the Python module `simgrid` are SimGrid {version} (https://simgrid.org),
compiled from its source distribution on PyPI, {archive},
SHA-256 {sha256}, with the patches beside this file.
SimGrid is free software under the GNU Lesser General Public License, version 2.1, which is
LICENSE-LGPL-2.1 beside this file. You may replace both by your own build of SimGrid; they are
found by their file names.
"""
_PIP: list[str | Path] = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


class Recipe:
    """Fetches, compiles and lays out SimGrid.

    Parameters
    ----------
    release : Release
        The pinned versions.
    archives : pathlib.Path
        Directory that keeps the source distribution for the next time.
    workspace : pathlib.Path
        Empty directory for everything in between.
    progress : Progress
        Runs the commands.
    """

    def __init__(
        self, release: Release, archives: Path, workspace: Path, progress: Progress
    ) -> None:
        self._release = release
        self._archives = archives
        self._workspace = workspace
        self._progress = progress
        self._source = workspace / f"simgrid-{release.version}"
        self._build = workspace / "build"
        self._prefix = workspace / "prefix"

    def from_source(self) -> Path:
        """Compile the library; return where it is laid out."""
        self._fetch()
        for patch in self._release.patches:
            step = f"apply {patch.name}"
            command: list[str | Path] = ["git", "-C", self._source, "apply", patch]
            if self._release.source is None or self._applies(command):
                self._run(step, command)
            else:
                print(f"SimGrid {self._release.version}: {patch.name} does not apply, left out")
        self._run("configure", self._configure_command())
        self._run("compile", ["ninja", "-C", self._build, "-j", str(_jobs()), "simgrid"])
        library = self._build / "lib" / self._release.library
        self._run("strip", ["strip", "--strip-unneeded", library])
        return self._lay_out(library, [self._source / "include", self._build / "include"])

    def around_system(self, library: Path, include: Path) -> Path:
        """Lay out a SimGrid that is installed; return where."""
        self._fetch()
        return self._lay_out(library, [include])

    def bindings(self, library: Path) -> Path:
        """Compile the bindings for this Python; return the prefix with them and the library.

        Parameters
        ----------
        library : pathlib.Path
            Where that is laid out, beside the place of the prefix.
        """
        pybind11 = self._workspace / "pybind11"
        pinned = f"pybind11=={self._release.pybind11}"
        self._run("fetch pybind11", [*_PIP, "install", "--no-deps", "-t", pybind11, pinned])
        (self._prefix / "python").mkdir(parents=True)
        (self._workspace / library.name).symlink_to(library)
        for directory in ("lib", "include", "kernel", "licenses", "share"):
            (self._prefix / directory).symlink_to(f"../{library.name}/{directory}")
        bindings = library / "kernel/src/bindings/python"
        sources = [each for each in sorted(bindings.glob("*.cpp")) if "smpi" not in each.name]
        module = self._prefix / f"python/simgrid{sysconfig.get_config_var('EXT_SUFFIX')}"
        includes = (
            library / "include",
            library / "kernel",
            pybind11 / "pybind11/include",
            sysconfig.get_path("include"),
        )
        command: list[str | Path] = [
            *(compiler(), f"-std=c++{self._release.standard}", *BINDINGS_OPTIONS),
            *(f"-I{directory}" for directory in includes),
            *sources,
            library / "lib/libsimgrid.so",
            *("-o", module),
        ]
        self._run("compile the bindings", command)
        self._check()
        return self._prefix

    def _run(self, step: str, command: list[str | Path]) -> None:
        """Run one step in the workspace."""
        environment = {**os.environ, "NINJA_STATUS": "[%f/%t] ", "LC_ALL": "C.UTF-8"}
        # Inside a repository, `git apply` skips files that belong to another one without a word.
        environment["GIT_DIR"] = str(self._workspace / "no-repository")
        self._progress.run(step, command, cwd=self._workspace, env=environment)

    def _applies(self, command: list[str | Path]) -> bool:
        """Return True if a patch can be applied."""
        tried = [*command, "--check"]
        return not subprocess.run(tried, capture_output=True, check=False).returncode

    def _fetch(self) -> None:
        """Download and unpack SimGrid."""
        archive = self._release.source or self._archives / self._release.archive
        if not archive.is_file() or file_digest(archive) != self._release.sha256:
            requirement = f"simgrid=={self._release.version}"
            # Not straight to where it is kept: an interruption could leave half of it there.
            fetch: list[str | Path] = ["download", "--no-deps", "--no-binary", "simgrid"]
            self._run("download", [*_PIP, *fetch, "-d", self._workspace, requirement])
            arrived = self._workspace / self._release.archive
            if (digest := file_digest(arrived)) != self._release.sha256:
                raise StepError(
                    f"{self._release.archive} has SHA-256 {digest} instead of "
                    f"{self._release.sha256}; if that is meant, change pyproject.toml"
                )
            arrived.replace(archive)
        place = f"--one-top-level={self._source.name}"
        self._run("unpack", ["tar", "--extract", place, "--strip-components=1", "--file", archive])

    def _configure_command(self) -> list[str | Path]:
        """Return the call of CMake."""
        return [
            *("cmake", "-G", "Ninja", "-S", self._source, "-B", self._build),
            *OPTIONS,
            *(f"-DCMAKE_PROJECT_INCLUDE={script}" for script in self._release.scripts),
            f"-DCMAKE_C_COMPILER={os.environ.get('CC', 'gcc')}",
            f"-DCMAKE_CXX_COMPILER={compiler()}",
            # Boost of the system that the compiler compiles for.
            f"-DCMAKE_PREFIX_PATH={answer_of_compiler('-print-sysroot')}/usr",
        ]

    def _lay_out(self, library: Path, includes: Iterable[Path]) -> Path:
        """Copy what is needed from the build."""
        prefix = self._prefix
        for name in ("lib", "licenses", "share"):
            (prefix / name).mkdir(parents=True)
        shutil.copy2(library, prefix / "lib")
        (prefix / "lib/libsimgrid.so").symlink_to(library.name)
        for directory in includes:
            for part in ("simgrid", "xbt", "smpi"):
                _copy(directory, prefix / "include", f"{part}/**/*.h*")
            _copy(directory, prefix / "include", "*.h")
        for root in (self._source, self._build):
            _copy(root, prefix / "kernel", "src/**/*.h", "src/**/*.hpp", "src/bindings/python/*")
        shutil.copy2(self._source / "src/kernel/xml/simgrid.dtd", prefix / "share")
        _copy(self._source, prefix / "share", "examples/platforms/**/*", "examples/**/*.xml")
        _copy(self._source, prefix / "share", "teshsuite/**/*.xml")
        for path in (
            self._source / "LICENSE-LGPL-2.1",
            self._source / "COPYING",
            *self._release.patches,
        ):
            shutil.copy2(path, prefix / "licenses")
        names = {"library": library.name, "archive": self._release.archive}
        notice = _NOTICE.format(**vars(self._release), **names)
        (prefix / "licenses/NOTICE").write_text(notice, encoding="utf-8")
        return prefix

    def _check(self) -> None:
        """Import the bindings from where they will be used."""
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import simgrid; "
            "assert simgrid.simgrid_version.removesuffix('.0') == sys.argv[2], "
            "simgrid.simgrid_version"
        )
        # Without site-packages, where the module of an editable install may be.
        python = [sys.executable, "-I", "-S", "-c", code]
        self._run("try", [*python, str(self._prefix / "python"), self._release.version])


def compiler() -> str:
    """Return the C++ compiler's command."""
    return os.environ.get("CXX", "g++")


def answer_of_compiler(question: str) -> str:
    """Return the first line that the compiler prints for an option."""
    try:
        answer = subprocess.run([compiler(), question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StepError(
            f"no C++ compiler ({compiler()}); install it with\n  sudo apt-get install g++"
        ) from error
    return answer.stdout.partition("\n")[0]


def _jobs() -> int:
    """Return how many files to compile at a time: a file of SimGrid takes up to 1.5 GB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(len(os.sched_getaffinity(0)), int(memory / 1.5e9)))


def _copy(source: Path, target: Path, *patterns: str) -> None:
    """Copy the files below a directory that match, keeping their relative paths."""
    for pattern in patterns:
        for path in source.glob(pattern):
            if path.is_file():
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy)
