"""The flat commodity market as messages."""

from __future__ import annotations

import numpy as np

from simplugin.elementary import log
from simplugin.errors import WorkloadError
from simplugin.market.dealing import round_robin
from simplugin.market.negotiations.brackets import Bracket, ask_all, counts_of
from simplugin.market.negotiations.own_tasks import OwnTasks
from simplugin.market.negotiations.protocol import Agreement, Message, Negotiation, Scheduler


class CommodityPeer:
    """A peer that tells its base price, and then how many tasks it buys at the flat one.

    Parameters
    ----------
    value : float
        Its base price [price].
    own : OwnTasks
        What tasks are worth to it.
    """

    def __init__(self, value: float, own: OwnTasks) -> None:
        self._value, self._own = value, own

    def reply(self, message: Message, /) -> Message:
        """Return base price and cap to ``("base", m)``, a count to ``("flat", price)``."""
        kind, number = message
        if kind == "base":
            return ("base", self._value, self._own.limit(number))
        if kind == "flat":
            return ("count", self._own.bought(float(log(number))))
        raise WorkloadError(f"a peer is asked {kind!r}, which it does not understand")


def commodity(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
    """Sell as `simplugin.market.commodity.commodity` does, in two rounds.

    Parameters
    ----------
    n_peers, m : int
        How many peers and tasks there are.
    generator : Generator
        Not drawn from.
    """
    values, limits = yield from ask_all(n_peers, ("base", m))
    caps = counts_of(limits)
    Bracket.everything(m, caps)  # refuses what does not fit
    price = float(values[caps > 0].mean())
    (counts,) = yield from ask_all(n_peers, ("flat", price))
    wanted = counts_of(counts)
    sold = round_robin(min(m, int(wanted.sum())), wanted)
    return Agreement(sold + round_robin(m - int(sold.sum()), caps - sold), price)


def commodity_peer(
    value: float,
    cap: int,
    q: float,
    generator: np.random.Generator,  # noqa: ARG001
) -> CommodityPeer:
    """Return a peer of a commodity market; it draws nothing."""
    return CommodityPeer(value, OwnTasks(value, cap, q))


COMMODITY = Negotiation("commodity", commodity, commodity_peer)
