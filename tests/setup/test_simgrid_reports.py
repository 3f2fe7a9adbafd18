"""The programs of the reports to SimGrid's authors show their defects, or run as they should."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = CHECKOUT / "docs/simgrid"
REPORTS = CHECKOUT / "tools/simgrid_reports"
PROGRAMS = sorted(path.stem for path in REPORTS.glob("*.cpp"))
PATCHED = {path.stem for path in CHECKOUT.glob("tools/simgrid_patches/*.patch")}


@pytest.fixture(scope="module")
def program(simgrid_prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs in one, which takes a number first: SimGrid's headers are compiled once."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    library = simgrid_prefix / "lib"
    if not (library / "libsimgrid-simplugin.so.4.1").exists():
        pytest.skip("for SimGrid 4.1 as it is built here")
    directory = tmp_path_factory.mktemp("reports")
    lines = ["#include <fstream>", "#include <simgrid/s4u.hpp>"]
    for number, name in enumerate(PROGRAMS):
        lines += [f"#define main main_{number}", f"#define platform platform_{number}"]
        lines += [f'#include "{REPORTS}/{name}.cpp"', "#undef main", "#undef platform"]
    mains = ", ".join(f"main_{number}" for number in range(len(PROGRAMS)))
    lines += [f"int (*const mains[])(int, char**) = {{{mains}}};"]
    lines += ["int main(int n, char** words) { return mains[std::stoi(words[1])](n, words); }"]
    source = directory / "all.cpp"
    source.write_text("\n".join(lines), encoding="utf-8")
    words = ["g++", "-std=c++17", f"-I{simgrid_prefix}/include", source, f"-L{library}"]
    words += [f"-Wl,-rpath,{library}", "-lsimgrid", "-o", directory / "all"]
    subprocess.run(words, check=True)
    return directory / "all"


@pytest.mark.parametrize("name", PROGRAMS)
def test_reported_defects(name: str, program: Path, tmp_path: Path) -> None:
    text = (REPORTS / f"{name}.cpp").read_text(encoding="utf-8")
    head = dict(re.findall(r"^// (With|Expected|Found): (.+)$", text, re.MULTILINE))
    words = [program, str(PROGRAMS.index(name)), *head.get("With", "").split()]
    run = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    expected = head["Expected" if name in PATCHED else "Found"]
    if expected.startswith("SIG"):
        ended, _, output = expected.partition(", ")
        assert run.returncode == -signal.Signals[ended]
    else:
        output = expected
        assert run.returncode == 0
    assert output in run.stdout + run.stderr


def test_the_index_has_all_reports_and_links_lead_to_files() -> None:
    for page in PAGES.glob("*.md"):
        links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
        assert all((PAGES / link).is_file() for link in links), page
        if page.stem == "README":
            assert {path.name for path in PAGES.glob("*.md")} - {page.name} <= set(links)
