"""The shipped methods, each an iteration with its roles, and their names in scenarios."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from simplugin.core.errors import SimpluginError
from simplugin.pricing.actors.accelerated import AcceleratedAgent, AcceleratedManager
from simplugin.pricing.actors.delivery import News
from simplugin.pricing.actors.gradient import (
    GradientAgent,
    GradientManager,
    PeriodicGradientAgent,
    PeriodicGradientManager,
)
from simplugin.pricing.actors.market import MarketAgent, MarketManager
from simplugin.pricing.actors.periodic_market import PeriodicMarketAgent, PeriodicMarketManager
from simplugin.pricing.method import Method, Roles
from simplugin.pricing.neighbourhood import AgentNeighbourhood, ManagerNeighbourhood
from simplugin.pricing.policies.acceleration import AcceleratedMarketIteration, AcceleratedState
from simplugin.pricing.policies.gradient import GradientIteration, GradientState, StepSizes
from simplugin.pricing.policies.market import MarketIteration, MarketState
from simplugin.workloads.shared_deployment import AlphaFair, SharedDeployment


class Gradient(GradientIteration, Method[GradientState]):
    """The report's iteration and its Algorithms 3 and 4; see `GradientIteration` for parameters."""

    def check(self, sharing: SharedDeployment) -> None:
        """Raise WorkloadError if a sequence of step sizes has the wrong length."""
        self.steps.check(sharing)

    def roles(self, utility: AlphaFair, rounds: int) -> Roles:
        """Return the roles in synchronous rounds."""
        if self.reading.seidel and self.reading.fresh and self.scaled:
            raise SimpluginError(
                "prices cannot see the throughput of the new rates in the round that makes them"
                " without a third sweep; use GradientAssumptions that are not both seidel and fresh"
            )

        def agent(seat: AgentNeighbourhood) -> GradientAgent:
            steps = self.steps.of_agents(seat.application)
            role = GradientAgent(seat, self.scaled, self.reading, steps, utility, rounds)
            role.enter()
            return role

        def manager(seat: ManagerNeighbourhood) -> GradientManager:
            step, price = self.steps.of_resource(seat.resource, is_host=seat.is_host)
            return GradientManager(seat, self.scaled, step, price, rounds)

        return Roles(agent, manager)

    def periodic_roles(self, utility: AlphaFair, patience: int) -> Roles:
        """Return the roles without rounds."""

        def agent(seat: AgentNeighbourhood) -> PeriodicGradientAgent:
            rule = self.scaled, self.reading, self.steps.of_agents(seat.application)
            return PeriodicGradientAgent(seat, *rule, utility, news=News(patience))

        def manager(seat: ManagerNeighbourhood) -> PeriodicGradientManager:
            start = self.steps.of_resource(seat.resource, is_host=seat.is_host)
            return PeriodicGradientManager(seat, self.scaled, *start, news=News(patience))

        return Roles(agent, manager)


class Market(MarketIteration, Method[MarketState]):
    """Local markets; see `MarketIteration` for parameters."""

    def roles(self, utility: AlphaFair, rounds: int) -> Roles:
        """Return the roles in synchronous rounds."""
        return Roles(
            lambda seat: MarketAgent(self, utility, rounds, seat),
            lambda seat: MarketManager(rounds, seat),
        )

    def periodic_roles(self, utility: AlphaFair, patience: int) -> Roles:
        """Return the roles without rounds."""
        return Roles(
            lambda seat: PeriodicMarketAgent(self, utility, 0, seat, news=News(patience)),
            lambda seat: PeriodicMarketManager(0, seat, news=News(patience)),
        )


class AcceleratedMarket(AcceleratedMarketIteration, Method[AcceleratedState]):
    """Local markets that extrapolate from past rounds; see `AcceleratedMarketIteration`."""

    def roles(self, utility: AlphaFair, rounds: int) -> Roles:
        """Return the roles in synchronous rounds."""
        return Roles(
            lambda seat: AcceleratedAgent(self.market, utility, rounds, seat),
            lambda seat: AcceleratedManager(rounds, seat),
        )


def _with_steps(*, scaled: bool) -> Callable[..., Gradient]:
    """Return the report's iteration as a function of the fields of `StepSizes`."""

    def method(**steps: float) -> Gradient:
        """Return the iteration."""
        return Gradient(scaled, StepSizes(**steps))

    method.__doc__ = StepSizes.__doc__
    vars(method)["__signature__"] = inspect.signature(StepSizes)
    return method


def market_accelerated(
    relaxation: float = Market.relaxation, *, feasible: bool = Market.feasible
) -> AcceleratedMarket:
    """Return local markets that extrapolate from past rounds.

    Parameters
    ----------
    relaxation, feasible
        See `Market`.
    """
    return AcceleratedMarket(MarketIteration(relaxation, feasible))


# Each makes a method of its parameters: "scaled" follows Eqs. (16) to (18) of the report,
# "unscaled" Eqs. (10) to (16).
POLICIES: Mapping[str, Callable[..., Method[Any]]] = {
    "scaled": _with_steps(scaled=True),
    "unscaled": _with_steps(scaled=False),
    "market": Market,
    "market_accelerated": market_accelerated,
}
