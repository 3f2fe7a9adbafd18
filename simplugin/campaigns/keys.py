"""Keys of runs, which identify recorded runs."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import simplugin
from simplugin.inputs.named_files import NamedFiles
from simplugin.scenarios.substitutions import (
    KEYS_WITHOUT_EFFECT,
    SIMULATION_KEYS_WITHOUT_EFFECT,
    canonical_json,
)

# Packages that schedule, store, compare or show runs; a run imports none of them.
RESULT_NEUTRAL_PACKAGES = ("calibration", "campaigns", "cli", "examples", "regression", "reports")
_PACKAGES = ("simplugin", "numpy", "scipy", "cvxpy", "highspy", "clarabel")
_NO_CODE = {".pyc", ".pyi", ".typed"}
# Packages whose versions affect the last digits.
_NUMERIC = {"numpy", "scipy", "cvxpy", "highspy", "clarabel"}
_LIBRARY = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")


def digest_of(value: Any, directory: str | os.PathLike[str], inputs: Iterable[str] = ()) -> str:
    """Return the SHA-256 of everything that determines the result of a run.

    Of a scenario that is what `result_relevant` returns; the contents of the files that it names;
    the modules of the functions that it names, with those in its directory that they import; the
    code of this package that runs scenarios; and the versions of SimGrid, NumPy and the solvers.
    Contents of unchanged files are read once.

    Parameters
    ----------
    value : plain data
        1 and 1.0 differ; the order of keys does not matter.
    directory : path
        Directory to which paths are relative.
    inputs : iterable of str
        Paths and patterns of further files on which the result depends.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    ScenarioError
        A named file cannot be read.
    """
    lines = NamedFiles(directory).digests(value, inputs)
    return text_digest("\0".join([*software(), canonical_json(value), *lines]))


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, which may hold lone surrogates."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def result_relevant(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario without its title, ``[output]``, ``[campaign]``, ``[slurm]`` and limits."""
    found = {name: value for name, value in document.items() if name not in KEYS_WITHOUT_EFFECT}
    simulation = found.get("simulation")
    if isinstance(simulation, Mapping):
        found["simulation"] = {
            name: value
            for name, value in simulation.items()
            if name not in SIMULATION_KEYS_WITHOUT_EFFECT
        }
    return found


def software() -> list[str]:
    """Return the digest of this package and the versions of SimGrid, NumPy and the solvers."""
    numeric = [f"{name} {number}" for name, number in versions().items() if name in _NUMERIC]
    return [code_digest(), simgrid_version(), *sorted(numeric)]


@cache
def code_digest(*, whole: bool = False) -> str:
    """Return the SHA-256 of this package's code, compiled modules and data included.

    The value is cached; ``code_digest.cache_clear()`` makes it read the files again.

    Parameters
    ----------
    whole : bool
        True to include packages that do not affect results.
    """
    files = {
        path.relative_to(root).as_posix(): path
        for root in map(Path, simplugin.__path__)
        for path in root.rglob("*")
        if path.suffix not in _NO_CODE and "__pycache__" not in path.parts and path.is_file()
    }
    total = sha256()
    for name, path in sorted(files.items()):
        if whole or affects_results(name):
            total.update(f"{name}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def affects_results(name: str) -> bool:
    """Return True if results depend on a file of this package, given as ``directory/file``."""
    # The texts of pages of reproductions are data, not code.
    package = name.split("/")[0]
    return package not in (*RESULT_NEUTRAL_PACKAGES, "campaign.py") and not name.endswith(
        "/page.toml"
    )


@cache
def simgrid_version() -> str:
    """Return the version of the SimGrid that simulations use.

    It is read from the name of the library, or else from the provenance of a simulation.
    """
    for root in simplugin.__path__:
        for path in sorted(Path(root).parent.glob("simplugin.libs/libsimgrid*.so.*")):
            if match := _LIBRARY.search(path.name):
                # The name has 4.1 for 4.1.0.
                return match[1] + ".0" * (2 - match[1].count("."))
    return asked_version()


def asked_version() -> str:
    """Return SimGrid's version from the provenance of a simulation without actors."""
    from simplugin.platforms import Host, Platform, Zone
    from simplugin.simulation import simulate

    somewhere = Platform((Zone("somewhere", "Full", (Host("anywhere", 1.0),)),))
    return str(simulate(somewhere, [], trace=False).provenance["simgrid"])


def versions(provenance: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the versions of Python, this package, numpy, the solvers and SimGrid.

    Parameters
    ----------
    provenance : mapping, optional
        Of the run; it contains SimGrid's version.
    """
    found = dict(_installed())
    simgrid = (provenance or {}).get("simgrid")
    if isinstance(simgrid, str):
        found["simgrid"] = simgrid
    return found


@cache
def _installed() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
