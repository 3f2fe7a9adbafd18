"""Dates and values of profiles, by hand."""

import pytest

from simplugin.errors import PlatformError
from simplugin.platforms.profiles import timeline


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
