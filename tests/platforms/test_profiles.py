from __future__ import annotations

import pytest

from simplugin.errors import CrashError, PlatformError
from simplugin.platforms import Host, Platform, Profile, ProfileUse, Zone
from simplugin.platforms.profiles import profile_problem, timeline
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


@pytest.mark.parametrize(
    ("text", "period", "found"),
    [
        ("# none\n", -1.0, []),
        ("1 0\n3 1\n", -1.0, [(1, 0), (3, 1)]),
        ("1 0\r\n% no\nDET 3 DET 1\n12 0", -1.0, [(1, 0), (3, 1)]),
        # Every 4 s, from 1 s on.
        ("1 0\n3 1\n", 4.0, [(1, 0), (3, 1), (5, 0), (7, 1), (9, 0)]),
        ("PERIODICITY 4\n1 0\n3 1\n", -1.0, [(1, 0), (3, 1), (5, 0), (7, 1), (9, 0)]),
        # 2 s after the last, plus the first date's delay.
        ("1 0\n3 1\nLOOPAFTER 2\n", -1.0, [(1, 0), (3, 1), (6, 0), (8, 1)]),
        ("0 2\n3 1\nLOOPAFTER 2\n", -1.0, [(0, 2), (3, 1), (5, 2), (8, 1)]),
    ],
)
def test_dates_and_values(text, period, found):
    assert timeline(text, 10.0, period) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("STOCHASTIC LOOP\nEXP 1 UNIF 0 1\n", "random"),
        ("NORM 1 0.1 0.5\n", "random"),
        ("0 1\nLOOPAFTER 0\n", "without end"),
        ("0 1\n1e-6 0\nLOOPAFTER 1e-6\n", "more than 100000 times"),
        ("2 1\n1 0\n", "line 2: date 1 comes before 2"),
    ],
)
def test_what_cannot_be_foretold(text, told):
    with pytest.raises(PlatformError, match=told):
        timeline(text, 10.0)
