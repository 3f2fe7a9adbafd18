"""Transfers within and between the sites of a federation share what they pass.

Hosts have 1e8 byte/s, switches 1e8 too, so that two transfers show the sharing.
"""

import pytest

from simplugin import simulate
from simplugin.platforms.federations.federation import Federation
from simplugin.platforms.federations.parts import (
    ClusterGroup,
    SiteBackbone,
    SiteGroup,
    Switch,
    Wire,
)
from simplugin.simulation.options import SimGridOptions

SWITCH = Switch("", 1e8)
PAIRS = [("a-1.s", "a-2.s"), ("b-1.s", "b-2.s")]


def _site(name, *clusters, **further):
    return SiteGroup(name, clusters, **further)


def _still(name, **further):
    return ClusterGroup(name, 4, 1e9, 1e8, 0.0, **further)


async def _send(me, box, size):
    await me.mailbox(box).put(None, size)


async def _receive(me, box):
    await me.mailbox(box).get()
    return me.now


def _ends(federation, transfers, size=1e8):
    """Return when transfers of one second each arrive, all started at 0."""
    actors = []
    for number, (source, destination) in enumerate(transfers):
        actors += [(source, _send, f"{number}", size), (destination, _receive, f"{number}")]
    result = simulate(federation.platform(), actors, options=SimGridOptions.linear())
    return result.values("_receive")


@pytest.mark.parametrize(
    ("site", "transfers", "ends"),
    [
        # A switch of all: any two transfers get half of it each.
        (_site("s", _still("a"), _still("b"), switch=SWITCH), PAIRS, [2, 2]),
        (_site("s", _still("a"), _still("b"), switch=SWITCH),
         [("a-1.s", "b-1.s"), ("b-2.s", "b-3.s")], [2, 2]),
        # Two switches: those of different clusters get all, those through one get half.
        (_site("s", _still("a"), _still("b"), switch=SWITCH, one_switch=False), PAIRS, [1, 1]),
        (_site("s", _still("a"), _still("b"), switch=SWITCH, one_switch=False),
         [("a-1.s", "b-1.s"), ("b-2.s", "b-3.s")], [2, 2]),
        # No switch limits anything, though both pass the same cable.
        (_site("s", _still("a"), _still("b")), [("a-1.s", "b-1.s"), ("a-2.s", "b-2.s")], [1, 1]),
        # An uplink is shared by those in the same direction, unless it is half-duplex.
        (_site("s", _still("a", uplink=Wire(1e8)), _still("b")),
         [("a-1.s", "b-1.s"), ("a-2.s", "b-2.s")], [2, 2]),
        (_site("s", _still("a", uplink=Wire(1e8)), _still("b")),
         [("a-1.s", "b-1.s"), ("b-2.s", "a-2.s")], [1, 1]),
        (_site("s", _still("a", uplink=Wire(1e8, duplex=False)), _still("b")),
         [("a-1.s", "b-1.s"), ("b-2.s", "a-2.s")], [2, 2]),
        # A switch on the way between two others is shared, and passed once: not twice as slow.
        (_site("s", _still("a", switch="x"), _still("b", switch="x", backbone=SWITCH),
               switches=(Switch("x", 1e8),)),
         [("b-1.s", "a-1.s")], [1]),
        (_site("s", _still("a", switch="x"), _still("b", switch="y"), _still("c"),
               switches=(Switch("x", 1e8), Switch("y", 1e9, to="x"))),
         [("b-1.s", "c-1.s"), ("a-1.s", "a-2.s")], [2, 2]),
    ],
)  # fmt: skip
def test_contention_within_a_site(site, transfers, ends):
    assert _ends(Federation("f", (site,)), transfers) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("hub", "ends"), [(None, [1, 1]), (Switch("", 1e8), [2, 2]), (Switch("", 1e9), [1, 1])]
)
def test_contention_at_a_hub(hub, ends):
    sites = tuple(_site(name, _still("a")) for name in "ABCD")
    federation = Federation("f", sites, SiteBackbone("star", Wire(1e9), hub))
    assert _ends(federation, [("a-1.A", "a-1.B"), ("a-1.C", "a-1.D")]) == pytest.approx(ends)


def test_contention_on_a_ring():
    # From A to C by B; from A to B: both over A--B. From E to A: not.
    sites = tuple(_site(name, _still("a")) for name in "ABCDE")
    federation = Federation("f", sites, SiteBackbone("ring", Wire(1e8)))
    transfers = [("a-1.A", "a-1.C"), ("a-2.A", "a-1.B"), ("a-1.E", "a-3.A")]
    assert _ends(federation, transfers) == pytest.approx([2, 2, 1])
