"""Bundles of the LCG grid: what is shipped is what the trace gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from simplugin.errors import WorkloadError
from simplugin.formats.swf import read_swf
from simplugin.workloads import lcg_bundle_rows
from simplugin.workloads.bundles import drawn_sizes, lcg_bundles, trace_bundles

TOOL = Path(__file__).parents[2] / "tools/lcg_bundles.py"


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_lcg_bundles", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_trace_gives_what_is_shipped(shared_data: Path) -> None:
    trace = read_swf(shared_data / "workloads/LCG-2005.swf.gz")
    assert lcg_bundle_rows.__file__ is not None
    shipped = Path(lcg_bundle_rows.__file__).read_text(encoding="utf-8")
    assert tool().module_text(trace) == shipped
    for row, each in zip(lcg_bundles(), trace_bundles(trace), strict=True):
        assert (row.release, row.count) == (each.release, each.count)
        assert (row.user, row.partition) == (each.user, each.partition)
        assert row.mean == pytest.approx(each.mean, abs=5.001e-4)
        assert row.variation == pytest.approx(each.variation, abs=5.001e-7)


def test_the_tool_says_what_it_wants(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool().main([]) == 2
    assert "tools/lcg_bundles.py LCG-2005.swf.gz" in capsys.readouterr().err


def test_counts_and_order() -> None:
    rows = lcg_bundles()
    assert (len(rows), max(row.count for row in rows)) == (149, 1069)
    assert min(row.count for row in rows) >= 100
    assert np.all(np.diff([row.release for row in rows]) >= 0)
    # The trace lasts from 0 to 950,392 s.
    assert 0 <= rows[0].release <= rows[-1].release <= 950_392
    assert {row.partition for row in rows} <= set(range(1, 171))


def test_bundles_for_a_market() -> None:
    row = lcg_bundles()[0]
    bundle = row.bundle(2e9, 1e6)
    assert (bundle.count, bundle.byte, bundle.release) == (row.count, 1e6, row.release)
    assert bundle.flop == row.mean * 2e9
    assert bundle.work is None
    real = row.bundle(2e9, 1e6, np.random.default_rng(3))
    assert real.work is not None
    assert real.work.sum() == pytest.approx(row.count * bundle.flop, rel=1e-12)
    with pytest.raises(WorkloadError, match="flop/s"):
        row.bundle(0, 1e6)


@pytest.mark.parametrize("variation", [0.0, 0.3, 1.0])
def test_sizes_vary_as_asked(variation: float) -> None:
    sizes = drawn_sizes(200_000, variation, np.random.default_rng(1))
    assert sizes.min() > 0
    assert sizes.mean() == pytest.approx(1, rel=1e-12)
    assert sizes.std() == pytest.approx(variation, rel=0.02)
    # Lognormal: logarithms are symmetrical about their mean.
    assert np.median(np.log(sizes)) == pytest.approx(np.log(sizes).mean(), abs=0.01)


def test_sizes_that_cannot_be_drawn() -> None:
    with pytest.raises(WorkloadError, match="variation is -1"):
        drawn_sizes(3, -1, np.random.default_rng(1))
