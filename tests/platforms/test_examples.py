"""The example files are what the command in their first comment makes, and SimGrid loads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simplugin.formats.check import check
from simplugin.simulation.resolve import resolve

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "platforms_xml").glob("*.xml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_what_its_command_makes(file: Path, tmp_path: Path) -> None:
    match = re.search(rf"<!-- python (\S+) (\S+) platforms_xml/{file.name} -->", file.read_text())
    assert match is not None
    program, name = match.groups()
    (tmp_path / "platforms_xml").mkdir()
    subprocess.run(
        [sys.executable, ROOT / program, name, f"platforms_xml/{file.name}"],
        cwd=tmp_path,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (tmp_path / "platforms_xml" / file.name).read_bytes() == file.read_bytes()


# Only neighbours have routes on the report's five hosts, and on a tree.
JOINED = [file for file in FILES if file.name not in ("five_hosts.xml", "tree.xml")]


@pytest.mark.parametrize("file", JOINED, ids=lambda file: file.name)
def test_all_hosts_of_a_file_reach_each_other(file: Path) -> None:
    assert check([file]) == []
    assert resolve(file, 200).unreachable == ()


def test_deployments_fit_the_platform_of_their_scenario() -> None:
    files = [ROOT / "platforms_xml/lille_nancy.xml", ROOT / "deployments/master_worker.xml"]
    assert check(files) == []
