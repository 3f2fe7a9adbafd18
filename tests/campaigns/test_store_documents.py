"""JSON that keeps every bit, and documents that are stored as differences."""

import json
import math
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.campaigns.store.documents import TextWriter, text_of, text_reader, value_of
from simplugin.campaigns.store.schema import script
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


@given(VALUES)
def test_json_comes_back_to_the_last_bit(value):
    text = text_of(value)
    # Texts tell values apart to the last bit, types and orders of keys included; NaN is like NaN.
    assert repr(value_of(text)) == repr(value)
    # Any reader of JSON understands it.
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_what_stands_for_nan_and_what_is_refused():
    assert text_of([math.nan, math.inf, -math.inf]) == '[{"$float":"nan"},1e999,-1e999]'
    arrays = {"a": np.float64(0.1), "b": (np.int64(2), np.array([1.5]))}
    assert text_of(arrays) == '{"a":0.1,"b":[2,[1.5]]}'
    with pytest.raises(StoreError, match="is no container, number or text"):
        text_of({"a": {1, 2}})
    with pytest.raises(StoreError, match=r"has the key '\$float'"):
        text_of({"$float": "nan"})


@settings(max_examples=40)
@given(st.lists(DOCUMENTS, min_size=1, max_size=8))
def test_packed_documents_come_back_to_the_last_bit(documents):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script())
        texts = TextWriter(connection)
        packed = [texts.packed(document) for document in documents]
        read = text_reader(connection)
        for (base, changed), document in zip(packed, documents, strict=True):
            assert repr({**read(base), **value_of(changed)}) == repr(document)
        # The same documents again need no new texts.
        count = "SELECT count(*) FROM texts"
        before = connection.execute(count).fetchone()
        texts.forget()
        for document in documents:
            texts.packed(document)
        assert connection.execute(count).fetchone() == before


def test_similar_documents_cost_only_the_difference():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script())
        texts = TextWriter(connection)
        whole = {"options": {str(n): f"value {n}" for n in range(100)}, "seed": 0, "until": None}
        for seed in range(50):
            difference = f'{{"seed":{seed}}}' if seed else "{}"
            assert texts.packed(whole | {"seed": seed}) == (1, difference)
        # Another order of keys is another document; 1 and 1.0 differ.
        assert texts.packed({"seed": 0, "until": None, "options": {}})[0] == 2
        assert texts.packed({"seed": 0.0, "until": None, "options": {}}) == (2, '{"seed":0.0}')
