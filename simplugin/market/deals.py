"""What became of a bundle that was sold and executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplugin.market.outcomes import Outcome

if TYPE_CHECKING:
    from simplugin.workloads.bundle_markets import Amounts, BundleMarket, Floats


@dataclass(frozen=True, eq=False)
class Deal:
    """A bundle, as it was dealt and as it was done.

    Attributes
    ----------
    bundle, site : int
        Numbers of the bundle and of the site that served it.
    market : BundleMarket
        What the peers of the site bought by: their values at the time, their caps and discounts.
    times : float64, shape (n_peers,)
        How long each peer expected one task to take, t_i [s].
    amounts : int64, shape (n_peers,)
        Tasks of each peer, A.
    price : float
        What peers pay for each task, p*; on average, where each has a payment of its own [price].
    submitted, called, agreed, finished : float
        When the user submitted the bundle, when the local scheduler began to negotiate, when it
        had the agreement, and when it had heard of the end of the last task [s].
    peer_finish : float64, shape (n_peers,)
        When the local scheduler had heard of the end of each peer's last task; `agreed` where a
        peer has none [s].
    rounds, messages : int
        Of the negotiation: calls, and messages of both sides. The announcement and the award, one
        each for every peer, come on top.
    bytes : float
        What these messages take [byte].
    payments : float64, shape (n_peers,), optional
        What each peer pays for all its tasks; the price for each of them without [price].
    """

    bundle: int
    site: int
    market: BundleMarket
    times: Floats
    amounts: Amounts
    price: float
    submitted: float
    called: float
    agreed: float
    finished: float
    peer_finish: Floats
    rounds: int
    messages: int
    bytes: float
    payments: Floats | None = None

    def outcome(self) -> Outcome:
        """Return what came of it, with the times that peers really took since the agreement."""
        times = self.peer_finish - self.agreed
        return Outcome(self.market, self.amounts, self.price, times, self.payments)

    def estimated(self) -> Outcome:
        """Return what was to come of it, with tasks that take what peers expected."""
        return Outcome.estimated(self.market, self.amounts, self.price, self.times, self.payments)

    @property
    def negotiation(self) -> float:
        """How long it took to come to the agreement [s]."""
        return self.agreed - self.called

    @property
    def response(self) -> float:
        """How long it took from the submission to the end of the last task [s]."""
        return self.finished - self.submitted
