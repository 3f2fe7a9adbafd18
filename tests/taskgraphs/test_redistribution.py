"""Which processor sends how much to which one."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.errors import WorkloadError
from simplugin.taskgraphs.timing import overlaps, redistribution

PROCESSORS = st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True)


def plainly(byte: int, sources: list[int], targets: list[int]) -> dict[tuple[int, int], Fraction]:
    """Return what each sends to each: the common part of two intervals of all data."""
    m, n = len(sources), len(targets)
    sent = {}
    for i, source in enumerate(sources):
        for j, target in enumerate(targets):
            left = max(Fraction(i, m), Fraction(j, n))
            right = min(Fraction(i + 1, m), Fraction(j + 1, n))
            if right > left:
                sent[source, target] = byte * (right - left)
    return sent


@given(st.integers(1, 10**10), PROCESSORS, PROCESSORS)
def test_blocks_overlap_as_intervals_do(byte, sources, targets):
    hosts, sizes = redistribution(byte, sources, targets)
    assert sorted(hosts.tolist()) == sorted({*sources, *targets})
    assert hosts[: len(sources)].tolist() == sources
    sent = {
        (int(hosts[row]), int(hosts[column])): sizes[row, column]
        for row, column in np.argwhere(sizes).tolist()
    }
    expected = plainly(byte, sources, targets)
    assert sent.keys() == expected.keys()
    for pair, amount in expected.items():
        assert sent[pair] == pytest.approx(float(amount), rel=1e-12)


@given(st.integers(1, 60), st.integers(1, 60))
def test_number_of_messages(m, n):
    row, column, part = overlaps(m, n)
    assert len(row) == len(column) == len(part) == m + n - gcd(m, n)


def test_the_same_processors_keep_their_blocks():
    hosts, sizes = redistribution(12.0, [4, 2, 7], [4, 2, 7])
    assert hosts.tolist() == [4, 2, 7]
    assert sizes.tolist() == np.diag([4.0, 4.0, 4.0]).tolist()
    assert not redistribution(12.0, [4, 2, 7], [4, 2, 7], local="kept")[1].any()


def test_kept_data_are_those_on_the_diagonal():
    # Processor 5 has the first half and needs the second: all of it moves. Processor 6 likewise.
    _, sizes = redistribution(10.0, [5, 6], [6, 5], local="kept")
    assert sizes.tolist() == [[0.0, 5.0], [5.0, 0.0]]
    # To three processors, the first keeps a third of all data.
    _, sizes = redistribution(12.0, [5, 6], [5, 8, 6], local="kept")
    assert sizes.tolist() == [[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def test_uniform_sends_to_everyone():
    hosts, sizes = redistribution(12.0, [0, 1], [1, 2, 3], pattern="uniform")
    assert hosts.tolist() == [0, 1, 2, 3]
    assert sizes.tolist() == [[0.0, 2.0, 2.0, 2.0], [0.0, 2.0, 2.0, 2.0], [0.0] * 4, [0.0] * 4]


def test_unknown_choices():
    with pytest.raises(WorkloadError, match="pattern is 'cyclic'; choose 'block' or 'uniform'"):
        redistribution(1.0, [0], [1], pattern="cyclic")
    with pytest.raises(WorkloadError, match="local is 'lost'; choose 'sent' or 'kept'"):
        redistribution(1.0, [0], [1], local="lost")


def test_nobody_to_send_to():
    with pytest.raises(WorkloadError, match="from 2 to 0 processors"):
        redistribution(1.0, [0, 1], [])
