"""Which SimGrid is used and how it is configured; versions are read from pyproject.toml."""

from __future__ import annotations

import os
import re
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from build_progress import StepError
from simgrid_cache import file_digest

CHECKOUT = Path(__file__).resolve().parent.parent

# docs/simgrid has a report of the cause of each, and a program that shows the fault; those in next/
# are for later releases than the pinned one.
_PATCHES = Path(__file__).parent / "simgrid_patches"

# Tried with the pinned release only.
_UNITY = Path(__file__).parent / "simgrid_unity.cmake"

# Without symbols for a debugger: with them the library has 89 MB, without 5. No LTO, model checker
# or SMPI: they double the time it takes to compile. "minimal" bindings do without the libraries of
# Boost, which a wheel could not rely on. The bindings are compiled for each Python, see below.
# By a name of its own, and without symbols that are unique in a process, the library can stand
# beside another SimGrid in the same process, such as that of the package simgrid.
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_C_FLAGS_RELEASE=-O3 -DNDEBUG -g0",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG -g0 -fno-gnu-unique",
    "-DCMAKE_RELEASE_POSTFIX=-simplugin",
    "-Denable_debug=OFF",
    "-Denable_documentation=OFF",
    "-Denable_java=OFF",
    "-Denable_lto=OFF",
    "-Denable_model-checking=OFF",
    "-Denable_python=OFF",
    "-Denable_smpi=OFF",
    "-Denable_sthread=OFF",
    "-Dminimal-bindings=ON",
)

# Bindings with a registry of types of their own, for the same reason. They find the library as laid
# out in the cache, and as laid out in the wheel.
BINDINGS_OPTIONS = (
    *("-O3", "-DNDEBUG", "-fPIC", "-shared", "-s", "-fvisibility=hidden"),
    *("-fno-gnu-unique", '-DPYBIND11_COMPILER_TYPE="_simplugin"'),
    "-Wl,-rpath,$ORIGIN/../lib:$ORIGIN/../../../simplugin.libs",
)


# Of CMakeLists.txt in SimGrid's source.
_VERSION = re.compile(r'set\(SIMGRID_VERSION_(?:MAJOR|MINOR|PATCH) +"(\d+)"\)')
_STANDARD = re.compile(r"set\(CMAKE_CXX_STANDARD (\d+)\)")


@dataclass(frozen=True)
class Release:
    """The SimGrid that is built, and the pybind11 that compiles its bindings.

    Attributes
    ----------
    version : str
        Of SimGrid.
    sha256 : str
        Of the source distribution.
    pybind11 : str
        Version of pybind11.
    standard : str
        Of C++, for SimGrid and for what is compiled against it.
    source : pathlib.Path, optional
        The source archive; the source distribution on PyPI by default.
    """

    version: str
    sha256: str
    pybind11: str
    standard: str = "17"
    source: Path | None = None

    @property
    def archive(self) -> str:
        """Name of the source distribution."""
        return f"simgrid-{self.version}.tar.gz" if self.source is None else self.source.name

    @property
    def patches(self) -> list[Path]:
        """What is mended in it; in an archive of the user's, as far as it applies."""
        found = sorted(_PATCHES.glob("*.patch"))
        return found if self.source is None else [*found, *sorted(_PATCHES.glob("next/*.patch"))]

    @property
    def scripts(self) -> list[Path]:
        """Scripts that CMake runs when it configures SimGrid."""
        return [_UNITY] if self.source is None else []

    @property
    def library(self) -> str:
        """Name of the shared library that is built here."""
        return f"libsimgrid-simplugin.so.{self.version}"


def pinned(project: Path = CHECKOUT / "pyproject.toml") -> Release:
    """Return the pinned versions, or with ``SIMGRID_SOURCE`` those of that archive."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))
    simgrid = table["tool"]["simplugin"]["simgrid"]
    (pybind11,) = (
        requirement.removeprefix("pybind11==")
        for requirement in table["build-system"]["requires"]
        if requirement.startswith("pybind11==")
    )
    if source := os.environ.get("SIMGRID_SOURCE"):
        return _of_archive(Path(source).absolute(), pybind11)
    return Release(simgrid["version"], simgrid["sha256"], pybind11)


def _of_archive(source: Path, pybind11: str) -> Release:
    """Return the versions of a source archive."""
    try:
        with tarfile.open(source) as archive:
            names = (each for each in archive if re.fullmatch(r"[^/]+/CMakeLists\.txt", each.name))
            file = archive.extractfile(next(names))
            text = file.read().decode() if file else ""
    except (OSError, tarfile.TarError, StopIteration) as error:
        raise StepError(f"SIMGRID_SOURCE={source} is no source archive: {error!r}") from error
    numbers, standard = _VERSION.findall(text), _STANDARD.search(text)
    if len(numbers) != 3 or standard is None:
        raise StepError(f"SIMGRID_SOURCE={source} is no source archive of SimGrid 4")
    version = ".".join(numbers).removesuffix(".0")
    return Release(version, file_digest(source), pybind11, standard[1], source)
