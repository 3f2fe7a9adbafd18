"""Posted prices: peers tell all that they know, and the local scheduler decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.market.negotiations.protocol import Agreement, Call, Message, Negotiation

if TYPE_CHECKING:
    from simplugin.market.negotiations.protocol import Scheduler
    from simplugin.workloads.bundle_markets import Amounts


@dataclass(frozen=True)
class PostingPeer:
    """A peer that tells its value, cap and q to whoever asks."""

    value: float
    cap: int
    q: float

    def reply(self, message: Message, /) -> Message:  # noqa: ARG002 # there is one question
        """Tell all."""
        return ("posted", self.value, self.cap, self.q)


def posted(
    policy: Callable[..., tuple[Amounts, float]], name: str = "", **parameters: Any
) -> Negotiation:
    """Return a policy as a negotiation of one round, after which it knows the whole market.

    Parameters
    ----------
    policy : callable
        ``(values, m, caps, q, **parameters)``: amounts and a price.
    name : str
        That of the function without.
    **parameters
        Further arguments of the policy.
    """
    decide = partial(policy, **parameters)

    def scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:  # noqa: ARG001
        replies = yield Call(tuple(range(n_peers)), ("post",))
        values, caps, q = np.array([reply[1:] for reply in replies], dtype=np.float64).T
        amounts, price = decide(values, m, caps.astype(np.int64), q)
        return Agreement(np.asarray(amounts, dtype=np.int64), float(price))

    return Negotiation(name or getattr(policy, "__name__", "policy"), scheduler, posting_peer)


def posting_peer(value: float, cap: int, q: float, generator: np.random.Generator) -> PostingPeer:  # noqa: ARG001
    """Return a peer that tells its value, cap and q; it draws nothing."""
    return PostingPeer(value, cap, q)
