"""Elements as lines of XML text that both SimGrid's parser and any other read alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HEADER = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
_SPECIAL = re.compile(r'[&<>"\t\n\r]')
_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    | {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def escape(text: str) -> str:
    """Return text fit for an attribute value between double quotes."""
    return text if _SPECIAL.search(text) is None else text.translate(_ENTITIES)


def start(tag: str, attributes: Iterable[tuple[str, str]]) -> str:
    """Return a start tag without its closing bracket."""
    return f"<{tag}" + "".join([f' {key}="{escape(value)}"' for key, value in attributes])


def empty(tag: str, attributes: Iterable[tuple[str, str]]) -> str:
    """Return an element without content."""
    return start(tag, attributes) + "/>"


def block(
    indent: str, tag: str, attributes: Iterable[tuple[str, str]], content: list[str]
) -> list[str]:
    """Return the lines of an element; `content` is indented already."""
    if not content:
        return [indent + empty(tag, attributes)]
    return [f"{indent}{start(tag, attributes)}>", *content, f"{indent}</{tag}>"]


def properties(indent: str, values: Mapping[str, str]) -> list[str]:
    """Return a line for each property."""
    return [
        indent + empty("prop", [("id", key), ("value", value)]) for key, value in values.items()
    ]


def comment(text: str | None) -> str:
    """Return a comment, empty for None."""
    if text is None:
        return ""
    # Two hyphens would end it; SimGrid's parser is lenient there, others are not.
    return f"<!-- {re.sub(r'-(?=-)', '- ', text.strip())} -->\n"
