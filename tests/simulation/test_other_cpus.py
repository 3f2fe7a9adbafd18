"""The same decisions, counts and ties, and dates to 1e-9, on every CPU."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("other_cpu.py")
# Of each kind those that ask most of arithmetic: markets magnify rounding from round to round,
# thresholds are logarithmic, failures are drawn, allocations compare times of tasks.
SCENARIOS = (
    "bags_failures",
    "market",
    "pricing_clusters",
    "taskgraphs_federation",
)
WITHOUT_FMA = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4,-FMA_Usable,-AVX2_Usable"}
WITHOUT_AVX = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
WITHOUT_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
# What the libraries do on other CPUs: the kernels of OpenBLAS, the C library and numpy. Each on its
# own, so that the difference of the probe is that of its library.
SETTINGS = {
    "nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "skylakex": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "libm without FMA": WITHOUT_FMA,
    "numpy without AVX": WITHOUT_AVX,
    "numpy without AVX-512": WITHOUT_AVX512,
    "oldest": {"OPENBLAS_CORETYPE": "Prescott", **WITHOUT_FMA, **WITHOUT_AVX},
}
VARIABLES = ("OPENBLAS_CORETYPE", "GLIBC_TUNABLES", "NPY_DISABLE_CPU_FEATURES")


def run(directory, usual, variables):
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    words = [sys.executable, PROGRAM, directory, json.dumps(usual)]
    return subprocess.run(words, env=kept | variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The scenarios, their results recorded by this CPU as it is, and its probe."""
    place = tmp_path_factory.mktemp("cpu")
    for name in ("platforms_xml", "deployments", "scenarios"):
        shutil.copytree(CHECKOUT / name, place / name)
    directory = place / "scenarios"
    shutil.rmtree(directory / "recorded")
    for path in directory.glob("*.toml"):
        if path.stem not in SCENARIOS:
            path.unlink()
    done = run(directory, {}, {})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert not found["moved"]
    assert found["scenarios"] == len(SCENARIOS)
    return directory, found["probe"]


@pytest.mark.parametrize("name", SETTINGS)
def test_scenarios_are_the_same_on_another_cpu(recorded, name):
    directory, usual = recorded
    done = run(directory, usual, SETTINGS[name])
    if done.returncode < 0:
        pytest.skip("this CPU cannot execute it")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if found["probe"] == usual:
        pytest.skip("it computes as it does without the setting")
    assert found["moved"] == {}
    assert found["scenarios"] == len(SCENARIOS)


# ---- no decision by arithmetic that depends on the CPU ------------------------------------------

# Packages whose results are decisions, counts, dates or draws. Drawings (reports) and solvers,
# whose results are figures (optimum), may use what is in no other package.
DECIDING = (
    *("bags", "campaigns", "market", "jobs", "platforms"),
    *("pricing", "simulation", "taskgraphs", "workloads"),
)
BY_CPU = re.compile(
    r"a?(rc)?(sin|cos|tan)[h2]?|exp(2|m1)?|log(2|10|1p|add.*)?|(float_)?pow(er)?|cbrt|hypot|l?gamma"
    r"|erfc?|v?dot|inner|matmul|einsum|tensordot|linalg"
)
# Distances of sites, rounded to the millimetre.
EXCEPTIONS = {"platforms/grid5000/latencies.py": {"asin", "cos", "sin"}}


def by_cpu(tree):
    """Yield what of a module may have other last bits, or another order, on another CPU."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.MatMult()):
                yield "@"
            case ast.Attribute(value=ast.Name(id="np" | "math"), attr=name) if BY_CPU.fullmatch(
                name
            ):
                yield name
            # Ties come in an order that depends on the width of vectors.
            case ast.Call(func=ast.Attribute(attr="argsort" | "argpartition")) if not any(
                each.arg == "kind" for each in node.keywords
            ):
                yield "argsort"
            case ast.Attribute(attr="lognormal" | "weibull"):
                yield node.attr


def test_decisions_use_arithmetic_that_is_the_same_on_every_cpu():
    package = CHECKOUT / "simplugin"
    found = {}
    for path in [path for name in DECIDING for path in (package / name).rglob("*.py")]:
        name = path.relative_to(package).as_posix()
        used = set(by_cpu(ast.parse(path.read_text()))) - EXCEPTIONS.get(name, set())
        if used:
            found[name] = sorted(used)
    assert found == {}, "use simplugin.core.elementary, products added by numpy, and stable sorting"
