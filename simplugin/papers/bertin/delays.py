"""Markets whose slots receive plans late."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simplugin.pricing.policies.acceleration import ExtendedState
from simplugin.pricing.policies.market import (
    Market,
    adapt,
    clear,
    inverted,
    plan_applications,
    remember,
)
from simplugin.workloads.sharing import AlphaFair, Sharing

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DelayedState(ExtendedState):
    """A market's state, and the plans that are still under way.

    Attributes
    ----------
    market : MarketState
        As without delays.
    plans : tuple of float64 arrays, shape (2, n_agents)
        Of the last rounds, the latest first [tasks/s].
    """

    plans: tuple[Floats, ...]


@dataclass(frozen=True)
class DelayedMarket:
    """The method where each slot acts on a plan that is some rounds old, drawn anew each round.

    Attributes
    ----------
    delay : int
        The oldest plan that a slot may act on [rounds].
    relaxation : float
        Step of a wish towards the plan.
    seed : int
        Of the draws; each round has its own generator, so that rounds are functions of states.
    """

    delay: int = 5
    relaxation: float = 0.25
    seed: int = 0

    def start(self, sharing: Sharing, utility: AlphaFair) -> DelayedState:
        """Return the state before the first round."""
        return DelayedState(Market().start(sharing, utility), ())

    def round(self, sharing: Sharing, utility: AlphaFair, state: DelayedState) -> DelayedState:
        """Return the state after one more round."""
        before = state.market
        offer, price = clear(before)
        plan, _, reached = plan_applications(sharing, utility, before, 2 * offer - before.wish)
        plans = (plan, *state.plans)[: self.delay + 1]
        generator = np.random.default_rng([self.seed, before.number])
        age = generator.integers(0, len(plans), size=plan.shape)
        received = np.take_along_axis(np.stack(plans), age[None], axis=0)[0]
        after = replace(
            before,
            offer=offer,
            plan=received,
            paid=before.metric * (before.wish - offer),
            price=price,
            reached=reached,
            number=before.number + 1,
        )
        after = remember(sharing, utility, before, after)
        if after.number >= before.next_metric:
            after = adapt(sharing, utility, after)
        # The price paid stays when the metric changes.
        aim = before.wish + self.relaxation * (received - offer) - offer
        wish = offer + before.metric * aim * inverted(after.metric)
        return DelayedState(replace(after, wish=wish), plans)
