"""The shipped policies and negotiations, by their names in scenarios."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from simplugin.core.errors import WorkloadError
from simplugin.inputs.decisions import decided
from simplugin.inputs.locations import shown
from simplugin.inputs.references import named_policy
from simplugin.market.policies.auctions import (
    DOUBLE_AUCTION,
    double_auction,
    double_auction_dearest,
    double_auction_marginal,
    double_auction_mean,
    double_auction_rounds,
)
from simplugin.market.policies.clearing import BISECTION, MEDIAN, SECANT
from simplugin.market.policies.clocks import CLINCHING
from simplugin.market.policies.isgbmat import ISGBMAT, isgbmat, isgbmat_printed
from simplugin.market.policies.negotiation import (
    Agreement,
    BundleNegotiation,
    Call,
    Message,
    Scheduler,
    negotiate,
)
from simplugin.market.policies.shares import (
    COMMODITY,
    commodity,
    commodity_cheapest,
    commodity_equal,
    proportional_share,
)
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import Amounts, BundleMarket, rows_of

# Number of possible seeds of a policy.
_SEEDS = 2**63
_NO_PARAMETERS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class PostingPeer:
    """A peer that reports its value, cap and q, or its cap and the values of all its tasks."""

    value: Any
    cap: int
    q: float | None
    generator: np.random.Generator | None = None

    def reply(self, message: Message, /) -> Message:  # noqa: ARG002 # there is one question
        """Return its private data."""
        if self.q is None:
            return ("listed", self.cap, *self.value[: self.cap])
        return ("posted", self.value, self.cap, self.q)


def as_negotiation(
    policy: Callable[..., tuple[Amounts, float]],
    name: str = "",
    parameters: Mapping[str, Any] = _NO_PARAMETERS,
) -> BundleNegotiation:
    """Return a policy as a negotiation of one round, in which peers report all that they know.

    Parameters
    ----------
    policy : callable
        A `MarketPolicy`, which may have further parameters. If it draws, each negotiation passes
        it another seed from the local scheduler's random numbers, see `decide`.
    name : str
        Name of the negotiation; by default that of the function.
    parameters : mapping
        Further arguments of the policy.

    Raises
    ------
    WorkloadError
        In the negotiation: amounts are not whole, do not place all tasks or exceed a cap, or the
        price is not a number.
    """
    called = name or getattr(policy, "__name__", "policy")

    def scheduler(n_peers: int, m: int, generator: np.random.Generator) -> Scheduler:
        replies = yield Call(tuple(range(n_peers)), ("post",))
        if replies[0][0] == "posted":
            values, caps, q = np.array([reply[1:] for reply in replies], dtype=np.float64).T
            market = BundleMarket(values, m, caps, q)
        else:
            table = rows_of([np.array(reply[2:]) for reply in replies])
            market = BundleMarket(table, m, [reply[1] for reply in replies])
        decision = decide(policy, market, int(generator.integers(_SEEDS)), parameters)
        try:
            return assigned(decision, market)
        except WorkloadError as error:
            raise WorkloadError(f"policy {called}: {error}") from None

    return BundleNegotiation(called, scheduler, PostingPeer)


def decide(
    policy: Callable[..., tuple[Amounts, float]],
    market: BundleMarket,
    seed: int,
    parameters: Mapping[str, Any] = _NO_PARAMETERS,
) -> tuple[Amounts, float]:
    """Return the decision of a policy about a market, with a seed if it draws.

    Parameters
    ----------
    policy : callable
        A `MarketPolicy`, which may have further parameters. It draws if it has a parameter `seed`
        that is neither in `parameters` nor bound by `functools.partial`.
    market : BundleMarket
        The market.
    seed : int
        Seed of its draws.
    parameters : mapping
        Further arguments of the policy.
    """
    given = dict(parameters)
    bound = policy.keywords if isinstance(policy, partial) else {}
    try:
        if "seed" in inspect.signature(policy).parameters and "seed" not in {**bound, **given}:
            given["seed"] = seed
    except ValueError:  # a function of a C extension may lack a signature
        pass
    return policy(*market.arguments, **given)


def assigned(answer: object, market: BundleMarket) -> Agreement:
    """Return a decision as an agreement; raise WorkloadError unless it places all tasks."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise WorkloadError(f"it returns {shown(answer)}; return amounts and a price")
    amounts = market.check(answer[0])
    return Agreement(amounts, float(decided("the price is", answer[1], "a finite number")))


class MarketPolicy(Protocol):
    """Assigns the tasks of a bundle to peers, and sets their price."""

    def __call__(
        self,
        values: ArrayLike,
        n_tasks: int,
        capacities: ArrayLike,
        discounts: ArrayLike | None = None,
        /,
    ) -> tuple[Amounts, float]:
        """Return the tasks of each peer, which place all under the caps, and the price.

        Parameters
        ----------
        values, n_tasks, capacities, discounts
            As `values`, `m`, `caps` and `q` of `simplugin.workloads.bundle_markets.BundleMarket`.
        """


def optimum(
    values: ArrayLike, n_tasks: int, capacities: ArrayLike, discounts: ArrayLike | None = None, /
) -> tuple[Amounts, float]:
    """Return the assignment with the largest global benefit.

    Parameters and errors as those of `simplugin.optimum.bundle_benefit.largest_benefit`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        Value of the last task that is sold, the highest clearing price [price].
    """
    best = largest_benefit(values, n_tasks, capacities, discounts)
    return best.amounts, best.price


def _agreed_by(negotiation: BundleNegotiation) -> MarketPolicy:
    """Return a negotiation as a policy, which negotiates in this process."""

    def policy(
        values: ArrayLike,
        n_tasks: int,
        capacities: ArrayLike,
        discounts: ArrayLike | None = None,
        /,
    ) -> tuple[Amounts, float]:
        agreed = negotiate(negotiation, values, n_tasks, capacities, discounts)
        return agreed.amounts, agreed.price

    policy.__name__ = negotiation.name
    return policy


POLICIES: Mapping[str, MarketPolicy] = {
    "optimum": optimum,
    "isgbmat": isgbmat,
    "isgbmat_printed": isgbmat_printed,
    "commodity": commodity,
    "commodity_equal": commodity_equal,
    "commodity_cheapest": commodity_cheapest,
    "double_auction": double_auction,
    "double_auction_rounds": double_auction_rounds,
    "double_auction_marginal": double_auction_marginal,
    "double_auction_mean": double_auction_mean,
    "double_auction_dearest": double_auction_dearest,
    "proportional_share": proportional_share,
    "bisection": _agreed_by(BISECTION),
    "median": _agreed_by(MEDIAN),
    "secant": _agreed_by(SECANT),
}


def policy_called(name: str) -> MarketPolicy:
    """Return a policy.

    Parameters
    ----------
    name : str
        Name of a shipped policy, or ``module:function`` of a user's policy.

    Raises
    ------
    WorkloadError
        There is none of this name.
    """
    return named_policy(name, POLICIES)


NEGOTIATIONS: dict[str, BundleNegotiation] = {
    each.name: each
    for each in (
        ISGBMAT,
        COMMODITY,
        DOUBLE_AUCTION,
        as_negotiation(proportional_share),
        as_negotiation(optimum),
        BISECTION,
        MEDIAN,
        SECANT,
        CLINCHING,
    )
}


def negotiation_called(wanted: str | MarketPolicy | BundleNegotiation) -> BundleNegotiation:
    """Return a negotiation by its name, or a policy as one of posted prices.

    Parameters
    ----------
    wanted : str, callable or BundleNegotiation
        A key of `NEGOTIATIONS` or of `POLICIES`, ``module:function`` of a policy, or a policy.

    Raises
    ------
    WorkloadError
        There is none of this name.
    """
    if isinstance(wanted, BundleNegotiation):
        return wanted
    if isinstance(wanted, str):
        if wanted in NEGOTIATIONS:
            return NEGOTIATIONS[wanted]
        if wanted in POLICIES or ":" in wanted:
            return as_negotiation(policy_called(wanted), wanted)
    elif callable(wanted):
        return as_negotiation(wanted)
    known = ", ".join(dict.fromkeys([*NEGOTIATIONS, *POLICIES]))
    raise WorkloadError(f"negotiation is {wanted!r}; give one of {known}, or a policy")
