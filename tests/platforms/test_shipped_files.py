"""Shipped platforms and deployments are what the command in their first comment makes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_platform
from simplugin.platforms.census import telling_pairs
from simplugin.simulation.resolve import load

ROOT = Path(__file__).parents[2]
PLATFORMS = sorted((ROOT / "platforms_xml").glob("*.xml"))
DEPLOYMENTS = sorted((ROOT / "deployments").glob("*.xml"))
# Pricing and bags use hosts that have routes to their neighbours only.
NEIGHBOURS_ONLY = {"five_hosts", "tree"}


def command_of(file: Path) -> list[str]:
    """Return the command in the first comment of a file."""
    match = re.search("<!-- (.*?) -->", file.read_text(encoding="utf-8"))
    assert match is not None
    return shlex.split(match[1])


def test_there_are_some() -> None:
    assert len(PLATFORMS) >= 9
    assert DEPLOYMENTS


def test_nothing_else_is_there() -> None:
    for directory in ("platforms_xml", "deployments"):
        files = [path for path in (ROOT / directory).iterdir() if path.is_file()]
        assert {file.suffix for file in files} == {".xml"}


@pytest.mark.parametrize("file", [*PLATFORMS, *DEPLOYMENTS], ids=lambda file: file.stem)
def test_a_file_is_what_its_command_makes(
    file: Path, tmp_path: Path, simplugin: Callable[..., CompletedProcess[str]]
) -> None:
    words = command_of(file)
    path = file.relative_to(ROOT).as_posix()
    assert words[0] == "simplugin"
    assert words[-2:] == ["-o", path]
    made = tmp_path / file.name
    simplugin(*words[1:-1], made, cwd=ROOT).check_returncode()
    assert made.read_bytes().replace(str(made).encode(), path.encode()) == file.read_bytes()


@pytest.mark.parametrize("file", PLATFORMS, ids=lambda file: file.stem)
def test_all_hosts_of_a_platform_reach_each_other(file: Path) -> None:
    pairs = telling_pairs(read_platform(file))
    assert pairs.complete
    loading = load(file, pairs.pairs)
    if file.stem in NEIGHBOURS_ONLY:
        assert loading.unreachable
        assert [finding.severity for finding in check([file])] == ["warning"]
        return
    assert loading.unreachable == ()
    assert check([file]) == []


def test_deployments_fit_the_platform_of_their_scenario() -> None:
    files = [ROOT / "platforms_xml/lille_nancy.xml", ROOT / "deployments/master_worker.xml"]
    assert check(files) == []
