"""The package's face: complete, and light."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys

import pytest

import simplugin

HEAVY = {
    "cloudpickle",
    "cvxpy",
    "lxml",
    "matplotlib",
    "networkx",
    "numpy",
    "pandas",
    "pydantic",
    "rich",
    "scipy",
    "simgrid",
    "typer",
}


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import simplugin, json, sys; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    modules = set(json.loads(answer.stdout))
    assert "simplugin" in modules
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("simplugin.")}


@pytest.mark.parametrize("name", simplugin.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(simplugin, name) is not None
    assert name in dir(simplugin)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        simplugin.no_such_name  # noqa: B018 - the access is what is tested


def test_the_version_is_the_installed_one() -> None:
    assert simplugin.__version__ == importlib.metadata.version("simplugin")
