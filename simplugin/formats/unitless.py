"""Quantities written without a unit, which SimGrid takes in base units with a warning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simplugin.formats.vocabulary import named, standard_tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simplugin.inputs.xml_tree import Node

_SPEED, _BANDWIDTH, _TIME = "f", "Bps", "s"
_DIMENSIONS = {
    "host": {"speed": _SPEED},
    "disk": {"read_bw": _BANDWIDTH, "write_bw": _BANDWIDTH},
    "cluster": {
        "speed": _SPEED,
        "bw": _BANDWIDTH,
        "lat": _TIME,
        "bb_bw": _BANDWIDTH,
        "bb_lat": _TIME,
        "limiter_link": _BANDWIDTH,
        "loopback_bw": _BANDWIDTH,
        "loopback_lat": _TIME,
    },
    "cabinet": {"speed": _SPEED, "bw": _BANDWIDTH, "lat": _TIME},
    "peer": {"speed": _SPEED, "bw_in": _BANDWIDTH, "bw_out": _BANDWIDTH},
    "link": {"bandwidth": _BANDWIDTH, "latency": _TIME},
    "backbone": {"bandwidth": _BANDWIDTH, "latency": _TIME},
}
_PLAIN = re.compile(r"\s*[+]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def unitless_quantities(root: Node) -> Iterator[tuple[int, str, str]]:
    """Find quantities without a unit.

    Parameters
    ----------
    root : Node
        Where to look, at any depth.

    Yields
    ------
    line, message, remedy
        For each such attribute other than 0.
    """
    stack = [root]
    while stack:
        node = stack.pop()
        stack += node.children
        for key, unit in _DIMENSIONS.get(standard_tag(node.tag), {}).items():
            value = node.attributes.get(key, "")
            if not value[-1:].isdigit() and "," not in value and ";" not in value:
                continue
            for text in re.split("[;,]", value):
                if _PLAIN.fullmatch(text) and float(text):
                    yield (
                        node.line,
                        f"{key} of {named(node)} is {text!r}, without a unit",
                        f"write the unit, e.g. {text.strip() + unit!r}",
                    )
