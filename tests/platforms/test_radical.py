from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.platforms import radical


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, unique=True))
def test_numbers_survive(values: list[int]) -> None:
    text = radical.of_numbers(values)
    assert list(radical.numbers(text)) == values
    assert radical.count(text) == len(values)
    radical.require_radical("a cluster", text)


def test_runs_are_ranges() -> None:
    assert radical.of_numbers([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"


def test_spaces_are_overlooked() -> None:
    assert list(radical.numbers("0 - 2, 5")) == [0, 1, 2, 5]


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1-2-3", "1,,2", "3-1", "9999999999", "1.5"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(PlatformError, match="radical"):
        radical.ranges(text)


@pytest.mark.parametrize("text", ["1,1", "0-5,3", "3,0-5", "0-3,3-4"])
def test_a_number_twice_is_refused(text: str) -> None:
    with pytest.raises(PlatformError, match="twice"):
        radical.require_radical("cluster 'c'", text)
