"""References of Grid'5000 with damage at random: an error of ours, or facts that hang together."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simplugin.errors import PlatformError
from simplugin.formats.grid5000.catalogue import read_catalogue, read_facts, write_catalogue
from simplugin.formats.grid5000.reference import read_reference
from simplugin.platforms import radical
from simplugin.platforms.consistency import require_consistent
from simplugin.platforms.grid5000.facts import Grid5000
from simplugin.platforms.grid5000.platform import grid5000_platform

SMALL = Path(__file__).with_name("grid5000_small.json")
ODD = st.sampled_from(
    [None, True, 0, -1, 1, 0.5, 1e300, 10**400, "", "gw", "sw", "x y", "alpha-1", "renater-paris",
     "lille", "switch", "router", "node", "channel", "hpcswitch", "Ethernet", "InfiniBand", [], {},
     [[]], [{}], {"items": []}, {"items": [None]}, {"uid": "gw"}, ["gw"], "\u0000", "<&>"]
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a document, but its root."""
    members: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    found = [path] if path else []
    for key, member in members:
        found += _places(member, (*path, key))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the small reference with some values lost, replaced or moved elsewhere."""
    # Real names, of which it is known where they are.
    text = SMALL.read_text().replace("north", "lille").replace("south", "sophia")
    grid: dict[str, Any] = json.loads(text)
    for _ in range(draw(st.integers(1, 5))):
        places = _places(grid)
        if not places:
            break
        path = draw(st.sampled_from(places))
        at: Any = grid
        for step in path[:-1]:
            at = at[step]
        what = draw(st.sampled_from(["lose", "replace", "rename"]))
        if what == "replace":
            at[path[-1]] = copy.deepcopy(draw(ODD))
        elif what == "rename" and isinstance(at, dict):
            at[draw(st.sampled_from(["gw", "sw", "lille", "x", "alpha-2"]))] = at.pop(path[-1])
        else:
            del at[path[-1]]
    return grid


@settings(max_examples=150)
@given(damaged())
def test_damage_gives_an_error_or_facts_that_hang_together(
    tmp_path_factory: pytest.TempPathFactory, grid: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_text(json.dumps(grid))
    try:
        facts, warnings = read_reference(path)
    except PlatformError as error:
        place, message = error.file, error.message
    else:
        _require_whole(facts)
        _require_platform(facts)
        write_catalogue(facts, warnings, path)
        assert read_catalogue(path) == read_facts(path) == (facts, warnings)
        return
    assert place == path
    assert message


def _require_platform(facts: Grid5000) -> None:
    """Assert that SimGrid would load what is made of the facts."""
    try:
        platform = grid5000_platform(facts)
    except PlatformError as error:
        message = error.message
    else:
        require_consistent(platform)
        return
    # The table of latencies knows real points of presence only.
    assert "it is unknown where" in message


def _require_whole(facts: Grid5000) -> None:
    """Assert that each node has a way to its router, and each router one to all others."""
    for site in facts.sites:
        ways = nx.DiGraph([(uplink.switch, uplink.towards) for uplink in site.uplinks])
        ways.add_node(site.router)
        for cluster in site.clusters:
            numbers = [n for group in cluster.groups for n in radical.numbers(group.numbers)]
            assert len(set(numbers)) == len(numbers) > 0
            for group in cluster.groups:
                assert nx.has_path(ways, group.adapter.switch, site.router)
    if len(facts.sites) > 1:
        backbone = nx.Graph([link.ends for link in facts.backbone])
        assert {site.uid for site in facts.sites} <= set(backbone)
        assert nx.is_connected(backbone)
