"""JSON that keeps every number: to the last bit, infinities and NaN included."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from simplugin.errors import StoreError

# JSON has no NaN, and what stands for it must not be a text that a metric could be.
_MARK = "$float"
_QUOTED = f'"{_MARK}"'
_NAN = {_MARK: "nan"}


def text_of(value: Any) -> str:
    """Return plain containers, numbers and texts as JSON, in one line of ASCII.

    Infinities are written as ``1e999``, which every reader of JSON takes for one, and NaN as
    ``{"$float": "nan"}``. Tuples become arrays, numbers of numpy plain ones.

    Raises
    ------
    StoreError
        Something in it is no container, number or text, or a mapping has the key ``$float``.
    """
    try:
        text = _dumps(value)
        if _QUOTED not in text:
            return text
    except ValueError:
        pass  # there is a number that JSON does not have
    except TypeError as error:
        raise StoreError(f"a run's document cannot be recorded: {error}") from error
    text = _dumps(_marked(value))
    return text.replace(f'{{{_QUOTED}:"inf"}}', "1e999").replace(f'{{{_QUOTED}:"-inf"}}', "-1e999")


def value_of(text: str) -> Any:
    """Return what `text_of` made a text of."""
    if _QUOTED in text:
        return json.loads(text, object_hook=_unmarked)
    return json.loads(text)


def holds_nan(text: str) -> bool:
    """Whether a text that `text_of` made has a NaN, if no text in it is ``$float``."""
    return _QUOTED in text


def _dumps(value: Any) -> str:
    """Write JSON without spaces."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """Return as JSON has it what is almost a container or number."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is no container, number or text")


def _marked(value: Any) -> Any:
    """Replace the numbers that JSON does not have."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        if _MARK in value:
            raise StoreError(f"a run's document has the key {_MARK!r}, which stands for NaN here")
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {_MARK: str(float(value))}
    return value


def _unmarked(mapping: dict[str, Any]) -> Any:
    """Turn what stands for NaN into it."""
    return math.nan if mapping == _NAN else mapping
