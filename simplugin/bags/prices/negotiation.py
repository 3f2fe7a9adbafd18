"""Prices: rates as good as the linear program's, negotiated by nodes that know their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simplugin.bags.nodes import BUFFER, Known, NodePlan, Policy, time_between_looks
from simplugin.bags.prices.decision import priced, slots_for
from simplugin.bags.prices.filter import Sieve
from simplugin.bags.prices.planner import price_planner
from simplugin.bags.prices.roles import PriceNode, answer, hear
from simplugin.bags.prices.root import PriceRoot, Terms, asks, open_negotiation, react
from simplugin.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simplugin.bags.prices.messages import Down, Up
    from simplugin.bags.prices.roles import Rates
    from simplugin.platforms.graphs import Tree
    from simplugin.workloads.applications import Bags


@dataclass(frozen=True, eq=False)
class Prices:
    """What came out of a negotiation.

    Attributes
    ----------
    compute : float64, shape (n_hosts, n_applications)
        Tasks of each application that each host is to compute [tasks/s].
    sent : float64, shape (n_hosts, n_applications)
        Tasks of each application that each host is to receive from its parent [tasks/s]; for the
        root, those of the whole tree.
    fair : float
        The least throughput per unit of weight [tasks/s].
    rounds : int
        Rounds of all negotiations: sweeps down with prices and up with curves.
    negotiations : int
        How many there were; one, and one for each time that links were banned.
    rent : float
        What a second of port was charged [tasks/s].
    gap : float
        Relative distance from the optimum that the root has proved, the rent counted as a
        cost, and without the links that are banned.
    rates : tuple of Rates, shape (n_hosts,)
        The same rates as each node has them, see `NodePlan`.
    """

    compute: NDArray[np.float64]
    sent: NDArray[np.float64]
    fair: float
    rounds: int
    negotiations: int
    rent: float
    gap: float
    rates: tuple[Rates, ...]


def negotiate_prices(
    tree: Tree, bags: Bags, *, terms: Terms | None = None, sieve: Sieve | None = None
) -> Prices:
    """Let the nodes of a tree negotiate their rates by prices, without simulating messages.

    The linear program (1) of [1]_ is solved by the nodes themselves: the root posts a price for
    each application, each node answers with the concave curve of what its subtree can make of
    each byte per second, and the root mixes the answers of all rounds so that the least served
    application gets most, which gives the next prices.

    Parameters
    ----------
    tree : Tree
        Where; what its nodes know of it are speeds, and bandwidths to children.
    bags : Bags
        The applications.
    terms : Terms, optional
        How the negotiation is led.
    sieve : Sieve, optional
        How nodes judge links that are too slow for a type; they do not without.

    Raises
    ------
    InfeasibleError
        No host computes.

    References
    ----------
    .. [1] O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).
       Centralized versus distributed schedulers for bag-of-tasks applications. IEEE TPDS 19(5).
    """
    root = open_negotiation(Known.of(tree, bags, 0), terms or Terms(), sieve)
    nodes = {host: PriceNode(Known.of(tree, bags, host), sieve) for host in range(1, tree.n_hosts)}
    told = asks(root)
    while root.settled < 0:
        _go_down(tree, nodes, told)
        root, told = react(root, _go_up(tree, nodes))
    _go_down(tree, nodes, told)
    return _prices(tree, root, [nodes[host] for host in range(1, tree.n_hosts)])


def _go_down(tree: Tree, nodes: dict[int, PriceNode], told: Sequence[Down]) -> None:
    """Let all nodes hear, parents before children."""
    messages = dict(zip(tree.children[0], told, strict=True))
    for host in range(1, tree.n_hosts):
        nodes[host], below = hear(nodes[host], messages.pop(host))
        messages.update(zip(tree.children[host], below, strict=True))


def _go_up(tree: Tree, nodes: dict[int, PriceNode]) -> list[Up]:
    """Let all nodes answer, children before parents."""
    answers: dict[int, Up] = {}
    for host in range(tree.n_hosts - 1, 0, -1):
        below = [answers.pop(child) for child in tree.children[host]]
        nodes[host], answers[host] = answer(nodes[host], below)
    return [answers[child] for child in tree.children[0]]


def _prices(tree: Tree, root: PriceRoot, nodes: Sequence[PriceNode]) -> Prices:
    """Put together what all nodes have."""
    rates = (root.rates, *(node.rates for node in nodes))
    compute = np.array([each[0] for each in rates])
    sent = np.zeros_like(compute)
    for host, children in enumerate(tree.children):
        for target, child in enumerate(children, 1):
            sent[child] = rates[host][target]
    sent[0] = np.sum(root.rates, axis=0)
    fair = float(np.min(compute.sum(axis=0) / np.array(root.known.weight)))
    gap = root.gaps[root.settled]
    rounds, awards, rent = root.sweeps, len(root.awards), root.posted.rent
    return Prices(compute, sent, fair, rounds, awards, rent, gap, rates)


def prices(
    tree: Tree,
    bags: Bags,
    *,
    buffer: int = BUFFER,
    typed: bool = False,
    sift: bool = True,
    decentralised: bool = True,
    period: float | None = None,
    terms: Terms | None = None,
) -> Policy:
    """Return our own policy: rates negotiated by prices.

    Parameters
    ----------
    tree : Tree
        As measured. With `decentralised`, only `Policy.theory` follows from it.
    bags : Bags
        The applications.
    buffer : int
        Tasks that the buffer of a node holds.
    typed : bool
        Whether a node keeps slots for each type that it is to get, and its requests name a type.
        In the bags measured so far this gains nothing, and costs up to 13 % of the throughput.
    sift : bool
        Whether links are banned for types that would keep them busy for too long, see `Sieve`.
    decentralised : bool
        Whether the nodes negotiate by messages when they start, with what they have measured;
        otherwise they are told the same rates.
    period : float, optional
        After how long nodes look whether anything has changed [s], inf for never. If any of them
        measures its speed, or a child's bandwidth, to differ by more than `Policy.tolerance` from
        what the rates were made with, they negotiate anew with what they have measured last.
        Without, a twentieth of the time that all tasks take at the expected throughput.
    terms : Terms, optional
        How the negotiation is led.

    Raises
    ------
    InfeasibleError
        No host computes.
    WorkloadError
        The buffer or the period is not positive.
    """
    if not buffer >= 1 or buffer % 1:
        raise WorkloadError(f"buffer is {buffer!r}; give a number of tasks from 1 on")
    terms, sieve = terms or Terms(), Sieve(buffer) if sift else None
    found = negotiate_prices(tree, bags, terms=terms, sieve=sieve)
    if decentralised:
        planner = partial(price_planner, terms=terms, sieve=sieve, buffer=buffer, typed=typed)
        often = time_between_looks(period, bags, found.fair)
        return Policy("prices", priced, planner=planner, period=often, theory=found.fair)
    plans = tuple(
        NodePlan(rates, slots_for(rates, buffer) if typed else ()) for rates in found.rates
    )
    return Policy("prices", priced, plans=plans, theory=found.fair)
