"""Substitution of values at dotted keys of a document, which shares all other values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from simplugin.inputs.messages import InvalidValueError, Path, dotted

# Tables and keys of a file, and keys of its [simulation], that affect output, files and limits but
# not results.
KEYS_WITHOUT_EFFECT = ("title", "campaign", "output", "slurm")
SIMULATION_KEYS_WITHOUT_EFFECT = (
    "wall_limit",
    "memory_limit",
    "trace_limit",
    "log",
    "prefix_prints",
)


def canonical_json(value: Any) -> str:
    """Return plain data as JSON, the same for the same data: keys sorted, floats by `repr`."""
    # TOML also has dates, which JSON has not.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def path_of(document: Any, keys: Sequence[str]) -> Path:
    """Resolve dotted keys to a path of keys and positions.

    A text is one key if the document has it at this place; otherwise it is split at its dots. In an
    array a step is a position, counted from 0, or the `name` of one of its tables.

    Parameters
    ----------
    document : mapping
        The document.
    keys : sequence of str
        Keys with dots, ``["workload.applications.0.count"]``, or one by one.

    Raises
    ------
    InvalidValueError
        A step does not exist; missing tables are allowed.
    """
    path: list[str | int] = []
    place: Any = document
    left = list(keys)
    while left:
        word = left.pop(0)
        if isinstance(place, Mapping):
            if word not in place and "." in word:
                left = [*word.split("."), *left]
                continue
            path.append(word)
            place = place.get(word, {})
        elif isinstance(place, list) and "." in word and word not in _names(place):
            left = [*word.split("."), *left]
        else:
            step = _position(place, word, path)
            path.append(step)
            place = place[step]
    if any(step == "" for step in path):
        raise InvalidValueError(f"the key {dotted(path)!r} has an empty part", "remove a dot")
    return tuple(path)


def substituted(document: Any, path: Path, value: Any, above: Path = ()) -> Any:
    """Return a document with another value at a path; the given one is not changed.

    Parameters
    ----------
    document : mapping
        The document.
    path : tuple of str or int
        As `path_of` returns it.
    value : object
        What to put there.
    above : tuple of str or int
        Place of `document`, for messages.

    Raises
    ------
    InvalidValueError
        A step does not exist.
    """
    if not path:
        return value
    step, *rest = path
    if isinstance(document, Mapping):
        word = str(step)
        inner = document.get(word, {}) if rest else None
        return {**document, word: substituted(inner, tuple(rest), value, (*above, word))}
    at = _position(document, step, above)
    changed = list(document)
    changed[at] = substituted(document[at], tuple(rest), value, (*above, at))
    return changed


def _position(place: Any, step: str | int, above: Iterable[str | int]) -> int:
    """Return a step into an array as a number."""
    name = dotted(above)
    if not isinstance(place, list):
        remedy = f"remove {'.' + str(step)!r}, or give {name} as a table"
        raise InvalidValueError(f"{name} is {place!r}, so it has no {str(step)!r}", remedy)
    digits = str(step)
    if digits.isascii() and digits.isdigit() and int(digits) < len(place):
        return int(digits)
    names = _names(place)
    if names.count(digits) == 1:
        return names.index(digits)
    known = f"0 to {len(place) - 1}" if place else "none, since it is empty"
    message = f"{name} is an array, which has no {digits!r}"
    if digits in names:
        message = f"{name} has {names.count(digits)} tables with the name {digits!r}"
    named = ", ".join(dict.fromkeys(each for each in names if isinstance(each, str)))
    also = f", its names {named}" if named else ""
    raise InvalidValueError(message, f"its positions are {known}{also}")


def _names(place: Iterable[Any]) -> list[Any]:
    """Return the names of the tables of an array."""
    return [each.get("name") if isinstance(each, Mapping) else None for each in place]


def file_value(value: Any) -> Any:
    """Convert values of a program to those of a file: texts, numbers, lists and tables."""
    if isinstance(value, Mapping):
        return {str(key): file_value(each) for key, each in value.items()}
    if isinstance(value, range) and value:
        return {"from": value[0], "to": value[-1], "step": value.step}
    if isinstance(value, list | tuple | range):
        return [file_value(each) for each in value]
    if isinstance(value, PathLike):
        return fspath(value)
    # Arrays and numbers of numpy's.
    return file_value(value.tolist()) if hasattr(value, "tolist") else value
