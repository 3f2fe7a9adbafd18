"""What is kept of a run survives JSON."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin import Host, Link, Platform, Route, Zone, simulate
from simplugin.campaigns.store.documents import text_of, value_of
from simplugin.charts import Bar, ScheduleChart
from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.scenarios import outputs
from simplugin.scenarios.outputs import (
    activities_document,
    chart_document,
    chart_from,
    claim_document,
    claim_from,
    figure_document,
    figure_from,
    listing_document,
    listing_from,
)

TEXTS = st.text(max_size=8)
NUMBERS = st.floats() | st.integers(-(2**70), 2**70)
CELLS = NUMBERS | TEXTS | st.none()
POINTS = st.lists(st.floats(), max_size=5) | st.lists(st.integers(-(2**53), 2**53), max_size=5)


def back(document):
    """What comes back from a store, where it is strict JSON but for numbers that JSON lacks."""
    return value_of(text_of(document))


def exactly(value):
    """A value with its types and bits; NaN equals itself."""
    if isinstance(value, dict):
        return {key: exactly(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [exactly(each) for each in value]
    return type(value), repr(value)


@given(
    st.dictionaries(TEXTS, st.tuples(POINTS, POINTS), max_size=3),
    st.dictionaries(TEXTS, st.floats(), max_size=3),
    st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2).map(tuple), max_size=2),
    st.booleans(),
    st.none() | st.integers(1, 9),
)
def test_figures(series, lines, names, flag, cycle):
    figure = Figure("n", "t", "x", "y", series, lines, flag, cycle, not flag, names, flag)
    found = figure_from(back(figure_document(figure)))
    for name, (x, y) in series.items():
        for points, kept in zip((x, y), found.series[name], strict=True):
            assert exactly(kept.tolist()) == exactly(np.asarray(points).tolist())
    assert list(found.series) == list(series)
    for field in ("name", "title", "x_label", "y_label", "log_y", "cycle", "bars", "whole"):
        assert exactly(getattr(found, field)) == exactly(getattr(figure, field))
    assert exactly(list(found.lines.items())) == exactly(list(lines.items()))
    assert found.names == names


@given(
    st.lists(
        st.builds(
            Bar,
            st.integers(0, 1),
            st.lists(st.integers(0, 4), max_size=3).map(tuple),
            st.floats(allow_nan=False),
            st.floats(allow_nan=False),
            TEXTS,
        ),
        max_size=4,
    ).map(tuple),
    st.dictionaries(TEXTS, st.floats(allow_nan=False), max_size=2),
    st.lists(st.floats(allow_nan=False), max_size=2).map(tuple),
)
def test_schedules(bars, dates, completion):
    clusters = (("a", 2), ("b", 3))
    chart = ScheduleChart("n", "t", clusters, ("g", "h"), bars, "facts", dates, completion)
    found = chart_from(back(chart_document(chart)))
    assert found == chart
    assert list(found.dates) == list(dates)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=4), TEXTS)
def test_tables(lines, note):
    listing = Listing("t", (("one", "s"), ("two", "")), tuple(lines), note)
    found = listing_from(back(listing_document(listing)))
    assert exactly(found.lines) == exactly(listing.lines)
    assert (found.title, found.columns, found.note) == ("t", listing.columns, note)


@given(
    NUMBERS | TEXTS,
    NUMBERS | TEXTS,
    st.booleans(),
    st.none() | st.floats(),
    st.dictionaries(TEXTS, CELLS | st.lists(CELLS, max_size=2), max_size=3),
)
def test_claims(paper, measured, agrees, optimum, provenance):
    claim = Claim("c", paper, measured, agrees, "why", "source", optimum, provenance)
    found = claim_from(back(claim_document(claim)))
    for field in ("claim", "paper", "measured", "agrees", "why", "source", "optimum"):
        assert exactly(getattr(found, field)) == exactly(getattr(claim, field))
    assert exactly(dict(found.provenance)) == exactly(provenance)


def test_numbers_of_numpy_are_numbers():
    given = {"a": np.float64(0.1), "b": np.arange(3), "c": (np.int8(4), math.inf), 5: None}
    claim = Claim("c", "few", 1.0, True, "why", "source", provenance=given)
    assert claim_from(back(claim_document(claim))).provenance == {
        "a": 0.1,
        "b": [0, 1, 2],
        "c": [4, math.inf],
        "5": None,
    }


async def worker(me, number):
    await me.execute(1e9 * number, label="crunch" if number % 2 else None)
    if number:
        await me.mailbox("box").put(None, 1e6, label="data")
    else:
        for _ in range(3):
            await me.mailbox("box").get()
        await me.sleep_for(1.0)


@pytest.fixture(scope="module")
def traced():
    hosts = tuple(Host(name, 1e9) for name in "ABCDE")
    route = [Route(one, other, ["bus"]) for one, other in combinations("ABCDE", 2)]
    platform = Platform((Zone("all", "Full", (*hosts, Link("bus", 1e8, 1e-3)), tuple(route)),))
    # All actors have the function's name.
    return simulate(platform, [("ABCD"[at], worker, at) for at in range(4)])


def test_activities_are_those_of_the_trace(traced):
    found = back(activities_document(traced))
    names = ("actor", "resource", "kind", "label", "start", "end", "state")
    assert set(found["columns"]) == set(names)
    rows = list(zip(*(found["columns"][name] for name in names), strict=True))
    assert rows == [row[:6] + row[7:] for row in traced.trace.rows()]
    assert found["total"] == len(rows)


def test_long_runs_are_cut_and_say_so(traced, monkeypatch):
    monkeypatch.setattr(outputs, "MOST_ACTIVITIES", 3)
    document = activities_document(traced)
    assert document["total"] == len(traced.trace) > 3
    assert {len(column) for column in document["columns"].values()} == {3}
    ends = document["columns"]["end"]
    assert ends == traced.trace.end[:3].tolist()
    assert max(ends) <= traced.trace.end[3:].min()
