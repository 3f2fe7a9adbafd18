"""Kept contents of a run survive JSON."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplugin import Host, Platform, Zone, simulate
from simplugin.campaigns.store.documents import text_of, value_of
from simplugin.charts import Bar, ScheduleChart
from simplugin.claims import Claim
from simplugin.figures import Figure
from simplugin.listings import Listing
from simplugin.scenarios import outputs

TEXTS = st.text(max_size=8)
FLOATS = st.floats(allow_nan=False)
NUMBERS = st.floats() | st.integers(-(2**70), 2**70)
CELLS = NUMBERS | TEXTS | st.none()
POINTS = st.lists(st.floats(), max_size=5) | st.lists(st.integers(-(2**53), 2**53), max_size=5)
ARRAYS = POINTS.map(np.asarray)


def several(inner, most=3):
    return st.lists(inner, max_size=most).map(tuple)


FIGURES = st.builds(
    Figure,
    *[TEXTS] * 4,
    st.dictionaries(TEXTS, st.tuples(ARRAYS, ARRAYS), max_size=3),
    st.dictionaries(TEXTS, st.floats(), max_size=3),
    log_y=st.booleans(),
    cycle=st.none() | st.integers(1, 9),
    bars=st.booleans(),
    names=st.dictionaries(TEXTS, several(TEXTS), max_size=2),
    whole=st.booleans(),
)
BARS = st.builds(Bar, st.integers(0, 1), several(st.integers(0, 4)), FLOATS, FLOATS, TEXTS)
SCHEDULES = st.builds(
    lambda *drawn: ScheduleChart("n", "t", (("a", 2), ("b", 3)), ("g", "h"), *drawn),
    several(BARS, 4),
    TEXTS,
    st.dictionaries(TEXTS, FLOATS, max_size=2),
    several(FLOATS, 2),
)
COLUMNS = st.just((("one", "s"), ("two", "")))
LISTINGS = st.builds(Listing, TEXTS, COLUMNS, several(st.tuples(CELLS, CELLS), 4), TEXTS)
CLAIMS = st.builds(
    Claim,
    TEXTS,
    NUMBERS | TEXTS,
    NUMBERS | TEXTS,
    st.booleans(),
    TEXTS,
    TEXTS,
    st.none() | st.floats(),
    st.dictionaries(TEXTS, CELLS | st.lists(CELLS, max_size=2), max_size=3),
)
WAYS = {
    Figure: (outputs.figure_document, outputs.figure_from),
    ScheduleChart: (outputs.chart_document, outputs.chart_from),
    Listing: (outputs.listing_document, outputs.listing_from),
    Claim: (outputs.claim_document, outputs.claim_from),
}


def back(document):
    """What comes back from a store, where it is strict JSON but for numbers that JSON lacks."""
    return value_of(text_of(document))


def exactly(value):
    """A value with its types, bits and orders; NaN equals itself."""
    if isinstance(value, dict):
        return [(key, exactly(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [exactly(each) for each in value]
    if isinstance(value, np.ndarray):
        return exactly(value.tolist())
    return type(value), repr(value)


@given(FIGURES | SCHEDULES | LISTINGS | CLAIMS)
def test_what_is_kept_comes_back_to_the_last_bit(thing):
    to_document, to_thing = WAYS[type(thing)]
    found = to_thing(back(to_document(thing)))
    assert exactly(asdict(found)) == exactly(asdict(thing))


def test_numbers_of_numpy_are_numbers():
    given = {"a": np.float64(0.1), "b": np.arange(3), "c": (np.int8(4), math.inf), 5: None}
    claim = Claim("c", "few", 1.0, True, "why", "source", provenance=given)
    found = outputs.claim_from(back(outputs.claim_document(claim))).provenance
    assert found == {"a": 0.1, "b": [0, 1, 2], "c": [4, math.inf], "5": None}


async def worker(me, number):
    await me.execute(1e9 * number, label="crunch" if number % 2 else None)
    await me.sleep_for(1.0)


@pytest.fixture(scope="module")
def traced():
    platform = Platform((Zone("all", "Full", tuple(Host(name, 1e9) for name in "ABC")),))
    # All actors have the function's name.
    return simulate(platform, [("ABC"[at], worker, at) for at in range(3)])


def test_activities_are_those_of_the_trace(traced):
    found = back(outputs.activities_document(traced))
    names = ("actor", "resource", "kind", "label", "start", "end", "state")
    assert set(found["columns"]) == set(names)
    rows = list(zip(*(found["columns"][name] for name in names), strict=True))
    assert rows == [row[:6] + row[7:] for row in traced.trace.rows()]
    assert found["total"] == len(rows)


def test_long_runs_are_cut_and_say_so(traced, monkeypatch):
    monkeypatch.setattr(outputs, "MOST_ACTIVITIES", 3)
    document = outputs.activities_document(traced)
    assert document["total"] == len(traced.trace) > 3
    assert {len(column) for column in document["columns"].values()} == {3}
    ends = document["columns"]["end"]
    assert ends == traced.trace.end[:3].tolist()
    assert max(ends) <= traced.trace.end[3:].min()
