import itertools
from collections import defaultdict
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naming import raises_naming

import lcg_bundles as lcg_tool
from simplugin.core.errors import WorkloadError
from simplugin.formats.swf import read_swf
from simplugin.results.tables import OpenPoint
from simplugin.workloads.bundles import Bundle, drawn_sizes, lcg_bundles, open_points, trace_bundles
from simplugin.workloads.job_traces import JobTrace


def test_classes_have_the_ratios_of_section_5():
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


def test_an_unknown_class_is_refused_with_the_known_ones():
    with raises_naming(WorkloadError, "'io'", "neutral"):
        Bundle.of_class("io")


SENSELESS_BUNDLES = [
    {"count": 0},
    {"flop": -1.0},
    {"byte": float("nan")},
    {"release": float("inf")},
    {"flop": 0.0, "byte": 0.0},
    {"work": np.ones(2)},
    {"work": np.array([1.0, np.inf, 1.0])},
]


@pytest.mark.parametrize("fields", SENSELESS_BUNDLES)
def test_senseless_bundles_are_refused(fields):
    good: dict[str, object] = {"name": "b", "count": 3, "flop": 1.0, "byte": 1.0}
    with raises_naming(WorkloadError, "'b'", *fields):
        Bundle(**(good | fields))  # type: ignore[arg-type]


def test_work_is_a_copy_that_cannot_be_written():
    work = np.array([1.0, 2.0, 3.0])
    bundle = Bundle("b", 3, 2.0, 1.0, work=work)
    work[0] = 9.0
    assert bundle.work is not None
    assert bundle.work[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        bundle.work[0] = 5.0


FEW = st.integers(-1, 1)
KEYS = ("user", "partition", "executable")
TRACE = JobTrace(
    {
        "job": [1, 2, 3, 4, 5, 6, 7, 8],
        "submit": [0, 120, 10, 240.5, 241, 20, 500, 130],
        "run_time": [10, 20, 30, 40, 50, 60, 70, 80],
        "processors": [1, 2, -1, 1, 1, 1, 1, 0],
        "user": [5, 5, 5, 5, 5, 6, 5, 5],
        "partition": [1, 1, 1, 1, 1, 1, 1, 2],
    }
)


def test_dates_sizes_and_order():
    found = trace_bundles(TRACE, least=2)
    assert [each.jobs.tolist() for each in found] == [[1, 3, 2], [4, 5]]
    first = found[0]
    assert (first.release, first.count) == (120, 3)
    assert (first.user, first.partition, first.executable) == (5, 1, -1)
    assert first.mean == 20
    assert first.variation == pytest.approx((200 / 3) ** 0.5 / 20)
    assert first.run_times.tolist() == [10, 30, 20]
    assert first.processors.tolist() == [1, 1, 2]


@given(
    jobs=st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3), FEW, FEW), min_size=1),
    least=st.integers(1, 3),
)
def test_every_job_is_in_a_bundle_or_counted(jobs, least):
    """Allocated processors, else requested ones, else one; what else there is is stated."""
    names = ("processors", "requested_processors", "user", "run_time")
    trace = JobTrace(
        {"submit": 0.0, **dict(zip(names, zip(*jobs, strict=True), strict=True))},
        left_open=[OpenPoint("odd values of wait", 1, "unknown")],
    )
    found = trace_bundles(trace, least=least)
    first, *points = open_points(trace, found)
    assert first == trace.left_open[0]
    counts = dict.fromkeys(("left out", "as many as they requested", "1 processor"), 0)
    for each in points:
        counts[each.taken_as] += each.number
    used = [jobs[number - 1] for each in found for number in each.jobs]
    assert counts["left out"] == len(jobs) - len(used)
    assert counts["as many as they requested"] == sum(had < 1 <= asked for had, asked, *_ in used)
    assert counts["1 processor"] == sum(had < 1 and asked < 1 for had, asked, *_ in used)
    processors = [number for each in found for number in each.processors.tolist()]
    assert processors == [had if had > 0 else max(asked, 1) for had, asked, *_ in used]


def test_bundles_for_a_market():
    first = trace_bundles(TRACE, least=2)[0]
    believed = first.bundle(1e9, 5e6)
    assert (believed.count, believed.byte, believed.release) == (3, 5e6, 120)
    assert believed.flop == pytest.approx((10 + 30 + 20 * 2) / 3 * 1e9)
    assert believed.work is None
    assert believed.name == "user 5, partition 1, 120 s"
    real = first.bundle(1e9, 5e6, real_sizes=True, name="mine")
    assert real.work is not None
    assert real.work.tolist() == [10e9, 30e9, 40e9]
    assert (real.name, real.flop) == ("mine", believed.flop)
    for speed in (0, -1, np.inf, np.nan):
        with raises_naming(WorkloadError, "speed", speed):
            first.bundle(speed, 1)


REFUSED = [
    ({"gap": -1}, "gap -1"),
    ({"gap": np.nan}, "gap nan"),
    ({"least": 0}, "least 0"),
    ({"by": ("user", "name")}, "by 'name'"),
    ({"by": ()}, "by ()"),
    ({"by": ("user", "user")}, "by ('user', 'user')"),
]


@pytest.mark.parametrize(("arguments", "named"), REFUSED)
def test_refused(arguments, named):
    with raises_naming(WorkloadError, *named.split()):
        trace_bundles(TRACE, **arguments)


def plainly(trace: JobTrace, gap: float, least: int, by: Sequence[str] = KEYS) -> list[list[int]]:
    """Bundles one job at a time, as positions in the trace."""
    groups = defaultdict(list)
    for at in range(len(trace)):
        known = trace.submit[at] >= 0 and ("user" not in by or trace.user[at] >= 0)
        if known and trace.run_time[at] > 0 and trace.status[at] in (-1, 1):
            groups[tuple(trace.columns[name][at] for name in by)].append(at)
    found = []
    for members in groups.values():
        members.sort(key=lambda at: trace.submit[at])
        bundle: list[int] = []
        for at in members:
            if bundle and trace.submit[at] - trace.submit[bundle[-1]] > gap:
                found.append(bundle)
                bundle = []
            bundle.append(at)
        found.append(bundle)
    return [each for each in found if len(each) >= least]


@given(
    jobs=st.lists(
        st.tuples(st.integers(-1, 60), st.integers(-1, 3), FEW, FEW, FEW, FEW),
        min_size=1,
        max_size=30,
    ),
    gap=st.integers(0, 10),
    least=st.integers(1, 4),
    by=st.lists(st.sampled_from(KEYS), min_size=1, unique=True),
)
def test_against_one_job_at_a_time(jobs, gap, least, by):
    names = ("submit", "run_time", "status", "user", "partition", "executable")
    trace = JobTrace(dict(zip(names, zip(*jobs, strict=True), strict=True)))
    expected = sorted([at + 1 for at in each] for each in plainly(trace, gap, least, by))
    found = trace_bundles(trace, gap, least, by)
    assert sorted(each.jobs.tolist() for each in found) == expected
    assert all(a.release <= b.release for a, b in itertools.pairwise(found))
    for each in found:
        first = each.jobs[0] - 1
        for name in KEYS:
            assert getattr(each, name) == (trace.columns[name][first] if name in by else -1)


@pytest.fixture(scope="module")
def lcg(shared_data: Path) -> JobTrace:
    return read_swf(shared_data / "workloads/LCG-2005.swf.gz")


def test_the_lcg_grid(lcg):
    found = trace_bundles(lcg)
    expected = plainly(lcg, 120, 100)
    assert sorted(each.jobs.tolist() for each in found) == sorted(
        lcg.job[rows].tolist() for rows in expected
    )
    assert (len(found), max(each.count for each in found)) == (149, 1069)
    assert all(each.variation > 0.05 for each in found)


def test_the_trace_gives_what_is_shipped(lcg):
    shipped = resources.files("simplugin.workloads") / "lcg_bundles.csv"
    assert lcg_tool.table_text(lcg) == shipped.read_text(encoding="utf-8")
    for row, each in zip(lcg_bundles(), trace_bundles(lcg), strict=True):
        assert (row.release, row.count) == (each.release, each.count)
        assert (row.user, row.partition) == (each.user, each.partition)
        assert row.mean == pytest.approx(each.mean, abs=5.001e-4)
        assert row.variation == pytest.approx(each.variation, abs=5.001e-7)


def test_the_tool_says_what_it_wants(capsys):
    assert lcg_tool.main([]) == 2
    assert "tools/lcg_bundles.py LCG-2005.swf.gz" in capsys.readouterr().err


def test_lcg_bundles_for_a_market():
    row = lcg_bundles()[0]
    bundle = row.bundle(2e9, 1e6)
    assert (bundle.count, bundle.byte, bundle.release) == (row.count, 1e6, row.release)
    assert bundle.flop == row.mean * 2e9
    assert bundle.work is None
    real = row.bundle(2e9, 1e6, np.random.default_rng(3))
    assert real.work is not None
    assert real.work.sum() == pytest.approx(row.count * bundle.flop, rel=1e-12)
    with raises_naming(WorkloadError, "speed", 0):
        row.bundle(0, 1e6)


@pytest.mark.parametrize("variation", [0.0, 0.3, 1.0])
def test_sizes_vary_as_asked(variation):
    sizes = drawn_sizes(200_000, variation, np.random.default_rng(1))
    assert sizes.min() > 0
    assert sizes.mean() == pytest.approx(1, rel=1e-12)
    assert sizes.std() == pytest.approx(variation, rel=0.02)
    # Lognormal: logarithms are symmetrical about their mean.
    assert np.median(np.log(sizes)) == pytest.approx(np.log(sizes).mean(), abs=0.01)


def test_sizes_that_cannot_be_drawn():
    with raises_naming(WorkloadError, "variation", -1):
        drawn_sizes(3, -1, np.random.default_rng(1))
