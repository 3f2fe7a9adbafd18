"""Settings KEY=VALUE of the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from simplugin.core.errors import PlatformError


def read_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Read settings: TOML values, or texts without quotes.

    Parameters
    ----------
    settings : iterable of str
        ``KEY=VALUE`` each; dots in a key lead into tables.

    Raises
    ------
    PlatformError
        A setting is invalid or given twice.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        *above, last = key.split(".")
        if not equals or not all(step.isidentifier() for step in (*above, last)):
            raise PlatformError(f"{setting!r} sets no parameter", remedy="write KEY=VALUE")
        table: Any = values
        for step in above:
            table = table.setdefault(step, {}) if isinstance(table, dict) else None
        if not isinstance(table, dict) or last in table:
            raise PlatformError(f"parameter {key!r} is given twice", remedy="give it once")
        table[last] = _value(key, text)
    return values


def _value(key: str, text: str) -> Any:
    """Read one value."""
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError as error:
        # A text that starts as a TOML value was meant as one.
        if text and text[0] not in "[{\"'":
            return text
        raise PlatformError(
            f"{key}={text} is not a TOML value: {error}",
            remedy='give e.g. 12, true, 2Gf, [4,4] or {law="uniform",low="1Gf",high="2Gf"}',
        ) from None
    # After a line break the text could set other keys.
    return document["value"] if len(document) == 1 else text
