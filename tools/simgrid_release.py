"""Which SimGrid is used and how it is configured; versions are read from pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent

# docs/simgrid has a report of the cause of each, and a program that shows the fault.
PATCHES = tuple(sorted(Path(__file__).parent.glob("simgrid_patches/*.patch")))

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
    *("-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-s", "-fvisibility=hidden"),
    *("-fno-gnu-unique", '-DPYBIND11_COMPILER_TYPE="_simplugin"'),
    "-Wl,-rpath,$ORIGIN/../lib:$ORIGIN/../../../simplugin.libs",
)


@dataclass(frozen=True)
class Release:
    """The pinned SimGrid and the pybind11 that compiles its bindings."""

    version: str
    sha256: str
    pybind11: str

    @property
    def archive(self) -> str:
        """Name of the source distribution."""
        return f"simgrid-{self.version}.tar.gz"

    @property
    def library(self) -> str:
        """Name of the shared library that is built here."""
        return f"libsimgrid-simplugin.so.{self.version}"


def pinned(project: Path = CHECKOUT / "pyproject.toml") -> Release:
    """Read the pinned versions."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))
    simgrid = table["tool"]["simplugin"]["simgrid"]
    (pybind11,) = (
        requirement.removeprefix("pybind11==")
        for requirement in table["build-system"]["requires"]
        if requirement.startswith("pybind11==")
    )
    return Release(simgrid["version"], simgrid["sha256"], pybind11)
