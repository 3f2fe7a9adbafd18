"""Posted prices: peers tell all that they know, and the local scheduler decides."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from simplugin.errors import WorkloadError
from simplugin.market.negotiations.protocol import Agreement, Call, Message, Negotiation
from simplugin.workloads.bundle_markets import BundleMarket

if TYPE_CHECKING:
    from simplugin.market.negotiations.protocol import Scheduler
    from simplugin.workloads.bundle_markets import Amounts

# How many seeds a policy may be given.
_SEEDS = 2**63


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

    A policy that takes a `seed` is given another for each negotiation, drawn from the local
    scheduler's random numbers, unless one is bound: in `parameters` or by `functools.partial`.

    Parameters
    ----------
    policy : callable
        ``(values, m, caps, q, **parameters)``: amounts and a price.
    name : str
        That of the function without.
    **parameters
        Further arguments of the policy.

    Raises
    ------
    WorkloadError
        When it decides: amounts are not whole, do not place all tasks or exceed a cap, or the price
        is no number.
    """
    decide = partial(policy, **parameters)
    called = name or getattr(policy, "__name__", "policy")
    draws = "seed" not in decide.keywords and _takes_seed(policy)

    def scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:
        replies = yield Call(tuple(range(n_peers)), ("post",))
        values, caps, q = np.array([reply[1:] for reply in replies], dtype=np.float64).T
        drawn = {"seed": int(generator.integers(_SEEDS))} if draws else {}
        amounts, price = decide(values, m, caps.astype(np.int64), q, **drawn)
        try:
            checked = BundleMarket(values, m, caps, q).check(amounts)
        except WorkloadError as error:
            raise WorkloadError(f"policy {called}: {error}") from None
        return Agreement(checked, _price(price, called))

    return Negotiation(called, scheduler, posting_peer)


def _takes_seed(policy: Callable[..., object]) -> bool:
    """Return whether a policy has a parameter of this name."""
    try:
        return "seed" in inspect.signature(policy).parameters
    except ValueError:  # a function of C may not tell
        return False


def _price(price: object, called: str) -> float:
    """Return a policy's price, or refuse what is none."""
    if not isinstance(price, Real) or not math.isfinite(price):
        raise WorkloadError(f"policy {called}: the price is {price!r}; give a number")
    return float(price)


def posting_peer(value: float, cap: int, q: float, generator: np.random.Generator) -> PostingPeer:  # noqa: ARG001
    """Return a peer that tells its value, cap and q; it draws nothing."""
    return PostingPeer(value, cap, q)
