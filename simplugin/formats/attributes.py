"""Attribute values as SimGrid understands them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from simplugin.errors import PlatformError, UnitError
from simplugin.formats.vocabulary import named
from simplugin.units import parse_bandwidth

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simplugin.inputs.xml_tree import Node

_INTEGER = re.compile(r"\s*[+-]?\d{1,9}(?:\.0+)?\s*", re.ASCII)
_BANDWIDTH_SEPARATOR = re.compile("[;,]")


def quantity(node: Node, key: str, parse: Callable[[str], float]) -> float:
    """Read a number with a unit.

    Parameters
    ----------
    node : Node
        The element.
    key : str
        Its attribute.
    parse : callable
        Of `simplugin.units`, for the dimension.

    Returns
    -------
    float
        In SI units.

    Raises
    ------
    PlatformError
        It is no such quantity; the message names element, attribute and value.
    """
    return _parsed(node, key, node.attributes[key], parse)


def quantities(node: Node, key: str, parse: Callable[[str], float]) -> tuple[float, ...]:
    """Read numbers with units separated by commas."""
    text = node.attributes[key]
    # SimGrid overlooks spaces around speeds, not around bandwidths.
    if key == "bandwidth":
        words = _BANDWIDTH_SEPARATOR.split(text)
    else:
        words = [word.strip() for word in text.split(",")]
    return tuple([_parsed(node, key, value, parse) for value in words])


def optional_bandwidth(node: Node, key: str) -> float | None:
    """Read a bandwidth; None where there is none, which SimGrid also takes 0 for."""
    text = node.attributes.get(key, "")
    value = _parsed(node, key, text, parse_bandwidth) if text else 0.0
    return value or None


def _parsed(node: Node, key: str, text: str, parse: Callable[[str], float]) -> float:
    """Parse a quantity, naming its element where that fails."""
    try:
        return parse(text)
    except UnitError as error:
        message, _, remedy = str(error).partition("; ")
        raise PlatformError(
            f"{key} of {named(node)}: {message}", remedy=remedy or "write a number and a unit"
        ) from None


def integer(node: Node, key: str, default: int) -> int:
    """Read a whole number."""
    text = node.attributes.get(key)
    if text is None:
        return default
    if _INTEGER.fullmatch(text) is None:
        raise PlatformError(f"{key} of {named(node)} is {text!r}", remedy="give a whole number")
    return int(text.partition(".")[0])


def number(node: Node, key: str, default: float) -> float:
    """Read a number without a unit."""
    text = node.attributes.get(key)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise PlatformError(
            f"{key} of {named(node)} is {text!r}", remedy="give a number of seconds without a unit"
        )
    return value


def word(node: Node, key: str, default: str, choices: Collection[str]) -> str:
    """Read one of a few words."""
    text = node.attributes.get(key, default)
    if text not in choices:
        raise PlatformError(
            f"{key} of {named(node)} is {text!r}",
            remedy=f"choose among {', '.join(sorted(choices))}",
        )
    return text


def sharing_policy(node: Node, key: str, default: str) -> str:
    """Read a sharing policy; FULLDUPLEX is the old name of SPLITDUPLEX."""
    choices = {"SHARED", "SPLITDUPLEX", "FATPIPE"} | ({"WIFI"} if node.tag == "link" else set())
    text = word(node, key, default, choices | {"FULLDUPLEX"})
    return "SPLITDUPLEX" if text == "FULLDUPLEX" else text


def symmetrical(node: Node) -> bool:
    """Read whether a route serves the way back."""
    return word(node, "symmetrical", "YES", {"YES", "NO", "yes", "no"}) in {"YES", "yes"}


def coordinates(node: Node) -> tuple[float, float, float] | None:
    """Read network coordinates."""
    text = node.attributes.get("coordinates", "")
    if not text:
        return None
    try:
        values = tuple(float(part) for part in text.split())
    except ValueError:
        values = ()
    if len(values) != 3:
        raise PlatformError(
            f"coordinates of {named(node)} are {text!r}",
            remedy="give three numbers, e.g. '25.5 9.4 1.4'",
        )
    return values
