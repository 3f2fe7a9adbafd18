"""Schedules of instances that an independent program computed."""

from __future__ import annotations

import gzip
import json

import jobs
import pytest


@pytest.fixture(scope="module")
def instances(shared_data):
    found = sorted(
        each for each in (shared_data / "jobs/instances").glob("*.json") if each.is_file()
    )
    assert found
    return found


def test_every_schedule_and_measure_is_that_of_an_independent_program(instances):
    for path in instances:
        expected = json.loads(gzip.decompress(path.with_suffix(".expected.json.gz").read_bytes()))
        for result in jobs.results_of(path):
            where = (path.name, result["policy"])
            known = expected[result["policy"]]
            for row, (start, end, state, nodes) in zip(result["jobs"], known["jobs"], strict=True):
                assert row["state"] == state, (where, row)
                if start is not None:
                    dates = (row["start"], row["end"])
                    assert dates == pytest.approx((start, end), rel=0, abs=1e-6), (where, row)
                if isinstance(nodes, str):
                    assert row["nodes"] == nodes, (where, row)
                else:
                    steps = [value for step in row["steps"] for value in step]
                    assert steps == pytest.approx([value for step in nodes for value in step])
            measured = {name: result["metrics"].get(name) for name in known.get("metrics", {})}
            assert measured == pytest.approx(known.get("metrics", {}), rel=1e-9), where
