"""The package's face: complete, and light."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

import simplugin

ROOT = Path(__file__).resolve().parents[2]

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


@pytest.mark.parametrize(
    "package",
    sorted(
        ".".join(stub.parent.relative_to(ROOT).parts)
        for stub in (ROOT / "simplugin").rglob("__init__.pyi")
    ),
)
def test_every_public_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        simplugin.no_such_name  # noqa: B018 - the access is what is tested


def test_the_version_is_the_installed_one() -> None:
    assert simplugin.__version__ == importlib.metadata.version("simplugin")
