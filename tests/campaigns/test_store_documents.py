"""JSON that keeps every bit, and documents kept as differences."""

import json
import math
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.campaigns.store.exact_json import text_of, value_of
from simplugin.campaigns.store.patches import applied, exact_difference
from simplugin.campaigns.store.schema import script
from simplugin.campaigns.store.texts import SharedTexts
from simplugin.errors import StoreError

NUMBERS = st.floats() | st.integers() | st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, 1e308])
TEXTS = st.text(max_size=4) | st.sampled_from(["nan", "1e999", '"$float"', '{"$float":"inf"}'])
VALUES = st.recursive(
    NUMBERS | TEXTS | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
# Few keys, so that documents have something in common.
DOCUMENTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | VALUES, max_size=3),
    max_leaves=6,
)


def same(first, second):
    """Whether two values are the same to the last bit, types and orders of keys included."""
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        nan = math.isnan(first) and math.isnan(second)
        return nan or struct.pack("d", first) == struct.pack("d", second)
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


@given(VALUES)
def test_json_comes_back_to_the_last_bit(value):
    text = text_of(value)
    assert same(value_of(text), value)
    # Any reader of JSON understands it.
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_what_stands_for_nan_and_what_is_refused():
    assert text_of([math.nan, math.inf, -math.inf]) == '[{"$float":"nan"},1e999,-1e999]'
    assert text_of({"a": np.float64(0.1), "b": (np.int64(2), np.array([1.5]))}) == (
        '{"a":0.1,"b":[2,[1.5]]}'
    )
    with pytest.raises(StoreError, match="is no container, number or text"):
        text_of({"a": {1, 2}})
    with pytest.raises(StoreError, match=r"has the key '\$float'"):
        text_of({"$float": "nan"})


@given(DOCUMENTS, DOCUMENTS)
def test_a_difference_leads_exactly_to_the_document(base, document):
    base = json.loads(text_of(base))
    text = text_of(document)
    patch = exact_difference(base, json.loads(text), text)
    if patch is not None:
        assert json.dumps(applied(base, patch), separators=(",", ":")) == text


def test_differences_are_merge_patches():
    # Appendix A of RFC 7396: the original, the patch, the result.
    for base, patch, document in (
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ):
        assert applied(base, patch) == document
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    for document, patch in (
        (base, {}),
        ({"a": {"b": 2, "c": [1, 2]}, "d": 1}, {"a": {"b": 2}}),
        ({"a": {"b": 1, "c": [1, 3]}, "d": 1.0}, {"a": {"c": [1, 3]}, "d": 1.0}),
        ({"a": {"b": 1, "c": [1, 2]}}, {"d": None}),
        ({"a": {"b": None, "c": [1, 2]}, "d": 1}, None),  # a null cannot be said
        ({"d": 1, "a": {"b": 1, "c": [1, 2]}}, None),  # nor can another order
    ):
        assert exact_difference(base, document, text_of(document)) == patch


@settings(max_examples=40)
@given(st.lists(DOCUMENTS, min_size=1, max_size=8))
def test_sqlite_puts_packed_documents_together(documents):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script())
        texts = SharedTexts(connection)
        packed = [texts.packed("any", document) for document in documents]
        for (base, patch), document in zip(packed, documents, strict=True):
            text = connection.execute("SELECT text FROM texts WHERE number = ?", (base,)).fetchone()
            whole = applied(json.loads(text[0]), json.loads(patch))
            assert same(value_of(json.dumps(whole)), value_again(document))
        # The same documents again need no new texts.
        count = "SELECT count(*) FROM texts"
        before = connection.execute(count).fetchone()
        texts.forget()
        for document in documents:
            texts.packed("any", document)
        assert connection.execute(count).fetchone() == before


def value_again(value):
    return value_of(text_of(value))


def test_documents_alike_cost_what_differs():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script())
        texts = SharedTexts(connection)
        whole = {"options": {str(n): f"value {n}" for n in range(100)}, "seed": 0, "until": None}
        for seed in range(50):
            base, patch = texts.packed("any", whole | {"seed": seed})
            assert (base, patch) == (1, f'{{"seed":{seed}}}' if seed else "{}")
            told = connection.execute("SELECT json_patch(text, ?) FROM texts", (patch,)).fetchone()
            assert json.loads(told[0]) == whole | {"seed": seed}
