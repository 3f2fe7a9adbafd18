"""Scenarios as texts in TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simplugin.scenarios.loading import SCENARIO_KEYS


def scenario_text(document: Mapping[str, Any], comment: str) -> str:
    """Return the file of a scenario, with a comment of a line or several before it."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [
        f"{_key(name)} = {_toml(value)}"
        for name, value in document.items()
        if not isinstance(value, Mapping)
    ]
    for name in SCENARIO_KEYS:
        if isinstance(table := document.get(name), Mapping):
            lines += ["", f"[{name}]"]
            lines += [f"{_key(key)} = {_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    """Return a key of TOML, in quotes if needed."""
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _toml(name)


def _toml(value: Any) -> str:
    """Return a value in TOML, tables and lists in one line."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(name)} = {_toml(each)}" for name, each in value.items()) + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        codes = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped)
        return f'"{codes}"'
    if isinstance(value, int | float):
        return repr(value)
    # Dates.
    return str(value.isoformat())
