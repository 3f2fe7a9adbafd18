"""``simplugin platform availability`` as users call it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from simplugin import Cluster, Link, Platform, Zone
from simplugin.cli import app
from simplugin.formats.check import check
from simplugin.formats.platform_xml import read_platform, write_platform
from simplugin.platforms import Host, Profile, ProfileUse, Route
from simplugin.platforms.availability.followers import with_availability
from simplugin.platforms.availability.processes import (
    Churn,
    Levels,
    Outages,
    model_named,
    model_names,
)
from simplugin.platforms.laws import Law
from simplugin.simulation.resolve import resolve

DAY = 86400.0
GRID5000 = Path(__file__).parents[2] / "platforms_xml/grid5000.xml"
PLATFORM = Platform(
    Zone(
        "lab",
        "Full",
        (
            Zone(
                "room",
                "Full",
                (Host("ada", 1e9), Host("bob", 1e9), Link("cable", 1e6, 1e-3)),
                (Route("ada", "bob", ["cable"]),),
            ),
        ),
    )
)


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["platform", "availability", *map(str, words)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_platform(PLATFORM, tmp_path / "lab.xml")
    return tmp_path / "lab.xml"


def made(file: Path, *words: object) -> Platform:
    """What the command writes; checked."""
    output = file.parent / "out.xml"
    result = call(file, *words, "-o", output)
    assert result.exit_code == 0, result.output
    assert check([output]) == []
    return read_platform(output)


LOAD = Levels(Law("uniform", (0.2, 1.0)), Law("exponential", (600.0,)))


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (
            ["--model", "g5k06-weibull", "--spared", "ada"],
            {"states": model_named("g5k06-weibull"), "spared": ["ada"]},
        ),
        (
            ["--up", "weibull(0.5, 2h)", "--down", "10m", "--start", "up", "--hosts", "ada,bob"],
            {
                "states": Outages(Law("weibull", (0.5, 7200.0)), Law("constant", (600.0,)), "up"),
                "hosts": ["ada", "bob"],
            },
        ),
        (
            ["--links", "room", "--link-up", "1h", "--link-down", "1m"],
            {
                "links": "room",
                "link_states": Outages(Law("constant", (3600.0,)), Law("constant", (60.0,))),
            },
        ),
        (
            ["--arrival", "uniform(1h, 1d)", "--stay", "exponential(2d)", "--away", "1h"],
            {
                "states": Churn(
                    Law("exponential", (2 * DAY,)),
                    Law("uniform", (3600.0, DAY)),
                    Law("constant", (3600.0,)),
                )
            },
        ),
        (["--speed", "uniform(0.2, 1)", "--speed-for", "exponential(10m)"], {"speeds": LOAD}),
        (
            [
                "--links",
                "room",
                "--bandwidth",
                "uniform(0.2,1)",
                "--bandwidth-for",
                "exponential(10m)",
            ],
            {"bandwidths": LOAD, "links": "room"},
        ),
        (
            ["--latency", "lognormal(3, 1)", "--latency-for", "10m"],
            {
                "latencies": Levels(
                    Law("lognormal", (3.0, 1.0)), Law("constant", (600.0,)), math.inf
                )
            },
        ),
        (
            ["--link-up", "exponential(1h)", "--link-down", "exponential(90s)"],
            {"link_states": Outages(Law("exponential", (3600.0,)), Law("exponential", (90.0,)))},
        ),
    ],
)
def test_options_stand_for_processes(file: Path, words: list[str], given: dict[str, Any]) -> None:
    written = made(file, *words, "--until", "7d", "--seed", "3")
    assert written == with_availability(PLATFORM, 7 * DAY, 3, **given)
    assert any(isinstance(part, ProfileUse) for part, _ in written.walk())


def test_same_command_same_bytes(file: Path) -> None:
    words = ["--model", "nd07cpu-weibull", "--until", "7d", "--seed"]
    printed = [call(file, *words, seed).output for seed in (1, 1, 2)]
    # The command stands in the first comment: pytest's here, whatever the seed.
    assert printed[0] == printed[1]
    assert printed[0] != printed[2]
    made(file, *words, 1)
    lines = (file.parent / "out.xml").read_text().splitlines()
    assert [line for line in lines if "<trace" in line] == [
        line for line in printed[0].splitlines() if "<trace" in line
    ]


def test_profiles_in_files(file: Path) -> None:
    words = ["--model", "g5k06-weibull", "--until", "30d", "--seed", "3"]
    within = made(file, *words)
    outside = made(file, *words, "--files", file.parent / "profiles")
    names = [part.file for part, _ in outside.walk() if isinstance(part, Profile)]
    assert names == ["profiles/ada.state.profile", "profiles/bob.state.profile"]
    texts = [part.text.strip() for part, _ in within.walk() if isinstance(part, Profile)]
    assert [(file.parent / name).read_text().strip() for name in names] == texts


def test_models_are_listed() -> None:
    result = call("--models")
    assert result.exit_code == 0
    names = [line.split()[0].removesuffix("(T)") for line in result.output.splitlines()]
    assert tuple(names[1:]) == model_names()
    (line,) = re.findall(r"g5k06-exponential +([\d.]+) h +([\d.]+) h +([\d.]+)%", result.output)
    assert line == ("32.4", "7.41", "81.4")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "say what changes"),
        (["--up", "1h"], 2, "--up and --down go together"),
        (["--speed", "0.5"], 2, "--speed and --speed-for go together"),
        (["--away", "1h"], 2, "--arrival and --away need --stay"),
        (["--model", "pl05-gamma", "--up", "1h", "--down", "1h"], 2, "--model, or --up"),
        (["--model", "pl05-gamma", "--stay", "1h"], 2, "outages or churn, not both"),
        (["--stay", "1h", "--files", "x"], 2, "--files needs --output"),
        (["--model", "g5k07-weibull"], 1, "no model 'g5k07-weibull'"),
        (["--stay", "exp(2h)"], 1, "there is no law 'exp'"),
        (["--stay", "1h", "--hosts", "carl"], 1, "'carl' is no host, zone, cluster"),
        (["--speed", "uniform(0.5, 2)", "--speed-for", "1h"], 1, "above 1"),
        (["--speed", "0.5", "--speed-for", "1h", "--links", "no"], 2, "--links means nothing"),
        (["--bandwidth", "0.5", "--bandwidth-for", "1h", "--hosts", "no"], 2, "--hosts means"),
        (["--latency", "2", "--latency-for", "1h", "--hosts", "all"], 2, "--hosts means nothing"),
        (["--speed", "0.5", "--speed-for", "1h", "--start", "up"], 2, "--start means nothing"),
        (["--stay", "1h", "--start", "stationary"], 2, "--start means nothing without --model"),
        (["--stay", "1h", "--hosts", ""], 1, "'' is no host"),
        (["--stay", "1h", "--hosts", "ada,"], 1, "'' is no host"),
        (["--stay", "1h", "--spared", ""], 1, "no host or link '' to spare"),
        (["--link-up", "1h", "--link-down", "1h", "--links", ","], 1, "no link or zone ''"),
        (["--model", "schroeder-gibson06(30)"], 1, "time '30' has no unit"),
        (["--model", "schroeder-gibson06(-30d)"], 1, "mean time up of schroeder-gibson06 is -"),
    ],
)
def test_what_makes_no_sense_is_told(file: Path, words: list[str], status: int, said: str) -> None:
    result = call(file, "--until", "1d", *words)
    assert result.exit_code == status
    assert said in " ".join(re.sub("[│╭╮╰╯─]", " ", result.output).split())


def test_a_date_to_end_at_is_needed(file: Path) -> None:
    assert call(file, "--stay", "1h").exit_code == 2
    assert call("--until", "1d", "--stay", "1h").exit_code == 2
    assert call(file, "--until", "1 fortnight", "--stay", "1h").exit_code == 2
    for until in ("7", "7.5", "1e6"):
        result = call(file, "--until", until, "--stay", "1h")
        assert result.exit_code == 2
        assert f"time '{until}' has no unit" in " ".join(result.output.split())


def test_links_of_clusters_need_these_written_out(tmp_path: Path) -> None:
    cluster = Platform(Zone("z", "Full", (Cluster("c", "0-3", 1e9, 1e6, 0.0, prefix="c-"),)))
    write_platform(cluster, tmp_path / "c.xml")
    words = ["--link-up", "exponential(1h)", "--link-down", "1m", "--until", "1d"]
    assert "--expand" in " ".join(call(tmp_path / "c.xml", *words).output.split())
    write_platform(cluster, tmp_path / "out.xml", expand=True)
    result = call(tmp_path / "out.xml", *words, "-o", tmp_path / "made.xml")
    assert result.exit_code == 0, result.output
    uses = [
        p.element
        for p, _ in read_platform(tmp_path / "made.xml").walk()
        if isinstance(p, ProfileUse)
    ]
    assert uses == [f"c_link_{number}_{way}" for number in range(4) for way in ("UP", "DOWN")]
    # The option does the same at once.
    result = call(tmp_path / "c.xml", *words, "--expand", "-o", tmp_path / "at_once.xml")
    assert result.exit_code == 0, result.output
    assert read_platform(tmp_path / "at_once.xml") == read_platform(tmp_path / "made.xml")


def test_all_of_grid5000_written_out(tmp_path: Path) -> None:
    words = [
        "--link-up",
        "1d",
        "--link-down",
        "10m",
        "--links",
        "gros",
        "--until",
        "1h",
        "--expand",
    ]
    result = call(GRID5000, *words, "--expand", "-o", tmp_path / "made.xml")
    assert result.exit_code == 0, result.output
    assert check([tmp_path / "made.xml"]) == []
    made, before = read_platform(tmp_path / "made.xml"), read_platform(GRID5000)
    assert list(made.host_names()) == list(before.host_names())
    uses = [part.element for part, _ in made.walk() if isinstance(part, ProfileUse)]
    assert uses
    assert all(use.startswith("gros_link_") for use in uses)
    # One transfer between the same hosts meets the same links.
    ends = [("gros-1.nancy.grid5000.fr", "chiclet-2.lille.grid5000.fr")]
    ways = [resolve(platform, pairs=ends).routes for platform in (before, made)]
    assert ways[0] == ways[1]


def test_clusters_that_cannot_be_written_out(tmp_path: Path) -> None:
    torus = Cluster("t", "0-7", 1e9, 1e6, 0.0, topology="TORUS", topology_parameters="2,2,2")
    write_platform(Platform(Zone("z", "Full", (torus,))), tmp_path / "t.xml")
    result = call(tmp_path / "t.xml", "--stay", "1h", "--until", "1d", "--expand")
    assert result.exit_code == 1
    assert "its topology is TORUS; leave the clusters as they are" in result.output
