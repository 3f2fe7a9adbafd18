"""Profiles in files: the same to SimGrid as profiles within the platform."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from simplugin import Cluster, Placement, Platform, Zone, simulate
from simplugin.errors import PlatformError
from simplugin.formats.check import check
from simplugin.formats.platform_xml import write_platform
from simplugin.formats.profiles import read_profile, write_profiles
from simplugin.platforms import Host, Profile, ProfileUse
from simplugin.platforms.availability.followers import with_availability
from simplugin.platforms.availability.processes import Levels, Outages
from simplugin.platforms.laws import Law
from simplugin.platforms.profiles import timeline


@pytest.fixture
def platform() -> Platform:
    rack = Zone("z", "Full", (Cluster("rack", "0-2", 1e9, 1e6, 0.0, prefix="rack-"),))
    states = Outages(Law("exponential", (30.0,)), Law("exponential", (3.0,)), "up")
    speeds = Levels(Law("uniform", (0.3, 1.0)), Law("exponential", (4.0,)))
    return with_availability(Platform(rack), 80.0, 5, states=states, speeds=speeds)


async def work(me: Any) -> float:
    await me.execute(5e9)
    return float(me.now)


def ends(platform: Platform | Path) -> list[tuple[str, Any, str]]:
    """When work ends on each host, however often it starts again."""
    actors = [Placement(f"rack-{number}", work, restart=True) for number in range(3)]
    result = simulate(platform, actors)
    return [(each.host, each.value, each.state) for each in result.returned]


def test_simgrid_does_the_same_with_files(platform: Platform, tmp_path: Path) -> None:
    known = ends(platform)
    moved = write_profiles(platform, tmp_path / "here" / "profiles")
    assert ends(moved) == known
    (tmp_path / "there").mkdir()
    file = tmp_path / "there" / "platform.xml"
    write_platform(moved, file)
    assert '"../here/profiles/rack-0.speed.profile"' in file.read_text()
    assert ends(file) == known
    assert check([file]) == []
    # Neither the actors nor the hosts did without the profiles.
    assert ends(Platform(platform.elements[0])) != known


def test_what_is_in_the_files(platform: Platform, tmp_path: Path) -> None:
    moved = write_profiles(platform, tmp_path)
    within = {part.id: part for part, _ in platform.walk() if isinstance(part, Profile)}
    outside = {part.id: part for part, _ in moved.walk() if isinstance(part, Profile)}
    assert outside.keys() == within.keys()
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}.profile" for name in within}
    for name, profile in within.items():
        text = read_profile(moved, outside[name].file)
        assert timeline(text, math.inf) == timeline(profile.text, math.inf)
    uses = [part for part, _ in platform.walk() if isinstance(part, ProfileUse)]
    assert [part for part, _ in moved.walk() if isinstance(part, ProfileUse)] == uses
    # Once in files they stay there.
    assert write_profiles(moved, tmp_path / "again") == moved
    assert list((tmp_path / "again").iterdir()) == []


def test_a_period_goes_with_its_profile(tmp_path: Path) -> None:
    zone = Zone("z", "Full", (Host("a", 1e9), Profile.of_points("p", [(1.0, 0.5)], period=3.0)))
    moved = write_profiles(Platform((zone, ProfileUse("p", "a", "SPEED"))), tmp_path)
    assert (tmp_path / "p.profile").read_text() == "PERIODICITY 3.0\n1.0 0.5\n"
    inner = moved.elements[0]
    assert isinstance(inner, Zone)
    assert inner.elements[1] == Profile("p", file=str(tmp_path / "p.profile"))


def test_names_that_are_no_file_names(tmp_path: Path) -> None:
    odd = [Profile(name, "1 1\n") for name in ("../up", "a/b", "50% é", ".")]
    write_profiles(Platform(tuple(odd)), tmp_path / "p")
    names = {"..%2Fup", ".", "50%25%20%C3%A9", "a%2Fb"}
    assert {file.name for file in (tmp_path / "p").iterdir()} == {f"{n}.profile" for n in names}
    assert [each.name for each in tmp_path.iterdir()] == ["p"]
    with pytest.raises(PlatformError, match="two profiles would be written"):
        write_profiles(Platform((Profile("a", "1 1\n"), Profile("A", "1 1\n"))), tmp_path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PlatformError, match="you may write"):
        write_profiles(Platform((Profile("a", "1 1\n"),)), tmp_path / "file")
