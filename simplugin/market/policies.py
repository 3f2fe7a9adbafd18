"""The shipped policies for bundles of tasks, by their names in scenarios."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import ArrayLike

from simplugin import policy_names
from simplugin.market.auctions import (
    double_auction,
    double_auction_dearest,
    double_auction_marginal,
    double_auction_mean,
    double_auction_rounds,
)
from simplugin.market.commodity import commodity, commodity_cheapest, commodity_equal
from simplugin.market.isgbmat import isgbmat, isgbmat_printed
from simplugin.market.proportional import proportional_share
from simplugin.optimum.bundle_benefit import largest_benefit
from simplugin.workloads.bundle_markets import Amounts


class Policy(Protocol):
    """Assigns the tasks of a bundle to peers, and says at which price."""

    def __call__(
        self,
        values: ArrayLike,
        m: int,
        caps: ArrayLike,
        q: ArrayLike,
        /,
        *args: Any,
        **parameters: Any,
    ) -> tuple[Amounts, float]:
        """Return the tasks of each peer, which place all under the caps, and the price.

        Parameters
        ----------
        values, m, caps, q
            As in `simplugin.workloads.bundle_markets.BundleMarket`.
        *args, **parameters
            The policy's own; a scenario gives those with a name.
        """


def optimum(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /) -> tuple[Amounts, float]:
    """Return the assignment with the largest global benefit.

    Parameters and errors as those of `simplugin.optimum.bundle_benefit.largest_benefit`.

    Returns
    -------
    amounts : int64, shape (n_peers,)
        Tasks of each peer.
    price : float
        What the last task that is sold is worth, the highest clearing price [price].
    """
    best = largest_benefit(values, m, caps, q)
    return best.amounts, best.price


def bisection(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /) -> tuple[Amounts, float]:
    """Return what the negotiation by bisection of the price agrees on.

    Parameters and errors as those of `optimum`.
    """
    return _negotiated("bisection", values, m, caps, q)


def median(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /) -> tuple[Amounts, float]:
    """Return what the negotiation by weighted medians agrees on.

    Parameters and errors as those of `optimum`.
    """
    return _negotiated("median", values, m, caps, q)


def secant(values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike, /) -> tuple[Amounts, float]:
    """Return what the negotiation by interpolation of the demand agrees on.

    Parameters and errors as those of `optimum`.
    """
    return _negotiated("secant", values, m, caps, q)


POLICIES: Mapping[str, Policy] = {
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
    "bisection": bisection,
    "median": median,
    "secant": secant,
}

# Of these: those that draw, by a keyword `seed`.
RANDOM = ("double_auction", "double_auction_rounds")


def policy_called(name: str) -> Policy:
    """Return a policy.

    Parameters
    ----------
    name : str
        Of a shipped one, or ``module:function`` of one's own.

    Raises
    ------
    WorkloadError
        There is none of this name.
    """
    return policy_names.policy_called(name, POLICIES)


def _negotiated(
    name: str, values: ArrayLike, m: int, caps: ArrayLike, q: ArrayLike
) -> tuple[Amounts, float]:
    """Return what a negotiation agrees on; loaded late, as negotiations may use policies."""
    from simplugin.market.negotiations.protocol import negotiate

    found = importlib.import_module("simplugin.market.negotiations").NEGOTIATIONS[name]
    agreed = negotiate(found, values, m, caps, q)
    return agreed.amounts, agreed.price
