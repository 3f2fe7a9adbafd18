"""Where in a TOML file a key stands; `tomllib` does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_END = " (at end of document)"

Path = Sequence[str | int]


def line_of(text: str, path: Path) -> int | None:
    """Return the line on which a key is set, counted from 1.

    A key of an inline table has the line on which its table's statement starts. A key that the
    file lacks has the line of the innermost table around it.

    Parameters
    ----------
    text : str
        A valid TOML document.
    path : sequence of str or int
        Keys and positions in arrays, from the outside in.

    Returns
    -------
    int or None
        None if not even the outermost key is there.
    """
    lines = text.split("\n")
    while path and not _has(tomllib.loads(text), path):
        path = path[:-1]
    if not path:
        return None
    # A statement is complete only with its last line, and comments and blank lines are documents
    # too: the key starts after the last beginning of the file that can be read without it.
    last_without = 0
    for count in range(len(lines)):
        try:
            document = tomllib.loads("\n".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(document, path):
            break
        last_without = count
    return last_without + 1


def place_of(error: tomllib.TOMLDecodeError, text: str) -> tuple[str, int]:
    """Take the message and the line out of a syntax error."""
    message = str(error)
    match = _PLACE.search(message)
    if match:
        return message[: match.start()], int(match[1])
    return message.removesuffix(_END), text.rstrip("\n").count("\n") + 1


def _has(document: Any, path: Path) -> bool:
    """Whether a document has something at a path."""
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True
