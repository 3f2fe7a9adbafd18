"""Whether prices that neighbours negotiate on SimGrid give the linear program's optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.campaign import FEWER
from simplugin.bags.campaign_summary import listed
from simplugin.bags.instances import MAIN, SEEDS, TREES, instance
from simplugin.bags.nodes import Known, Place
from simplugin.bags.prices import negotiate_prices
from simplugin.bags.prices.planner import negotiate
from simplugin.bags.prices.root import Terms
from simplugin.claims import Claim
from simplugin.optimum.steady_state import steady_state
from simplugin.simulation import SimGridOptions, simulate
from simplugin.simulation.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simplugin.platforms.graphs import Tree
    from simplugin.workloads.applications import Bags

SEED = SEEDS[0]
# How far a negotiation may end from the optimum, and actors from the pure negotiation.
EXACT, SAME = 1e-8, 1e-9


@dataclass(frozen=True)
class Outcome:
    """What a negotiation between actors came to.

    Attributes
    ----------
    fair : float
        Fair throughput of the rates that the nodes have [tasks/s].
    rounds : int
        How often the root posted prices.
    bytes_sent : float
        Through the simulated network, by all [byte].
    duration : float
        In simulated time [s].
    """

    fair: float
    rounds: int
    bytes_sent: float
    duration: float


def negotiated(tree: Tree, bags: Bags, terms: Terms) -> Outcome:
    """Let the hosts of a tree negotiate on SimGrid, each with what it knows itself.

    Parameters
    ----------
    tree : Tree
        The platform.
    bags : Bags
        The applications.
    terms : Terms
        How the root leads.
    """
    placements = []
    for number, name in enumerate(tree.hosts):
        parent = None if number == 0 else tree.hosts[tree.parent[number]]
        place = Place(name, parent, tuple(tree.hosts[child] for child in tree.children[number]))
        given = (place, Known.of(tree, bags, number), terms, None)
        placements.append(Placement(name, negotiate, given, name=f"{name} negotiates"))
    result = simulate(tree.platform(), placements, options=SimGridOptions.linear())
    nodes = [each.value for each in result.returned]
    throughput = np.sum([each.rates[0] for each in nodes], axis=0)
    return Outcome(
        float(np.min(throughput / bags.weight)),
        nodes[0].rounds,
        sum(each.bytes for each in nodes),
        nodes[0].duration,
    )


def negotiations(quick: bool) -> list[Claim]:
    """Return how near negotiations end to the optimum, and what they take."""
    numbers = FEWER[::2] if quick else range(TREES)
    free = _gaps(numbers, Terms(rent=0.0))
    rented = _gaps(numbers, Terms())
    done = free.outcomes
    return [
        Claim(
            "A decentralised negotiation between neighbours gives the linear program's optimum",
            "open: DATA-CENTRIC fails on some trees",
            f"{max(free.gaps):.1g} off at worst",
            max(free.gaps) <= EXACT and max(free.apart + rented.apart) <= SAME,
            f"relative, of rates that actors negotiated on SimGrid, over {len(done)} instances of"
            f" all main readings; {np.mean([each.rounds for each in done]):.1f} rounds on average,"
            f" {max(each.rounds for each in done)} at most,"
            f" {np.median([each.bytes_sent for each in done]):.2g} byte in"
            f" {np.median([each.duration for each in done]):.2g} s (medians). With the charge for"
            " port time that our policy has, which chooses among optima,"
            f" {max(rented.gaps):.1g} off at worst in"
            f" {np.mean([each.rounds for each in rented.outcomes]):.1f} rounds. Agrees up to"
            f" {EXACT:g}, if actors and the pure negotiation differ by {SAME:g} at most (they do by"
            f" {max(free.apart + rented.apart):.1g})",
            "section 7",
            optimum=0.0,
            provenance={"seed": SEED, "trees": listed(numbers), "readings": ", ".join(MAIN)},
        )
    ]


@dataclass(frozen=True)
class _Gaps:
    """Negotiations on many instances.

    Attributes
    ----------
    gaps : list of float
        How far each ended from the optimum, relative.
    apart : list of float
        How far actors ended from the pure negotiation, relative.
    outcomes : list of Outcome
        What they came to.
    """

    gaps: list[float]
    apart: list[float]
    outcomes: list[Outcome]


def _gaps(numbers: Sequence[int], terms: Terms) -> _Gaps:
    """Negotiate on trees of all main readings."""
    found = _Gaps([], [], [])
    for reading in MAIN:
        for number in numbers:
            tree, bags = instance(reading, SEED, number)
            done = negotiated(tree, bags, terms)
            found.outcomes.append(done)
            found.gaps.append(abs(done.fair / steady_state(tree, bags).fair - 1))
            pure = negotiate_prices(tree, bags, terms=terms).fair
            found.apart.append(abs(done.fair / pure - 1))
    return found


PARTS: dict[str, Callable[[bool], list[Claim]]] = {"prices, negotiation": negotiations}
