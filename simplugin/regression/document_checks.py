"""Whether a JSON document is a recorded result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FORMAT = 1


def is_recorded(document: Any) -> bool:
    """Whether a document says that it is a recorded result, whatever else is wrong with it."""
    return (
        isinstance(document, dict)
        and document.get("format") == FORMAT
        and isinstance(document.get("subject"), str)
        and isinstance(document.get("metrics"), dict)
    )


def check_document(document: Any) -> None:
    """Refuse what is no recorded result.

    Raises
    ------
    ValueError
        Something has another type; the message says what.
    KeyError
        Something is not there.
    """
    _expect(document, _is_table, "it", "an object")
    if document["format"] != FORMAT:
        raise ValueError(f"format {document['format']!r}, known is {FORMAT}")
    _expect(document["subject"], _is_text, "subject", "a text")
    _expect(document["digest"], _is_text_or_none, "digest", "a text")
    _expect(document["settings"], _is_table, "settings", "an object")
    for name in ("options", "versions", "sources"):
        _expect(document[name], _is_table_of(_is_text), name, "an object of texts")
    _check_metrics(document)
    found = document["activities"]
    if found is not None:
        _expect(found, _is_table, "activities", "an object")
        _expect(found["total"], _is_count, "activities.total", "a count")
        namesakes = found["namesakes"]
        _expect(namesakes, _is_table_of(_is_count), "activities.namesakes", "an object of counts")
        sharing, of_counts = found["sharing"], _is_table_of(_is_count)
        _expect(sharing, _is_table_of(of_counts), "activities.sharing", "an object of such")


def _check_metrics(document: dict[str, Any]) -> None:
    """Refuse metrics without a value or unit, and a best value of none of them."""
    metrics, best = document["metrics"], document["best"]
    _expect(metrics, _is_table, "metrics", "an object")
    for name, each in metrics.items():
        where = f"metrics.{name}"
        _expect(each, _is_table, where, "an object")
        _expect(each["value"], _is_value, f"{where}.value", "a number or a text")
        _expect(each["unit"], _is_text, f"{where}.unit", "a text")
    if best is None:
        return
    _expect(best, _is_table_of(_is_value), "best", "an object")
    if set(best) != {"metric", "value", "proof", "sense"}:
        raise ValueError("best has not exactly metric, value, proof and sense")
    _expect(best["metric"], list(metrics).__contains__, "best.metric", "a metric")
    _expect(best["value"], _is_number, "best.value", "a number")
    for name, known in (("proof", ("optimum", "bound")), ("sense", ("min", "max"))):
        _expect(best[name], known.__contains__, f"best.{name}", f"one of {', '.join(known)}")


def _expect(value: Any, right: Callable[[Any], bool], where: str, what: str) -> None:
    """Refuse a value that is not of the right type."""
    if not right(value):
        raise ValueError(f"{where} is {str(value)[:80]!r}, not {what}")


def _is_table(value: Any) -> bool:
    """Whether a value is an object."""
    return isinstance(value, dict)


def _is_table_of(right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return what tells whether a value is an object of such values."""
    return lambda value: _is_table(value) and all(map(right, value.values()))


def _is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


def _is_text_or_none(value: Any) -> bool:
    """Whether a value is a text, if there is one."""
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    """Whether a value counts something."""
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or one that JSON does not have."""
    if _is_table(value):
        return set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf")
    return type(value) in (int, float)


def _is_value(value: Any) -> bool:
    """Whether a metric can have a value."""
    return _is_text_or_none(value) or _is_number(value)
