"""The Trace Event Format."""

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin.simulation import Trace
from simplugin.simulation.trace import KINDS

HOSTS = ("a", "b,c", "b-10", "b-2")
DISKS = ("a:d", "b,c:d")
RESOURCES = {
    **dict.fromkeys(("exec", "sleep"), HOSTS),
    **dict.fromkeys(("read", "write"), DISKS),
    "comm": ("a->b-2", "a->a"),
    "ptask": ("a,b-2", "b-2"),
}
DATES = st.floats(0, 1e7) | st.sampled_from([0.0, 0.1, 0.2, 0.3, 1 / 3])
ROWS = st.sampled_from(KINDS).flatmap(
    lambda kind: st.tuples(st.just(kind), st.sampled_from(RESOURCES[kind]), DATES, DATES)
)


def made(rows: list[tuple[str, str, float, float]]) -> Trace:
    """Return a trace with a label for each activity."""
    names = tuple(dict.fromkeys(name for _, name, _, _ in rows))
    order = sorted((max(each[2:]), each) for each in rows)
    zeros = np.zeros(len(rows))
    return Trace.from_columns(
        {
            "actor_code": zeros,
            "resource_code": [names.index(name) for _, (_, name, _, _) in order],
            "kind": [KINDS.index(kind) for _, (kind, _, _, _) in order],
            "label_code": np.arange(len(rows)),
            "start": [min(each[2:]) for _, each in order],
            "end": [end for end, _ in order],
            "amount": np.full(len(rows), np.inf),
            "state": zeros,
            "actor_names": ("actor",),
            "resource_names": names,
            "label_names": tuple(map(str, range(len(rows)))),
        }
    )


def events_of(trace: Trace) -> list[dict[str, Any]]:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "trace.json"
        trace.to_chrome(path)
        found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["traceEvents"]
    return found


@given(st.lists(ROWS, max_size=30))
def test_events_are_the_activities(rows: list[tuple[str, str, float, float]]) -> None:
    trace = made(rows)
    events = events_of(trace)
    dated = [event for event in events if event["ph"] != "M"]
    assert [event["ts"] for event in dated] == sorted(event["ts"] for event in dated)
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert not set(names) & set(tracks)
    places = defaultdict(list)
    lanes = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start, end = event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6
            track = tracks[event["tid"]].split()[0]
            places[event["name"]].append((names[event["pid"]], track, start, end))
            lanes[event["tid"]].append((start, end))
    for name, resource, kind, start, end in zip(
        trace.label, trace.resource, trace.kind, trace.start, trace.end, strict=True
    ):
        where = {
            "exec": lambda name: [(name, "executions")],
            "ptask": lambda name: [(host, "executions") for host in name.split(",")],
            "sleep": lambda name: [(name, "sleeps")],
            **dict.fromkeys(("read", "write"), lambda name: [(name.rpartition(":")[0], "disks")]),
            "comm": lambda name: list(zip(name.split("->"), ("sent", "received"), strict=True)),
        }[str(kind)](str(resource))
        assert sorted(each[:2] for each in places[str(name)]) == sorted(where)
        for *_, first, last in places[str(name)]:
            assert first == pytest.approx(start, rel=1e-9, abs=0)
            assert last == pytest.approx(end, rel=1e-9, abs=0)
    for intervals in lanes.values():
        for (_, end), (start, _) in pairwise(intervals):
            assert end <= start * (1 + 1e-12)


@given(st.lists(ROWS, max_size=30))
def test_flows_begin_and_end_in_their_slices(rows: list[tuple[str, str, float, float]]) -> None:
    trace = made(rows)
    flows = defaultdict(list)
    slices = defaultdict(set)
    for event in events_of(trace):
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].add(event["ts"])
        elif event["ph"] in "sf":
            flows[event["id"]].append(event["ph"])
            assert event["ts"] in slices[event["pid"], event["tid"]]
    lasting = (trace.kind == "comm") & (trace.end > trace.start)
    assert sorted(flows) == np.flatnonzero(lasting).tolist()
    assert all(steps == ["s", "f"] for steps in flows.values())
