"""Payments of peers to the local scheduler for their tasks, under several rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simplugin.core.errors import InfeasibleError
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats
from simplugin.workloads.parameter_ranges import one_of

Unsold = Literal["refused", "worthless"]


@dataclass(frozen=True, eq=False)
class Settlement:
    """Tasks and payments of all peers.

    Attributes
    ----------
    market : BundleMarket
        The market as peers reported it.
    amounts : int64, shape (n_peers,)
        Tasks of each peer, those of the largest reported benefit.
    payments : float64, shape (n_peers,)
        Payment of each peer for all its tasks [price].
    """

    market: BundleMarket
    amounts: Amounts
    payments: Floats

    @property
    def revenue(self) -> float:
        """Revenue of the local scheduler [price]."""
        return float(self.payments.sum())

    def profits(self, truth: BundleMarket | None = None) -> Floats:
        """Return the profit of each peer; shape (n_peers,).

        Parameters
        ----------
        truth : BundleMarket, optional
            The true market; None for the reported one.
        """
        return (truth or self.market).sums(self.amounts) - self.payments


def uniform(market: BundleMarket) -> Settlement:
    """Return the settlement at the highest clearing price, ``<p*, A>`` of the paper.

    This price is the value of the last task sold, so that peers pay at most their values.
    """
    best = largest_benefit(*market.arguments)
    return Settlement(market, best.amounts, best.amounts.astype(np.float64) * best.price)


def vickrey_clarke_groves(market: BundleMarket, *, unsold: Unsold = "refused") -> Settlement:
    """Return VCG's settlement: each peer pays the loss of the others by its presence.

    The truth is then each peer's best report. For identical tasks with falling values, a peer of k
    tasks pays the k best values of the others that are not served [1]_, at most the lowest clearing
    price for each task. They are found by a second solution without the peer.

    Parameters
    ----------
    market : BundleMarket
        The market as peers report it.
    unsold : {"refused", "worthless"}
        Action if the others cannot take all tasks without a peer: raise, or set the value of
        unsold tasks to 0. The truth stays the best report, but such a peer gets those tasks for
        free.

    Returns
    -------
    Settlement
        Payments from 0 to the income of each peer.

    Raises
    ------
    InfeasibleError
        The others cannot take all tasks without a peer; the message names it.

    References
    ----------
    .. [1] W. Vickrey (1961). Counterspeculation, auctions, and competitive sealed tenders.
       Journal of Finance 16. E. H. Clarke (1971). Public Choice 11. T. Groves (1973).
       Econometrica 41.
    """
    one_of("unsold", unsold, ("refused", "worthless"))
    amounts = largest_benefit(*market.arguments).amounts
    payments = np.zeros(market.n_peers)
    for peer in np.flatnonzero(amounts).tolist():
        payments[peer] = _externality(market, amounts, peer, unsold)
    return Settlement(market, amounts, payments)


def _externality(market: BundleMarket, amounts: Amounts, peer: int, unsold: Unsold) -> float:
    """Return the value of a peer's tasks to the others."""
    others = np.arange(market.n_peers) != peer
    room = int(market.caps[others].sum())
    if room < market.m and unsold == "refused":
        raise InfeasibleError(
            f"without peer {peer} the others take only {room} of {market.m} tasks, so that the"
            " value of its tasks to them is unknown; raise N_max, or give unsold='worthless'"
        )
    tasks = min(market.m, room)
    if not tasks:
        return 0.0
    rivals = market.among(others, tasks)
    without = largest_benefit(*rivals.arguments).amounts
    # Sums of additional tasks only: differences of whole sums would lose digits.
    return float(np.sum(rivals.sums(without, after=amounts[others])))
