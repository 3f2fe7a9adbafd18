"""What comes out of a rising clock at which peers clinch tasks: VCG prices without reports."""

from __future__ import annotations

from dataclasses import dataclass

from simplugin.market.mechanisms import Settlement
from simplugin.market.negotiations.clinching import clinching
from simplugin.market.negotiations.protocol import negotiate
from simplugin.workloads.bundle_markets import BundleMarket


@dataclass(frozen=True, eq=False)
class Clock:
    """What came out of a rising clock.

    Attributes
    ----------
    settlement : Settlement
        Tasks that peers clinched and what they pay for them.
    rounds, messages : int
        Calls of the local scheduler, and messages of both sides.
    """

    settlement: Settlement
    rounds: int
    messages: int


def ascending_clock(market: BundleMarket, *, tick: float | None = None) -> Clock:
    """Sell tasks by `simplugin.market.negotiations.clinching.clinching`, in this process.

    Parameters
    ----------
    market : BundleMarket
        What tasks are really worth; each peer only answers for itself.
    tick : float, optional
        As there.

    Returns
    -------
    Clock
        Who got what for how much, in how many rounds.

    Raises
    ------
    WorkloadError
        The tick is too small.
    """
    agreed = negotiate(clinching(tick), market.values, market.m, market.caps, market.q)
    assert agreed.payments is not None
    settlement = Settlement(market, agreed.amounts, agreed.payments)
    return Clock(settlement, agreed.rounds, agreed.messages)
