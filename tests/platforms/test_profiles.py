from __future__ import annotations

import pytest

from simplugin.errors import CrashError, PlatformError
from simplugin.platforms import Host, Platform, Profile, ProfileUse, Zone
from simplugin.platforms.profiles import profile_problem
from simplugin.simulation.resolve import resolve

# Text, period and whether SimGrid takes it.
PROFILES = [
    ("0 1.0\n11.0 0.5\n20.0 0.8\n", 21.0, True),
    ("0 1.0\n11.0 0.5\n", -1.0, True),
    ("# comment\n% another\n\n1 1\n", -1.0, True),
    ("PERIODICITY 12\n1 1\n2 0.5\n", -1.0, True),
    ("LOOPAFTER 3\n1 1\n2 0.5\n", -1.0, True),
    ("STOCHASTIC LOOP\nUNIF 1 2 DET 1\nEXP 0.1 NORM 1 0.1\n", -1.0, True),
    ("\n", -1.0, True),
    ("1\n", -1.0, False),
    ("one two\n", -1.0, False),
    ("2 1\n1 1\n", -1.0, False),
    ("-1 1\n", -1.0, False),
    ("1 1\n5 1\n", 3.0, False),
    ("5e-324 1\n", -1.0, False),
    ("STOCHASTIC\n1 1\n", -1.0, False),
    ("STOCHASTIC\nDET 1 DET\n", -1.0, False),
]


@pytest.mark.parametrize(("text", "period", "taken"), PROFILES)
def test_profiles_are_judged_as_simgrid_judges_them(text: str, period: float, taken: bool) -> None:
    assert (profile_problem(text, period) is None) is taken
    zone = Zone("w", "Full", (Host("a", 1e9),))
    platform = Platform((zone, Profile("t", text, period=period), ProfileUse("t", "a", "SPEED")))
    if taken:
        assert len(resolve(platform).hosts) == 1
    else:
        with pytest.raises((PlatformError, CrashError)):
            resolve(platform)


def test_points_become_lines() -> None:
    profile = Profile.of_points("t", [(0.0, 1.0), (1.5, 0.25)], period=3.0)
    assert profile.text.split() == ["0.0", "1.0", "1.5", "0.25"]
