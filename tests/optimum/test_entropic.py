"""The most even of the largest throughputs, where equations and bounds say nearly the same."""

from __future__ import annotations

import numpy as np
import pytest

from simplugin.optimum.entropic import entropic

# Two equations and the bounds of a drawn platform: the fifth bound nearly follows from the others.
BOUND = np.array(
    [
        [1.607199164931365e-08, 1.1499913735763915e-06, 6.849456287857964e-10, 1.30785508298e-05],
        [1.5064466356025398e-05, 0.0, 0.0, 0.0],
        [0.0, 3.3002100171935180e-05, 1.9656359841395287e-08, 0.0],
        [5.1497067858321188e-06, 2.2396873151728993e-05, 1.3339787337741883e-08, 0.0],
        [2.5316657406292918e-11, 1.1010606780099797e-10, 4.2185982370705219e-08, 0.0],
    ]
)
EQUAL = np.array(
    [
        [8.384862880402372e-08, 4.192431440201186e-08, 4.192431440201186e-08, 0.0],
        [0.0, 0.0, 0.0, 4.028145062823968e-02],
    ]
)
WEIGHT = np.array([2.0, 1.0, 1.0, 0.10651608528489095])


def test_bounds_that_follow_from_others_are_no_failure() -> None:
    throughput = entropic(BOUND, EQUAL, WEIGHT)
    assert EQUAL @ throughput == pytest.approx([1.0, 1.0], rel=1e-10)
    assert (BOUND @ throughput).max() <= 1 + 1e-9
    # Three tight rows tell the first three; they are those of alpha 0.1 as well.
    tight = np.vstack([EQUAL[0, :3], BOUND[1, :3], BOUND[4, :3]])
    assert throughput[:3] == pytest.approx(np.linalg.solve(tight, np.ones(3)), rel=1e-7)
    assert throughput[3] == pytest.approx(1 / EQUAL[1, 3])
