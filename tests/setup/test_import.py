"""The package's face: complete, and light."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import simplugin

ROOT = Path(__file__).resolve().parents[2]

OF_DOCUMENTS = {"lxml", "matplotlib", "networkx", "pydantic", "rich", "typer"}
HEAVY = {"cloudpickle", "cvxpy", "numpy", "pandas", "scipy"} | OF_DOCUMENTS
HEAVY |= {"simgrid", "simplugin.simulation.threads.simgrid"}


def modules_after(code: str) -> set[str]:
    """Return the modules that are loaded when a new Python has run some code."""
    code += "; import json, sys; print(json.dumps(sorted(sys.modules)))"
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT)))


def test_importing_the_package_imports_nothing_heavy() -> None:
    modules = modules_after("import simplugin")
    assert "simplugin" in modules
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("simplugin.")}


def test_importing_simulate_imports_numpy_only() -> None:
    modules = modules_after(
        "from simplugin.simulation import simulate, Placement, SimGridOptions; "
        "import simplugin.simulation.simulate; assert callable(simplugin.simulation.simulate)"
    )
    assert not modules & (HEAVY - {"numpy"})


def test_checking_files_imports_no_numbers_and_no_network() -> None:
    check = "from simplugin.campaigns.campaign import check_file; from pathlib import Path; "
    modules = modules_after(
        "from simplugin.formats.check import check; assert not check(['platforms_xml/lille.xml']); "
        + "import sys; assert 'pydantic' not in sys.modules; "
        + check
        + "assert not check_file(Path('scenarios/demo.toml'), imports=False, trust=())"
    )
    assert not modules & (HEAVY - {"cloudpickle", "pydantic"} | {"asyncio"})


STUBS = sorted((ROOT / "simplugin").rglob("__init__.pyi"))


@pytest.mark.parametrize("package", [".".join(s.parent.relative_to(ROOT).parts) for s in STUBS])
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


def test_the_citation_is_of_this_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    metadata = importlib.metadata.metadata("simplugin")
    assert citation["title"] == f"simplugin: {lower_first(metadata['Summary'])}"
    assert citation["license"] == metadata["License-Expression"]
    assert [each["name"] for each in citation["authors"]] == [metadata["Author"]]
    assert "version" not in citation  # it is written once, in pyproject.toml


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
