import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.workloads.bundles import Bundle


def test_classes_have_the_ratios_of_section_5() -> None:
    sizes = {
        kind: (Bundle.of_class(kind).flop, Bundle.of_class(kind).byte)
        for kind in ("computation", "neutral", "communication")
    }
    assert sizes == {
        "computation": (1e9, 1e6),
        "neutral": (5e8, 5e8),
        "communication": (1e6, 1e9),
    }
    assert Bundle.of_class("neutral").count == 1000


def test_an_unknown_class_is_refused_with_the_known_ones() -> None:
    with pytest.raises(WorkloadError, match="'computation', 'neutral', 'communication'"):
        Bundle.of_class("io")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"count": 0}, "count of bundle 'b' is 0"),
        ({"count": 2.5}, "count of bundle 'b' is 2.5"),
        ({"flop": -1.0}, "flop of bundle 'b' is -1.0"),
        ({"byte": float("nan")}, "byte of bundle 'b' is nan"),
        ({"release": float("inf")}, "release of bundle 'b' is inf"),
        ({"flop": 0.0, "byte": 0.0}, "neither compute nor move data"),
        ({"work": np.ones(2)}, "work of bundle 'b' is not 3 finite numbers"),
        ({"work": np.array([1.0, np.inf, 1.0])}, "work of bundle 'b' is not 3 finite numbers"),
    ],
)
def test_senseless_bundles_are_refused(fields: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"name": "b", "count": 3, "flop": 1.0, "byte": 1.0}
    with pytest.raises(WorkloadError, match=message):
        Bundle(**(good | fields))  # type: ignore[arg-type]


def test_work_is_a_copy_that_cannot_be_written() -> None:
    work = np.array([1.0, 2.0, 3.0])
    bundle = Bundle("b", 3, 2.0, 1.0, work=work)
    work[0] = 9.0
    assert bundle.work is not None
    assert bundle.work[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        bundle.work[0] = 5.0
